// Restores the rows of a database to those of an earlier time, which is faster than another database.
import { Database } from "bun:sqlite";
import type { World } from "../world.ts";

export interface KeptRows {
  /**
   * Restores all rows and the clock. @returns false if the database is closed or has another schema
   */
  putBack(): Promise<boolean>;
  /** Closes the connection to the database. */
  forget(): void;
}

/** A trigger may write to one table while another one is emptied. */
const PASSES_MAX = 3;

/** @param world its current rows are kept */
export function keepRows({ db, clock, file }: World): KeptRows {
  const startMs = clock.nowMs();
  const own = new OwnConnection(file);
  return {
    async putBack() {
      try {
        await db.write(() => {}); // after all pending writes
      } catch {
        return false;
      }
      clock.set(startMs);
      return own.putBack();
    },
    forget: () => own.close(),
  };
}

/**
 * A separate connection from those of the service, whose caches are stale after each of its commits. It checks no
 * foreign keys, so one statement empties a table.
 */
class OwnConnection {
  readonly #database: Database;
  readonly #schema: number;
  readonly #refill = new Map<string, string>();
  readonly #changed;
  readonly #commits;
  #seen: number | undefined;

  constructor(file: string) {
    this.#database = new Database(file, { readwrite: true, create: false });
    this.#database.run("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF");
    const tables = tablesOf(this.#database);
    const filled = filledIn(this.#database, tables);
    const conditions = tables.map((table) =>
      filled.has(table) ? this.#keep(table) : this.#keepEmpty(table),
    );
    this.#schema = this.#schemaNow();
    this.#changed = this.#database.query<{ name: string }, []>(conditions.join(" UNION ALL "));
    this.#commits = this.#database.query<{ data_version: number }, []>("PRAGMA data_version");
    this.#seen = this.#commits.get()?.data_version;
  }

  putBack(): boolean {
    const commits = this.#commits.get()?.data_version;
    if (commits === this.#seen) return true;
    if (this.#schemaNow() !== this.#schema) return false;
    for (let pass = 0; pass < PASSES_MAX; pass += 1) {
      const names = this.#changed.all().map(({ name }) => name);
      this.#seen = commits;
      if (names.length === 0) return true;
      const refills = names.map((name) => this.#refill.get(name) ?? "");
      this.#database.run(`BEGIN; ${refills.join(" ")} COMMIT`);
    }
    return false;
  }

  close(): void {
    this.#database.close();
  }

  /** @returns a query that finds the name of the table if its rows differ from the current ones */
  #keep(table: string): string {
    const rows = `main."${table}"`;
    const kept = `temp."kept_${table}"`;
    const columns = columnsOf(this.#database, table);
    this.#database.run(`CREATE TEMP TABLE "kept_${table}" AS SELECT ${columns} FROM ${rows}`);
    this.#refill.set(table, `DELETE FROM ${rows}; INSERT INTO ${rows} (${columns}) SELECT * FROM ${kept};`);
    return `SELECT '${table}' AS name WHERE (SELECT count(*) FROM ${rows}) <> (SELECT count(*) FROM ${kept})
      OR EXISTS (SELECT ${columns} FROM ${rows} EXCEPT SELECT * FROM ${kept})`;
  }

  /** Most tables are empty. @returns a query that finds the name of the table if it has a row */
  #keepEmpty(table: string): string {
    this.#refill.set(table, `DELETE FROM main."${table}";`);
    return `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM main."${table}")`;
  }

  #schemaNow(): number {
    return (
      this.#database.query<{ schema_version: number }, []>("PRAGMA schema_version").get()?.schema_version ?? 0
    );
  }
}

/** @returns the tables without those of a text index, which cannot be written */
const tablesOf = (database: Database): string[] =>
  database
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema'",
    )
    .all()
    .map(({ name }) => name);

/** @returns those that have rows */
function filledIn(database: Database, tables: readonly string[]): Set<string> {
  const each = tables.map(
    (table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM main."${table}")`,
  );
  const found = database.query<{ name: string }, []>(each.join(" UNION ALL ")).all();
  return new Set(found.map(({ name }) => name));
}

/** @returns the columns that are not computed from others */
const columnsOf = (database: Database, table: string): string =>
  database
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => `"${name}"`)
    .join(", ");
