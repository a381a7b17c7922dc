// SQL that compares two states of one installation: finds the rows of a table that one database has and the other lacks, by the
// time of their last change. The later state has every row of the earlier one, or a newer version of it.
import { count, eq, gt, max } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Connection } from "../database.ts";

/** The newest rows of a table. */
export interface NewestRows {
  /** time of their last change, UTC milliseconds; 0 without rows */
  at_ms: number;
  /** how many rows have that time */
  rows: number;
}

export interface TimedRows {
  newest(connection: Connection): NewestRows;
  /** @param than the newest rows of the other database @returns rows that the other database lacks or has in an older version */
  countNewer(connection: Connection, than: NewestRows): number;
}

/** @param atMs column with the time at which a row was last changed */
export function timedRows(table: SQLiteTable, atMs: SQLiteColumn): TimedRows {
  const rowsAt = (connection: Connection, at: number) =>
    connection.select({ rows: count() }).from(table).where(eq(atMs, at)).get()?.rows ?? 0;
  return {
    newest(connection) {
      const at = Number(
        connection
          .select({ at: max(atMs) })
          .from(table)
          .get()?.at ?? 0,
      );
      return { at_ms: at, rows: rowsAt(connection, at) };
    },
    countNewer(connection, than) {
      const later =
        connection.select({ rows: count() }).from(table).where(gt(atMs, than.at_ms)).get()?.rows ?? 0;
      return later + Math.max(0, rowsAt(connection, than.at_ms) - than.rows);
    },
  };
}
