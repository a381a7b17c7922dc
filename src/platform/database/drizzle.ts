// drizzle over one connection, with what SQLite needs to run compiled statements fast. Which connection, and who may
// write through it, is for database.ts.
import type { Database } from "bun:sqlite";
import { BunSQLiteDatabase, SQLiteBunSession } from "drizzle-orm/bun-sqlite";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { invariant } from "../errors.ts";

/** @returns the builders and statements of drizzle on that connection */
export function drizzleOver(connection: Database): BunSQLiteDatabase {
  const dialect = new StablePlans();
  return new BunSQLiteDatabase(
    "sync",
    dialect,
    new SQLiteBunSession(connection, dialect, undefined),
    undefined,
  );
}

const BOUND_LIMIT = " limit +?";

/**
 * Compiled once is compiled: SQLite looks into a bare `?` when it plans a join or a LIMIT, and then compiles the statement
 * anew whenever something is bound, 2 to 10 µs for a row of 1 µs. The plus hides the value and does not change it.
 */
class StablePlans extends SQLiteSyncDialect {
  /** Constant text stays bare: SQLite takes a partial index (`WHERE status = 'pending'`) only for a value that it sees. */
  override escapeParam(_position: number, value?: unknown): string {
    return typeof value === "string" ? "?" : "+?";
  }

  override sqlToQuery(...asked: Parameters<SQLiteSyncDialect["sqlToQuery"]>) {
    const query = super.sqlToQuery(...asked);
    const limit = query.params.at(-1);
    if (!Number.isSafeInteger(limit) || !query.sql.endsWith(BOUND_LIMIT)) return query;
    return { ...query, sql: `${query.sql.slice(0, -2)}${limit}`, params: query.params.slice(0, -1) };
  }
}

/**
 * @param ran what `run` of a compiled statement gave back; drizzle does not say what that is
 * @returns rows that it inserted, updated or deleted; asking the statement for them (RETURNING) costs as much as the row
 */
export function changesOf(ran: unknown): number {
  const changes = typeof ran === "object" && ran !== null && "changes" in ran ? ran.changes : undefined;
  invariant(typeof changes === "number", "bun:sqlite tells how many rows a statement changed");
  return changes;
}
