// Large changes in slices: a change of 50,000 members must not delay other requests. Each slice is a few statements on sets,
// and the work yields between two of them.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { memberSequences } from "./members-store.ts";

/** Users in one step of a change. */
export const STEP_MEMBERS = 1_000;
/** Users in one step whose roles change, whose logins end then: 5 to 10 ms. */
export const STEP_ROLES = 250;

type Work<T> = (slice: readonly T[]) => Steps<void>;

/** Processes one slice after the other, and nothing for an empty list. */
export function* inSlices<T>(all: readonly T[], work: Work<T>, size = STEP_MEMBERS): Steps<void> {
  for (let from = 0; from < all.length; from += size) {
    if (from > 0) yield;
    yield* work(all.slice(from, from + size));
  }
}

/** Processes the sequences of all members of a group in their order; the work may remove them. */
export function* forMembers(connection: Connection, groupId: string, work: Work<number>): Steps<void> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const sequences = memberSequences(connection, { groupId, after, limit: STEP_MEMBERS });
    if (sequences.length > 0) yield* work(sequences);
    after = sequences[STEP_MEMBERS - 1];
    if (after !== undefined) yield;
  }
}
