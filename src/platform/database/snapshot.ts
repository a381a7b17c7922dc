// One moment of the database, kept for reading over several turns of the event loop. It holds back the clearing of the
// write-ahead log while it is open, so whoever opens one closes it soon.
import { openConnection } from "./connection.ts";
import type { Connection } from "./database.ts";
import { drizzleOver } from "./drizzle.ts";

export interface Snapshot {
  /** sees what was committed before its first statement, and nothing later */
  readonly connection: Connection;
  close(): void;
}

/** It is read from one end to the other: pages that were read are not wanted again. */
const PAGE_CACHE_KIB = 2_048;

export type OpenSnapshot = () => Snapshot;

/**
 * Opens a read-only connection of its own with a transaction on it.
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openSnapshot(file: string): Snapshot {
  const own = openConnection(file, { readonly: true, pageCacheKib: PAGE_CACHE_KIB });
  own.run("BEGIN");
  return {
    connection: drizzleOver(own),
    close() {
      own.run("COMMIT"); // compiled statements keep a closed connection until they are collected, its moment too
      own.run("PRAGMA shrink_memory");
      own.close();
    },
  };
}
