// Access to one SQLite file through one writing and one read-only connection. Callers build the statements with drizzle.
// Rows are changed only by `write` and its variants; write-queue.ts orders and commits them.
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { DiskReserve } from "../files/disk-reserve.ts";
import type { Steps } from "../steps.ts";
import type { Topic } from "./changed-topics.ts";
import { type Checkpoint, Checkpoints } from "./checkpoints.ts";
import { CommitGrouping } from "./commit-grouping.ts";
import { type ConnectionOptions, openConnection } from "./connection.ts";
import { createDrizzle } from "./drizzle.ts";
import { closeWithStatements } from "./quick-queries.ts";
import { type Scheduling, type Work, WriteQueue, type WriteQueueOptions } from "./write-queue.ts";

/** drizzle over one connection; inside `write`, the writing one */
export type Connection = BunSQLiteDatabase;
export type Tx = Connection;
export type { Topic } from "./changed-topics.ts";

/** Rejects promises at compile time, because bun:sqlite would commit before they settle. */
export type Sync<T> = T extends PromiseLike<unknown> ? never : T;

export interface Db {
  /** Read-only. Sees every commit of this process, and those of other processes after FOREIGN_COMMIT_CHECK_MS. */
  readonly read: Connection;
  /** @returns the result of `ask`, whose statements on `read` all see one snapshot, even on a `read` obtained earlier */
  readConsistently<T>(ask: () => Sync<T>): T;
  /**
   * Until the result is disposed, all statements on `read` see one snapshot, across turns of the event loop. Until then, this
   * process does not see commits of other processes, and the write-ahead log cannot be reset. For commands that only read, never
   * for a service.
   */
  hold(): Disposable;
  /**
   * Runs a synchronous function in a durable transaction, which it shares with other waiting writes. A write that fails does
   * not affect the others. Resolves after COMMIT has reached the disk.
   * @param topic topic of the caches that the write can make stale, besides the topics that its statements mark with
   * `markTopicChanged`; without it every cache is dropped
   * @throws the errors of `fn`; DomainError `storage.*`
   */
  write<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /**
   * `write` for long work, with the same guarantees. Whenever `fn` yields, the event loop runs, so reading requests are
   * answered. The transaction is not shared, and other writes wait until it ends.
   */
  writeInSteps<T>(fn: (tx: Tx) => Steps<Sync<T>>, topic?: Topic): Promise<T>;
  /**
   * `write` for a frequent kind of write from many callers. While they are frequent, each may wait up to GROUPING_MS to
   * share a commit. It fails on a full disk instead of using the reserve, because callers repeat it later.
   */
  writeGrouped<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /**
   * `write` for work that no caller waits for. A commit blocks all requests, so this one waits up to BACKGROUND_BATCH_MS to be
   * shared. It fails on a full disk instead of using the reserve.
   */
  writeInBackground<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /**
   * Grows whenever rows of the topic may have changed, by this process or (PRAGMA data_version) by another one. Rows that are
   * read after this call are never older than the revision, so a cache asks for the revision before it reads.
   */
  revision(topic: Topic): number;
  /** Waits for queued writes, then closes both connections. Safe to repeat. */
  close(): Promise<void>;
}

/** How long background writes wait to share a commit: at most 20 commits per second. */
export const BACKGROUND_BATCH_MS = 50;

/**
 * A commit of another process is visible after this time, or in the next turn of the event loop. The time bound matters
 * because a turn may be long, and a request that arrives at its end must not see the state of its beginning.
 */
export const FOREIGN_COMMIT_CHECK_MS = 1;
const CHECK_NOW = 0;

export interface DatabaseOptions extends Pick<ConnectionOptions, "busyTimeoutMs"> {
  /** other software replicates the write-ahead log and runs the checkpoints */
  replicated?: boolean;
  /** throws while writes are forbidden; called before each transaction and again before its COMMIT */
  admit?: (() => void) | undefined;
  /** runs checkpoints in another thread; without it, commits run them */
  checkpoint?: Checkpoint | undefined;
  /** instead of CHECKPOINT_PAGES, for that thread */
  checkpointPages?: number;
  /** space for writes on a full disk */
  reserve?: DiskReserve | undefined;
}

/**
 * Opens or creates the database file for `openDatabase`, for callers that use the connection first.
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openWriter(
  file: string,
  { checkpoint, replicated = false, ...shared }: DatabaseOptions,
): Database {
  const withoutCheckpoints = replicated || checkpoint !== undefined;
  return openConnection(file, { ...shared, create: true, tempInMemory: true, withoutCheckpoints });
}

/**
 * Opens or creates the database file.
 * @param writer openWriter, closed if this fails
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openDatabase(
  file: string,
  options: DatabaseOptions = {},
  writer = openWriter(file, options),
): Db {
  const { checkpoint, checkpointPages, replicated = false, admit, reserve, ...shared } = options;
  try {
    const reader = openConnection(file, { ...shared, readonly: true });
    const isOurs = checkpoint !== undefined && !replicated;
    const checkpoints = isOurs ? new Checkpoints(writer, checkpoint, checkpointPages) : undefined;
    return new GroupedDatabase(writer, reader, { checkpoints, admit, reserve });
  } catch (error) {
    writer.close();
    throw error;
  }
}

/**
 * Opens an existing database without leaving a trace on the disk; its writes fail.
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openReadOnlyDatabase(file: string): Db {
  const open = () => openConnection(file, { readonly: true, untouched: true });
  return new GroupedDatabase(open(), open());
}

/**
 * Compiles a statement once for each connection, because drizzle's builder costs ten times the query.
 * @returns a function that returns the compiled statement of a connection
 */
