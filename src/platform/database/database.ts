// One SQLite file: a single writing connection, and a read-only one beside it. Knows no tables: callers build statements
// with drizzle. Rows are changed by `write` and its neighbors only, whose order and commits are in write-queue.ts.
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { Steps } from "../steps.ts";
import type { Checkpoint } from "./checkpoints.ts";
import { Company } from "./company.ts";
import { type ConnectionOptions, openConnection } from "./connection.ts";
import { drizzleOver } from "./drizzle.ts";
import type { Topic } from "./moved-topics.ts";
import { type Work, WriteQueue } from "./write-queue.ts";

/** drizzle over one connection, inside `write` the writing one */
export type Connection = BunSQLiteDatabase;
export type Tx = Connection;
export type { Topic } from "./moved-topics.ts";

/** A promise where a plain value is wanted does not compile: bun:sqlite would commit before it settles. */
export type Sync<T> = T extends PromiseLike<unknown> ? never : T;

export interface Db {
  /** Read-only. Sees every commit of ours, and those of other processes that are LOOK_AGAIN_MS old. */
  readonly read: Connection;
  /** @returns what `ask` returns; all its statements on `read`, even on one that was taken earlier, see the same moment */
  readConsistently<T>(ask: () => Sync<T>): T;
  /**
   * Until it is disposed, all statements on `read` see the same moment, in however many turns. Nobody in this process hears of what
   * others commit meanwhile, and the write-ahead log cannot be cleared: for a command that reads, and never for a service.
   */
  hold(): Disposable;
  /**
   * Runs a synchronous function in a durable transaction, grouped with the writes that wait beside it; each has a
   * savepoint of its own, so a failing one leaves its neighbors alone. Resolves after COMMIT reached the disk.
   * @param topic names the only caches the write can make stale, beside those that its statements name by `moveRevision`;
   *   without it every cache is dropped
   * @throws what `fn` throws; DomainError `storage.*`
   */
  write<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /**
   * `write` for work that takes long: wherever `fn` yields, the event loop turns, so that others read and are answered.
   * It promises what `write` does. Its transaction is its own, and other writes wait behind it until it has ended.
   */
  writeInSteps<T>(fn: (tx: Tx) => Steps<Sync<T>>, topic?: Topic): Promise<T>;
  /**
   * `write` for work that many callers have, each its own: while it comes often it may wait COMPANY_MS for others, so that they
   * share a commit.
   */
  writeInCompany<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /** `write` for work that nobody waits for: it waits BACKGROUND_BATCH_MS for company, as a commit stops all requests for a moment. */
  writeInBackground<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /**
   * Grows whenever rows of the topic may have changed, by us or (PRAGMA data_version) by another process. What is read
   * after it was asked for is never older, so whoever keeps rows asks first.
   */
  revision(topic: Topic): number;
  /** Waits for queued writes, then closes both connections. Safe to repeat. */
  close(): Promise<void>;
}

/** How long background writes wait for company: 20 commits in a second at most. */
export const BACKGROUND_BATCH_MS = 50;

/**
 * What another process committed is seen by requests that come this much later, or in a later turn of the event loop. A turn
 * may be long, and what comes in at its end must not be answered with what was true at its beginning.
 */
export const FOREIGN_COMMIT_CHECK_MS = 1;
const CHECK_NOW = 0;

export interface DatabaseOptions extends Pick<ConnectionOptions, "busyTimeoutMs" | "replicated"> {
  /** puts the log of a long write into the file; the next commit does that where it is left out */
  checkpoint?: Checkpoint | undefined;
}

