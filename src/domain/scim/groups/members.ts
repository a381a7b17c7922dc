// Changes the members of a group as sets: computes the added and removed members of a request. group-changes.ts applies the effects
// on versions, roles and the audit log, slice by slice.

import { countText } from "../../../platform/count-text.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { NumberSet } from "../../../platform/memory/number-set.ts";
import type { Steps } from "../../../platform/steps.ts";
import { scimInvalid } from "../errors.ts";
import { SentMembers } from "./member-intake.ts";
import { forMembers, inSlices, STEP_MEMBERS, sortedInSlices } from "./member-slices.ts";
import * as store from "./members-store.ts";
import { NAMED_MAX, unknownMembers } from "./unknown-members.ts";

/** The requested members. */
export interface MemberUpdate {
  /** whether unmentioned members stay */
  base: "kept" | "emptied";
  /** ids, each once, or users found while the body arrived */
  add: readonly string[] | SentMembers;
  /** ids, each once */
  remove: readonly string[];
}

/** @returns the number of mentioned members */
export const countOf = (members: MemberUpdate["add"]): number =>
  members instanceof SentMembers ? members.users.size : members.length;

/** Users whose membership began or ended. */
export interface MemberChange {
  added: MovedUsers;
  removed: MovedUsers;
}

/** maximum number of ids in one audit entry; all are counted */
const AUDITED_IDS_MAX = 10;

/** Stores users as numbers, because objects for 100,000 users take 13 MB. */
class MovedUsers {
  readonly sequences: number[] = [];
  /** for the audit log */
  readonly firstIds: string[] = [];

  get count(): number {
    return this.sequences.length;
  }

  add(users: readonly store.NumberedUser[]): void {
    for (const { id, sequence } of users) {
      if (this.firstIds.length < AUDITED_IDS_MAX) this.firstIds.push(id);
      this.sequences.push(sequence);
    }
  }
}

/** Reading a user takes a tenth of adding one. */
const FOUND_AT_ONCE = 5 * STEP_MEMBERS;
/** Indexing a user takes a tenth of reading one. */
const INDEXED_AT_ONCE = 25 * STEP_MEMBERS;

/** The group, and the organization of its users. */
interface Place {
  groupId: string;
  organizationId: string;
}

/** Applies the effects on users whose membership just began or ended. */
type Follow = (users: readonly store.NumberedUser[]) => Steps<void>;

/**
 * The time depends on the number of ids in the request; only `emptied` reads the list of members.
 * @param follow called after each slice, whose users are close together in every table, so that most pages are written only once
 * @throws ScimError 400 invalidValue, which names the first ids that are not users
 * @source SCIM-27, SCIM-93, SCIM-120, SCIM-123
 */
export function* applyMembers(
  tx: Tx,
  place: Place,
  { update: { base, add, remove }, follow }: { update: MemberUpdate; follow: Follow },
): Steps<MemberChange> {
  const { groupId } = place;
  const change = { added: new MovedUsers(), removed: new MovedUsers() };
  function* take(users: readonly store.NumberedUser[]): Steps<void> {
    const gone = store.removeMembers(tx, groupId, users);
    change.removed.add(gone);
    yield* follow(gone);
  }
  function* give(users: readonly store.NumberedUser[]): Steps<void> {
    const come = store.addMembers(tx, groupId, users);
    change.added.add(come);
    yield* follow(come);
  }
  if (base === "kept" && !(add instanceof SentMembers)) {
    const coming = yield* knownUsers(tx, place, add);
    yield* inSlices(yield* findUsers(tx, place, remove), take);
    yield* inSlices(coming, give);
    return change;
  }
  const wanted = yield* wantedUsers(tx, place, add);
  if (base === "emptied")
    yield* forMembers(tx, groupId, (sequences) => {
      const others = sequences.filter((sequence) => !wanted.delete(sequence));
      return take(store.numberedUsers(tx, others));
    });
  for (const sequences of wanted.slices(STEP_MEMBERS)) {
    yield* give(requireAll(store.numberedUsers(tx, sequences), sequences.length));
    yield;
  }
  return change;
}

/** @returns a set of sequences that the caller may change @throws ScimError 400 invalidValue */
function* wantedUsers(tx: Tx, place: Place, members: MemberUpdate["add"]): Steps<NumberSet> {
  if (members instanceof SentMembers) {
    const { unknown, users } = members;
    if (unknown.length > 0) throw unknownMembers(tx, { ...place, ids: unknown });
    return users.copy();
  }
  const wanted = new NumberSet();
  const index = (users: readonly store.NumberedUser[]): undefined => {
    for (const { sequence } of users) wanted.add(sequence);
  };
  yield* inSlices(yield* knownUsers(tx, place, members), index, INDEXED_AT_ONCE);
  return wanted;
}

/** @throws ScimError 400 invalidValue if users were deleted after they were found */
function requireAll(users: readonly store.NumberedUser[], count: number): readonly store.NumberedUser[] {
  if (users.length === count) return users;
  const gone = count - users.length;
  throw scimInvalid(
    "invalidValue",
    `members: ${countText(gone, "user was", "users were")} deleted while the request arrived; send the others again`,
  );
}

/** @throws ScimError 400 invalidValue */
function* knownUsers(tx: Tx, place: Place, ids: readonly string[]): Steps<readonly store.NumberedUser[]> {
  // Refuses a long list of wrong ids before sorting and looking up all of them.
  const first = ids.length > STEP_MEMBERS ? ids.slice(0, NAMED_MAX) : [];
  if (first.length > 0 && store.findUsers(tx, { ...place, ids: first }).length === 0)
    throw unknownMembers(tx, { ...place, ids: first });
  const users = yield* findUsers(tx, place, ids);
  if (users.length === ids.length) return users;
  const known = new Set<string>();
  const unknown: string[] = [];
  const index = (some: readonly store.NumberedUser[]): undefined => {
    for (const { id } of some) known.add(id);
  };
  const compare = (some: readonly string[]): undefined => {
    unknown.push(...some.filter((id) => !known.has(id)).slice(0, NAMED_MAX));
  };
  yield* inSlices(users, index, INDEXED_AT_ONCE);
  yield* inSlices(ids, compare, INDEXED_AT_ONCE);
  throw unknownMembers(tx, { ...place, ids: unknown.slice(0, NAMED_MAX) });
}

/**
 * Sorts many ids, which gives the order of their rows, because ids begin with their creation time. In the request's order, the same
 * pages would be written repeatedly.
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
