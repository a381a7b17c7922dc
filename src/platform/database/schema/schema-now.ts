// Reads the schema number of an open database. schema.ts decides whether this program can use it.
import { sql } from "drizzle-orm";
import type { Connection } from "../database.ts";

/** @returns the number of the last migration; 0 without one */
export function schemaNow(connection: Connection): number {
  const rows = connection.all<{ id: number }>(sql`SELECT id FROM schema_migrations ORDER BY id DESC LIMIT 1`);
  return rows[0]?.id ?? 0;
}
