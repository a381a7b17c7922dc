// SQL for a list in the order of two columns, for page-steps.ts. The list's own store supplies table, columns and conditions.
import { and, asc, count, desc, is, type Placeholder, SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteSelect, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../platform/database/database.ts";
import { lazily } from "../../platform/lazily.ts";
import type { OrderedRows, Span } from "./page-steps.ts";

export interface RowOrder {
  table: SQLiteTable;
  /** a table that has the first column, with one row for each row of `table` */
  joined?: { table: SQLiteTable; on: SQL } | undefined;
  /** text or whole numbers, then text that makes the position unique; text if it is not a column of a drizzle table */
  columns: readonly [SQLiteColumn | SQL, SQLiteColumn];
  isDescending?: boolean;
  /** bounds of the first column */
  from?: string | number | undefined;
  before?: string | number | undefined;
}

export interface OrderedList<Row> {
  order: RowOrder;
  /** selects the rows of the list: equality of the index columns that precede those of the order */
  within: SQL;
  /** condition for matching rows; undefined for all */
  matching: SQL | undefined;
  /** see OrderedRows */
  stepRows?: number | undefined;
  /** reads rows in the order of `orderOf` */
  read(where: SQL | undefined, window: { offset: number; limit: number }): Row[];
}

/** @returns the list for `pageInSteps`; its statements are compiled once on demand, because a long list takes many steps */
export function orderedRows<Row>(connection: Connection, list: OrderedList<Row>): OrderedRows<Row> {
  const { order, within, matching, stepRows } = list;
  const counted = lazily(() =>
    joinedBy(order, connection.select({ total: count() }).from(order.table).$dynamic())
      .where(and(within, isInSpan(order, NAMED), matching))
      .prepare(),
  );
  return {
    isComplete: matching === undefined,
    stepRows,
    placeAhead: placesOf(connection, list),
    count: (span) => counted().get({ ...boundsOf(order, span) })?.total ?? 0,
    read: (span, window) => list.read(and(within, isInSpan(order, boundsOf(order, span)), matching), window),
  };
}

/** @returns a function that finds the ends of spans */
export function placesOf(
  connection: Connection,
  { order, within }: Pick<OrderedList<unknown>, "order" | "within">,
): OrderedRows<unknown>["placeAhead"] {
  const { table, columns } = order;
  const place = { first: sql<string | number>`${columns[0]}`, second: sql<string>`${columns[1]}` };
  const ahead = lazily(() =>
    joinedBy(order, connection.select(place).from(table).$dynamic())
      .where(and(within, isInSpan(order, NAMED)))
      .orderBy(...orderOf(order))
      .limit(1)
      .offset(sql.placeholder("skipped"))
      .prepare(),
  );
  return (after, rows) => ahead().get({ ...boundsOf(order, { after }), skipped: rows - 1 });
}

/** @returns the statement over the tables of the order */
export const joinedBy = <Select extends SQLiteSelect>(
  { joined }: Pick<RowOrder, "joined">,
  rows: Select,
): Select => {
  if (joined) rows.innerJoin(joined.table, joined.on);
  return rows;
};

/** @returns the ORDER BY of the list */
export const orderOf = ({ columns, isDescending }: RowOrder): SQL[] =>
  columns.map((column) => (isDescending ? desc(column) : asc(column)));

/** Both ends of a span, as values or as placeholders. */
type Bounds<Value> = Record<"afterFirst" | "afterSecond" | "upToFirst" | "upToSecond", Value>;

/** @returns a condition for the values of a column */
export const isAmong = (column: SQLiteColumn, values: readonly (string | number)[]): SQL =>
  sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** For statements that are compiled once and run with `boundsOf`. */
export const NAMED: Bounds<Placeholder> = {
  afterFirst: sql.placeholder("afterFirst"),
  afterSecond: sql.placeholder("afterSecond"),
  upToFirst: sql.placeholder("upToFirst"),
  upToSecond: sql.placeholder("upToSecond"),
};

/** Values before and after every row, so that one compiled statement serves every span. */
const LOWEST = { number: Number.MIN_SAFE_INTEGER, text: "" };
const HIGHEST = { number: Number.MAX_SAFE_INTEGER, text: "\u{10ffff}" };

export function boundsOf(
  { columns, isDescending, from, before }: RowOrder,
  { after, upTo }: Span,
): Bounds<string | number> {
  const type = is(columns[0], SQL) || columns[0].dataType !== "number" ? "text" : "number";
  const lowest = { first: from ?? LOWEST[type], second: LOWEST.text };
  const highest =
    before === undefined
      ? { first: HIGHEST[type], second: HIGHEST.text }
      : { first: before, second: LOWEST.text };
  const start = after ?? (isDescending ? highest : lowest);
  const end = upTo ?? (isDescending ? lowest : highest);
  return { afterFirst: start.first, afterSecond: start.second, upToFirst: end.first, upToSecond: end.second };
}

/** Uses row values, because SQLite finds both ends of such a range in an index. */
export function isInSpan(
  { columns: [first, second], isDescending }: RowOrder,
  { afterFirst, afterSecond, upToFirst, upToSecond }: Bounds<string | number | Placeholder>,
): SQL | undefined {
  const [behind, notBehind] = isDescending ? ["<", ">="] : [">", "<="];
  return and(
    sql`(${first}, ${second}) ${sql.raw(behind)} (${afterFirst}, ${afterSecond})`,
    sql`(${first}, ${second}) ${sql.raw(notBehind)} (${upToFirst}, ${upToSecond})`,
  );
}

/** Users whom another area selects, for a list of users. */
export interface UserSet {
  /** a condition on a column of user ids */
  holds(userId: SQLiteColumn): SQL;
  /** at most USER_CANDIDATES_MAX ids, including all users for whom it may hold; undefined for more: then every user is read */
  ids?: readonly string[] | undefined;
  /** their number, if known */
  total?: number | undefined;
}

/** Maximum number of users that a list reads one by one instead of reading every user. */
export const USER_CANDIDATES_MAX = 5_000;
