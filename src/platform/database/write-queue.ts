// Runs writes in the order of their requests. Short writes share a transaction and its commit. A long write has its own
// transaction, and other work runs whenever it yields. database.ts updates the revisions of caches.
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { DiskReserve } from "../files/disk-reserve.ts";
import { collectNewGarbage } from "../memory/garbage.ts";
import type { Steps } from "../steps.ts";
import { type Topic, takeChangedTopics } from "./changed-topics.ts";
import { type Checkpoints, commitToLog, flushLog } from "./checkpoints.ts";
import { createDrizzle } from "./drizzle.ts";
import { asStorageError, diskFull, isDiskFull } from "./storage-errors.ts";

/** Maximum number of writes that share one COMMIT; further writes wait for the next one. */
export const WRITE_BATCH_MAX = 64;

/** Steps of a long write between two collections of young garbage. */
const STEPS_PER_COLLECTION = 4;

/** Page cache of a long write. Pages beyond it go to the log during the steps, which bounds what the commit must write. */
const LONG_WRITE_CACHE_KIB = 512;

/**
 * Steps of a long write between two flushes of the log. Requests are answered during a flush, whereas a commit would block for
 * unflushed pages.
 */
const STEPS_PER_FLUSH = 4;

/** The work of a transaction, in one step or in many. */
export type Work<T> = { once(tx: BunSQLiteDatabase): T } | { steps(tx: BunSQLiteDatabase): Steps<T> };

/** Reports the outcome to the caller. */
type Answer = () => void;

interface ShortJob {
  isDeferrable: boolean;
  run(tx: BunSQLiteDatabase): Answer;
  fail(error: unknown): void;
}

interface LongJob {
  steps(tx: BunSQLiteDatabase): Steps<Answer>;
  fail(error: unknown): void;
}

export interface WriteQueueOptions {
  /** ends the read transaction: SQLite resets its log only while no reader needs an older page */
  beforeCommit(): void;
  /** copies the log in another thread; without it, the writer or other software does so */
  checkpoints?: Checkpoints | undefined;
  /** throws while writes are forbidden */
  admit?: (() => void) | undefined;
  /** space for commits on a full disk */
  reserve?: Pick<DiskReserve, "isInUse" | "release"> | undefined;
}

export interface Scheduling {
  /** how long the work may wait to share a commit */
  waitMaxMs?: number;
  /** the caller repeats it later, so it must not use the reserve of the disk */
  isDeferrable?: boolean;
}

interface AddOptions extends Scheduling {
  /** called before the promise resolves, with the topics that the work marked */
  committed(moved: readonly Topic[]): void;
}

export class WriteQueue {
  readonly #tx: BunSQLiteDatabase;
  #jobs: (ShortJob | LongJob)[] = [];
  /** a flush is scheduled or running */
  #isDue = false;
  #commitTimer: { timer: Timer; endsMs: number } | undefined;
  #idle: (() => void)[] = [];
  /** the current long write has taken all its steps */
  #isAtCommit = false;

  constructor(
    private readonly writer: Database,
    private readonly options: WriteQueueOptions,
  ) {
    this.#tx = createDrizzle(writer);
  }

