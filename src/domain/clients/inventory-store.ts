// SQL of the inventory: what lists, facets and counts look at. What health means stands here, once, for all of them.
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
 * An unknown revision is none to rely on, so it counts as outdated; one place for value and filter alike
 * (control-api.md sections 10.3 and 20.2.26). It is worked out when it is read, so that publishing a revision changes
 * the health of a whole fleet at once and writes nothing.
 * @param inForce id of the revision in force
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
  /** place in the order behind which the slice begins */
  after?: { id: string; lastSeenAtMs: number } | undefined;
}

/** A record with its health, as the table has it otherwise. */
export type InventoryRow = ReturnType<typeof selectShown>[number];

/** Ordered by the time of the last report, then id. */
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

/** @returns the record of that id */
export function findReport(
  connection: Connection,
  { organizationId, id }: RowId,
  inForce: string | null,
): InventoryRow | undefined {
  const matching = and(eq(clientReports.organizationId, organizationId), eq(shown.id, id));
  return selectShown(connection, { ...ONE, matching, inForce })[0];
}

/** @returns the records of that installation, or of that host name in any case, the last seen first */
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

/** @returns other records that report by the same login session, the last seen first */
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

/** @returns what the workstations of these grants reported last about themselves, the last seen first */
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

/** @returns how many there are of each health; counted in one pass, because grouping would sort them all */
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

/** @returns the names of reported harnesses, sorted. Few combinations of them occur, so those are found first. */
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

/** @returns a query for the ids of all who have reported, for the statement of another area */
export const reporterIds = (connection: Connection): SQLWrapper =>
  connection.select({ id: shown.userId }).from(clientReports);
