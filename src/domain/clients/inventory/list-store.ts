// SQL of the lists of workstations: their records, order and columns. Defines health once for lists, lookups and counts.
import { and, eq, getTableColumns, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteSelect } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../../platform/database/database.ts";
import { isAmong, joinedBy, orderedRows, orderOf, type RowOrder } from "../../shared/ordered-rows-store.ts";
import { likePattern } from "../../shared/page.ts";
import { JOINED_STEP_ROWS, type OrderedRows } from "../../shared/page-steps.ts";
import { type Health, SORTS, type Sort } from "../model.ts";
import { clientReports } from "../tables.ts";

const { evaluatedBy, harnessNames, attempt, ...columns } = getTableColumns(clientReports);
const { harnesses, packages, reasons, error, harnessVersions, ...narrow } = columns;

/** The columns of a list of whole records. */
const WHOLE = { ...narrow, harnesses, packages, reasons, error };
/** The columns of a list of summaries, without those that a workstation can make long. */
const SUMMARY = narrow;

/**
 * The health of a client, as one SQL expression for both the value and the filter. An unknown verdict counts as outdated.
 * Health is computed on read, so publishing a revision changes the health of the whole fleet without writing rows.
 * @param inForce id of the current revision
 */
export const healthSince = (inForce: string | null): SQL<Health> => sql`CASE
  WHEN ${columns.verdict} = 'differs' THEN 'attention'
  WHEN ${columns.verdict} = 'matches' AND ${columns.configRevision} = ${inForce} THEN 'current'
  ELSE 'outdated' END`;

export interface InventoryFilter {
  /** `hasAddress` is a condition for the users whose address contains the text */
  q?: { text: string; hasAddress: (userId: SQLiteColumn) => SQL } | undefined;
  userId?: string | undefined;
  harness?: string | undefined;
  health?: Health | undefined;
  revision?: string | undefined;
  clientVersion?: string | undefined;
  platform?: string | undefined;
  seenFromMs?: number | undefined;
  seenBeforeMs?: number | undefined;
  firstSeenToMs?: number | undefined;
}

export interface WantedReports {
  filter: InventoryFilter;
  inForce: string | null;
  sort: Sort;
  /** the identity area's order by address */
  byAddress: {
    key: SQLiteColumn;
    joinedTo(userId: SQLiteColumn): NonNullable<RowOrder["joined"]>;
    isIn(organizationId: string): SQL;
  };
}

/** A record, its health, and its value of the column that orders the list. */
export type InventoryRow = ReturnType<typeof readWhole>[number];
export type SummaryRow = ReturnType<typeof readSummaries>[number];
export type PlaceRow = ReturnType<typeof readPlaces>[number];

/** SQLite derives it: see the migration. */
const derived = (name: "host_key" | "version_key"): SQL => sql`${clientReports}.${sql.identifier(name)}`;

const FIRST_COLUMNS = {
  last_seen: columns.lastSeenAtMs,
  host: derived("host_key"),
  version: derived("version_key"),
} as const;

export const NEWEST_FIRST: RowOrder = {
  table: clientReports,
  columns: [columns.lastSeenAtMs, columns.id],
  isDescending: true,
};

/**
 * How rows are read: all in the requested order; all by time, where an index has the columns of all conditions; or some in the
 * requested order.
 */
export type Walk = "as_wanted" | "by_time" | { ids: readonly string[] };

function orderFor({ sort, byAddress, filter }: WantedReports): RowOrder {
  const [, field, direction] = /^(last_seen|host|version|user)_(asc|desc)$/.exec(sort) ?? [];
  const shared = { table: clientReports, isDescending: direction === "desc" };
  if (field === "user")
    return { ...shared, joined: byAddress.joinedTo(columns.userId), columns: [byAddress.key, columns.id] };
  if (field === "host" || field === "version")
    return { ...shared, columns: [FIRST_COLUMNS[field], columns.id] };
  const { seenFromMs: from, seenBeforeMs: before } = filter;
  return { ...NEWEST_FIRST, isDescending: shared.isDescending, from, before };
}

type Read<Row> = (connection: Connection, selection: Selection) => Row[];

interface Selection extends Pick<RowOrder, "joined"> {
  where: SQL | undefined;
  inForce: string | null;
  order: RowOrder;
  /** the first column of the requested order, which may be another one */
  key: SQLWrapper;
  offset: number;
  limit: number;
}

/** @returns whole records in the order of the walk, then by id */
export const reportsLike = (
  connection: Connection,
  organizationId: string,
  wanted: WantedReports,
  walk: Walk = "as_wanted",
): OrderedRows<InventoryRow> => rowsLike(connection, organizationId, { wanted, walk, read: readWhole });

/** @returns summaries in the order of the walk, then by id */
export const summariesLike = (
  connection: Connection,
  organizationId: string,
  wanted: WantedReports,
  walk: Walk = "as_wanted",
): OrderedRows<SummaryRow> => rowsLike(connection, organizationId, { wanted, walk, read: readSummaries });

/** @returns only the places of the records, which reads none of the long texts before the other columns of a summary */
export const placesLike = (
  connection: Connection,
  organizationId: string,
  wanted: WantedReports,
  walk: Walk,
): OrderedRows<PlaceRow> => rowsLike(connection, organizationId, { wanted, walk, read: readPlaces });

function rowsLike<Row>(
  connection: Connection,
  organizationId: string,
  { wanted, walk, read }: { wanted: WantedReports; walk: Walk; read: Read<Row> },
): OrderedRows<Row> {
  const walked = walk === "by_time" ? { ...wanted, sort: SORTS[0] } : wanted;
  const order = orderFor(walked);
  const { inForce } = wanted;
  const {
    joined,
    columns: [key],
  } = orderFor(wanted);
  return orderedRows(connection, {
    order,
    within: withinOf(organizationId, walked, walk),
    matching: matchingOf(wanted, order),
    stepRows: wanted.filter.q === undefined ? undefined : JOINED_STEP_ROWS, // a search reads the address of each row's user
    read: (where, window) => read(connection, { where, inForce, order, joined, key, ...window }),
  });
}

