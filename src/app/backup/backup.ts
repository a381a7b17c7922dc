// Makes a backup of a data directory, whether or not the service is running. A thread writes the bytes (backup-task.ts). A backup
// never changes the schema.
import { accessSync, constants, existsSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { databaseDamaged } from "../../domain/backup/errors.ts";
import { requireFreeSpace } from "../../domain/backup/free-space.ts";
import { type BackupKind, fileNameOf, keysPathOf, type Manifest } from "../../domain/backup/model.ts";
import type { BackupRecord } from "../../domain/backup/service.ts";
import { type Kept, keptIn, type StoreTotals, sessionTotals } from "../../domain/sessions/service.ts";
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { openConnection } from "../../platform/database/connection.ts";
import type { Connection } from "../../platform/database/database.ts";
import { createDrizzle } from "../../platform/database/drizzle.ts";
import {
  copyBytesOf,
  type Inspected,
  removePartialCopies,
} from "../../platform/database/maintenance/copy.ts";
import { programSchema, schemaIn } from "../../platform/database/schema/schema.ts";
import { codeOf, DomainError } from "../../platform/errors.ts";
import { fileSizeOf, folderSizeOf } from "../../platform/files/disk.ts";
import { asFileError, folderMissing } from "../../platform/files/operator-files.ts";
import { VERSION } from "../../platform/version.ts";
import { runTask, type TaskOptions } from "./backup-task.ts";

export interface BackupRequest extends TaskOptions {
  kind: BackupKind;
  directory: DataDirectory;
  clock: Clock;
  /** absolute path that must not exist yet; without it, a name in `folder` is generated */
  target?: string | undefined;
  folder: string;
  /** whether it includes the files of captured sessions: `backup.sessions` */
  withSessions: boolean;
  /** returns the ids of the keys for the sealed data in that database */
  keyIdsIn(connection: Connection): readonly string[];
}

export interface Backup extends BackupRecord {
  manifest: Manifest;
  /** unexpected objects in the database, which make a restore refuse it: see database/schema/schema-differences.ts */
  differences: readonly string[];
}

/** @returns the configured folder of backups, or else the one in the data directory */
export const backupFolder = (config: Config, directory: DataDirectory): string =>
  config.get("backup.directory") ?? directory.backups;

/**
 * Makes one backup: copies the database with SQLite, checks the copy in full, then packs everything with digests into one file.
 * @throws DomainError `backup.*`, `file.*`, `storage.*`; the signal's reason. No file remains after an error
 */
export async function makeBackup(request: BackupRequest): Promise<Backup> {
  const { kind, directory, clock, withSessions, signal, onProgress, perform } = request;
  const createdAtMs = clock.nowMs();
  const target = request.target ?? unusedName(request, createdAtMs);
  refuseExisting(target);
  makeReady(dirname(target), directory);
  const { copy: databaseBytes, needed } = spaceFor(directory, { withSessions });
  requireFreeSpace(dirname(target), needed);
  const copy = `${target}.${process.pid}.copy.partial`;
  const partial = `${target}.${process.pid}.partial`;
  const startedAtMs = performance.now();
  try {
    const { schema, rows, organizationId, differences } = await copyDatabase(request, {
      copy,
      databaseBytes,
    });
    const facts = {
      created_at: toRfc3339(createdAtMs),
      version: VERSION,
      ...(organizationId !== undefined && { organization_id: organizationId }),
      schema,
      rows,
      ...factsOf(copy, request),
    };
    const { artifacts } = directory;
    const sessions = withSessions ? directory.sessions : undefined;
    const packing = { database: copy, artifacts, sessions, target, partial, facts };
    const report: typeof onProgress = (done, total) => onProgress?.(done, total, "packing the backup");
    const { manifest, sizeBytes } = await runTask("pack", packing, { signal, onProgress: report, perform });
    const durationMs = Math.round(performance.now() - startedAtMs);
    const databaseSha256 = manifest.database.sha256;
    const made = { kind, path: target, createdAtMs, durationMs, sizeBytes, databaseSha256 };
    return { ...made, manifest, differences };
  } finally {
    for (const path of [copy, `${copy}-journal`, partial]) rmSync(path, { force: true });
  }
}

const WATCH_EVERY_MS = 100;

/** SQLite does not report progress while it copies, so we watch the size of the file. */
async function copyDatabase(
  { directory, signal, onProgress, perform }: BackupRequest,
  { copy, databaseBytes }: { copy: string; databaseBytes: number },
): Promise<Inspected> {
  const look = () =>
    onProgress?.(Math.min(fileSizeOf(copy), databaseBytes), databaseBytes, "copying the database");
  const watching = setInterval(look, WATCH_EVERY_MS);
  try {
    const inspected = await runTask("copy", { from: directory.database, to: copy }, { signal, perform });
    if (inspected.problems.length > 0) throw databaseDamaged(inspected.problems);
    return inspected;
  } finally {
    clearInterval(watching);
  }
}

/** Creates only the folder in the data directory. Any other missing folder may be a disk that is not mounted. */
function makeReady(folder: string, { backups }: DataDirectory): void {
  try {
    if (folder === backups) mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!existsSync(folder)) throw folderMissing(folder);
    accessSync(folder, constants.W_OK);
    removePartialCopies(folder);
  } catch (error) {
    throw isBlockedByFile(error) ? notAFolder(folder) : asFileError(error, folder);
  }
}

