// SQL that finds and counts records. list-store.ts has the lists.
import { and, count, desc, eq, getTableColumns, inArray, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../../platform/database/database.ts";
import { boundsOf, isInSpan, NAMED, placesOf } from "../../shared/ordered-rows-store.ts";
import type { Span } from "../../shared/page-steps.ts";
import { CLIENTS_PER_USER_MAX } from "../limits.ts";
import type { Health } from "../model.ts";
import type { RowId } from "../store.ts";
import { clientReports } from "../tables.ts";
import { healthSince, type InventoryRow, NEWEST_FIRST, recordsWhere } from "./list-store.ts";

const { harnessNames, harnessVersions, ...shown } = getTableColumns(clientReports);
const { lastSeenAtMs } = shown;

/** @returns the record with that id; undefined for none */
export function findReport(
  connection: Connection,
  { organizationId, id }: RowId,
  inForce: string | null,
): InventoryRow | undefined {
  const where = and(eq(clientReports.organizationId, organizationId), eq(shown.id, id));
  return recordsWhere(connection, { where, inForce, limit: 1 })[0];
}

/** @returns the records with that instance id or host name (case-insensitive), most recently seen first */
export function findNamed(
  connection: Connection,
  { organizationId, name }: { organizationId: string; name: string },
  { inForce, limit }: { inForce: string | null; limit: number },
): InventoryRow[] {
  const isNamed = or(eq(shown.instanceId, name), sql`${shown.hostname} = ${name} COLLATE NOCASE`);
  const where = and(eq(clientReports.organizationId, organizationId), isNamed);
  return recordsWhere(connection, { where, inForce, limit });
}

/** @returns the user's other records with the same login session, most recently seen first */
export const listCompanions = (
  connection: Connection,
  { id, userId, loginSessionId }: Pick<InventoryRow, "id" | "userId" | "loginSessionId">,
): { id: string; hostname: string | null }[] =>
  connection
    .select({ id: shown.id, hostname: shown.hostname })
    .from(clientReports)
    .where(and(eq(shown.userId, userId), eq(shown.loginSessionId, loginSessionId), sql`${shown.id} <> ${id}`))
    .orderBy(desc(lastSeenAtMs))
    .limit(CLIENTS_PER_USER_MAX)
    .all();

/** @returns the workstations that last reported with one of these grants, most recently seen first */
export const listReporters = (
  connection: Connection,
  {
    organizationId,
    userId,
    grantIds,
  }: { organizationId: string; userId: string; grantIds: readonly string[] },
) =>
  connection
    .select({
      id: shown.id,
      grantId: shown.grantId,
      hostname: shown.hostname,
      platform: shown.platform,
      architecture: shown.architecture,
      clientVersion: shown.clientVersion,
    })
    .from(clientReports)
    .where(
      and(
        eq(shown.organizationId, organizationId),
        eq(shown.userId, userId),
        inArray(shown.grantId, [...grantIds]),
      ),
    )
    .orderBy(desc(lastSeenAtMs))
    .limit(CLIENTS_PER_USER_MAX)
    .all();

/** @returns the positions of records for `overSpans`, newest first */
export const reportPlaces = (connection: Connection, organizationId: string) =>
  placesOf(connection, {
    order: NEWEST_FIRST,
    within: eq(clientReports.organizationId, organizationId),
  });

/** Number of workstations by health, and of those that report the current revision. */
export type FleetCounts = Record<Health | "onNewest", number>;

const NOTHING_COUNTED: FleetCounts = { current: 0, outdated: 0, attention: 0, onNewest: 0 };

/** @returns a function that counts the records of a span in one pass, because GROUP BY would sort the rows */
export function clientCounter(
  connection: Connection,
  { organizationId, inForce }: { organizationId: string; inForce: string | null },
): (span: Span) => FleetCounts {
  const countWhere = (condition: SQL): SQL<number> => sql`count(*) FILTER (WHERE ${condition})`;
  const countOf = (health: Health) => countWhere(eq(healthSince(inForce), health));
  const counted = connection
    .select({
      current: countOf("current"),
      outdated: countOf("outdated"),
      attention: countOf("attention"),
      onNewest: countWhere(sql`${shown.configRevision} = ${inForce}`),
    })
    .from(clientReports)
    .where(and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED)))
    .prepare();
  return (span) => counted.get({ ...boundsOf(NEWEST_FIRST, span) }) ?? NOTHING_COUNTED;
}

/** @returns a function that returns the distinct harness lists in the records of a span, as JSON */
export function harnessLists(connection: Connection, organizationId: string): (span: Span) => string[] {
  const lists = connection
    .selectDistinct({ names: harnessNames })
    .from(clientReports)
    .where(and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED)))
    .prepare();
  return (span) => lists.all({ ...boundsOf(NEWEST_FIRST, span) }).map(({ names }) => names);
}

/** A condition for users who have reported, to embed in another area's statement. */
export const hasReported = (userId: SQLiteColumn): SQL =>
  sql`EXISTS (SELECT 1 FROM ${clientReports} WHERE ${shown.userId} = ${userId})`;

/** @returns a function that counts the distinct lists of harness versions in the records of a span */
export function versionLists(
  connection: Connection,
  organizationId: string,
): (span: Span) => { versions: string | null; clients: number }[] {
  const lists = connection
    .select({ versions: harnessVersions, clients: count() })
    .from(clientReports)
    .where(and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED)))
    .groupBy(harnessVersions)
    .prepare();
  return (span) => lists.all({ ...boundsOf(NEWEST_FIRST, span) });
}
