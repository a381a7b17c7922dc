// Changes a group inside one transaction: its row, its members, and the effects of the difference: versions, roles, the audit
// entry. Without a difference there are no effects. A change of many members yields between slices; a change of few is a single
// step.
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { uniqueViolation } from "../../../platform/database/storage-errors.ts";
import { invariant } from "../../../platform/errors.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { AuditSummary } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { ScimDependencies } from "../dependencies.ts";
import { scimNotFound, scimTaken } from "../errors.ts";
import { requireVersion } from "../messages/messages.ts";
import type { GroupRow } from "../model.ts";
import type { Roles } from "../roles/roles.ts";
import { foldCase } from "../schema/values.ts";
import * as store from "./groups-store.ts";
import { forMembers, inSlices } from "./member-slices.ts";
import { applyMembers, countOf, type MemberChange, type MemberUpdate } from "./members.ts";
import * as memberStore from "./members-store.ts";

type NumberedUser = memberStore.NumberedUser;
/** The consequences for users whose membership, or whose group, changed. */
type Effects = (users: readonly NumberedUser[]) => Steps<void>;

/** A complete group from a request. */
export interface NewGroup {
  displayName: string;
  externalId: string | undefined;
  members: MemberUpdate["add"] | undefined;
}

/** A change of a group; undefined members stay. */
export interface GroupUpdate {
  displayName?: string;
  /** null removes it */
  externalId?: string | null;
  members: MemberUpdate;
}

export interface GroupRequest {
  id: string;
  ifMatch: string | undefined;
}

interface Difference {
  /** undefined for a new group */
  before: GroupRow | undefined;
  after: GroupRow;
}

type GroupChangeDependencies = Pick<ScimDependencies, "audit" | "clock" | "ids" | "groupsChanged"> & {
  roles: Roles;
};

export class GroupChanges {
  constructor(private readonly dependencies: GroupChangeDependencies) {}

  /** @throws ScimError 400 for unknown members, 409 */
  *insert(tx: Tx, actor: Actor, { displayName, externalId, members = [] }: NewGroup): Steps<GroupRow> {
    const { clock, ids } = this.dependencies;
    const nowMs = clock.nowMs();
    const after: GroupRow = {
      id: ids.uuid(),
      externalId: externalId ?? null,
      displayName,
      memberCount: countOf(members),
      version: 1,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const difference = { before: undefined, after };
    mapUniqueViolation(() => store.insertGroup(tx, stored(after, actor)));
    const update = { base: "kept", add: members, remove: [] } as const;
    const follow = this.#effectsOn(tx, actor, difference);
    const change = yield* applyMembers(tx, placeOf(after, actor), { update, follow });
    invariant(change.added.count === after.memberCount, "a new group has the members it was sent with");
    this.#record(tx, actor, { ...difference, ...change });
    return after;
  }

  /**
   * @returns the resulting row, the same if nothing differs
   * @throws ScimError 400 for unknown members, 404, 409, 412
   */
  *update(
    tx: Tx,
    actor: Actor,
    { update, ...request }: GroupRequest & { update: GroupUpdate },
  ): Steps<GroupRow> {
    const before = this.#present(tx, actor, request);
    const { displayName = before.displayName, externalId = before.externalId } = update;
    const named = { ...before, displayName, externalId, updatedAtMs: this.dependencies.clock.nowMs() };
    const follow = this.#effectsOn(tx, actor, { before, after: named });
    const change = yield* applyMembers(tx, placeOf(before, actor), { update: update.members, follow });
    const movedCount = change.added.count + change.removed.count;
    if (movedCount === 0 && displayName === before.displayName && externalId === before.externalId)
      return before;
    const after: GroupRow = {
      ...named,
      memberCount: before.memberCount + change.added.count - change.removed.count,
      version: before.version + 1,
    };
    mapUniqueViolation(() => store.updateGroup(tx, stored(after, actor)));
    yield* this.#affectAll(tx, actor, { before, after, ...change });
    this.#record(tx, actor, { before, after, ...change });
    return after;
  }

  /** @throws ScimError 404, 412 */
  *remove(tx: Tx, actor: Actor, request: GroupRequest): Steps<void> {
    const { audit, clock, roles } = this.dependencies;
    const before = this.#present(tx, actor, request);
    const nowMs = clock.nowMs();
    const givesRole = roles.roleOf(before) === "admin";
    const showDifference = (users: readonly NumberedUser[]) => this.#showDifference(tx, users, nowMs);
    yield* forMembers(tx, before.id, function* (sequences): Steps<void> {
      const users = memberStore.numberedUsers(tx, sequences);
      memberStore.removeMembers(tx, before.id, users);
      showDifference(users);
      if (givesRole) yield* roles.recompute(tx, { actor, userIds: idsOf(users) });
    });
    store.deleteGroup(tx, { organizationId: actor.organizationId, id: before.id });
    audit.record(tx, { actor, action: "scim_group.remove", target: before.id, before: summaryOf(before) });
  }

  #present(tx: Tx, { organizationId }: Actor, { id, ifMatch }: GroupRequest): GroupRow {
    const row = knownGroup(tx, { organizationId, id });
    requireVersion(ifMatch, row.version);
    return row;
  }