/**
 * Opens or creates the database file.
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openDatabase(file: string, { checkpoint, ...options }: DatabaseOptions = {}): Db {
  const writer = openConnection(file, { ...options, create: true, tempInMemory: true });
  try {
    const reader = openConnection(file, { ...options, readonly: true });
    return new GroupedDatabase(writer, reader, checkpoint);
  } catch (error) {
    writer.close();
    throw error;
  }
}

/**
 * Opens an existing database and leaves no trace of that on the disk; its writes fail.
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openReadOnlyDatabase(file: string): Db {
  const open = () => openConnection(file, { readonly: true, untouched: true });
  return new GroupedDatabase(open(), open());
}

/**
 * Compiles a statement once for each connection: drizzle's builder costs ten times the query.
 * @returns a function that gives the compiled statement of a connection
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
  readonly #look;
  readonly #dataVersion;
  /** a transaction is open on the reader: locks cost more than a small query, so they are taken once in a turn */
  #isReading = false;
  readonly #ownRevision = new Map<Topic, number>();
  #everyTopic = 0;
  #seenVersion = -1;
  /** a turn that has looked for others' commits looks again at this time */
  #lookAgainMs = CHECK_NOW;
  /** how many want what is read to stay of one moment, however long it takes */
  #holds = 0;
  readonly #queue: WriteQueue;
  readonly #company = new Company();
  #closed = false;

  constructor(
    readonly writer: Database,
    readonly reader: Database,
    checkpoint?: Checkpoint,
  ) {
    this.#read = drizzleOver(reader);
    this.#queue = new WriteQueue(writer, () => this.#endReading(), checkpoint);
    this.#dataVersion = writer.prepare<{ data_version: number }, []>("PRAGMA data_version");
    this.#begin = reader.prepare("BEGIN");
    this.#rollback = reader.prepare("ROLLBACK");
    this.#look = reader.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
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
    this.#look.get(); // a transaction has no moment before it reads
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1;
        if (this.#holds === 0) this.#endReading();
      },
    };
  }

  write<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic, 0);
  }

  writeInSteps<T>(fn: (tx: Tx) => Steps<Sync<T>>, topic?: Topic): Promise<T> {
    return this.#queued({ steps: fn }, topic, 0);
  }

  writeInCompany<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic, this.#company.waitFor(performance.now()));
  }

  writeInBackground<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic, BACKGROUND_BATCH_MS);
  }

  #queued<T>(work: Work<T>, topic: Topic | undefined, patienceMs: number): Promise<T> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    const committed = (moved: readonly Topic[]): void => {
      this.#company.committed(performance.now());
      for (const each of new Set([topic, ...moved])) this.#bump(each);
    };
    return this.#queue.add(work, { committed, patienceMs });
  }

  revision(topic: Topic): number {
    this.#lookForOthers();
    return this.#everyTopic + (this.#ownRevision.get(topic) ?? 0);
  }

  async close(): Promise<void> {
    await this.#queue.emptied();
    if (this.#closed) return;
    this.#closed = true;
    this.#endReading();
    for (const prepared of [this.#dataVersion, this.#begin, this.#rollback, this.#look]) prepared.finalize();
    this.reader.close();
    this.writer.close();
  }

  /** Two system calls, so once for all requests that the runtime found waiting together, which were sent before. */
  #lookForOthers(): void {
    if (this.#holds > 0 || performance.now() < this.#lookAgainMs) return;
    this.#endReading();
    const version = this.#dataVersion.get()?.data_version ?? 0;
    if (this.#lookAgainMs === CHECK_NOW) setImmediate(this.#endTurn);
    this.#lookAgainMs = performance.now() + FOREIGN_COMMIT_CHECK_MS;
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#everyTopic += 1;
  }

  readonly #endTurn = (): void => {
    this.#lookAgainMs = CHECK_NOW;
    if (this.#holds === 0) this.#endReading();
  };

  /** A revision that was told must never be newer than what is read after it, so reading begins after the look. */
  #readOn(): void {
    this.#lookForOthers();
    if (this.#isReading) return;
    this.#begin.run();
    this.#isReading = true;
  }

  /** By ROLLBACK, which statements that are not at their end cannot keep from giving the locks back. */
  #endReading(): void {
    if (this.#isReading && this.reader.inTransaction) this.#rollback.run(); // SQLite may have done it after a failure
    this.#isReading = false;
  }

  #bump(topic: Topic | undefined): void {
    if (topic === undefined) this.#everyTopic += 1;
    else this.#ownRevision.set(topic, (this.#ownRevision.get(topic) ?? 0) + 1);
  }
}
