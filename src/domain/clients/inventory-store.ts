// SQL for the lists, facets and counts of the inventory. Defines health once for all of them.
import {
  and,
  asc,
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
import type { Connection } from "../../platform/database/database.ts";
import { likePattern, type PageSlice } from "../shared/page.ts";
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
  q?: { text: string; userIds: SQLWrapper } | undefined;
  userId?: string | undefined;
  harness?: string | undefined;
  health?: Health | undefined;
  seenFromMs?: number | undefined;
  seenBeforeMs?: number | undefined;
}

export interface InventorySlice extends PageSlice {
  filter: InventoryFilter;
  inForce: string | null;
  sort: Sort;
  /** the slice starts after this row */
  after?: { id: string; lastSeenAtMs: number } | undefined;
}

/** A table row, plus its health. */
export type InventoryRow = ReturnType<typeof selectShown>[number];

/** Ordered by time of the last report, then by id. */
export function listReports(
  connection: Connection,
  organizationId: string,
  { filter, after, known, ...slice }: InventorySlice,
): { items: InventoryRow[]; total: number } {
  const { inForce, sort } = slice;
  const matching = and(eq(clientReports.organizationId, organizationId), ...conditionsOf(filter, inForce));
  const total =
    known ?? connection.select({ total: count() }).from(clientReports).where(matching).get()?.total ?? 0;
  const behind = sql.raw(sort === "last_seen_asc" ? ">" : "<");
  const isBehind =
    after && sql`(${lastSeenAtMs}, ${shown.id}) ${behind} (${after.lastSeenAtMs}, ${after.id})`;
  return { items: selectShown(connection, { ...slice, matching: and(matching, isBehind) }), total };
}

interface Selection extends Omit<InventorySlice, "filter" | "after" | "known"> {
  matching: SQL | undefined;
}

function selectShown(connection: Connection, { matching, inForce, sort, offset, limit }: Selection) {
  const direction = sort === "last_seen_asc" ? asc : desc;
  return connection
    .select({ ...shown, health: healthSince(inForce) })
    .from(clientReports)
    .where(matching)
    .orderBy(direction(lastSeenAtMs), direction(shown.id))
    .limit(limit)
    .offset(offset)
    .all();
}

const conditionsOf = (filter: InventoryFilter, inForce: string | null): (SQL | undefined)[] => [
  filter.q &&
    or(
      contains(shown.hostname, filter.q.text),
      contains(shown.instanceId, filter.q.text),
      inArray(shown.userId, filter.q.userIds),
    ),
  filter.userId === undefined ? undefined : eq(shown.userId, filter.userId),
  filter.harness === undefined
    ? undefined
    : sql`EXISTS (SELECT 1 FROM json_each(${harnessNames}) WHERE value = ${filter.harness})`,
  filter.health === undefined ? undefined : eq(healthSince(inForce), filter.health),
  filter.seenFromMs === undefined ? undefined : gte(lastSeenAtMs, filter.seenFromMs),
  filter.seenBeforeMs === undefined ? undefined : lt(lastSeenAtMs, filter.seenBeforeMs),
];

const contains = (column: SQLWrapper, text: string): SQL =>
  sql`${column} LIKE ${likePattern(text)} ESCAPE '\\'`;

/** @returns the record with that id; undefined for none */
export function findReport(
  connection: Connection,
  { organizationId, id }: RowId,
  inForce: string | null,
): InventoryRow | undefined {
  const matching = and(eq(clientReports.organizationId, organizationId), eq(shown.id, id));
  return selectShown(connection, { ...ONE, matching, inForce })[0];
}

/** @returns the records with that instance id or host name (case-insensitive), most recently seen first */
export function findNamed(
  connection: Connection,
  { organizationId, name }: { organizationId: string; name: string },
  { inForce, limit }: Pick<InventorySlice, "inForce" | "limit">,
): InventoryRow[] {
  const isNamed = or(eq(shown.instanceId, name), sql`${shown.hostname} = ${name} COLLATE NOCASE`);
  const matching = and(eq(clientReports.organizationId, organizationId), isNamed);
  return selectShown(connection, { ...ONE, matching, inForce, limit });
}

const ONE = { sort: "last_seen_desc", offset: 0, limit: 1 } as const;

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

/** @returns the number of clients per health. One pass with filters, because GROUP BY would sort all rows. */
export function countByHealth(
  connection: Connection,
  { organizationId, inForce }: { organizationId: string; inForce: string | null },
): Record<Health, number> {
  const countOf = (health: Health): SQL<number> =>
    sql`count(*) FILTER (WHERE ${eq(healthSince(inForce), health)})`;
  const counts = connection
    .select({
      current: countOf("current"),
      outdated: countOf("outdated"),
      attention: countOf("attention"),
    })
    .from(clientReports)
    .where(eq(clientReports.organizationId, organizationId))
    .get();
  return counts ?? { current: 0, outdated: 0, attention: 0 };
}

/** @returns the names of reported harnesses, sorted. Finds the distinct combinations first, because there are only a few. */
export function listHarnessNames(connection: Connection, organizationId: string, limit: number): string[] {
  const combinations = connection
    .selectDistinct({ names: harnessNames })
    .from(clientReports)
    .where(eq(clientReports.organizationId, organizationId))
    .as("combinations");
  return connection
    .selectDistinct({ name: sql<string>`json_each.value` })
    .from(combinations)
    .innerJoin(sql`json_each(${combinations.names})`, sql`true`)
    .orderBy(sql`json_each.value`)
    .limit(limit)
    .all()
    .map(({ name }) => name);
}

/** @returns a subquery for the ids of all users who have reported, to embed in another area's statement */
export const reporterIds = (connection: Connection): SQLWrapper =>
  connection.select({ id: shown.userId }).from(clientReports);
