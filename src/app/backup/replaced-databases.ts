// Databases that a restore has replaced: each is in a folder of its own in the data directory, and kept for some days.
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { DAY_MS } from "../../platform/clock.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { replacedAtMs } from "../../platform/database/maintenance/data-swap.ts";
import { fileSizeOf } from "../../platform/files/disk.ts";

export interface ReplacedData {
  folder: string;
  /** the database in it, which `restore` takes */
  path: string;
  /** UTC milliseconds, by the name of the folder */
  replacedAtMs: number;
  /** UTC milliseconds from which on it is removed */
  keptUntilMs: number;
  sizeBytes: number;
}

/** @returns what restores have replaced, newest first; nothing where there is no data directory */
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
 * Removes what was kept for long enough. Call it under the server's lock: a restore makes such folders.
 * @returns the folders that were removed
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
    return []; // a directory that is not there, or is another user's, is for other commands to tell
  }
}
