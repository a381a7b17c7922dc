// SQL of memberships by the ids of users and groups.
import { and, asc, eq, gt } from "drizzle-orm";
import { type Connection, statement } from "../../../platform/database/database.ts";
import { named } from "../../../platform/database/drizzle.ts";
import { scimGroupMembers, scimGroups, scimUsers } from "../tables.ts";

const { groupSequence, userSequence } = scimGroupMembers;

const selectGroups = statement((connection) =>
  connection
    .select({ id: scimGroups.id })
    .from(scimUsers)
    .innerJoin(scimGroupMembers, eq(userSequence, scimUsers.sequence))
    .innerJoin(scimGroups, eq(scimGroups.sequence, groupSequence))
    .where(eq(scimUsers.accountId, named("userId")))
    .prepare(),
);

/** @returns ids of the groups of a user, in no order */
export const groupIdsOf = (connection: Connection, userId: string): string[] =>
  selectGroups(connection)
    .all({ userId })
    .map(({ id }) => id);

export const hasGroup = (connection: Connection, organizationId: string, groupId: string): boolean =>
  connection
    .select({ id: scimGroups.id })
    .from(scimGroups)
    .where(and(eq(scimGroups.id, groupId), eq(scimGroups.organizationId, organizationId)))
    .limit(1)
    .get() !== undefined;

/** @param after sequence of the last member of the previous slice, or 0 @returns members in the order of their creation */
export const memberIds = (
  connection: Connection,
  { groupId, after, limit }: { groupId: string; after: number; limit: number },
): { id: string; sequence: number }[] =>
  connection
    .select({ id: scimUsers.accountId, sequence: userSequence })
    .from(scimGroups)
    .innerJoin(scimGroupMembers, and(eq(groupSequence, scimGroups.sequence), gt(userSequence, after)))
    .innerJoin(scimUsers, eq(scimUsers.sequence, userSequence))
    .where(eq(scimGroups.id, groupId))
    .orderBy(asc(userSequence))
    .limit(limit)
    .all();