export function statement<S>(build: (connection: Connection) => S): (connection: Connection) => S {
  const compiled = new WeakMap<Connection, S>();
  return (connection) => {
    const known = compiled.get(connection);
    if (known !== undefined) return known;
    const fresh = build(connection);
    compiled.set(connection, fresh);
    return fresh;
  };
}

class GroupedDatabase implements Db {
  readonly #read: Connection;
  readonly #begin;
  readonly #rollback;
  readonly #firstRead;
  readonly #dataVersion;
  /** a transaction is open on the reader; locks cost more than a small query, so they are taken once per turn */
  #isReading = false;
  readonly #ownRevision = new Map<Topic, number>();
  #everyTopic = 0;
  #seenVersion = -1;
  /** time at which the current turn checks again for commits of other processes */
  #nextCheckMs = CHECK_NOW;
  /** number of callers that hold the current snapshot */
  #holds = 0;
  readonly #queue: WriteQueue;
  readonly #grouping = new CommitGrouping();
  #closed = false;

  constructor(
    readonly writer: Database,
    readonly reader: Database,
    options: Omit<WriteQueueOptions, "beforeCommit"> = {},
  ) {
    this.#read = createDrizzle(reader);
    this.#queue = new WriteQueue(writer, { ...options, beforeCommit: () => this.#endReading() });
    this.#dataVersion = writer.prepare<{ data_version: number }, []>("PRAGMA data_version");
    this.#begin = reader.prepare("BEGIN");
    this.#rollback = reader.prepare("ROLLBACK");
    this.#firstRead = reader.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
  }

  get read(): Connection {
    if (!this.#closed) this.#readOn();
    return this.#read;
  }

  readConsistently<T>(ask: () => Sync<T>): T {
    this.#readOn();
    this.#holds += 1;
    try {
      return ask();
    } finally {
      this.#holds -= 1;
    }
  }

  hold(): Disposable {
    this.#readOn();
    this.#holds += 1;
    this.#firstRead.get(); // a transaction has no snapshot before its first read
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1;
        if (this.#holds === 0) this.#endReading();
      },
    };
  }

  write<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic);
  }

  writeInSteps<T>(fn: (tx: Tx) => Steps<Sync<T>>, topic?: Topic): Promise<T> {
    return this.#queued({ steps: fn }, topic);
  }

  writeGrouped<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic, {
      waitMaxMs: this.#grouping.waitFor(performance.now()),
      isDeferrable: true,
    });
  }

  writeInBackground<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic, { waitMaxMs: BACKGROUND_BATCH_MS, isDeferrable: true });
  }

  #queued<T>(work: Work<T>, topic: Topic | undefined, how: Scheduling = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    const committed = (moved: readonly Topic[]): void => {
      this.#grouping.committed(performance.now());
      for (const each of new Set([topic, ...moved])) this.#bump(each);
    };
    return this.#queue.add(work, { committed, ...how });
  }

  revision(topic: Topic): number {
    this.#checkForeignCommits();
    return this.#everyTopic + (this.#ownRevision.get(topic) ?? 0);
  }

  async close(): Promise<void> {
    await this.#queue.emptied();
    if (this.#closed) return;
    this.#closed = true;
    this.#endReading();
    for (const prepared of [this.#dataVersion, this.#begin, this.#rollback, this.#firstRead])
      prepared.finalize();
    closeWithStatements(this.reader);
    closeWithStatements(this.writer);
  }

  /** Takes two system calls, so it runs once for all requests of one turn. */
  #checkForeignCommits(): void {
    if (this.#holds > 0 || performance.now() < this.#nextCheckMs) return;
    this.#endReading();
    const version = this.#dataVersion.get()?.data_version ?? 0;
    if (this.#nextCheckMs === CHECK_NOW) setImmediate(this.#endTurn);
    this.#nextCheckMs = performance.now() + FOREIGN_COMMIT_CHECK_MS;
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#everyTopic += 1;
  }

  readonly #endTurn = (): void => {
    this.#nextCheckMs = CHECK_NOW;
    if (this.#holds === 0) this.#endReading();
  };

  /** A revision must never be newer than the rows that are read after it, so the transaction begins after the check. */
  #readOn(): void {
    this.#checkForeignCommits();
    if (this.#isReading) return;
    this.#begin.run();
    this.#isReading = true;
  }

  /** Uses ROLLBACK, which releases the locks even while statements are unfinished. */
  #endReading(): void {
    if (this.#isReading && this.reader.inTransaction) this.#rollback.run(); // SQLite may have ended it after a failure
    this.#isReading = false;
  }

  #bump(topic: Topic | undefined): void {
    if (topic === undefined) this.#everyTopic += 1;
    else this.#ownRevision.set(topic, (this.#ownRevision.get(topic) ?? 0) + 1);
  }
}
