// SQL about users' workstations, for lists of users: their number, the last report, and conditions for statements of other
// areas. Each reads the index by user.
import { and, count, eq, inArray, lt, max, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../../platform/database/database.ts";
import { clientReports } from "../tables.ts";

/** The columns about workstations in a list of users. */
export interface UserFigures {
  workstations: number;
  /** last report of any workstation, UTC milliseconds; null if there is none */
  lastSeenAtMs: number | null;
}

const { userId: ofUser, organizationId: ofOrganization, lastSeenAtMs } = clientReports;

/** @returns the figures by user; users without a workstation are absent */
export function figuresOfUsers(
  connection: Connection,
  { organizationId, userIds }: { organizationId: string; userIds: readonly string[] },
): ReadonlyMap<string, UserFigures> {
  const rows = connection
    .select({ userId: ofUser, workstations: count(), lastSeenAtMs: max(lastSeenAtMs) })
    .from(clientReports)
    // The plus keeps SQLite from scanning an index of the whole organization.
    .where(and(inArray(ofUser, [...userIds]), sql`+${ofOrganization} = ${organizationId}`))
    .groupBy(ofUser)
    .all();
  return new Map(rows.map(({ userId, ...figures }) => [userId, figures]));
}

/** A condition for users without a workstation that reported at this time or later. */
export const hasNoneSince =
  (ms: number) =>
  (userId: SQLiteColumn): SQL =>
    sql`NOT EXISTS (SELECT 1 FROM ${clientReports} WHERE ${ofUser} = ${userId} AND ${lastSeenAtMs} >= ${ms})`;

/** @returns the user of each workstation last seen before `ms`, at most `limit` of them; a user may occur more than once */
export const ownersSeenBefore = (
  connection: Connection,
  { organizationId, ms, limit }: { organizationId: string; ms: number; limit: number },
): string[] =>
  connection
    .select({ userId: ofUser })
    .from(clientReports)
    .where(and(eq(ofOrganization, organizationId), lt(lastSeenAtMs, ms)))
    .limit(limit)
    .all()
    .map(({ userId }) => userId);