  /** @throws the errors of the work; DomainError `storage.*` */
  add<T>(work: Work<T>, options: AddOptions): Promise<T> {
    return new Promise<T>((resolve, fail) => {
      const answerOf = (value: T): Answer => {
        refusePromise(value);
        const moved = takeChangedTopics(this.#tx);
        return () => {
          options.committed(moved);
          resolve(value);
        };
      };
      const { waitMaxMs = 0, isDeferrable = false } = options;
      this.#jobs.push(jobOf(work, { answerOf, fail, isDeferrable }));
      this.#schedule(waitMaxMs);
    });
  }

  async emptied(): Promise<void> {
    if (this.#jobs.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    await this.options.checkpoints?.ended();
  }

  /** A job that must not wait starts the flush for all waiting jobs. */
  #schedule(waitMaxMs: number): void {
    if (this.#isDue || this.#jobs.length === 0) return;
    if (waitMaxMs > 0 && this.#jobs.length < WRITE_BATCH_MAX) {
      this.#wait(waitMaxMs);
      return;
    }
    clearTimeout(this.#commitTimer?.timer);
    this.#commitTimer = undefined;
    this.#isDue = true;
    setImmediate(() => this.#flush());
  }

  /** The shortest limit of all waiting jobs applies. */
  #wait(waitMaxMs: number): void {
    const endsMs = performance.now() + waitMaxMs;
    if (this.#commitTimer && this.#commitTimer.endsMs <= endsMs) return;
    clearTimeout(this.#commitTimer?.timer);
    this.#commitTimer = { endsMs, timer: setTimeout(() => this.#schedule(0), waitMaxMs) };
  }

  #flush(): void {
    const pause = this.options.checkpoints?.pause;
    if (pause) void pause.then(() => this.#flush());
    else this.#flushNow();
  }

  #flushNow(): void {
    const batch: ShortJob[] = [];
    for (const job of this.#jobs) {
      if (batch.length === WRITE_BATCH_MAX || "steps" in job) break;
      batch.push(job);
    }
    const [first] = this.#jobs;
    if (first && "steps" in first) this.#proceed(this.#commitInSteps(first));
    else this.#end(this.#commit(batch));
  }

  #proceed(steps: Steps<Answer>, taken = 1): void {
    const step = steps.next();
    if (step.done) this.#end([step.value]);
    else this.#later(() => this.#proceed(steps, taken + 1), taken);
    if (step.done ? taken > STEPS_PER_COLLECTION : taken % STEPS_PER_COLLECTION === 0) collectNewGarbage();
  }

  #later(next: () => void, taken: number): void {
    if (!this.#isAtCommit && taken % STEPS_PER_FLUSH > 0) setImmediate(next);
    else void flushLog(this.writer).then(() => setImmediate(next));
  }

  /** @param answers one for each of the first jobs in the queue, which are done */
  #end(answers: readonly Answer[]): void {
    this.options.checkpoints?.checkLogSize();
    this.#isDue = false;
    this.#jobs.splice(0, answers.length);
    this.#schedule(0);
    for (const answer of answers) answer();
    if (this.#jobs.length === 0) for (const wake of this.#idle.splice(0)) wake();
  }

  /**
   * On a full disk the jobs run again with more of the reserve. When none is left, every job runs again alone, because a job that
   * only rejects its input needs no space and must report that instead.
   * @returns a response for each caller, to be given after COMMIT has returned
   */
  #commit(batch: readonly ShortJob[]): Answer[] {
    try {
      this.options.admit?.();
      this.#run("BEGIN IMMEDIATE");
      const answers = batch.map((job) => this.#runJob(job, batch.length > 1));
      this.options.beforeCommit();
      this.options.admit?.();
      this.#run("COMMIT");
      return answers;
    } catch (error) {
      const failure = this.#undone(error);
      if (isDiskFull(failure)) {
        const isNeeded = batch.some((job) => !job.isDeferrable);
        if (isNeeded && this.options.reserve?.release()) return this.#commit(batch);
        if (batch.length > 1) return batch.flatMap((job) => this.#commit([job]));
      }
      return batch.map((job) => () => job.fail(failure));
    }
  }

  /** @param isShared whether other jobs share the commit: a savepoint protects them; without them, a failure undoes all of it */
  #runJob(job: ShortJob, isShared: boolean): Answer {
    if (job.isDeferrable && this.options.reserve?.isInUse) return () => job.fail(diskFull());
    takeChangedTopics(this.#tx); // clears the marks of a failed job
    if (isShared) this.#run("SAVEPOINT job");
    try {
      const answer = job.run(this.#tx);
      if (isShared) this.#run("RELEASE job");
      return answer;
    } catch (error) {
      // After some failures, such as a full disk, SQLite ends the transaction itself. Then every job of the batch has failed.
      if (!this.writer.inTransaction) throw error;
      this.#run(isShared ? "ROLLBACK TO job" : "ROLLBACK");
      this.#run(isShared ? "RELEASE job" : "BEGIN IMMEDIATE");
      const failure = asStorageError(error);
      return () => job.fail(failure);
    }
  }

  /** @returns the response for the caller, as `#commit` */
  *#commitInSteps(job: LongJob): Steps<Answer> {
    const cache = this.writer.query<{ cache_size: number }, []>("PRAGMA cache_size").get();
    try {
      this.options.admit?.();
      this.#run(`PRAGMA cache_size=-${LONG_WRITE_CACHE_KIB}`);
      this.#run("BEGIN IMMEDIATE");
      const answer = yield* job.steps(this.#tx);
      this.#isAtCommit = true;
      yield;
      this.options.beforeCommit();
      this.options.admit?.();
      commitToLog(this.writer, () => this.#run("COMMIT"));
      return answer;
    } catch (error) {
      const failure = this.#undone(error);
      return () => job.fail(failure);
    } finally {
      this.#isAtCommit = false;
      this.#run(`PRAGMA cache_size=${cache?.cache_size ?? 0}`);
    }
  }

  #undone(error: unknown): unknown {
    if (this.writer.inTransaction) this.#run("ROLLBACK");
    return asStorageError(error);
  }

  /** Uses cached statements: compiling them would take longer than a small write. */
  #run(control: string): void {
    this.writer.query(control).run();
  }
}

function jobOf<T>(
  work: Work<T>,
  { answerOf, ...job }: Omit<ShortJob, "run"> & { answerOf: (value: T) => Answer },
): ShortJob | LongJob {
  if ("once" in work) return { ...job, run: (tx) => answerOf(work.once(tx)) };
  return {
    *steps(tx) {
      return answerOf(yield* work.steps(tx));
    },
    fail: job.fail,
  };
}

function refusePromise(value: unknown): void {
  if (typeof value !== "object" || value === null || !("then" in value)) return;
  if (value instanceof Promise) value.catch(() => {}); // not awaited; the error below reports the mistake
  throw new TypeError(
    "a write must not return a promise or a statement that was not run: it would commit too early",
  );
}
