// SQL of the administrators' view of groups. group-directory.ts defines the order and resolves references.
import { and, asc, count, desc, eq, getTableColumns, gt, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../../platform/database/database.ts";
import { likePattern, type PageSlice } from "../../shared/page.ts";
import type { GroupRow } from "../model.ts";
import { scimGroupMembers, scimGroups, scimUsers } from "../tables.ts";

export interface MemberView {
  /** id of the user */
  id: string;
  userName: string;
  /** the user's label inside the product */
  label: string;
  active: boolean;
}

const { sequence, organizationId: ofOrganization, displayNameKey, ...shown } = getTableColumns(scimGroups);

interface GroupSlice extends PageSlice {
  search: { text: string; key: string } | undefined;
  /** folded name of the group after which the page begins */
  after?: string | undefined;
}

/** Ordered by folded name, which is unique. */
export function listGroups(
  connection: Connection,
  organizationId: string,
  { search, after, offset, limit, known }: GroupSlice,
): { items: GroupRow[]; total: number } {
  const matching = and(
    eq(ofOrganization, organizationId),
    search && or(contains(displayNameKey, search.key), contains(scimGroups.externalId, search.text)),
  );
  const total =
    known ?? connection.select({ total: count() }).from(scimGroups).where(matching).get()?.total ?? 0;
  const items = connection
    .select(shown)
    .from(scimGroups)
    .where(and(matching, after === undefined ? undefined : gt(displayNameKey, after)))
    .orderBy(asc(displayNameKey))
    .limit(limit)
    .offset(offset)
    .all();
  return { items, total };
}

/** @param wanted `key` is the folded reference */
export function findGroup(
  connection: Connection,
  organizationId: string,
  { reference, key }: { reference: string; key: string },
): GroupRow | undefined {
  const [hasId, hasName] = [eq(scimGroups.id, reference.toLowerCase()), eq(displayNameKey, key)];
  return connection
    .select(shown)
    .from(scimGroups)
    .where(and(eq(ofOrganization, organizationId), or(hasId, hasName, eq(scimGroups.externalId, reference))))
    .orderBy(desc(hasId), desc(hasName))
    .limit(1)
    .get();
}

/** Ordered by the creation of the users. */
export function listMembers(
  connection: Connection,
  groupId: string,
  { offset, limit }: PageSlice,
): { items: MemberView[]; total: number } {
  const group = connection
    .select({ sequence: scimGroups.sequence })
    .from(scimGroups)
    .where(eq(scimGroups.id, groupId));
  const isMember = eq(scimGroupMembers.groupSequence, sql`${group}`);
  const total =
    connection.select({ total: count() }).from(scimGroupMembers).where(isMember).get()?.total ?? 0;
  const { userName, label, active } = scimUsers;
  const items = connection
    .select({ id: scimUsers.accountId, userName, label, active })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, eq(scimUsers.sequence, scimGroupMembers.userSequence))
    .where(isMember)
    .orderBy(asc(scimGroupMembers.userSequence))
    .limit(limit)
    .offset(offset)
    .all();
  return { items, total };
}

/** @returns the groups of a user by folded name */
export const listGroupsOf = (connection: Connection, userId: string) =>
  connection
    .select({ id: scimGroups.id, displayName: scimGroups.displayName })
    .from(scimUsers)
    .innerJoin(scimGroupMembers, eq(scimGroupMembers.userSequence, scimUsers.sequence))
    .innerJoin(scimGroups, eq(scimGroups.sequence, scimGroupMembers.groupSequence))
    .where(eq(scimUsers.accountId, userId))
    .orderBy(asc(displayNameKey))
    .all();

/** A condition for users who are members of the group, to embed in another area's statement. */
export const hasMember = (connection: Connection, groupId: string) => {
  const group = sequenceOf(connection, groupId);
  return (userId: SQLiteColumn): SQL =>
    sql`EXISTS (SELECT 1 FROM ${scimUsers}
      JOIN ${scimGroupMembers} ON ${scimGroupMembers.userSequence} = ${scimUsers.sequence}
      WHERE ${scimUsers.accountId} = ${userId} AND ${scimGroupMembers.groupSequence} = ${group})`;
};

/** @returns how many members the group has */
export const countMembers = (connection: Connection, groupId: string): number =>
  connection
    .select({ total: count() })
    .from(scimGroupMembers)
    .where(eq(scimGroupMembers.groupSequence, sequenceOf(connection, groupId)))
    .get()?.total ?? 0;

/** @returns the ids of at most `limit` members */
export const listMemberIds = (
  connection: Connection,
  { groupId, limit }: { groupId: string; limit: number },
): string[] =>
  connection
    .select({ id: scimUsers.accountId })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, eq(scimUsers.sequence, scimGroupMembers.userSequence))
    .where(eq(scimGroupMembers.groupSequence, sequenceOf(connection, groupId)))
    .limit(limit)
    .all()
    .map(({ id }) => id);

/** @returns the number of the group in the table of members; 0 for none */
const sequenceOf = (connection: Connection, id: string): number =>
  connection.select({ sequence }).from(scimGroups).where(eq(scimGroups.id, id)).get()?.sequence ?? 0;

const contains = (column: SQLiteColumn, text: string): SQL =>
  sql`${column} LIKE ${likePattern(text)} ESCAPE '\\'`;
