// Changes the members of a group as sets: computes added and removed members from the request. group-changes.ts applies the
// effects on versions, roles and the audit log, slice by slice.
import type { Tx } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { type ScimError, scimInvalid } from "../errors.ts";
import { forMembers, inSlices } from "./member-slices.ts";
import * as store from "./members-store.ts";

/** The requested member list; every id is in it once. */
export interface MemberWish {
  /** whether members that are not mentioned stay */
  base: "kept" | "emptied";
  add: readonly string[];
  remove: readonly string[];
}

/** Ids of users whose membership began or ended. */
export interface MemberChange {
  added: readonly string[];
  removed: readonly string[];
}

/** of unknown members, in one error */
const NAMED_MAX = 10;
/** one of our ids has 36 */
const SHOWN_CHARACTERS_MAX = 64;

/** The group, and the organization of its users. */
interface Place {
  groupId: string;
  organizationId: string;
}

/** Applies the effects on users whose membership just began or ended. */
type Follow = (userIds: readonly string[]) => Steps<void>;

/**
 * Its cost depends on the ids in the request; only `emptied` reads the list of members.
 * @param follow called after each slice: its users are near each other in every table, so most pages are written once only
 * @throws ScimError 400 invalidValue naming the first ids that are not users
 * @source SCIM-27, SCIM-93, SCIM-120, SCIM-123
 */
export function* applyMembers(
  tx: Tx,
  place: Place,
  { wish: { base, add, remove }, follow }: { wish: MemberWish; follow: Follow },
): Steps<MemberChange> {
  const { groupId } = place;
  const removed: string[] = [];
  function* take(ids: readonly string[]): Steps<void> {
    const gone = store.removeMembers(tx, { groupId, ids });
    removed.push(...gone);
    yield* follow(gone);
  }
  const missing = new Set(base === "emptied" ? add : []);
  if (base === "emptied")
    yield* forMembers(tx, groupId, (ids) => take(ids.filter((id) => !missing.delete(id))));
  else yield* inSlices(remove, take);
  const added = yield* addMembers(tx, place, { ids: base === "emptied" ? [...missing] : add, follow });
  return { added, removed };
}

function* addMembers(
  tx: Tx,
  place: Place,
  { ids, follow }: { ids: readonly string[]; follow: Follow },
): Steps<string[]> {
  const added: string[] = [];
  const unknown: string[] = [];
  yield* inSlices(ids, function* (slice): Steps<void> {
    const come = store.addMembers(tx, { ...place, ids: slice });
    added.push(...come);
    if (come.length < slice.length) unknown.push(...outsidersAmong(tx, place, slice));
    yield* follow(come);
  });
  if (unknown.length > 0) throw refusalOf(tx, place, unknown.slice(0, NAMED_MAX));
  return added;
}

/** Every known user is a member by now, so any other id is not a user. */
const outsidersAmong = (tx: Tx, { groupId }: Place, ids: readonly string[]): readonly string[] =>
  store.findNonMembers(tx, { groupId, ids, limit: NAMED_MAX });

function refusalOf(tx: Tx, { organizationId }: Place, unknown: readonly string[]): ScimError {
  const groups = store.findGroups(tx, { organizationId, ids: unknown });
  return groups.length > 0 ? nested(groups) : unknownMembers(unknown);
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