  /**
   * @returns what changes for added and removed members: their groups, and their role if the group gives one. If all members are
   * affected, `#affectAll` includes them
   */
  #effectsOn(tx: Tx, actor: Actor, difference: Difference): Effects {
    const { after } = difference;
    const { isRenamed, isRemapped } = this.#reachOf(difference);
    const isGiven = !isRemapped && this.dependencies.roles.roleOf(after) === "admin";
    return this.#effects(tx, actor, { after, isShown: !isRenamed, isGiven });
  }

  /** Users show the names of their groups, so a new name or role of the group changes every member. */
  *#affectAll(tx: Tx, actor: Actor, { removed, ...difference }: Difference & MemberChange): Steps<void> {
    const { after } = difference;
    const { isRenamed, isRemapped } = this.#reachOf(difference);
    if (!isRenamed && !isRemapped) return;
    const effects = this.#effects(tx, actor, { after, isShown: isRenamed, isGiven: isRemapped });
    yield* forMembers(tx, after.id, (sequences) => effects(memberStore.numberedUsers(tx, sequences)));
    yield* inSlices(removed.sequences, (sequences) => effects(memberStore.numberedUsers(tx, sequences)));
  }

  /** @param which `isShown` if the users' shown groups change, `isGiven` if their roles may change */
  #effects(
    tx: Tx,
    actor: Actor,
    { after: { updatedAtMs }, isShown, isGiven }: { after: GroupRow; isShown: boolean; isGiven: boolean },
  ): Effects {
    const { roles } = this.dependencies;
    const showDifference = (users: readonly NumberedUser[]) => this.#showDifference(tx, users, updatedAtMs);
    return function* (users): Steps<void> {
      if (users.length === 0) return;
      if (isShown) showDifference(users);
      if (isGiven) yield* roles.recompute(tx, { actor, userIds: idsOf(users) });
    };
  }

  #reachOf({ before, after }: Difference): { isRenamed: boolean; isRemapped: boolean } {
    const { roles } = this.dependencies;
    return {
      isRenamed: before !== undefined && before.displayName !== after.displayName,
      isRemapped: before !== undefined && roles.roleOf(before) !== roles.roleOf(after),
    };
  }

  #record(tx: Tx, actor: Actor, { before, after, ...change }: Difference & MemberChange): void {
    this.dependencies.audit.record(tx, {
      actor,
      action: before ? "scim_group.update" : "scim_group.create",
      target: after.id,
      ...(before && { before: summaryOf(before) }),
      after: { ...summaryOf(after), ...memberSummary(change) },
    });
  }

  /** For users whose groups or group names changed. */
  #showDifference(tx: Tx, users: readonly NumberedUser[], nowMs: number): void {
    memberStore.bumpUserVersions(tx, { users, nowMs });
    this.dependencies.groupsChanged?.(tx, idsOf(users));
  }
}

/** @throws ScimError 404 for an id that is not a group of the organization */
export function knownGroup(connection: Connection, group: { organizationId: string; id: string }): GroupRow {
  const row = store.findGroup(connection, group);
  if (!row) throw scimNotFound();
  return row;
}

const idsOf = (users: readonly NumberedUser[]): string[] => users.map(({ id }) => id);

const placeOf = ({ id }: GroupRow, { organizationId }: Actor) => ({ groupId: id, organizationId });

const stored = (row: GroupRow, { organizationId }: Actor): store.StoredGroup => ({
  ...row,
  organizationId,
  displayNameKey: foldCase(row.displayName),
});

function mapUniqueViolation(write: () => void): void {
  try {
    write();
  } catch (error) {
    const columns = uniqueViolation(error);
    if (columns?.includes("display_name_key"))
      throw scimTaken(
        "displayName: another group has this name, letter case aside; use that group, or another name",
      );
    if (columns?.includes("external_id"))
      throw scimTaken("externalId: another group has this value; use that group, or another value");
    throw error;
  }
}

const summaryOf = ({ displayName, externalId, memberCount }: GroupRow): AuditSummary => ({
  display_name: displayName,
  external_id: externalId,
  members: memberCount,
});

const memberSummary = ({ added, removed }: MemberChange): AuditSummary => ({
  members_added: added.count,
  members_removed: removed.count,
  added_ids: added.firstIds,
  removed_ids: removed.firstIds,
});
