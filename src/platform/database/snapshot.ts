// A snapshot of the database for reading across turns of the event loop. While it is open the write-ahead log cannot be reset,
// so close it soon.
import { openConnection } from "./connection.ts";
import type { Connection } from "./database.ts";
import { createDrizzle } from "./drizzle.ts";

export interface Snapshot {
  /** sees the commits before its first statement, and none after it */
  readonly connection: Connection;
  close(): void;
}

/** Small, because a snapshot is read sequentially, each page once. */
const PAGE_CACHE_KIB = 2_048;

export type OpenSnapshot = () => Snapshot;

/**
 * Opens a separate read-only connection and begins a transaction on it.
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openSnapshot(file: string): Snapshot {
  const own = openConnection(file, { readonly: true, pageCacheKib: PAGE_CACHE_KIB });
  own.run("BEGIN");
  return {
    connection: createDrizzle(own),
    close() {
      own.run("COMMIT"); // until they are collected, compiled statements keep a closed connection and its snapshot
      own.run("PRAGMA shrink_memory");
      own.close();
    },
  };
}