const isBlockedByFile = (error: unknown): boolean => ["EEXIST", "ENOTDIR"].includes(codeOf(error) ?? "");

const notAFolder = (folder: string): DomainError =>
  new DomainError("invalid", "file.not_a_folder", `${folder} is not a folder`, {
    hint: "name a folder, or a file in an existing folder",
  });

function unusedName({ kind, folder }: BackupRequest, atMs: number): string {
  for (let again = 0; ; again++) {
    const path = join(folder, fileNameOf(kind, { atMs, again }));
    if (!isTaken(path) && !isTaken(keysPathOf(path))) return path;
  }
}

/** A broken link also counts as an existing file. */
function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isBlockedByFile(error)) return false; // the caller rejects the folder next
    throw asFileError(error, path);
  }
}

/** @throws DomainError `backup.exists` */
export function refuseExisting(target: string): void {
  if (!isTaken(target)) return;
  throw new DomainError("conflict", "backup.exists", `the file ${target} already exists`, {
    hint: "name another file, or omit the name to generate one",
  });
}

/** @returns bytes of the copied database, and of all files that exist at the same time: the copy and the packed backup */
export function spaceFor(
  { database, artifacts }: DataDirectory,
  { withSessions }: Pick<BackupRequest, "withSessions">,
): { copy: number; needed: number } {
  using connection = openConnection(database, { readonly: true });
  const copy = copyBytesOf(connection);
  const sessionBytes = withSessions ? storedIn(database, "local").bytes : 0;
  return { copy, needed: 2 * copy + folderSizeOf(artifacts) + sessionBytes };
}

/** The facts about the copied database for the manifest. */
function factsOf(
  copy: string,
  { keyIdsIn }: Pick<BackupRequest, "keyIdsIn">,
): Pick<Manifest, "sealing_key_ids" | "sessions_elsewhere"> {
  using connection = openConnection(copy, { readonly: true });
  return {
    sessions_elsewhere: storedIn(copy, "s3").versions,
    sealing_key_ids: [...keyIdsIn(createDrizzle(connection))],
  };
}

/** A database with another schema may lack the sums; the packer reads the files again. */
function storedIn(file: string, store: StoreTotals["store"]): Pick<Kept, "versions" | "bytes"> {
  if (schemaIn(file) !== programSchema()) return { versions: 0, bytes: 0 };
  using connection = openConnection(file, { readonly: true });
  return keptIn(sessionTotals(createDrizzle(connection)).filter((sum) => sum.store === store));
}
