// Databases that a restore has replaced. Each has its own folder in the data directory and is kept for some days.
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { DAY_MS } from "../../platform/clock.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { replacedAtMs } from "../../platform/database/maintenance/data-swap.ts";
import { fileSizeOf } from "../../platform/files/disk.ts";

export interface ReplacedData {
  folder: string;
  /** path of the database in the folder, for `restore` */
  path: string;
  /** UTC milliseconds, from the folder name */
  replacedAtMs: number;
  /** UTC milliseconds after which it is removed */
  keptUntilMs: number;
  sizeBytes: number;
}

/** @returns the replaced databases, newest first; empty if there is no data directory */
export function listReplacedDatabases({ path, database }: DataDirectory, keepDays: number): ReplacedData[] {
  return namesIn(path)
    .flatMap((name) => {
      const atMs = replacedAtMs(name);
      if (atMs === undefined) return [];
      const [folder, file] = [join(path, name), join(path, name, basename(database))];
      const keptUntilMs = atMs + keepDays * DAY_MS;
      return [{ folder, path: file, replacedAtMs: atMs, keptUntilMs, sizeBytes: fileSizeOf(file) }];
    })
    .sort((one, other) => other.replacedAtMs - one.replacedAtMs || (one.folder < other.folder ? 1 : -1));
}

/**
 * Removes replaced databases after their retention. Requires the server's lock, because a restore creates these
 * folders.
 * @returns the removed folders
 */
export function removeReplacedDatabases(
  directory: DataDirectory,
  { keepDays, nowMs }: { keepDays: number; nowMs: number },
): string[] {
  const due = listReplacedDatabases(directory, keepDays).filter(({ keptUntilMs }) => keptUntilMs <= nowMs);
  for (const { folder } of due) rmSync(folder, { recursive: true, force: true });
  return due.map(({ folder }) => folder);
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // other commands report a missing or inaccessible directory
  }
}
