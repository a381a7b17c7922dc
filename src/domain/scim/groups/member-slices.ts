// Large changes in slices: a change of 50,000 members must not keep everybody else waiting. Each slice is a few statements
// on sets, and between two of them the work yields.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { memberIdSlice } from "./members-store.ts";

/** Users whom one step of a change carries through: 10 to 30 ms where roles follow and logins end. */
export const STEP_MEMBERS = 1_000;

/**
 * Does the work for one slice after the other, and not at all for nobody. Many are taken in the order of their ids, which is
 * that of their rows: in the order of a request, which is any, the same pages would be written again and again.
 */
export function* inSlices(ids: readonly string[], work: (ids: readonly string[]) => void): Steps<void> {
  const ordered = ids.length > STEP_MEMBERS ? ids.toSorted() : ids;
  for (let from = 0; from < ordered.length; from += STEP_MEMBERS) {
    if (from > 0) yield;
    work(ordered.slice(from, from + STEP_MEMBERS));
  }
}

/** Does the work for all members of a group, in the order of their ids; it may take them out. */
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
