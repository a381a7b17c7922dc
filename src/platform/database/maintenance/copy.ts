// Copies and inspects databases. SQLite creates and checks the copies, because a file in use cannot be copied byte by byte. All
// functions are synchronous and take seconds for a large file, so call them in a worker.
import type { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openRegularFile } from "../../files/operator-files.ts";
import { isOwnProcessAlive } from "../../process-liveness.ts";
import { openConnection } from "../connection.ts";
import { schemaDifferences } from "../schema/schema-differences.ts";
import { asStorageError, sqliteErrorIn } from "../storage-errors.ts";
import { organizationIn } from "./database-owner.ts";
import { foreignKeyViolations, integrityProblems } from "./integrity.ts";

export interface Inspected {
  sizeBytes: number;
  /** damage in the pages, or else in the references, found by SQLite; empty for an intact file */
  problems: readonly string[];
  /** number of the last migration; 0 without any */
  schema: number;
  /** number of rows by table */
  rows: Readonly<Record<string, number>>;
  /** id of the organization; undefined if the database was never set up or is damaged */
  organizationId: string | undefined;
  /** differences from the schema of the migrations (schema-differences.ts) */
  differences: readonly string[];
}

/**
 * Copies a snapshot of a database without its free pages. Other connections may write during the copy.
 * @param target path of a new file, which is readable by its owner only and not flushed
 * @throws DomainError `storage.*`
 */
export function copyDatabase(connection: Database, target: string): void {
  try {
    closeSync(openSync(target, "wx", 0o600)); // SQLite would create it readable by all users
    connection.query("VACUUM INTO ?").run(target);
  } catch (error) {
    throw asStorageError(error);
  }
}

/** @returns the maximum size of a copy, in bytes */
export function copyBytesOf(connection: Database): number {
  const [pages, free, bytes] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(connection.query(`PRAGMA ${name}`).values()[0]?.[0]),
  );
  return ((pages ?? 0) - (free ?? 0)) * (bytes ?? 0);
}

/**
 * Reads a whole database file: runs the integrity check, checks the references, and counts the rows of every table.
 * @throws DomainError `storage.damaged` for a file that is not a database
 */
export function inspectDatabase(file: string): Inspected {
  using connection = openConnection(file, { readonly: true });
  try {
    const problems = problemsIn(connection);
    const sizeBytes = statSync(file).size;
    if (problems.length > 0)
      return { sizeBytes, problems, schema: 0, rows: {}, organizationId: undefined, differences: [] };
    const schema = schemaIn(connection);
    return {
      sizeBytes,
      problems,
      schema,
      rows: rowsIn(connection),
      organizationId: organizationIn(connection),
      differences: schema === 0 ? [] : schemaDifferences(connection, schema),
    };
  } catch (error) {
    throw asStorageError(error);
  }
}

/** Checks references only if all pages are intact. */
function problemsIn(connection: Database): string[] {
  const damages = integrityProblems(connection);
  if (damages.length > 0) return damages;
  return foreignKeyViolations(connection).map((place) => `a reference to a missing row, ${place}`);
}

const tablesIn = (connection: Database): string[] =>
  connection
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);

const rowsIn = (connection: Database): Record<string, number> =>
  Object.fromEntries(
    tablesIn(connection).map((name) => [
      name,
      Number(connection.query(`SELECT count(*) FROM "${name.replaceAll('"', '""')}"`).values()[0]?.[0]),
    ]),
  );

function schemaIn(connection: Database): number {
  if (!tablesIn(connection).includes("schema_migrations")) return 0;
  return numberIn(connection, "SELECT max(id) FROM schema_migrations");
}

/** @returns 0 also if another program created a table with that name */
function numberIn(connection: Database, sql: string): number {
  try {
    return Number(connection.query(sql).values()[0]?.[0]);
  } catch (error) {
    if (sqliteErrorIn(error)?.code === "SQLITE_ERROR") return 0;
    throw error;
  }
}

const PARTIAL = /\.(\d{1,10})(?:\.copy)?\.partial(?:-journal)?$/;

/** Removes unfinished copies from a folder: those of ended processes, and those of this process, which makes one copy at a time. */
export function removePartialCopies(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = PARTIAL.exec(name)?.[1];
    if (pid !== undefined && isOver(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

const isOver = (pid: number): boolean => pid === process.pid || !isOwnProcessAlive(pid);

const MAGIC = "SQLite format 3\0";

/** @returns whether the file has the header of a database; false if it cannot be read */
export function isDatabaseFile(path: string): boolean {
  const bytes = Buffer.alloc(MAGIC.length);
  try {
    const file = openRegularFile(path);
    try {
      readSync(file, bytes);
    } finally {
      closeSync(file);
    }
  } catch {
    return false; // the next reader reports what is wrong
  }
  return bytes.toString("latin1") === MAGIC;
}
