// Finds the data directory that a command opens, which must have a database. A directory that lost its database is
// distinguished from a new one, so that a start does not create an empty installation in its place.
// data-directory/installation-marker.ts marks a directory; backup/restore.ts restores a backup.
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import {
  type DataDirectory,
  openDataDirectory,
  openExistingDirectory,
  placesIn,
} from "../../platform/data-directory/data-directory.ts";
import { isMarked, markedOrganization, unmark } from "../../platform/data-directory/installation-marker.ts";
import { fileExists } from "../../platform/data-directory/owner.ts";
import { completeSwap, isSwapPending } from "../../platform/database/maintenance/data-swap.ts";
import { holdsInstallation } from "../../platform/database/maintenance/database-owner.ts";
import { programSchema, restoreCommand } from "../../platform/database/schema/schema.ts";
import { DomainError } from "../../platform/errors.ts";
import { fileSizeOf } from "../../platform/files/disk.ts";
import { backupFolder } from "../backup/backup.ts";
import { type FoundBackup, listBackups } from "../backup/backup-folder.ts";

export interface StartContext {
  config: Config;
  clock: Clock;
}

/**
 * Opens the data directory for a start, or creates it.
 * @throws DomainError `data_dir.database_lost`, before a missing directory is created; `data_dir.*`
 */
export function openForStart(context: StartContext): DataDirectory {
  const path = resolve(context.config.get("data_dir"));
  if (!fileExists(path)) assertDatabaseNotLost(placesIn(path), context);
  return openDataDirectory(path);
}

/** @throws DomainError `data_dir.database_lost`, see lostDatabase */
export function assertDatabaseNotLost(directory: DataDirectory, context: StartContext): void {
  const databaseLost = lostDatabase(directory, context);
  if (databaseLost) throw databaseLost;
}

/** Allows a new installation in a directory that lost its database; backups and keys stay. */
export function acceptLostDatabase(directory: DataDirectory, context: StartContext): void {
  if (lostDatabase(directory, context)) unmark(directory);
}

/**
 * A database is lost if there is a marker or a backup, but no organization in the database.
 * @returns the error to report; undefined for a new directory, for one with a database, and while a restore is unfinished
 */
function lostDatabase(directory: DataDirectory, context: StartContext): DomainError | undefined {
  if (isSwapPending(directory) || holdsInstallation(directory.database)) return undefined;
  const backup = newestBackup(directory, context);
  if (!isMarked(directory) && !backup) return undefined;
  return databaseLost(directory, backup);
}

/**
 * Considers the backups of the lost installation and those without an owner. Backups from the future are a last resort.
 */
function newestBackup(directory: DataDirectory, { config, clock }: StartContext): FoundBackup | undefined {
  const nowMs = clock.nowMs();
  const organization = markedOrganization(directory);
  const isOurs = ({ manifest }: FoundBackup): boolean =>
    organization === undefined || (manifest?.organization_id ?? organization) === organization;
  const folders = new Set([backupFolder(config, directory), directory.backups]);
  const usable = [...folders]
    .flatMap(listBackups)
    .filter((backup) => isOurs(backup) && (backup.schema ?? Number.POSITIVE_INFINITY) <= programSchema())
    .sort((one, other) => (other.createdAtMs ?? 0) - (one.createdAtMs ?? 0));
  return usable.find(({ createdAtMs = 0 }) => createdAtMs <= nowMs) ?? usable[0];
}

function databaseLost(directory: DataDirectory, backup: FoundBackup | undefined): DomainError {
  const { path, database, marker } = directory;
  const because = isMarked(directory) ? basename(marker) : "a backup";
  const anew = "to create a new, empty installation instead: quartermaster setup --new";
  const way = backup
    ? `restore the newest backup: ${restoreCommand(backup.path, path)}`
    : "restore the database from a backup or a replica (`quartermaster backup list`, `quartermaster help backups`)";
  return new DomainError(
    "conflict",
    "data_dir.database_lost",
    `the database ${database} is missing or empty, but ${because} shows that one existed`,
    { hint: `${way}; ${anew}` },
  );
}

/** @returns the error for a data directory during a restore */
const unfinishedRestore = (path: string) =>
  new DomainError(
    "unavailable",
    "data_dir.restore_unfinished",
    `a restore of ${path} was interrupted or is in progress`,
    {
      hint: "finish it with any other command, such as quartermaster status; then run this command again",
    },
  );

/**
 * Like `existingDirectory`, but changes nothing: it rejects a directory with an interrupted restore.
 * @throws DomainError `data_dir.restore_unfinished`, `data_dir.empty`, `data_dir.database_lost`, `data_dir.*`
 */
export function directoryToExamine({ config, clock }: StartContext): DataDirectory {
  const path = config.get("data_dir");
  if (!fileExists(path)) throw emptyDirectory(path);
  const directory = openExistingDirectory(path);
  if (isSwapPending(directory)) throw unfinishedRestore(directory.path);
  // Only the size is checked, because reading rows would create -wal and -shm.
  if (fileSizeOf(directory.database) === 0) assertDatabaseNotLost(directory, { config, clock });
  if (!existsSync(directory.database)) throw emptyDirectory(path);
  return directory;
}

/**
 * Finishes an interrupted restore first. Does not open the database.
 * @returns the configured data directory, which has a database
 * @throws DomainError `data_dir.empty` if there is none, `data_dir.database_lost` if there was one, `data_dir.restoring` during a
 *   restore, `data_dir.*`
 */
export function existingDirectory(options: StartContext): DataDirectory {
  const directory = directoryWithDatabase(options);
  assertDatabaseNotLost(directory, options);
  return directory;
}

/** Like existingDirectory, but looks for an organization only in an empty file: openExisting reads it when the database is open. */
export function directoryWithDatabase({ config, clock }: StartContext): DataDirectory {
  const path = config.get("data_dir");
  if (!fileExists(path)) throw emptyDirectory(path);
  const directory = openDataDirectory(path);
  completeSwap(directory, clock);
  if (fileSizeOf(directory.database) === 0) assertDatabaseNotLost(directory, { config, clock });
  if (!existsSync(directory.database)) throw emptyDirectory(path);
  return directory;
}

/** @returns the error for a directory without an installation */
export const emptyDirectory = (path: string): DomainError =>
  new DomainError("not_found", "data_dir.empty", `no Quartermaster data in ${path}`, {
    hint: "name the right directory with --data-dir, or create an installation with `quartermaster setup`",
  });
