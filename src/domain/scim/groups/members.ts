// Changes the members of a group as sets: computes added and removed members from the request. group-changes.ts applies the
// effects on versions, roles and the audit log, slice by slice.
import type { Tx } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { type ScimError, scimInvalid } from "../errors.ts";
import { forMembers, inSlices, STEP_MEMBERS, sortedInSlices } from "./member-slices.ts";
import * as store from "./members-store.ts";

/** The requested member list; every id is in it once. */
export interface MemberWish {
  /** whether members that are not mentioned stay */
  base: "kept" | "emptied";
  add: readonly string[];
  remove: readonly string[];
}

/** Users whose membership began or ended. */
export interface MemberChange {
  added: readonly store.NumberedUser[];
  removed: readonly store.NumberedUser[];
}

/** of unknown members, in one error */
const NAMED_MAX = 10;
/** Reading a user takes a tenth of adding one. */
const FOUND_AT_ONCE = 5 * STEP_MEMBERS;
/** Indexing a user takes a tenth of reading one. */
const INDEXED_AT_ONCE = 25 * STEP_MEMBERS;
/** one of our ids has 36 */
const SHOWN_CHARACTERS_MAX = 64;

/** The group, and the organization of its users. */
interface Place {
  groupId: string;
  organizationId: string;
}

/** Applies the effects on users whose membership just began or ended. */
type Follow = (users: readonly store.NumberedUser[]) => Steps<void>;

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
  const removed: store.NumberedUser[] = [];
  function* take(users: readonly store.NumberedUser[]): Steps<void> {
    const gone = store.removeMembers(tx, groupId, users);
    removed.push(...gone);
    yield* follow(gone);
  }
  let coming = yield* knownUsers(tx, place, add);
  if (base === "emptied") {
    const wanted = new Map<number, store.NumberedUser>();
    for (const [at, user] of coming.entries()) {
      if (at % INDEXED_AT_ONCE === 0) yield;
      wanted.set(user.sequence, user);
    }
    yield* forMembers(tx, groupId, (sequences) => {
      const others = sequences.filter((sequence) => !wanted.delete(sequence));
      return take(store.numberedUsers(tx, others));
    });
    coming = [...wanted.values()];
  } else yield* inSlices(yield* findUsers(tx, place, remove), take);
  const added: store.NumberedUser[] = [];
  yield* inSlices(coming, function* (users): Steps<void> {
    const come = store.addMembers(tx, groupId, users);
    added.push(...come);
    yield* follow(come);
  });
  return { added, removed };
}

/** @throws ScimError 400 invalidValue */
function* knownUsers(tx: Tx, place: Place, ids: readonly string[]): Steps<readonly store.NumberedUser[]> {
  // A long list of wrong ids is refused before all of them are sorted and looked up.
  const first = ids.length > STEP_MEMBERS ? ids.slice(0, NAMED_MAX) : [];
  if (first.length > 0 && store.findUsers(tx, { ...place, ids: first }).length === 0)
    throw refusalOf(tx, place, first);
  const users = yield* findUsers(tx, place, ids);
  if (users.length === ids.length) return users;
  const known = new Set(users.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  throw refusalOf(tx, place, unknown.slice(0, NAMED_MAX));
}

/**
 * Many ids are sorted, which is the order of their rows, because ids begin with the time of their creation: in the arbitrary order
 * of a request the same pages would be written again and again.
 */
function* findUsers(
  tx: Tx,
  { organizationId }: Place,
  ids: readonly string[],
): Steps<readonly store.NumberedUser[]> {
  const users: store.NumberedUser[] = [];
  const areMany = ids.length > STEP_MEMBERS;
  const ordered = areMany ? yield* sortedInSlices(ids) : ids;
  for (let from = 0; from < ordered.length; from += FOUND_AT_ONCE) {
    if (areMany) yield;
    users.push(...store.findUsers(tx, { organizationId, ids: ordered.slice(from, from + FOUND_AT_ONCE) }));
  }
  return users;
}

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
