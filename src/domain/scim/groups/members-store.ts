// SQL of memberships, always on sets: lists of ids are bound as one JSON text, so no statement runs once for each member and
// none reads members that it does not change (SCIM-120, SCIM-123, SCIM-124).
import { and, asc, eq, gt, inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { locationOf } from "../messages/messages.ts";
import { scimGroupMembers, scimGroups, scimUserRevisions, scimUsers } from "../tables.ts";

const named = sql.placeholder;
const { groupId, userId } = scimGroupMembers;

/** @returns the elements of a JSON list of texts that is bound under this name */
export const asIdList = (list: string): SQL => sql`(SELECT value FROM json_each(${named(list)}))`;
const asList = (ids: readonly string[]): string => JSON.stringify(ids);

const insertUsers = statement((connection) =>
  connection
    .insert(scimGroupMembers)
    .select(
      connection
        .select({ groupId: sql<string>`${named("groupId")}`.as("group_id"), userId: scimUsers.accountId })
        .from(sql`json_each(${named("ids")})`)
        .crossJoin(scimUsers) // in this order: SQLite would read every user of the organization
        .crossJoin(scimUserRevisions) // has the organization in fewer pages than the users
        .where(
          and(
            eq(scimUsers.accountId, sql`value`),
            eq(scimUserRevisions.sequence, scimUsers.sequence),
            eq(scimUserRevisions.organizationId, named("organizationId")),
          ),
        ),
    )
    .onConflictDoNothing()
    .returning({ id: userId })
    .prepare(),
);

/** Adds those that are users of the organization. @returns the ids of the new members */
export const addMembers = (
  tx: Tx,
  { ids, ...group }: { groupId: string; organizationId: string; ids: readonly string[] },
): readonly string[] => {
  if (ids.length === 0) return [];
  const added = insertUsers(tx).all({ ...group, ids: asList(ids) });
  return added.map(({ id }) => id);
};

const selectNonMembers = statement((connection) =>
  connection
    .select({ id: sql<string>`value` })
    .from(sql`json_each(${named("ids")})`)
    .where(
      sql`NOT EXISTS (SELECT 1 FROM ${scimGroupMembers} WHERE ${groupId} = ${named("groupId")} AND ${userId} = value)`,
    )
    .limit(named("limit"))
    .prepare(),
);

/** @returns the first of these ids that are not members */
export const findNonMembers = (
  connection: Connection,
  asked: { groupId: string; ids: readonly string[]; limit: number },
): readonly string[] =>
  selectNonMembers(connection)
    .all({ ...asked, ids: asList(asked.ids) })
    .map(({ id }) => id);

const selectGroups = statement((connection) =>
  connection
    .select({ id: scimGroups.id })
    .from(scimGroups)
    .where(
      and(inArray(scimGroups.id, asIdList("ids")), eq(scimGroups.organizationId, named("organizationId"))),
    )
    .prepare(),
);

/** @returns those of these ids that are groups */
export const findGroups = (
  connection: Connection,
  asked: { organizationId: string; ids: readonly string[] },
): readonly string[] =>
  selectGroups(connection)
    .all({ ...asked, ids: asList(asked.ids) })
    .map(({ id }) => id);

const deleteListed = statement((connection) =>
  connection
    .delete(scimGroupMembers)
    .where(and(eq(groupId, named("groupId")), inArray(userId, asIdList("ids"))))
    .returning({ id: userId })
    .prepare(),
);

/** @returns the ids of former members */
export const removeMembers = (
  tx: Tx,
  { ids, ...group }: { groupId: string; ids: readonly string[] },
): readonly string[] => {
  if (ids.length === 0) return [];
  const removed = deleteListed(tx).all({ ...group, ids: asList(ids) });
  return removed.map(({ id }) => id);
};

const bumpListedVersions = statement((connection) =>
  connection
    .update(scimUserRevisions)
    .set({ version: sql`${scimUserRevisions.version} + 1`, updatedAtMs: sql`${named("nowMs")}` })
    .where(
      inArray(
        scimUserRevisions.sequence,
        connection
          .select({ sequence: scimUsers.sequence })
          .from(sql`json_each(${named("ids")})`)
          .crossJoin(scimUsers)
          .where(eq(scimUsers.accountId, sql`value`)),
      ),
    )
    .prepare(),
);

/** Gives each of these users a new version. */
export function bumpUserVersions(tx: Tx, { ids, nowMs }: { ids: readonly string[]; nowMs: number }): void {
  if (ids.length > 0) bumpListedVersions(tx).run({ ids: asList(ids), nowMs });
}

const selectIds = statement((connection) =>
  connection
    .select({ id: userId })
    .from(scimGroupMembers)
    .where(and(eq(groupId, named("groupId")), gt(userId, named("after"))))
    .orderBy(asc(userId))
    .limit(named("limit"))
    .prepare(),
);

/** @param asked as for `memberSlice` @returns ids of members in their order */
export const memberIdSlice = (
  connection: Connection,
  asked: { groupId: string; after: string; limit: number },
): readonly string[] =>
  selectIds(connection)
    .all(asked)
    .map(({ id }) => id);

const selectNames = statement((connection) =>
  connection
    .select({ name: scimGroups.displayName })
    .from(scimGroupMembers)
    .innerJoin(scimGroups, eq(scimGroups.id, groupId))
    .where(eq(userId, named("userId")))
    .orderBy(asc(scimGroups.displayNameKey))
    .prepare(),
);

/** @returns the names of a user's groups, ordered without case */
export const groupNamesOf = (connection: Connection, user: { userId: string }): readonly string[] =>
  selectNames(connection)
    .all(user)
    .map(({ name }) => name);

const bumpLeftGroupVersions = statement((connection) =>
  connection
    .update(scimGroups)
    .set({
      version: sql`${scimGroups.version} + 1`,
      memberCount: sql`${scimGroups.memberCount} - 1`,
      updatedAtMs: sql`${named("nowMs")}`,
    })
    .where(
      inArray(
        scimGroups.id,
        connection
          .select({ id: groupId })
          .from(scimGroupMembers)
          .where(eq(userId, named("userId"))),
      ),
    )
    .prepare(),
);
const deleteOfUser = statement((connection) =>
  connection
    .delete(scimGroupMembers)
    .where(eq(userId, named("userId")))
    .prepare(),
);

/** Removes a user from every group, and gives each of them a new version. */
export function removeFromAllGroups(tx: Tx, user: { userId: string; nowMs: number }): void {
  bumpLeftGroupVersions(tx).run(user);
  deleteOfUser(tx).run({ userId: user.userId });
}

const isTheUser = eq(scimUsers.accountId, userId);

/** @returns a member as a group shows it; without a name it has no `display` */
function shownMember({ id, display }: Record<"id" | "display", SQLWrapper>): SQL {
  const reference = sql`'value', ${id}, '$ref', ${named("usersUrl")} || ${id}, 'type', 'User'`;
  return sql`CASE WHEN ${display} IS NULL THEN json_object(${reference})
    ELSE json_object(${reference}, 'display', ${display}) END`;
}

const selectSlice = statement((connection) => {
  const slice = connection
    .select({ id: userId, display: scimUsers.display })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, isTheUser)
    .where(and(eq(groupId, named("groupId")), gt(userId, named("after"))))
    .orderBy(asc(userId))
    .limit(named("limit"))
    .as("slice");
  return connection
    .select({
      members: sql<string>`json_group_array(${shownMember(slice)})`,
      last: sql<string | null>`CASE count(*) WHEN ${named("limit")} THEN max(${slice.id}) END`,
    })
    .from(slice)
    .prepare();
});

