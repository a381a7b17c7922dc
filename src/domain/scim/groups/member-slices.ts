// Large changes in slices: a change of 50,000 members must not delay other requests. Each slice is a few statements on sets,
// and the work yields between two of them.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { memberIdSlice } from "./members-store.ts";

/** Users in one step of a change: 10 to 30 ms if roles change and logins end. */
export const STEP_MEMBERS = 1_000;

/**
 * Processes one slice after the other, and nothing for an empty list. Many ids are sorted, which is the order of their rows: in
 * the arbitrary order of a request the same pages would be written again and again.
 */
export function* inSlices(ids: readonly string[], work: (ids: readonly string[]) => void): Steps<void> {
  const ordered = ids.length > STEP_MEMBERS ? ids.toSorted() : ids;
  for (let from = 0; from < ordered.length; from += STEP_MEMBERS) {
    if (from > 0) yield;
    work(ordered.slice(from, from + STEP_MEMBERS));
  }
}

/** Processes all members of a group in the order of their ids; it may remove them. */
export function* forMembers(
  connection: Connection,
  groupId: string,
  work: (ids: readonly string[]) => void,
): Steps<void> {
  let after: string | undefined = "";
  while (after !== undefined) {
    const ids = memberIdSlice(connection, { groupId, after, limit: STEP_MEMBERS });
    if (ids.length > 0) work(ids);
    after = ids[STEP_MEMBERS - 1];
    if (after !== undefined) yield;
  }
}
