// SQL of memberships, always on sets: lists are bound as one JSON text, so no statement runs per member or reads members that it
// does not change (SCIM-120, SCIM-123, SCIM-124). Rows identify users and groups by their sequences.
import { and, asc, eq, gt, inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, named } from "../../../platform/database/drizzle.ts";
import { locationOf } from "../messages/messages.ts";
import { IS_OWN_REVISION } from "../organization-store.ts";
import { scimGroupMembers, scimGroups, scimUserRevisions, scimUsers } from "../tables.ts";

const { groupSequence, userSequence } = scimGroupMembers;

/** @returns the elements of a JSON list that is bound under this name */
export const asList = (list: string): SQL => sql`(SELECT value FROM json_each(${named(list)}))`;
const jsonOf = (values: readonly (string | number)[]): string => JSON.stringify(values);
const sequencesOf = (users: readonly NumberedUser[]): string => jsonOf(users.map(({ sequence }) => sequence));

const THE_GROUP = sql`(SELECT ${scimGroups.sequence} FROM ${scimGroups} WHERE ${scimGroups.id} = ${named("groupId")})`;
const isOfTheGroup = sql`${groupSequence} = ${THE_GROUP}`;

/** A user's two identifiers: the id in requests, and the sequence in rows. */
export interface NumberedUser {
  id: string;
  sequence: number;
}

const selectUsers = statement((connection) =>
  connection
    .select({ id: sql<string>`value`, sequence: scimUsers.sequence })
    .from(sql`json_each(${named("ids")})`)
    .crossJoin(scimUsers) // in this order, because otherwise SQLite would read every user of the organization
    .crossJoin(scimUserRevisions) // has the organization in fewer pages than the users
    .where(
      and(
        eq(scimUsers.accountId, sql`value`),
        eq(scimUserRevisions.sequence, scimUsers.sequence),
        IS_OWN_REVISION,
      ),
    )
    .prepare(),
);

/** @returns the ids that are users of the organization */
export const findUsers = (
  connection: Connection,
  query: { organizationId: string; ids: readonly string[] },
): readonly NumberedUser[] => selectUsers(connection).all({ ...query, ids: jsonOf(query.ids) });

const insertListed = statement((connection) =>
  connection
    .insert(scimGroupMembers)
    .select(sql`SELECT ${THE_GROUP}, value FROM json_each(${named("sequences")}) WHERE true`)
    .onConflictDoNothing()
    .returning({ sequence: userSequence })
    .prepare(),
);

/** @returns the users who were not members */
export function addMembers(tx: Tx, groupId: string, users: readonly NumberedUser[]): readonly NumberedUser[] {
  if (users.length === 0) return [];
  return changedAmong(users, insertListed(tx).all({ groupId, sequences: sequencesOf(users) }));
}

const deleteListed = statement((connection) =>
  connection
    .delete(scimGroupMembers)
    .where(and(isOfTheGroup, inArray(userSequence, asList("sequences"))))
    .returning({ sequence: userSequence })
    .prepare(),
);

/** @returns the users who were members */
export function removeMembers(
  tx: Tx,
  groupId: string,
  users: readonly NumberedUser[],
): readonly NumberedUser[] {
  if (users.length === 0) return [];
  return changedAmong(users, deleteListed(tx).all({ groupId, sequences: sequencesOf(users) }));
}

function changedAmong(
  users: readonly NumberedUser[],
  changed: readonly { sequence: number }[],
): readonly NumberedUser[] {
  if (changed.length === users.length) return users;
  const sequences = new Set(changed.map(({ sequence }) => sequence));
  return users.filter(({ sequence }) => sequences.has(sequence));
}

const selectGroups = statement((connection) =>
  connection
    .select({ id: scimGroups.id })
    .from(scimGroups)
    .where(and(inArray(scimGroups.id, asList("ids")), equalAll(scimGroups, "organizationId")))
    .prepare(),
);

/** @returns the ids that are groups */
export const findGroups = (
  connection: Connection,
  query: { organizationId: string; ids: readonly string[] },
): readonly string[] =>
  selectGroups(connection)
    .all({ ...query, ids: jsonOf(query.ids) })
    .map(({ id }) => id);

const bumpListedVersions = statement((connection) =>
  connection
    .update(scimUserRevisions)
    .set({ version: sql`${scimUserRevisions.version} + 1`, updatedAtMs: named("nowMs") })
    .where(inArray(scimUserRevisions.sequence, asList("sequences")))
    .prepare(),
);

/** Gives each of these users a new version. */
export function bumpUserVersions(
  tx: Tx,
  { users, nowMs }: { users: readonly NumberedUser[]; nowMs: number },
): void {
  if (users.length > 0) bumpListedVersions(tx).run({ sequences: sequencesOf(users), nowMs });
}

const selectSequences = statement((connection) =>
  connection
    .select({ sequence: userSequence })
    .from(scimGroupMembers)
    .where(and(isOfTheGroup, gt(userSequence, named("after"))))
    .orderBy(asc(userSequence))
    .limit(sql.placeholder("limit"))
    .prepare(),
);

