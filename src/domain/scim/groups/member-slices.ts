// Large changes in slices: a change of 50,000 members must not delay other requests. Each slice is a few statements on sets,
// and the work yields between two of them.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { memberIdSlice } from "./members-store.ts";

/** Users in one step of a change. */
export const STEP_MEMBERS = 1_000;
/** Users in one step whose roles change, whose logins end then: 5 to 10 ms. */
export const STEP_ROLES = 250;

type Work = (ids: readonly string[]) => Steps<void>;

/**
 * Processes one slice after the other, and nothing for an empty list. Many ids are sorted, which is the order of their rows: in
 * the arbitrary order of a request the same pages would be written again and again.
 */
export function* inSlices(ids: readonly string[], work: Work, size = STEP_MEMBERS): Steps<void> {
  const ordered = ids.length > size ? ids.toSorted() : ids;
  if (ids.length > size) yield;
  for (let from = 0; from < ordered.length; from += size) {
    if (from > 0) yield;
    yield* work(ordered.slice(from, from + size));
  }
}

/** Processes all members of a group in the order of their ids; it may remove them. */
export function* forMembers(connection: Connection, groupId: string, work: Work): Steps<void> {
  let after: string | undefined = "";
  while (after !== undefined) {
    const ids = memberIdSlice(connection, { groupId, after, limit: STEP_MEMBERS });
    if (ids.length > 0) yield* work(ids);
    after = ids[STEP_MEMBERS - 1];
    if (after !== undefined) yield;
  }
}
