// Copies of a database that are whole, and what is in one: SQLite itself makes the copy and checks it, since the bytes of a
// file that is in use mean nothing. All of it is synchronous and takes seconds for a large file: it is done in a worker.
import type { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openRegularFile } from "../../files/files.ts";
import { openConnection } from "../connection.ts";
import { schemaDifferences } from "../schema/schema-differences.ts";
import { asStorageError, sqliteErrorIn } from "../storage-errors.ts";
import { organizationIn } from "./database-owner.ts";
import { foreignKeyViolations, integrityProblems } from "./integrity.ts";

export interface Inspected {
  sizeBytes: number;
  /** what SQLite finds wrong in its pages, or else in its references; none for a sound file */
  problems: readonly string[];
  /** number of the last migration; 0 without any */
  schema: number;
  /** how many rows each table has */
  rows: Readonly<Record<string, number>>;
  /** whose database it is; undefined for one that was never set up, or that is damaged */
  organizationId: string | undefined;
  /** how its tables and triggers differ from what the migrations make: see schema-differences.ts */
  differences: readonly string[];
}

/**
 * Copies a database as it is at this moment, without what was deleted, while others go on writing.
 * @param target a file that is not there; readable by its owner only, not flushed
 * @throws DomainError `storage.*`
 */
export function copyDatabase(connection: Database, target: string): void {
  try {
    closeSync(openSync(target, "wx", 0o600)); // SQLite would let everybody read it
    connection.query("VACUUM INTO ?").run(target);
  } catch (error) {
    throw asStorageError(error);
  }
}

/** @returns how large a copy will be at most, in bytes */
export function copyBytesOf(connection: Database): number {
  const [pages, free, bytes] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(connection.query(`PRAGMA ${name}`).values()[0]?.[0] ?? 0),
  );
  return ((pages ?? 0) - (free ?? 0)) * (bytes ?? 0);
}

/**
 * Reads a whole database file: SQLite's full check, its references, and the rows of every table, whoever made it.
 * @throws DomainError `storage.damaged` for a file that is no database at all
 */
export function inspectDatabase(file: string): Inspected {
  const connection = openConnection(file, { readonly: true });
  try {
    const problems = problemsIn(connection);
    const sizeBytes = statSync(file).size;
    if (problems.length > 0)
      return { sizeBytes, problems, schema: 0, rows: {}, organizationId: undefined, differences: [] };
    const schema = schemaIn(connection);
    return {
      ...{ sizeBytes, problems, schema },
      rows: rowsIn(connection),
      organizationId: schema === 0 ? undefined : organizationIn(connection),
      differences: schema === 0 ? [] : schemaDifferences(connection, schema),
    };
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}

/** References are looked up only where every page can be read. */
function problemsIn(connection: Database): string[] {
  const damages = integrityProblems(connection);
  if (damages.length > 0) return damages;
  return foreignKeyViolations(connection).map((place) => `a reference to a row that is not there, ${place}`);
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

/** @returns 0 also where a table of another program has the name of one of ours */
function numberIn(connection: Database, sql: string): number {
  try {
    return Number(connection.query(sql).values()[0]?.[0] ?? 0);
  } catch (error) {
    if (sqliteErrorIn(error)?.code === "SQLITE_ERROR") return 0;
    throw error;
  }
}

const PARTIAL = /\.(\d{1,10})(?:\.copy)?\.partial(?:-journal)?$/;

/**
 * Removes copies that were never finished from a folder: what a killed process left is of no use to anybody, and this process
 * makes one at a time.
 */
export function removePartialCopies(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = Number(PARTIAL.exec(name)?.[1] ?? 0);
    if (pid !== 0 && (pid === process.pid || !isRunning(pid))) rmSync(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

const MAGIC = "SQLite format 3\0";

/** @returns whether the file begins as a database does; false for one that cannot be read */
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
    return false; // whoever reads it next says what is wrong
  }
  return bytes.toString("latin1") === MAGIC;
}
