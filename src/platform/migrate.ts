// Brings a database to the schema of this executable: forward only, each migration in one transaction,
// a copy of the database before the first change, a fence against databases newer than the program.
import type { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { migrations as embedded, type Migration } from "../../migrations/index.ts";
import { DomainError } from "../domain/errors.ts";
import type { Clock } from "./clock.ts";
import { openConnection } from "./connection.ts";
import { flushToDisk } from "./data-directory.ts";
import { copyDatabase } from "./database-copy.ts";
import { sha256Hex } from "./ids.ts";
import { asStorageError } from "./storage-errors.ts";

export interface MigrateOptions {
  clock: Clock;
  /** the program's version, kept beside each applied migration */
  version: string;
  /** where the copy taken before an upgrade goes */
  backupDirectory: string;
  /** asked before anything changes: throws when another program still uses the old schema */
  beforeChange?: () => void;
  migrations?: readonly Migration[];
  /** see ConnectionOptions */
  replicated?: boolean;
}

export interface MigrateResult {
  /** schema number before and after; 0 for an empty database */
  from: number;
  to: number;
  /** path of the copy taken before the first change, when there was something to copy */
  backup: string | undefined;
}

interface Applied {
  id: number;
  name: string;
  sha256: string;
  applied_at_ms: number;
  applied_by: string;
}

const COPY_PREFIX = "before-upgrade-schema-";
const COPY = new RegExp(`^${COPY_PREFIX}(\\d+)-.*\\.db$`);

const JOURNAL = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at_ms INTEGER NOT NULL, applied_by TEXT NOT NULL
) STRICT`;

/**
 * Applies what is missing, all or nothing: after a failure or a crash the program that was replaced still starts, and this
 * may be repeated (operator-experience.md DAT-6).
 * @throws DomainError `schema.newer` (database newer than the program), `schema.altered` (a migration differs from
 *   the one that ran), `schema.migration_failed`, `storage.*`
 */
export function migrate(file: string, options: MigrateOptions): MigrateResult {
  const known = options.migrations ?? embedded;
  const { replicated = false } = options;
  const connection = openConnection(file, { create: true, replicated });
  try {
    const way = wayBack(file, { backupDirectory: options.backupDirectory, known });
    const from = checkedSchema(appliedMigrations(connection), { known, way });
    const pending = known.filter((migration) => migration.id > from);
    if (pending.length === 0) return { from, to: from, backup: undefined };
    options.beforeChange?.();
    const backup = from === 0 ? undefined : copyBefore(connection, from, options);
    connection.run("PRAGMA foreign_keys=OFF"); // a rebuilt table must not cascade; no effect inside a transaction
    connection.transaction(() => applyAll(connection, pending, { ...options, from, backup })).immediate();
    return { from, to: pending.at(-1)?.id ?? from, backup };
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}

/**
 * @returns the schema number of a database that this program can use, without changing it
 * @throws DomainError `schema.newer`, `schema.altered`
 */
export function schemaOf(connection: Database, known: readonly Migration[] = embedded): number {
  return checkedSchema(appliedMigrations(connection), { known });
}

/**
 * @returns the schema number of a database file that this program can use or bring up to date, without changing it
 * @throws DomainError `schema.*`, `storage.*`
 */
export function schemaIn(file: string): number {
  const connection = openConnection(file, { readonly: true });
  try {
    return checkedSchema(appliedMigrations(connection), {
      known: embedded,
      way: wayBack(file, { backupDirectory: join(dirname(file), "backups"), known: embedded }),
    });
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}

/** One migration as a database and this program know it. */
export interface MigrationState {
  id: number;
  name: string;
  /** `unknown`: the database has it, this program does not, or not in this form */
  state: "applied" | "pending" | "unknown";
  /** UTC milliseconds, and the version of the program; null where it was not applied */
  appliedAtMs: number | null;
  appliedBy: string | null;
}

/**
 * Reads how far a database is, whatever program made it, without changing it.
 * @throws DomainError `storage.*`
 */
export function migrationsOf(file: string): MigrationState[] {
  const connection = openConnection(file, { readonly: true });
  try {
    const applied = appliedMigrations(connection);
    const pending = embedded.filter(({ id }) => !applied.some((row) => row.id === id));
    return [...applied.map(stateOf), ...pending.map(pendingState)].sort((one, other) => one.id - other.id);
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}

function stateOf({
  id,
  name,
  sha256,
  applied_at_ms: appliedAtMs,
  applied_by: appliedBy,
}: Applied): MigrationState {
  const isKnown = embedded.some((one) => one.id === id && sha256Hex(one.sql) === sha256);
  return { id, name, state: isKnown ? "applied" : "unknown", appliedAtMs, appliedBy };
}

const pendingState = ({ id, name }: Migration): MigrationState => ({
  id,
  name,
  state: "pending",
  appliedAtMs: null,
  appliedBy: null,
});

/** @returns the schema number that this program brings a database to */
export const programSchema = (): number => embedded.at(-1)?.id ?? 0;

function appliedMigrations(connection: Database): Applied[] {
  const exists = connection.query("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  if (!exists) return [];
  return connection
    .query<Applied, []>(
      "SELECT id, name, sha256, applied_at_ms, applied_by FROM schema_migrations ORDER BY id LIMIT 10000",
    )
    .all();
}

/** @param way what to do where the database is newer, beside starting the program that made it */
function checkedSchema(
  applied: readonly Applied[],
  { known, way }: { known: readonly Migration[]; way?: string | undefined },
): number {
  for (const row of applied) {
    const migration = known.find((candidate) => candidate.id === row.id);
    if (!migration) throw newer(applied.at(-1) ?? row, { programKnows: known.at(-1)?.id ?? 0, way });
    if (sha256Hex(migration.sql) !== row.sha256) throw altered(row);
  }
  return applied.at(-1)?.id ?? 0;
}

function newer(
  row: Applied,
  { programKnows, way }: { programKnows: number; way: string | undefined },
): DomainError {
  const start = `start version ${row.applied_by} or newer again`;
  return new DomainError(
    "conflict",
    "schema.newer",
    `the database has schema ${row.id} (made by version ${row.applied_by}); this program knows up to ${programKnows}`,
    { hint: way === undefined ? start : `${start}, or go back to the copy made before the upgrade: ${way}` },
  );
}

/**
 * @returns the command that goes back to the newest copy that this program can use (operator-experience.md DAT-7); what was
 *   written since is lost by it, and kept aside
 */
function wayBack(
  file: string,
  { backupDirectory, known }: { backupDirectory: string; known: readonly Migration[] },
): string | undefined {
  if (!existsSync(backupDirectory)) return undefined;
  const schemaOfCopy = (name: string): number => Number(COPY.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
  const usable = readdirSync(backupDirectory).filter((name) => schemaOfCopy(name) <= (known.at(-1)?.id ?? 0));
  const newest = usable
    .sort((one, other) => schemaOfCopy(one) - schemaOfCopy(other) || (one < other ? -1 : 1))
    .at(-1);
  if (newest === undefined) return undefined;
  const directory = dirname(file);
  const copy = join(backupDirectory, newest);
  return `quartermaster backup restore ${copy} --data-dir ${directory} --confirm ${basename(directory)}`;
}

function altered(row: Applied): DomainError {
  return new DomainError(
    "conflict",
    "schema.altered",
    `migration ${row.id} (${row.name}) differs from the one that made this database`,
    { hint: `use the unmodified program of version ${row.applied_by} or newer` },
  );
}

interface Applying extends MigrateOptions {
  from: number;
  backup: string | undefined;
}

function applyAll(connection: Database, pending: readonly Migration[], options: Applying): void {
  connection.run(JOURNAL);
  for (const migration of pending) {
    try {
      applyOne(connection, migration, options);
    } catch (error) {
      const fault = asStorageError(error);
      throw fault instanceof DomainError ? fault : failed(migration, error, options);
    }
  }
}

function applyOne(connection: Database, migration: Migration, options: MigrateOptions): void {
  const done = connection.query("SELECT 1 FROM schema_migrations WHERE id = ?").get(migration.id);
  if (done) return; // another process applied it while we waited for the lock
  connection.run(migration.sql);
  const broken = connection.query("PRAGMA foreign_key_check").all().length;
  if (broken > 0) throw new Error(`it would break ${broken} foreign keys`);
  connection
    .query(
      "INSERT INTO schema_migrations (id, name, sha256, applied_at_ms, applied_by) VALUES (?, ?, ?, ?, ?)",
    )
    .run(migration.id, migration.name, sha256Hex(migration.sql), options.clock.nowMs(), options.version);
}

const failed = ({ id, name }: Migration, cause: unknown, { from, backup }: Applying): DomainError =>
  new DomainError(
    "unavailable",
    "schema.migration_failed",
    `migration ${id} (${name}) failed: ${cause instanceof Error ? cause.message : String(cause)}; nothing was changed, the database still has schema ${from}`,
    {
      hint: `the program that ran before still starts on it${backup === undefined ? "" : `; a copy is ${backup}`}`,
      cause,
    },
  );

/**
 * VACUUM INTO a temporary name, flush, rename: a copy that exists is complete.
 * @returns undefined when another process upgraded in between: then it has made the copy
 */
function copyBefore(connection: Database, from: number, options: MigrateOptions): string | undefined {
  mkdirSync(options.backupDirectory, { recursive: true, mode: 0o700 });
  const stamp = new Date(options.clock.nowMs()).toISOString().replace(/[-:]|\.\d+/g, "");
  const target = join(options.backupDirectory, `${COPY_PREFIX}${from}-${stamp}.db`);
  const partial = `${target}.${process.pid}.partial`;
  try {
    rmSync(partial, { force: true });
    copyDatabase(connection, partial);
    if (schemaOfFile(partial) !== from) return undefined;
    flushToDisk(partial);
    renameSync(partial, target);
  } finally {
    rmSync(partial, { force: true });
  }
  flushToDisk(options.backupDirectory);
  return target;
}

function schemaOfFile(file: string): number {
  const copy = openConnection(file, { readonly: true });
  try {
    return appliedMigrations(copy).at(-1)?.id ?? 0;
  } finally {
    copy.close();
  }
}
