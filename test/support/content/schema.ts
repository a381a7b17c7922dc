// Reads a real SQLite schema, to compare databases with each other and with the drizzle tables.
import type { Database } from "bun:sqlite";

export interface Column {
  name: string;
  type: string;
  notNull: boolean;
  /** 1-based position in the primary key, 0 outside of it */
  key: number;
}

/** @returns every table, index, trigger and view with its text, with normalized spaces, by name */
export function schemaOf(connection: Database): Record<string, string> {
  const rows = connection
    .query<{ name: string; sql: string }, []>(
      "SELECT name, coalesce(sql, 'made by SQLite') AS sql FROM sqlite_schema WHERE name <> 'sqlite_sequence' ORDER BY name",
    )
    .all();
  return Object.fromEntries(rows.map(({ name, sql }) => [name, sql.replace(/\s+/g, " ")]));
}

/** @returns the tables of the product, without SQLite's own tables and those of a text index */
export const tablesOf = (connection: Database): string[] =>
  connection
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);

/** @returns the columns of a table in their order */
export const columnsOf = (connection: Database, table: string): Column[] =>
  connection
    .query<{ name: string; type: string; not_null: number; pk: number }, [string]>(
      'SELECT name, type, "notnull" AS not_null, pk FROM pragma_table_info(?)',
    )
    .all(table)
    .map(({ name, type, not_null, pk }) => ({ name, type, notNull: not_null === 1, key: pk }));
