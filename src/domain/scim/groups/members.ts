// Changing who is in a group, as sets: what was asked for becomes what is new and what is gone. Versions, roles and the
// audit log follow from that difference, in groups.ts.
import type { Tx } from "../../../platform/database.ts";
import { type ScimError, scimInvalid } from "../errors.ts";
import * as store from "./members-store.ts";

/** What becomes of the member list; every id is in it once. */
export interface MemberWish {
  /** whether those who are not mentioned stay */
  base: "kept" | "emptied";
  add: readonly string[];
  remove: readonly string[];
}

/** Ids of those whose membership began or ended. */
export interface MemberChange {
  added: readonly string[];
  removed: readonly string[];
}

/** of unknown members, in one refusal */
const NAMED_MAX = 10;
/** an id of ours has 36 */
const SHOWN_CHARACTERS_MAX = 64;

/**
 * Its cost is that of the ids in the wish; only `emptied` reads the list of members.
 * @throws ScimError 400 invalidValue naming the first who are no users
 * @source scim.md SCIM-27, SCIM-93, SCIM-120
 */
export function applyMembers(
  tx: Tx,
  group: { groupId: string; organizationId: string },
  { base, add, remove }: MemberWish,
): MemberChange {
  const { groupId } = group;
  const removed =
    base === "emptied"
      ? store.removeOthers(tx, { groupId, ids: add })
      : store.removeMembers(tx, { groupId, ids: remove });
  const added = store.addMembers(tx, { ...group, ids: add });
  if (added.length < add.length) refuseUnknown(tx, group, add);
  return { added, removed };
}

/** Those who could be added are members by now, so whoever is none is no user. */
function refuseUnknown(
  tx: Tx,
  { groupId, organizationId }: { groupId: string; organizationId: string },
  ids: readonly string[],
): void {
  const unknown = store.outsidersAmong(tx, { groupId, ids, limit: NAMED_MAX });
  if (unknown.length === 0) return;
  const groups = store.groupsAmong(tx, { organizationId, ids: unknown });
  throw groups.length > 0 ? nested(groups) : unknownMembers(unknown);
}

const nested = (ids: readonly string[]): ScimError =>
  scimInvalid(
    "invalidValue",
    `members: nesting is not supported, and these are groups: ${shown(ids)}; send the ids of their users`,
  );

const unknownMembers = (ids: readonly string[]): ScimError =>
  scimInvalid(
    "invalidValue",
    `members: no user has these ids: ${shown(ids)}; create the users first, then send their ids`,
  );

const shown = (ids: readonly string[]): string =>
  ids.map((id) => JSON.stringify(id.slice(0, SHOWN_CHARACTERS_MAX))).join(", ");
