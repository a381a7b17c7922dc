// drizzle over one connection, the placeholders of compiled statements, and the number of rows that a statement changed.
// database.ts chooses the connection and compiles statements.
import type { Database } from "bun:sqlite";
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import { type SQLiteColumn, SQLiteSyncDialect, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { invariant } from "../errors.ts";
import { QuickSession } from "./quick-queries.ts";

/** @returns the builders and statements of drizzle on that connection */
export function createDrizzle(connection: Database): BunSQLiteDatabase {
  const dialect = new OpaqueParameters();
  return new BunSQLiteDatabase("sync", dialect, new QuickSession(connection, dialect), undefined);
}

/**
 * Writes parameters as `+?`, which has the same value. In a join or a LIMIT the planner reads the value of a bare `?`, so
 * SQLite compiles the statement again for each value: 3 to 9 µs for a lookup of 1 µs.
 */
class OpaqueParameters extends SQLiteSyncDialect {
  /**
   * Keeps constant text as a bare `?`: SQLite uses a partial index (`WHERE status = 'pending'`) only for a value that it can read.
   */
  override escapeParam(_position: number, value?: unknown): string {
    return typeof value === "string" ? "?" : "+?";
  }
}

/** @returns a parameter of a compiled statement; `run`, `get` and `all` take its value under this name */
export const named = (name: string): SQL => sql`${sql.placeholder(name)}`;

/** @returns a condition of a compiled statement: each of these columns equals the parameter with its name */
export function equalAll<T extends SQLiteTable>(
  table: T,
  ...names: readonly [ColumnName<T>, ...ColumnName<T>[]]
): SQL {
  const columns: Columns = getTableColumns(table);
  const tests = names.map((name) => sql`${columns[name]} = ${named(name)}`);
  return sql`(${sql.join(tests, sql` AND `)})`;
}

type ColumnName<T extends SQLiteTable> = keyof T["_"]["columns"] & string;

/**
 * @param without the column that SQLite fills itself
 * @returns the values of a compiled INSERT: a parameter for each column, under the column's name in the table's definition
 */
export function insertAll<T extends SQLiteTable, Without extends ColumnName<T> = never>(
  table: T,
  without?: Without,
): { [Name in Exclude<keyof T["_"]["columns"], Without>]: SQL };
/** The overload above names the members, which TypeScript cannot derive from this one. */
export function insertAll(table: SQLiteTable, without = ""): Record<string, SQL> {
  const { [without]: _, ...values } = updateAll(getTableColumns(table));
  return values;
}

/** @returns the changes of a compiled UPDATE: a parameter for each of the columns */
export const updateAll = (columns: Columns): Record<string, SQL> =>
  forEach(columns, (column, name) => sql`${sql.param(sql.placeholder(name), column)}`);

/** @returns the changes of an upsert: each of the columns gets the value of the conflicting row */
export const overwriteAll = (columns: Columns): Record<string, SQL> =>
  forEach(columns, ({ name }) => sql.raw(`excluded.${name}`));

type Columns = Readonly<Record<string, SQLiteColumn>>;

const forEach = (columns: Columns, write: (column: SQLiteColumn, name: string) => SQL): Record<string, SQL> =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, write(column, name)]));

/**
 * @param ran the result of `run` of a compiled statement, which drizzle does not type
 * @returns the number of rows inserted, updated or deleted; RETURNING would cost as much as the row
 */
export function changesOf(ran: unknown): number {
  const changes = typeof ran === "object" && ran !== null && "changes" in ran ? ran.changes : undefined;
  invariant(typeof changes === "number", "bun:sqlite tells how many rows a statement changed");
  return changes;
}
