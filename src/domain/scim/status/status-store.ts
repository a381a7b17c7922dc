// SQL of the counts in the status. The condition of a partial index is a literal, because SQLite does not match parameters against it.
import { and, count, eq, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { scimGroups, scimUsers } from "../tables.ts";

/** @returns the number of the organization's resources */
export function countResources(connection: Connection, organizationId: string) {
  const isOurs = eq(scimUsers.organizationId, organizationId);
  const isGroupOfOurs = eq(scimGroups.organizationId, organizationId);
  return {
    users: countIn(connection, scimUsers, isOurs),
    suspendedUsers: countIn(connection, scimUsers, and(isOurs, sql`${scimUsers.active} = 0`)),
    groups: countIn(connection, scimGroups, isGroupOfOurs),
  };
}

const countIn = (
  connection: Connection,
  table: typeof scimUsers | typeof scimGroups,
  matching: SQL | undefined,
): number => connection.select({ total: count() }).from(table).where(matching).get()?.total ?? 0;