/** A user has few records. The plus keeps SQLite from using an index of the organization, where it would read every record. */
function withinOf(organizationId: string, { filter, sort, byAddress }: WantedReports, walk: Walk): SQL {
  const isIn = eq(columns.organizationId, organizationId);
  const isInAnyOrder = sql`+${columns.organizationId} = ${organizationId}`;
  if (typeof walk === "object") {
    const isOfUser = filter.userId === undefined ? undefined : sql`+${columns.userId} = ${filter.userId}`;
    return sql`${and(isAmong(columns.id, walk.ids), isOfUser, isInAnyOrder)}`;
  }
  if (filter.userId !== undefined) return sql`${and(eq(columns.userId, filter.userId), isInAnyOrder)}`;
  if (sort.startsWith("user_")) return sql`${and(byAddress.isIn(organizationId), isInAnyOrder)}`;
  const hasIndex = filter.health === "attention" && sort.startsWith("last_seen_");
  return hasIndex ? sql`${and(isIn, NEEDS_ATTENTION)}` : isIn;
}

/** @returns the remaining conditions, besides the position in the order and `withinOf`; undefined for none */
function matchingOf({ filter, inForce }: WantedReports, order: RowOrder): SQL | undefined {
  const { seenFromMs, seenBeforeMs, userId: _, ...others } = filter;
  const isOrderedByTime = order.columns[0] === columns.lastSeenAtMs;
  return conditionOf(isOrderedByTime ? others : { ...others, seenFromMs, seenBeforeMs }, inForce);
}

/** @returns a condition for the records that match the filter; undefined for all */
const conditionOf = (
  {
    q,
    userId,
    harness,
    health,
    revision,
    clientVersion,
    platform,
    seenFromMs,
    seenBeforeMs,
    firstSeenToMs,
  }: InventoryFilter,
  inForce: string | null,
): SQL | undefined =>
  and(
    userId === undefined ? undefined : eq(columns.userId, userId),
    q &&
      or(
        contains(columns.hostname, q.text),
        contains(columns.instanceId, q.text),
        q.hasAddress(columns.userId),
      ),
    harness === undefined
      ? undefined
      : sql`EXISTS (SELECT 1 FROM json_each(${harnessNames}) WHERE value = ${harness})`,
    health === undefined ? undefined : hasHealth(health, inForce),
    revision === undefined ? undefined : eq(columns.configRevision, revision),
    clientVersion === undefined ? undefined : eq(columns.clientVersion, clientVersion),
    platform === undefined ? undefined : isOnPlatform(platform),
    seenFromMs === undefined ? undefined : sql`${columns.lastSeenAtMs} >= ${seenFromMs}`,
    seenBeforeMs === undefined ? undefined : sql`${columns.lastSeenAtMs} < ${seenBeforeMs}`,
    firstSeenToMs === undefined ? undefined : sql`${columns.firstSeenAtMs} <= ${firstSeenToMs}`,
  );

/** Says the same as `healthSince`. A value in the text, because the index of these records serves only statements that have it. */
const NEEDS_ATTENTION = sql`${columns.verdict} = 'differs'`;

const hasHealth = (health: Health, inForce: string | null): SQL =>
  health === "attention" ? NEEDS_ATTENTION : eq(healthSince(inForce), health);

/**
 * Lists show the platform with its architecture, such as `macos-aarch64`. The architecture is read only for such a
 * text, because the indexes for the other conditions lack it.
 */
const isOnPlatform = (text: string): SQL | undefined => {
  const isNamed = eq(columns.platform, text);
  return text.includes("-")
    ? or(isNamed, sql`${columns.platform} || '-' || ${columns.architecture} = ${text}`)
    : isNamed;
};

const contains = (column: SQLWrapper, text: string): SQL =>
  sql`${column} LIKE ${likePattern(text)} ESCAPE '\\'`;

const readWhole = (connection: Connection, selection: Selection) =>
  selected(
    connection
      .select({ ...WHOLE, ...computed(selection) })
      .from(clientReports)
      .$dynamic(),
    selection,
  ).all();

const readSummaries = (connection: Connection, selection: Selection) =>
  selected(
    connection
      .select({ ...SUMMARY, ...computed(selection) })
      .from(clientReports)
      .$dynamic(),
    selection,
  ).all();

const readPlaces = (connection: Connection, selection: Selection) =>
  selected(
    connection
      .select({ id: columns.id, orderKey: orderKeyOf(selection) })
      .from(clientReports)
      .$dynamic(),
    selection,
  ).all();

const computed = (selection: Selection) => ({
  health: healthSince(selection.inForce),
  orderKey: orderKeyOf(selection),
});

const orderKeyOf = ({ key }: Selection) => sql<string | number>`${key}`;

function selected<Select extends SQLiteSelect>(
  rows: Select,
  { where, order, joined, offset, limit }: Selection,
): Select {
  joinedBy({ joined }, rows)
    .where(where)
    .orderBy(...orderOf(order))
    .limit(limit)
    .offset(offset);
  return rows;
}

/** @returns whole records, most recently seen first, for lookups */
export const recordsWhere = (
  connection: Connection,
  { where, inForce, limit }: Pick<Selection, "where" | "inForce" | "limit">,
): InventoryRow[] =>
  readWhole(connection, { where, inForce, limit, order: NEWEST_FIRST, key: columns.lastSeenAtMs, offset: 0 });
