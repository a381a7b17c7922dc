// One SQLite file: a single writing connection, and a read-only one beside it. Knows no tables: callers build statements
// with drizzle. Rows are changed by `write` and its neighbours only, whose order and commits are in write-queue.ts.
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { Steps } from "../steps.ts";
import { type ConnectionOptions, openConnection } from "./connection.ts";
import { drizzleOver } from "./drizzle.ts";
import { type Work, WriteQueue } from "./write-queue.ts";

/** drizzle over one connection, inside `write` the writing one */
export type Connection = BunSQLiteDatabase;
export type Tx = Connection;

/** What a cache is about; a write that names its topic leaves other caches alone, and `unobserved` rows are in none. */
export type Topic =
  | "access"
  | "branding"
  | "catalog"
  | "clients"
  | "gateway"
  | "governance"
  | "jobs"
  | "provisioning"
  | "unobserved";

/** A promise where a plain value is wanted does not compile: bun:sqlite would commit before it settles. */
export type Sync<T> = T extends PromiseLike<unknown> ? never : T;

export interface Db {
  /** read-only; sees every commit made before the statement starts */
  readonly read: Connection;
  /** @returns what `ask` returns; all its statements on `read` see the same moment */
  atOnce<T>(ask: () => Sync<T>): T;
  /**
   * Runs a synchronous function in a durable transaction, grouped with the writes that wait beside it; each has a
   * savepoint of its own, so a failing one leaves its neighbours alone. Resolves after COMMIT reached the disk.
   * @param topic names the only caches the write can make stale; without it every cache is dropped
   * @throws what `fn` throws; DomainError `storage.full`, `storage.busy`, `storage.failed`
   */
  write<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /**
   * `write` for work that takes long: wherever `fn` yields, the event loop turns, so that others read and are answered.
   * It promises what `write` does. Its transaction is its own, and other writes wait behind it until it has ended.
   */
  writeInSteps<T>(fn: (tx: Tx) => Steps<Sync<T>>, topic?: Topic): Promise<T>;
  /** `write` for work that nobody waits for: it waits GATHERING_MS for company, as a commit stops all requests for a moment. */
  writeInBackground<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T>;
  /**
   * Grows whenever rows of the topic may have changed, by us or (PRAGMA data_version) by another process. Other
   * processes' commits are looked for once in each turn of the event loop, for all requests that came with it.
   */
  revision(topic: Topic): number;
  /** Waits for queued writes, then closes both connections. Safe to repeat. */
  close(): Promise<void>;
}

/** How long background writes wait for company: 20 commits in a second at most. */
export const GATHERING_MS = 50;

/**
 * Opens or creates the database file.
 * @throws DomainError `storage.*` when the file cannot be opened
 */
export function openDatabase(
  file: string,
  options: Pick<ConnectionOptions, "busyTimeoutMs" | "replicated"> = {},
): Db {
  const writer = openConnection(file, { ...options, create: true });
  try {
    return new GroupedDatabase(writer, openConnection(file, { ...options, readonly: true }));
  } catch (error) {
    writer.close();
    throw error;
  }
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
  readonly read: Connection;
  readonly #dataVersion;
  readonly #ownRevision = new Map<Topic, number>();
  #everyTopic = 0;
  #seenVersion = -1;
  #hasLooked = false;
  readonly #queue: WriteQueue;
  #closed = false;

  constructor(
    readonly writer: Database,
    readonly reader: Database,
  ) {
    this.read = drizzleOver(reader);
    this.#queue = new WriteQueue(writer);
    this.#dataVersion = writer.prepare<{ data_version: number }, []>("PRAGMA data_version");
  }

  atOnce<T>(ask: () => Sync<T>): T {
    this.reader.query("BEGIN").run();
    try {
      return ask();
    } finally {
      this.reader.query("COMMIT").run();
    }
  }

  write<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic, 0);
  }

  writeInSteps<T>(fn: (tx: Tx) => Steps<Sync<T>>, topic?: Topic): Promise<T> {
    return this.#queued({ steps: fn }, topic, 0);
  }

  writeInBackground<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    return this.#queued({ once: fn }, topic, GATHERING_MS);
  }

  #queued<T>(work: Work<T>, topic: Topic | undefined, patienceMs: number): Promise<T> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    return this.#queue.add(work, { committed: () => this.#bump(topic), patienceMs });
  }

  revision(topic: Topic): number {
    if (!this.#hasLooked) this.#lookForOthers();
    return this.#everyTopic + (this.#ownRevision.get(topic) ?? 0);
  }

  async close(): Promise<void> {
    await this.#queue.emptied();
    if (this.#closed) return;
    this.#closed = true;
    this.#dataVersion.finalize();
    this.reader.close();
    this.writer.close();
  }

  /**
   * Two system calls, so once for all requests that the runtime found waiting together: the immediate comes before it waits
   * for more. They were all sent before this look, so what a request is told is never older than that request.
   */
  #lookForOthers(): void {
    const version = this.#dataVersion.get()?.data_version ?? 0;
    this.#hasLooked = true;
    setImmediate(this.#endTurn);
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#everyTopic += 1;
  }

  readonly #endTurn = (): void => {
    this.#hasLooked = false;
  };

  #bump(topic: Topic | undefined): void {
    if (topic === undefined) this.#everyTopic += 1;
    else this.#ownRevision.set(topic, (this.#ownRevision.get(topic) ?? 0) + 1);
  }
}
