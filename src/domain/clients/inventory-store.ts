// SQL for the lists, facets and counts of the inventory. Defines health once for all of them.
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  lt,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../platform/database/database.ts";
import {
  boundsOf,
  isInSpan,
  NAMED,
  orderedRows,
  orderOf,
  placesOf,
  type RowOrder,
} from "../shared/ordered-rows-store.ts";
import { likePattern } from "../shared/page.ts";
import type { OrderedRows, Span } from "../shared/page-steps.ts";
import { CLIENTS_PER_USER_MAX } from "./limits.ts";
import type { Health, Sort } from "./model.ts";
import type { RowId } from "./store.ts";
import { clientReports } from "./tables.ts";

const { judgedBy, harnessNames, attempt, ...shown } = getTableColumns(clientReports);
const { verdict, configRevision, lastSeenAtMs } = shown;

/**
 * The health of a client, as one SQL expression for both the value and the filter. An unknown verdict counts as outdated.
 * Health is computed on read, so that publishing a revision changes the health of the whole fleet without writing rows.
 * @param inForce id of the current revision
 */
const healthSince = (inForce: string | null): SQL<Health> => sql`CASE
  WHEN ${verdict} = 'differs' THEN 'attention'
  WHEN ${verdict} = 'matches' AND ${configRevision} = ${inForce} THEN 'current'
  ELSE 'outdated' END`;

export interface InventoryFilter {
  /** `hasAddress` is a condition for the users whose address contains the text */
  q?: { text: string; hasAddress: (userId: SQLiteColumn) => SQL } | undefined;
  userId?: string | undefined;
  harness?: string | undefined;
  health?: Health | undefined;
  seenFromMs?: number | undefined;
  seenBeforeMs?: number | undefined;
}

export interface WantedReports {
  filter: InventoryFilter;
  inForce: string | null;
  sort: Sort;
}

/** A table row, plus its health. */
export type InventoryRow = ReturnType<typeof selectShown>[number];

/** @returns records by the time of the last report, then by id */
export function reportsLike(
  connection: Connection,
  organizationId: string,
  { filter, inForce, sort }: WantedReports,
): OrderedRows<InventoryRow> {
  const { seenFromMs: from, seenBeforeMs: before, ...conditions } = filter;
  const order: RowOrder = { ...BY_LAST_REPORT, isDescending: sort !== "last_seen_asc", from, before };
  return orderedRows(connection, {
    order,
    within: eq(clientReports.organizationId, organizationId),
    matching: and(...conditionsOf(conditions, inForce)),
    read: (where, window) => selectShown(connection, { where, inForce, order, ...window }),
  });
}

const BY_LAST_REPORT = { table: clientReports, columns: [lastSeenAtMs, shown.id] } as const;
const NEWEST_FIRST: RowOrder = { ...BY_LAST_REPORT, isDescending: true };

/**
 * Lists records of one user, of whom there are at most CLIENTS_PER_USER_MAX.
 * @returns the page, and the number of matching records
 */
export function listReportsOf(
  connection: Connection,
  organizationId: string,
  { filter, inForce, sort, ...window }: WantedReports & { offset: number; limit: number },
): { items: InventoryRow[]; total: number } {
  const { seenFromMs, seenBeforeMs, ...conditions } = filter;
  const where = and(
    // The plus keeps SQLite from the index on the time of the last report, where it would look at every record.
    sql`+${clientReports.organizationId} = ${organizationId}`,
    ...conditionsOf(conditions, inForce),
    seenFromMs === undefined ? undefined : gte(lastSeenAtMs, seenFromMs),
    seenBeforeMs === undefined ? undefined : lt(lastSeenAtMs, seenBeforeMs),
  );
  const total = connection.select({ total: count() }).from(clientReports).where(where).get()?.total ?? 0;
  const order: RowOrder = { ...BY_LAST_REPORT, isDescending: sort !== "last_seen_asc" };
  return { items: selectShown(connection, { where, inForce, order, ...window }), total };
}

interface Selection {
  where: SQL | undefined;
  inForce: string | null;
  order: RowOrder;
  offset: number;
  limit: number;
}

function selectShown(connection: Connection, { where, inForce, order, offset, limit }: Selection) {
  return connection
    .select({ ...shown, health: healthSince(inForce) })
    .from(clientReports)
    .where(where)
    .orderBy(...orderOf(order))
    .limit(limit)
    .offset(offset)
    .all();
}

const conditionsOf = (
  { q, userId, harness, health }: InventoryFilter,
  inForce: string | null,
): (SQL | undefined)[] => [
  userId === undefined ? undefined : eq(shown.userId, userId),
  q && or(contains(shown.hostname, q.text), contains(shown.instanceId, q.text), q.hasAddress(shown.userId)),
  harness === undefined
    ? undefined
    : sql`EXISTS (SELECT 1 FROM json_each(${harnessNames}) WHERE value = ${harness})`,
  health === undefined ? undefined : eq(healthSince(inForce), health),
];

const contains = (column: SQLWrapper, text: string): SQL =>
  sql`${column} LIKE ${likePattern(text)} ESCAPE '\\'`;

/** @returns the record with that id; undefined for none */
export function findReport(
  connection: Connection,
  { organizationId, id }: RowId,
  inForce: string | null,
): InventoryRow | undefined {
  const where = and(eq(clientReports.organizationId, organizationId), eq(shown.id, id));
  return selectShown(connection, { where, inForce, order: NEWEST_FIRST, offset: 0, limit: 1 })[0];
}

/** @returns the records with that instance id or host name (case-insensitive), most recently seen first */
export function findNamed(
  connection: Connection,
  { organizationId, name }: { organizationId: string; name: string },
  { inForce, limit }: { inForce: string | null; limit: number },
): InventoryRow[] {
  const isNamed = or(eq(shown.instanceId, name), sql`${shown.hostname} = ${name} COLLATE NOCASE`);
  const where = and(eq(clientReports.organizationId, organizationId), isNamed);
  return selectShown(connection, { where, inForce, order: NEWEST_FIRST, offset: 0, limit });
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

/** @returns the places of records for `overSpans`, newest first */
export const reportPlaces = (connection: Connection, organizationId: string) =>
  placesOf(connection, {
    order: NEWEST_FIRST,
    within: eq(clientReports.organizationId, organizationId),
  });

/**
 * @returns a function that counts the records of a span by health. One pass with filters, because GROUP BY would sort the rows.
 */
export function healthCounter(
  connection: Connection,
  { organizationId, inForce }: { organizationId: string; inForce: string | null },
): (span: Span) => Record<Health, number> {
  const countOf = (health: Health): SQL<number> =>
    sql`count(*) FILTER (WHERE ${eq(healthSince(inForce), health)})`;
  const counted = connection
    .select({
      current: countOf("current"),
      outdated: countOf("outdated"),
      attention: countOf("attention"),
    })
    .from(clientReports)
    .where(and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED)))
    .prepare();
  return (span) =>
    counted.get({ ...boundsOf(NEWEST_FIRST, span) }) ?? { current: 0, outdated: 0, attention: 0 };
}

/** @returns a function that gives the different lists of harnesses in the records of a span, as JSON */
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
