// The file of the request log: its own SQLite database in the data directory, with forward-only migrations by `user_version`.
// A crash may lose the last commits, which `synchronous=NORMAL` does not flush, but never damages the file.
import type { Database, Statement } from "bun:sqlite";
import { existsSync } from "node:fs";
import { openConnection } from "../../../platform/database/connection.ts";
import { asStorageError } from "../../../platform/database/storage-errors.ts";
import { DomainError } from "../../../platform/errors.ts";

/** Small: writes need only the newest pages of table and indexes, and a search reads each page once. */
const PAGE_CACHE_KIB = 4_096;
/** How long a write waits for another process that holds the file, for example to erase rows. The thread is blocked until then. */
const BUSY_TIMEOUT_MS = 1_000;
/** Number of prepared statements after which references to garbage-collected ones are removed. */
const STATEMENTS_MIN = 64;

/** The element at index n upgrades version n to n + 1. Never edit a released one. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    profile_id TEXT,
    profile_name TEXT,
    occurred_at_ms INTEGER NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    model TEXT,
    http_status INTEGER,
    upstream_latency_ms INTEGER NOT NULL,
    harness TEXT,
    repository TEXT,
    branch TEXT,
    commit_sha TEXT,
    dirty INTEGER,
    run_id TEXT,
    claimed INTEGER NOT NULL,
    request_id TEXT,
    duration_ms INTEGER,
    first_byte_ms INTEGER,
    request_bytes INTEGER,
    response_bytes INTEGER,
    stream INTEGER,
    outcome TEXT,
    refusal TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    usage_source TEXT,
    upstream_cost REAL
  ) STRICT;
  CREATE INDEX requests_by_time ON requests (occurred_at_ms, id);
  CREATE INDEX requests_of_user ON requests (user_id, occurred_at_ms, id);
  CREATE INDEX requests_of_model ON requests (model, occurred_at_ms, id);
  CREATE TABLE gaps (
    id INTEGER PRIMARY KEY,
    from_ms INTEGER NOT NULL,
    to_ms INTEGER NOT NULL,
    count INTEGER NOT NULL,
    cause TEXT NOT NULL
  ) STRICT;
  CREATE TABLE seen (
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    name TEXT,
    last_at_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, value)
  ) STRICT, WITHOUT ROWID;`,
  // Sums of usage on their way to the database of the service: see usage/pending-usage-sums-store.ts. Repeats the columns of migration
  // 0023, because a released migration of either file never changes.
  `CREATE TABLE usage_sums (
    batch TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    harness TEXT NOT NULL,
    requests INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    cost REAL NOT NULL,
    PRIMARY KEY (batch, organization_id, day, user_id, model, harness)
  ) STRICT, WITHOUT ROWID;`,
  // Sums of the rows of an hour or of a day. A change of these rows deletes them: see summary/cached-sums-store.ts.
  `CREATE TABLE kept_sums (
    hours INTEGER NOT NULL,
    number INTEGER NOT NULL,
    mark INTEGER,
    totals TEXT NOT NULL,
    models TEXT NOT NULL,
    users TEXT NOT NULL,
    PRIMARY KEY (hours, number)
  ) STRICT;
  CREATE TRIGGER requests_added AFTER INSERT ON requests BEGIN
    DELETE FROM kept_sums WHERE hours = 1 AND number = NEW.occurred_at_ms / 3600000;
    DELETE FROM kept_sums WHERE hours = 24 AND number = NEW.occurred_at_ms / 86400000;
  END;
  CREATE TRIGGER requests_completed AFTER UPDATE ON requests BEGIN
    DELETE FROM kept_sums WHERE hours = 1
      AND number IN (OLD.occurred_at_ms / 3600000, NEW.occurred_at_ms / 3600000);
    DELETE FROM kept_sums WHERE hours = 24
      AND number IN (OLD.occurred_at_ms / 86400000, NEW.occurred_at_ms / 86400000);
  END;
  CREATE TRIGGER requests_removed AFTER DELETE ON requests BEGIN
    DELETE FROM kept_sums WHERE hours = 1 AND number = OLD.occurred_at_ms / 3600000;
    DELETE FROM kept_sums WHERE hours = 24 AND number = OLD.occurred_at_ms / 86400000;
  END;`,
];

/** No backup contains the file, so restoring one does not repair it. */
export const MOVE_AWAY =
  "move request-logs.db out of the data directory; the service creates another one, without a restart";

