// Reads which migrations a database has, and decides whether this program can use it: the database must not be newer, and its
// migrations must be those of this program. Never writes; migrate.ts applies migrations.
import type { Database } from "bun:sqlite";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { migrations as embedded, type Migration } from "../../../../migrations/index.ts";
import { fromStamp, toStamp } from "../../clock.ts";
import { DomainError } from "../../errors.ts";
import { sha256Hex } from "../../ids.ts";
import { shellWord } from "../../text/shell-word.ts";
import { type ConnectionOptions, openConnection } from "../connection.ts";
import { asStorageError } from "../storage-errors.ts";

/** A row of the journal. */
export interface Applied {
  id: number;
  name: string;
  sha256: string;
  applied_at_ms: number;
  applied_by: string;
}

/** The table of the journal, created before the first migration. */
export const JOURNAL = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at_ms INTEGER NOT NULL, applied_by TEXT NOT NULL
) STRICT`;

const COPY = /^before-upgrade-schema-(\d{1,6})-(\d{8}T\d{6}Z)\.db$/;

/** @returns the name of the copy that an upgrade makes: `before-upgrade-schema-5-20260101T000000Z.db` */
export const upgradeCopyName = ({ schema, atMs }: { schema: number; atMs: number }): string =>
  `before-upgrade-schema-${schema}-${toStamp(atMs)}.db`;

/** @returns the schema and the time (UTC milliseconds) in the name of such a copy; undefined for other names */
export function upgradeCopyIn(name: string): { schema: number; atMs: number } | undefined {
  const [, schema, stamp] = COPY.exec(name) ?? [];
  if (schema === undefined || stamp === undefined) return undefined;
  const atMs = fromStamp(stamp);
  return atMs === undefined ? undefined : { schema: Number(schema), atMs };
}

/**
 * @returns the schema number of a database that this program can use; changes nothing
 * @throws DomainError `schema.newer`, `schema.altered`
 */
export function schemaOf(connection: Database, known: readonly Migration[] = embedded): number {
  return checkedSchema(appliedMigrations(connection), { known });
}

/**
 * @returns the schema number of a database file that this program can use or upgrade; changes nothing
 * @throws DomainError `schema.*`, `storage.*`
 */
export function schemaIn(file: string, options: Pick<ConnectionOptions, "untouched"> = {}): number {
  const connection = openConnection(file, { readonly: true, ...options });
  try {
    return checkedSchema(appliedMigrations(connection), {
      known: embedded,
      way: restoreInstructions(file, { backupDirectory: join(dirname(file), "backups"), known: embedded }),
    });
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}

export interface MigrationState {
  id: number;
  name: string;
  /** `unknown`: applied to the database, and missing or different in this program */
  state: "applied" | "pending" | "unknown";
  /** time in UTC milliseconds and version of the program that applied it; null if not applied */
  appliedAtMs: number | null;
  appliedBy: string | null;
}

/**
 * Reads the state of all migrations, also if a newer program wrote the database; changes nothing.
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

/** @returns the schema number of this program */
export const programSchema = (): number => embedded.at(-1)?.id ?? 0;

/** @returns the journal of a database; empty for an empty database */
export function appliedMigrations(connection: Database): Applied[] {
  const exists = connection.query("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  if (!exists) return [];
  return connection
    .query<Applied, []>(
      "SELECT id, name, sha256, applied_at_ms, applied_by FROM schema_migrations ORDER BY id LIMIT 10000",
    )
    .all();
}

/**
 * @param way another remedy for a newer database, besides starting the program that wrote it
 * @returns the schema number
 * @throws DomainError `schema.newer`, `schema.altered`
 */
export function checkedSchema(
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
    { hint: way === undefined ? start : `${start}, or restore the copy from before the upgrade: ${way}` },
  );
}

/**
 * @returns the command that restores the newest copy that this program can use. The restored state lacks later changes; the
 * replaced database is kept.
 */
export function restoreInstructions(
  file: string,
  { backupDirectory, known }: { backupDirectory: string; known: readonly Migration[] },
): string | undefined {
  if (!existsSync(backupDirectory)) return undefined;
  const schemaOfCopy = (name: string): number => upgradeCopyIn(name)?.schema ?? Number.POSITIVE_INFINITY;
  const usable = readdirSync(backupDirectory).filter((name) => schemaOfCopy(name) <= (known.at(-1)?.id ?? 0));
  const newest = usable
    .sort((one, other) => schemaOfCopy(one) - schemaOfCopy(other) || (one < other ? -1 : 1))
    .at(-1);
  if (newest === undefined) return undefined;
  return restoreCommand(join(backupDirectory, newest), dirname(file));
}

/** @returns the command that restores `file` into a data directory, quoted for a POSIX shell */
export const restoreCommand = (file: string, directory: string): string =>
  `quartermaster backup restore ${shellWord(file)} --data-dir ${shellWord(directory)} --confirm ${shellWord(basename(directory))}`;

function altered(row: Applied): DomainError {
  return new DomainError(
    "conflict",
    "schema.altered",
    `migration ${row.id} (${row.name}) differs from the one that made this database`,
    { hint: `use the unmodified program of version ${row.applied_by} or newer` },
  );
}
