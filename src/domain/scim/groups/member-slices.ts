// Large changes in slices: a change of 50,000 members must not delay other requests. Each slice is a few statements on sets,
// and the work yields between two of them.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { memberSequences } from "./members-store.ts";

/** Number of users in one step of a change. */
export const STEP_MEMBERS = 1_000;
/** Number of users in one step whose roles change and logins end, which takes 5 to 10 ms. */
export const STEP_ROLES = 250;

/** Number of ids to sort at a time, which takes 2 to 4 ms. */
const SORTED_AT_ONCE = 12_500;
/** Number of ids to merge at a time, which takes 0.3 ms, or 3 ms in the first large request, before the code is compiled. */
const MERGED_AT_ONCE = 5_000;

/** @returns the sorted ids: sorts parts and merges them pairwise */
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

/** Processes one slice after the other; does nothing for an empty list. */
export function* inSlices<T>(all: readonly T[], work: Work<T>, size = STEP_MEMBERS): Steps<void> {
  for (let from = 0; from < all.length; from += size) {
    if (from > 0) yield;
    const steps = work(all.slice(from, from + size));
    if (steps) yield* steps;
  }
}

/** Processes the sequences of all members of a group in order; the work may remove members. */
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
