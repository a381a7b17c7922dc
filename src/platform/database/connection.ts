// Opens one connection to the database file, with the pragmas that all connections share. database.ts decides which connection
// writes.
import { constants, Database } from "bun:sqlite";
import { closeSync, existsSync, openSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { refuseIrregular, withoutFolderLinks } from "../files/data-files.ts";
import { CHECKPOINT_PAGES } from "./checkpoints.ts";
import { openSqliteFile } from "./sqlite-file.ts";
import { asStorageError, sqliteErrorIn } from "./storage-errors.ts";

/** Page cache of one connection: random lookups in a large table need no system call for each page. */
const PAGE_CACHE_KIB = 16_384;
/** How long a write waits for the transaction of another process. Waiting blocks the whole process. */
const BUSY_TIMEOUT_MS = 5_000;

const MODE_RETRY_MS = 5;

export interface ConnectionOptions {
  /** creates a missing file, readable by its owner only */
  create?: true;
  readonly?: true;
  /** with `readonly`: creates no -wal or -shm file if no process has the database open */
  untouched?: true;
  /** instead of BUSY_TIMEOUT_MS */
  busyTimeoutMs?: number;
  /** instead of PAGE_CACHE_KIB */
  pageCacheKib?: number;
  /**
   * keeps temporary tables and savepoint journals in memory; in the system's temporary folder they took ten times the
   * bytes of the commit
   */
  tempInMemory?: true;
  /** commits of this connection run no checkpoints; another connection runs them */
  withoutCheckpoints?: boolean;
}

/**
 * @returns a connection with the shared pragmas
 * @throws DomainError `storage.*` when the file cannot be opened or is not a database
 */
export function openConnection(file: string, options: ConnectionOptions): Database {
  const {
    busyTimeoutMs = BUSY_TIMEOUT_MS,
    pageCacheKib = PAGE_CACHE_KIB,
    tempInMemory,
    untouched,
    withoutCheckpoints,
    ...flags
  } = options;
  let connection: Database | undefined;
  try {
    refuseIrregular(file); // opening a named pipe would block forever
    if (flags.create) makeOwnerOnly(file);
    if (flags.readonly) rollBackInterrupted(file);
    connection = untouched ? openUntouched(file) : openSqliteFile(file, flagsOf(flags));
    connection.run(`PRAGMA busy_timeout=${busyTimeoutMs}`);
    if (!flags.readonly) useWriteAheadLog(connection, busyTimeoutMs);
    if (!flags.readonly) connection.run("PRAGMA synchronous=FULL");
    if (!flags.readonly)
      connection.run(`PRAGMA wal_autocheckpoint=${withoutCheckpoints ? 0 : CHECKPOINT_PAGES}`);
    connection.run(`PRAGMA cache_size=-${pageCacheKib}`);
    if (tempInMemory) connection.run("PRAGMA temp_store=MEMORY");
    connection.run("PRAGMA foreign_keys=ON");
    return connection;
  } catch (error) {
    connection?.close();
    throw asStorageError(error);
  }
}

const flagsOf = ({ create, readonly }: Pick<ConnectionOptions, "create" | "readonly">): number => {
  if (readonly) return constants.SQLITE_OPEN_READONLY;
  return constants.SQLITE_OPEN_READWRITE | (create ? constants.SQLITE_OPEN_CREATE : 0);
};

/**
 * A reader in write-ahead mode creates missing -wal and -shm files. Without a log no process has the database open and the file
 * holds everything, so SQLite can open it as immutable.
 */
function openUntouched(file: string): Database {
  if (existsSync(`${file}-wal`)) return openSqliteFile(file, constants.SQLITE_OPEN_READONLY);
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI | constants.SQLITE_OPEN_NOFOLLOW;
  return new Database(`${pathToFileURL(withoutFolderLinks(file)).href}?mode=ro&immutable=1`, flags);
}

/** SQLite does not wait for a lock when it changes the journal mode, so two processes that open a new file need retries. */
function useWriteAheadLog(connection: Database, busyTimeoutMs: number): void {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      connection.run("PRAGMA journal_mode=WAL");
      return;
    } catch (error) {
      if (sqliteErrorIn(error)?.code !== "SQLITE_BUSY" || performance.now() >= deadline) throw error;
      Bun.sleepSync(MODE_RETRY_MS);
    }
  }
}

/**
 * A process that was killed while it created the file leaves a rollback journal. Only a writing connection can roll it back; a
 * read-only one fails.
 */
function rollBackInterrupted(file: string): void {
  if (!existsSync(`${file}-journal`)) return;
  try {
    using writing = openSqliteFile(file, constants.SQLITE_OPEN_READWRITE);
    writing.query("SELECT 1 FROM sqlite_schema").get();
  } catch {
    // The read-only connection meets the same error and reports it.
  }
}

/** SQLite would create the file readable by all users. Its sidecar files get the mode of the database. */
function makeOwnerOnly(file: string): void {
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // SQLite opens the file next and reports what is wrong.
  }
}
