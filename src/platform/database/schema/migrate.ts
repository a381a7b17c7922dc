// Upgrades a database to the schema of this executable: copies the database, then applies all pending migrations in one
// transaction. schema.ts reads which migrations a database has.
import type { Database } from "bun:sqlite";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { migrations as embedded, type Migration } from "../../../../migrations/index.ts";
import type { Clock } from "../../clock.ts";
import { DomainError } from "../../errors.ts";
import { flushToDisk } from "../../files/data-files.ts";
import { sha256Hex } from "../../ids.ts";
import { openConnection } from "../connection.ts";
import { type DatabaseOptions, type Db, openDatabase, openWriter } from "../database.ts";
import { copyDatabase, removePartialCopies } from "../maintenance/copy.ts";
import { asStorageError } from "../storage-errors.ts";
import { appliedMigrations, checkedSchema, JOURNAL, restoreInstructions, upgradeCopyName } from "./schema.ts";

export interface MigrateOptions {
  clock: Clock;
  /** version of the program, stored with each applied migration */
  version: string;
  /** folder for the copy taken before an upgrade */
  backupDirectory: string;
  /** called before any change; throws if another process still uses the old schema */
  beforeChange?: () => void;
  migrations?: readonly Migration[];
  /** see ConnectionOptions */
  replicated?: boolean;
}

export interface MigrateResult {
  /** schema number before and after; 0 for an empty database */
  from: number;
  to: number;
  /** path of the copy taken before the first change; undefined if there was nothing to copy */
  backup: string | undefined;
}

/**
 * Applies the pending migrations, all or nothing. After a failure or a crash the previous program still starts, and the call
 * can be repeated.
 * @throws DomainError `schema.newer` (database newer than the program), `schema.altered` (a migration differs from the one that
 * ran), `schema.migration_failed`, `storage.*`
 */
export function migrate(file: string, options: MigrateOptions): MigrateResult {
  const { replicated = false } = options;
  const connection = openConnection(file, { create: true, withoutCheckpoints: replicated });
  try {
    const { from, pending } = pendingOn(connection, file, options);
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
 * Opens the database with the schema of this executable. Without an upgrade, the schema is read on the connection that writes later,
 * because each connection parses the whole schema. An upgrade has its own connection; closing it copies the log into the file.
 * @throws the errors of `migrate` and `openDatabase`
 */
export function openMigrated(
  file: string,
  options: MigrateOptions & DatabaseOptions,
): { db: Db; schema: MigrateResult } {
  const writer = openWriter(file, options);
  try {
    const { from, pending } = pendingOn(writer, file, options);
    if (pending.length === 0)
      return { db: openDatabase(file, options, writer), schema: { from, to: from, backup: undefined } };
  } catch (error) {
    writer.close();
    throw asStorageError(error);
  }
  writer.close();
  const schema = migrate(file, options);
  return { db: openDatabase(file, options), schema };
}

function pendingOn(connection: Database, file: string, { migrations, backupDirectory }: MigrateOptions) {
  const known = migrations ?? embedded;
  const way = restoreInstructions(file, { backupDirectory, known });
  const from = checkedSchema(appliedMigrations(connection), { known, way });
  return { from, pending: known.filter((migration) => migration.id > from) };
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
 * Copies to a temporary name, flushes and renames, so that every existing copy is complete.
 * @returns undefined if another process has already upgraded the database and made the copy
 */
function copyBefore(connection: Database, from: number, options: MigrateOptions): string | undefined {
  mkdirSync(options.backupDirectory, { recursive: true, mode: 0o700 });
  const name = upgradeCopyName({ schema: from, atMs: options.clock.nowMs() });
  const target = join(options.backupDirectory, name);
  const partial = `${target}.${process.pid}.partial`;
  try {
    removePartialCopies(options.backupDirectory);
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
