// Makes Litestream recreate its replica. Litestream copies the log of SQLite. If the log was reset while Litestream was
// stopped, it begins with a complete copy, so this file empties the log.
import { commandWith } from "../../../platform/config/command-hint.ts";
import type { Config } from "../../../platform/config/config.ts";
import { type DataDirectory, hasCrashed } from "../../../platform/data-directory/data-directory.ts";
import { openWriter } from "../../../platform/database/database.ts";
import { resetIndex } from "../../../platform/database/maintenance/log-index.ts";
import { asStorageError } from "../../../platform/database/storage-errors.ts";
import { DomainError } from "../../../platform/errors.ts";
import { findOwnTerm } from "../own-term.ts";

const UNIT = "quartermaster-litestream";
const STOP = `systemctl stop ${UNIT}`;

/** @returns the commands that recreate the replica */
export const resetCommands = (config: Config): string =>
  `${STOP}; ${commandWith(config, "replica reset")}; systemctl start ${UNIT}`;

/** How long to wait for readers of the service. */
const READERS_WAIT_MS = 2_000;

/** @returns whether the service was killed or a test restore failed, and no test restore has succeeded since */
export const isReplicaDoubtful = (directory: DataDirectory): boolean =>
  hasCrashed(directory) || findOwnTerm(directory)?.doubtful_since !== undefined;

/**
 * Empties the log of SQLite. The service may run, but Litestream must not.
 * @throws DomainError `standby.replica_in_use` while Litestream or another program reads the log; `storage.*`
 */
export function resetReplica(directory: DataDirectory): void {
  const { database } = directory;
  if (hasCrashed(directory)) resetIndex(database);
  const connection = openWriter(database, { replicated: true, busyTimeoutMs: READERS_WAIT_MS });
  try {
    const result = connection.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (result?.busy !== 0) throw inUse(database);
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}

const inUse = (database: string): DomainError =>
  new DomainError("unavailable", "standby.replica_in_use", `another program reads the log of ${database}`, {
    hint: `stop Litestream first: ${STOP}`,
  });
