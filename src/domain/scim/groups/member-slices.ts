// Large changes in slices: a change of 50,000 members must not delay other requests. Each slice is a few statements on sets,
// and the work yields between two of them.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { memberSequences } from "./members-store.ts";

/** Users in one step of a change. */
export const STEP_MEMBERS = 1_000;
/** Users in one step whose roles change, whose logins end then: 5 to 10 ms. */
export const STEP_ROLES = 250;

/** Sorting this many ids takes 2 to 4 ms. */
const SORTED_AT_ONCE = 12_500;
/** Merging this many ids takes 0.3 ms, and 3 ms before the code is compiled: in the first large request after a start. */
const MERGED_AT_ONCE = 5_000;

/** @returns the ids in order: parts are sorted, and then merged two by two */
export function* sortedInSlices(ids: readonly string[]): Steps<readonly string[]> {
  let parts: (readonly string[])[] = [];
  for (let from = 0; from < ids.length; from += SORTED_AT_ONCE) {
    if (from > 0) yield;
    parts.push(ids.slice(from, from + SORTED_AT_ONCE).toSorted());
  }
  while (parts.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let at = 0; at < parts.length; at += 2) {
      yield;
      merged.push(yield* mergedInSlices(parts[at] ?? [], parts[at + 1] ?? []));
    }
    parts = merged;
  }
  return parts[0] ?? [];
}

function* mergedInSlices(left: readonly string[], right: readonly string[]): Steps<readonly string[]> {
  const merged: string[] = [];
  let [atLeft, atRight] = [0, 0];
  for (;;) {
    const [first, second] = [left[atLeft], right[atRight]];
    if (first === undefined || second === undefined) break;
    if (first <= second) {
      merged.push(first);
      atLeft += 1;
    } else {
      merged.push(second);
      atRight += 1;
    }
    if (merged.length % MERGED_AT_ONCE === 0) yield;
  }
  return merged.concat(left.slice(atLeft), right.slice(atRight));
}

/** @returns the steps that remain */
type Work<T> = (slice: readonly T[]) => Steps<void> | undefined;

/** Processes one slice after the other, and nothing for an empty list. */
export function* inSlices<T>(all: readonly T[], work: Work<T>, size = STEP_MEMBERS): Steps<void> {
  for (let from = 0; from < all.length; from += size) {
    if (from > 0) yield;
    const steps = work(all.slice(from, from + size));
    if (steps) yield* steps;
  }
}

/** Processes the sequences of all members of a group in their order; the work may remove them. */
export function* forMembers(connection: Connection, groupId: string, work: Work<number>): Steps<void> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const sequences = memberSequences(connection, { groupId, after, limit: STEP_MEMBERS });
    const steps = sequences.length > 0 ? work(sequences) : undefined;
    if (steps) yield* steps;
    after = sequences[STEP_MEMBERS - 1];
    if (after !== undefined) yield;
  }
}
