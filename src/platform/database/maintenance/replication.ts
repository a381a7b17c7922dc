// What software that replicates the database leaves beside it. Litestream keeps the pieces of the log that it has copied in a
// folder, so their times say how far it is; whether they reached the replica, only Litestream knows.
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** @returns the folder that Litestream keeps beside a database */
export const litestreamFolder = (database: string): string =>
  join(dirname(database), `.${basename(database)}-litestream`);

export interface Replication {
  /** UTC milliseconds at which Litestream last copied a piece of the log; undefined where it never did */
  lastProgressMs: number | undefined;
  /** UTC milliseconds at which the log was last written; undefined without a log */
  lastWriteMs: number | undefined;
}

/** @returns how far replication is, by the times of files */
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
    return undefined; // no such folder, or Litestream has just replaced a part of it: the next look sees more
  }
}

function timeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && found.size > 0 ? Math.floor(found.mtimeMs) : undefined;
}
