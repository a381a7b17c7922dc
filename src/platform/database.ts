// One SQLite file: a single writing connection with group commit, and a read-only one beside it.
// Knows no tables. Callers build statements with drizzle; `write` is the only way to change rows.
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import { type ConnectionOptions, openConnection } from "./connection.ts";
import { drizzleOver } from "./drizzle.ts";
import { asStorageError } from "./storage-errors.ts";

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
/** Writes that share one COMMIT at most; more wait for the next one. */
export const WRITE_BATCH_MAX = 64;

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

interface WriteJob {
  run(tx: Tx): void;
  settle(): void;
  fail(error: unknown): void;
}

class GroupedDatabase implements Db {
  readonly read: Connection;
  readonly #tx: Tx;
  readonly #dataVersion;
  readonly #ownRevision = new Map<Topic, number>();
  #everyTopic = 0;
  #seenVersion = -1;
  #hasLooked = false;
  #queue: WriteJob[] = [];
  /** a flush is on its way */
  #isDue = false;
  #patience: Timer | undefined;
  #idle: (() => void)[] = [];
  #closed = false;

  constructor(
    readonly writer: Database,
    readonly reader: Database,
  ) {
    this.read = drizzleOver(reader);
    this.#tx = drizzleOver(writer);
    this.#dataVersion = writer.prepare<{ data_version: number }, []>("PRAGMA data_version");
  }

  atOnce<T>(ask: () => Sync<T>): T {
    this.#run("BEGIN", this.reader);
    try {
      return ask();
    } finally {
      this.#run("COMMIT", this.reader);
    }
  }

  write<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    const written = this.#queued(fn, topic);
    this.#schedule(0);
    return written;
  }

  writeInBackground<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    const written = this.#queued(fn, topic);
    this.#schedule(GATHERING_MS);
    return written;
  }

  #queued<T>(fn: (tx: Tx) => Sync<T>, topic?: Topic): Promise<T> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    return new Promise<T>((resolve, reject) => {
      let answer: { value: T } | undefined;
      const job: WriteJob = {
        run: (tx) => {
          const value = fn(tx);
          refusePromise(value);
          answer = { value };
        },
        settle: () => {
          this.#bump(topic);
          if (answer) resolve(answer.value);
        },
        fail: reject,
      };
      this.#queue.push(job);
    });
  }

  revision(topic: Topic): number {
    if (!this.#hasLooked) this.#lookForOthers();
    return this.#everyTopic + (this.#ownRevision.get(topic) ?? 0);
  }

  async close(): Promise<void> {
    if (this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
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

  /** The first job that waits for nobody takes the patient ones along. */
  #schedule(patienceMs: number): void {
    if (this.#isDue || this.#queue.length === 0) return;
    if (patienceMs > 0 && this.#queue.length < WRITE_BATCH_MAX) {
      this.#patience ??= setTimeout(() => this.#schedule(0), patienceMs);
      return;
    }
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.#isDue = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isDue = false;
    const batch = this.#queue.slice(0, WRITE_BATCH_MAX);
    const answers = this.#commit(batch);
    this.#queue.splice(0, batch.length);
    if (this.#queue.length > 0) this.#schedule(0);
    for (const answer of answers) answer();
    if (this.#queue.length === 0) for (const wake of this.#idle.splice(0)) wake();
  }

  /** @returns what to tell each caller; nobody hears "done" before COMMIT returned */
  #commit(batch: readonly WriteJob[]): (() => void)[] {
    try {
      this.#run("BEGIN IMMEDIATE");
      const answers = batch.map((job) => this.#runJob(job, batch.length > 1));
      this.#run("COMMIT");
      return answers;
    } catch (error) {
      if (this.writer.inTransaction) this.#run("ROLLBACK");
      const failure = asStorageError(error);
      return batch.map((job) => () => job.fail(failure));
    }
  }

  /** A lone job needs no savepoint: its failure may roll the whole transaction back. */
  #runJob(job: WriteJob, isolated: boolean): () => void {
    if (isolated) this.#run("SAVEPOINT job");
    try {
      job.run(this.#tx);
      if (isolated) this.#run("RELEASE job");
      return () => job.settle();
    } catch (error) {
      // SQLite ends the transaction by itself after some failures (full disk): then every job of the batch failed.
      if (!this.writer.inTransaction) throw error;
      this.#run(isolated ? "ROLLBACK TO job" : "ROLLBACK");
      this.#run(isolated ? "RELEASE job" : "BEGIN IMMEDIATE");
      const failure = asStorageError(error);
      return () => job.fail(failure);
    }
  }

  /** Compiled once: around a small write these statements would cost more to compile than it takes to run. */
  #run(control: string, connection = this.writer): void {
    connection.query(control).run();
  }
}

function refusePromise(value: unknown): void {
  if (typeof value !== "object" || value === null || !("then" in value)) return;
  if (value instanceof Promise) value.catch(() => {}); // nobody awaits it; the error below reports the mistake
  throw new TypeError(
    "a write must not return a promise, or a statement that was not run: it would commit too early",
  );
}
