// Reads a backup in full and prepares its database in a folder beside the live data. `verify` stops there; `restore` then swaps
// the result in.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { newerBackup, notBackupFile } from "../../domain/backup/errors.ts";
import { assertUsableDatabase } from "../../domain/backup/fitness.ts";
import { requireFreeSpace } from "../../domain/backup/free-space.ts";
import { DATABASE_NAME, type Manifest } from "../../domain/backup/model.ts";
import { readManifest } from "../../domain/backup/unpack.ts";
import type { Clock } from "../../platform/clock.ts";
import { isDatabaseFile } from "../../platform/database/maintenance/copy.ts";
import { migrationsOf, programSchema, schemaIn } from "../../platform/database/schema/schema.ts";
import { sqliteErrorIn } from "../../platform/database/storage-errors.ts";
import { fileSizeOf } from "../../platform/files/disk.ts";
import { VERSION } from "../../platform/version.ts";
import { runTask, type TaskOptions } from "./backup-task.ts";

/** Facts about a file before it is read in full. */
export interface BackupFile {
  path: string;
  /** undefined for a copy of the database alone, such as one made by an upgrade */
  manifest: Manifest | undefined;
  schema: number;
  /** version of the program that made the backup, or that upgraded the schema of the copy */
  version: string;
  sizeBytes: number;
}

export interface ReadRequest extends TaskOptions {
  backup: BackupFile;
  /** an empty folder that receives the database */
  folder: string;
  /** folder that receives the artifacts; without it they are only checked */
  artifacts?: string;
  /** the same for the files of captured sessions, if the backup has them */
  sessions?: string;
  clock: Clock;
}

export interface ReadBackup {
  /** path of the database in the folder, upgraded to the schema of this program */
  database: string;
  schema: number;
  /** number of rows per table */
  rows: Readonly<Record<string, number>>;
}

/**
 * Reads the beginning and the end of a file and changes nothing.
 * @throws DomainError `backup.damaged`, `backup.unreadable`, `file.*`, `schema.newer` if it needs a newer program
 */
export function inspectFile(path: string): BackupFile {
  if (isDatabaseFile(path)) return inspectCopy(path);
  const { fileBytes, ...manifest } = readManifest(path);
  if (manifest.schema > programSchema()) throw newerBackup(path, manifest, programSchema());
  const { schema, version } = manifest;
  return { path, manifest, schema, version, sizeBytes: fileBytes };
}

function inspectCopy(path: string): BackupFile {
  try {
    const file = realpathSync(path); // an operator may pass a symbolic link; our own databases are never links
    const schema = schemaIn(file);
    const version = migrationsOf(file).findLast(({ state }) => state === "applied")?.appliedBy;
    if (version) return { path, manifest: undefined, schema, version, sizeBytes: fileSizeOf(path) };
  } catch (error) {
    if (sqliteErrorIn(error)?.code !== "SQLITE_ERROR") throw error; // a table with that name has other columns
  }
  throw notBackupFile(path, "its database has no migration history of Quartermaster");
}

/**
 * @throws DomainError `backup.*`, `file.*`, `schema.altered`, `schema.migration_failed`, `storage.*`; the signal's reason
 */
export async function readBackup({ folder, ...request }: ReadRequest): Promise<ReadBackup> {
  refuseWithoutSpace(folder, request);
  const database = join(folder, DATABASE_NAME);
  const rows = await copyInto(database, request);
  const { signal, clock, perform } = request;
  const upgrade = { file: database, nowMs: clock.nowMs(), version: VERSION, backupDirectory: folder };
  const { to: schema } = await runTask("migrate", upgrade, { signal, perform });
  return { database, schema, rows };
}

async function copyInto(
  database: string,
  {
    backup: { path, manifest },
    artifacts,
    sessions,
    signal,
    onProgress,
    perform,
  }: Omit<ReadRequest, "folder">,
): Promise<ReadBackup["rows"]> {
  if (manifest) {
    const folders = {
      ...(artifacts !== undefined && { artifacts }),
      ...(sessions !== undefined && { sessions }),
    };
    const request = { path, database, ...folders };
    return (await runTask("unpack", request, { signal, onProgress, perform })).database.rows;
  }
  const inspected = await runTask("copy", { from: realpathSync(path), to: database }, { signal, perform });
  assertUsableDatabase(path, inspected);
  return inspected.rows;
}

function refuseWithoutSpace(
  folder: string,
  { backup: { manifest, sizeBytes }, artifacts, sessions }: Omit<ReadRequest, "folder">,
): void {
  const artifactBytes = artifacts === undefined ? 0 : (manifest?.artifacts.size_bytes ?? 0);
  const sessionBytes = sessions === undefined ? 0 : (manifest?.sessions?.size_bytes ?? 0);
  requireFreeSpace(folder, (manifest?.database.size_bytes ?? sizeBytes) + artifactBytes + sessionBytes);
}