/** @param query as for `memberSlice` @returns members in the order of their creation, without reading them */
export const memberSequences = (connection: Connection, query: SliceQuery): readonly number[] =>
  selectSequences(connection)
    .all({ ...query })
    .map(({ sequence }) => sequence);

const selectNumbered = statement((connection) =>
  connection
    .select({ id: scimUsers.accountId, sequence: scimUsers.sequence })
    .from(scimUsers)
    .where(inArray(scimUsers.sequence, asList("sequences")))
    .orderBy(asc(scimUsers.sequence))
    .prepare(),
);

/** @returns the users with these sequences in the order of their creation */
export const numberedUsers = (
  connection: Connection,
  sequences: readonly number[],
): readonly NumberedUser[] =>
  sequences.length === 0 ? [] : selectNumbered(connection).all({ sequences: jsonOf(sequences) });

const THE_USER = sql`(SELECT ${scimUsers.sequence} FROM ${scimUsers} WHERE ${scimUsers.accountId} = ${named("userId")})`;
const isOfTheUser = sql`${userSequence} = ${THE_USER}`;

const selectNames = statement((connection) =>
  connection
    .select({ name: scimGroups.displayName })
    .from(scimGroupMembers)
    .innerJoin(scimGroups, eq(scimGroups.sequence, groupSequence))
    .where(isOfTheUser)
    .orderBy(asc(scimGroups.displayNameKey))
    .prepare(),
);

/** @returns the names of a user's groups, in case-insensitive order */
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
      updatedAtMs: named("nowMs"),
    })
    .where(
      inArray(
        scimGroups.sequence,
        connection.select({ sequence: groupSequence }).from(scimGroupMembers).where(isOfTheUser),
      ),
    )
    .prepare(),
);
const deleteOfUser = statement((connection) =>
  connection.delete(scimGroupMembers).where(isOfTheUser).prepare(),
);

/** Removes a user from every group, and gives each of them a new version. */
export function removeFromAllGroups(tx: Tx, user: { userId: string; nowMs: number }): void {
  bumpLeftGroupVersions(tx).run(user);
  deleteOfUser(tx).run({ userId: user.userId });
}

const isTheMember = eq(scimUsers.sequence, userSequence);

/** @returns a member as a group shows it; without a name it has no `display` */
function shownMember({ id, display }: Record<"id" | "display", SQLWrapper>): SQL {
  const reference = sql`'value', ${id}, '$ref', ${named("usersUrl")} || ${id}, 'type', 'User'`;
  return sql`CASE WHEN ${display} IS NULL THEN json_object(${reference})
    ELSE json_object(${reference}, 'display', ${display}) END`;
}

const selectSlice = statement((connection) => {
  const slice = connection
    .select({ sequence: userSequence, id: scimUsers.accountId, display: scimUsers.display })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, isTheMember)
    .where(and(isOfTheGroup, gt(userSequence, named("after"))))
    .orderBy(asc(userSequence))
    .limit(sql.placeholder("limit"))
    .as("slice");
  return connection
    .select({
      members: sql<string>`json_group_array(${shownMember(slice)})`,
      last: sql<number | null>`CASE count(*) WHEN ${named("limit")} THEN max(${slice.sequence}) END`,
    })
    .from(slice)
    .prepare();
});

/** `after` is the last sequence of the previous slice, or 0. */
export interface SliceQuery {
  groupId: string;
  after: number;
  limit: number;
}

/** A part of a group's members. */
export interface MemberSlice {
  /** JSON list written by SQLite, because objects for 50,000 members would be tens of megabytes of garbage */
  members: string;
  /** sequence of the last member; null if no more may follow */
  last: number | null;
}

/** @returns members in the order of their creation */
export const memberSlice = (
  connection: Connection,
  { baseUrl, ...query }: SliceQuery & { baseUrl: string },
): MemberSlice =>
  selectSlice(connection).get({ ...query, usersUrl: locationOf("User", "", baseUrl) }) ?? NO_MEMBERS;

const NO_MEMBERS: MemberSlice = { members: "[]", last: null };

const selectOfGroups = statement((connection) =>
  connection
    .select({
      groupId: sql<string>`(SELECT ${scimGroups.id} FROM ${scimGroups} WHERE ${scimGroups.sequence} = ${groupSequence})`,
      members: sql<string>`json_group_array(${shownMember({ id: scimUsers.accountId, display: scimUsers.display })})`,
    })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, isTheMember)
    .where(
      inArray(
        groupSequence,
        connection
          .select({ sequence: scimGroups.sequence })
          .from(scimGroups)
          .where(inArray(scimGroups.id, asList("ids"))),
      ),
    )
    .groupBy(groupSequence)
    .prepare(),
);

/** @returns the JSON list of members of each of these groups that has any */
export const membersOfGroups = (
  connection: Connection,
  { ids, baseUrl }: { ids: readonly string[]; baseUrl: string },
): readonly { groupId: string; members: string }[] =>
  selectOfGroups(connection).all({ ids: jsonOf(ids), usersUrl: locationOf("User", "", baseUrl) });
