// Reads the progress of Litestream from the files beside the database. Litestream keeps copied parts of the log in a folder,
// and their file times show its progress. Only Litestream knows whether they have reached the replica.
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** @returns the folder of Litestream beside a database */
export const litestreamFolder = (database: string): string =>
  join(dirname(database), `.${basename(database)}-litestream`);

export interface Replication {
  /** time at which Litestream last copied a part of the log, UTC milliseconds; undefined if it never did */
  lastProgressMs: number | undefined;
  /** time of the last write to the log, UTC milliseconds; undefined without a log */
  lastWriteMs: number | undefined;
}

/** @returns the progress of replication, by the times of files */
export const replicationOf = (database: string): Replication => ({
  lastProgressMs: newestIn(litestreamFolder(database)),
  lastWriteMs: timeOf(`${database}-wal`),
});

function newestIn(folder: string): number | undefined {
  try {
    const times = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => timeOf(join(parentPath, name)) ?? 0);
    return times.length === 0 ? undefined : Math.max(...times);
  } catch {
    return undefined; // the folder is missing or changing; the next call reads it again
  }
}

function timeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && found.size > 0 ? Math.floor(found.mtimeMs) : undefined;
}