/** A part of a group's members. */
export interface MemberSlice {
  /** JSON list: SQLite writes it, because objects for 50,000 members would be tens of megabytes of garbage */
  members: string;
  /** id of the last member; null if no more may follow */
  last: string | null;
}

/** @param asked `after` is the last id of the previous slice, or empty text @returns the members with the next ids */
export const memberSlice = (
  connection: Connection,
  { baseUrl, ...asked }: { groupId: string; after: string; limit: number; baseUrl: string },
): MemberSlice =>
  selectSlice(connection).get({ ...asked, usersUrl: locationOf("User", "", baseUrl) }) ?? NO_MEMBERS;

const NO_MEMBERS: MemberSlice = { members: "[]", last: null };

const selectOfGroups = statement((connection) =>
  connection
    .select({
      groupId,
      members: sql<string>`json_group_array(${shownMember({ id: userId, display: scimUsers.display })})`,
    })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, isTheUser)
    .where(inArray(groupId, asIdList("ids")))
    .groupBy(groupId)
    .prepare(),
);

/** @returns for each of these groups with members their JSON list */
export const membersOfGroups = (
  connection: Connection,
  { ids, baseUrl }: { ids: readonly string[]; baseUrl: string },
): readonly { groupId: string; members: string }[] =>
  selectOfGroups(connection).all({ ids: asList(ids), usersUrl: locationOf("User", "", baseUrl) });