/** @returns a failure of the file with what to do about this file; any other error unchanged */
export function asLogFileError(error: unknown): unknown {
  const fault = asStorageError(error);
  if (!(fault instanceof DomainError && fault.reason === "storage.damaged")) return fault;
  const { kind, reason, message } = fault;
  return new DomainError(kind, reason, message, { hint: MOVE_AWAY, cause: fault.cause });
}

/** @throws as `asLogFileError` */
function open(...given: Parameters<typeof openConnection>): Database {
  try {
    return openConnection(...given);
  } catch (error) {
    throw asLogFileError(error);
  }
}

/** Version of the file that this program writes. */
const LOG_FILE_VERSION = MIGRATIONS.length;

/**
 * Opens or creates the file, readable by its owner only, and upgrades it to the current version. Closing the connection
 * finalizes its statements.
 * @throws DomainError `storage.*`, `request_log.newer`
 */
export function openLogFile(file: string): Database {
  const connection = open(file, {
    create: true,
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    pageCacheKib: PAGE_CACHE_KIB,
    tempInMemory: true,
  });
  try {
    connection.run("PRAGMA synchronous=NORMAL");
    migrate(connection);
    finalizeAtClose(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw asLogFileError(error);
  }
}

/**
 * SQLite keeps a closed connection, with its locks on the file, while one of its statements exists. The garbage collector may
 * keep one for a long time, during which the file could not be opened again.
 */
function finalizeAtClose(connection: Database): void {
  let statements: WeakRef<Statement>[] = [];
  let lookAt = STATEMENTS_MIN;
  const keep = (statement: Statement): void => {
    if (statements.push(new WeakRef(statement)) < lookAt) return;
    statements = statements.filter((kept) => kept.deref() !== undefined);
    lookAt = 2 * statements.length + STATEMENTS_MIN;
  };
  const { prepare, close } = connection;
  connection.prepare = new Proxy(prepare, {
    apply(_, __, given: Parameters<typeof prepare>) {
      const statement = prepare.apply(connection, given);
      keep(statement);
      return statement;
    },
  });
  connection.close = (...given) => {
    for (const statement of statements) statement.deref()?.finalize();
    close.apply(connection, given);
  };
}

/** Opens the file for writing if it exists. @throws as `openLogFile` */
export const openExistingLog = (file: string): Database | undefined =>
  existsSync(file) ? openLogFile(file) : undefined;

/**
 * Opens an existing file for reading.
 * @returns undefined if there is none, or if it has no tables yet
 * @throws DomainError `storage.*`, `request_log.newer`
 */
export function openLogForReading(file: string, options: { untouched?: true } = {}): Database | undefined {
  if (!existsSync(file)) return undefined;
  const connection = open(file, { readonly: true, pageCacheKib: PAGE_CACHE_KIB, ...options });
  try {
    if (versionOf(connection) > 0) return connection;
  } catch (error) {
    connection.close();
    throw asLogFileError(error);
  }
  connection.close();
  return undefined;
}

function migrate(connection: Database): void {
  if (versionOf(connection) === LOG_FILE_VERSION) return;
  connection
    .transaction(() => {
      const from = versionOf(connection); // another process may have migrated it before this process got the lock
      for (const sql of MIGRATIONS.slice(from)) connection.run(sql);
      connection.run(`PRAGMA user_version=${LOG_FILE_VERSION}`);
    })
    .immediate();
}

/** @throws DomainError `request_log.newer` for the file of a newer program */
function versionOf(connection: Database): number {
  const version =
    connection.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
  if (version <= LOG_FILE_VERSION) return version;
  throw new DomainError(
    "conflict",
    "request_log.newer",
    `the file of the request log was written by a newer version of this program (version ${version})`,
    { hint: "run the newer program, or move request-logs.db out of the data directory" },
  );
}
