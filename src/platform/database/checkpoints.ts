// Decides when a checkpoint copies pages from the write-ahead log into the database file. By default SQLite does so during a commit,
// which blocks the service until the disk is done. The service uses another thread (checkpoint-thread.ts).
import type { Database } from "bun:sqlite";
import { open } from "node:fs/promises";

/** Number of pages in the log, and how many of them the file has. */
export interface LogState {
  log: number;
  checkpointed: number;
}

/** Copies the log into the file, as far as no reader needs older pages. */
export type Checkpoint = () => Promise<LogState>;

/** 32 MB of write-ahead log. With the default of 1,000 pages, SQLite would copy frequently changed pages again and again. */
export const CHECKPOINT_PAGES = 8_000;

/**
 * Commits continue during a checkpoint and add pages that it does not copy, but SQLite resets the log only when the file has all of
 * it. After a checkpoint that copied no more than this, commits wait for the next one, which then copies the rest.
 */
const LAST_PAGES_MAX = 500;
/** Checkpoints in a row after which commits wait in any case. */
const CONCURRENT_CHECKPOINTS_MAX = 4;

/**
 * Flushes the log to the disk in a thread of the runtime. A commit would block the whole process while it flushes, which
 * takes long for many pages.
 */
export async function flushLog({ filename }: Database): Promise<void> {
  try {
    await using log = await open(`${filename}-wal`);
    await log.datasync();
  } catch {
    // The commit flushes again and reports the error.
  }
}

/** Commits a long write to the log only. Without a thread the next commit runs the checkpoint, so no commit takes as long as both. */
export function commitToLog(writer: Database, commit: () => void): void {
  const pages = writer.query<{ wal_autocheckpoint: number }, []>("PRAGMA wal_autocheckpoint").get();
  const setPagesMax = (max: number) => void writer.query(`PRAGMA wal_autocheckpoint=${max}`).run();
  setPagesMax(0);
  try {
    commit();
  } finally {
    setPagesMax(pages?.wal_autocheckpoint ?? 0);
  }
}

/** Runs a checkpoint in another thread whenever the log has grown by a number of pages. */
export class Checkpoints {
  /** never rejects */
  #running: Promise<void> | undefined;
  #isLast = false;
  /** size of the log after the last commit, in pages */
  #pages = 0;
  /** size at which the next checkpoint begins */
  #nextPages: number;

  /** @param writer runs no checkpoints itself */
  constructor(
    private readonly writer: Database,
    private readonly checkpoint: Checkpoint,
    private readonly growthPages = CHECKPOINT_PAGES,
  ) {
    this.#nextPages = growthPages;
  }

  /** Checks the size of the log after a commit. */
  checkLogSize(): void {
    const pages = this.#logPages();
    if (pages < this.#pages) this.#nextPages = this.growthPages; // SQLite has reset the log
    this.#pages = pages;
    if (pages >= this.#nextPages) this.#running ??= this.#copyLog();
  }

  /** Commits wait until this promise resolves. */
  get pause(): Promise<void> | undefined {
    return this.#isLast ? this.#running : undefined;
  }

  /** Resolves when no checkpoint is running. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async #copyLog(): Promise<void> {
    try {
      this.#isLast = await this.#keepUp();
      if (this.#isLast) await this.checkpoint();
    } catch {
      this.#copyHere();
    }
    this.#isLast = false;
    this.#running = undefined;
    this.#nextPages = this.#pages + this.growthPages;
  }

  /**
   * Runs checkpoints while commits continue.
   * @returns whether one more can copy the rest, which is false while a reader needs older pages
   */
  async #keepUp(): Promise<boolean> {
    let copied = 0;
    for (let nth = 0; nth < CONCURRENT_CHECKPOINTS_MAX; nth++) {
      const { log, checkpointed } = await this.checkpoint();
      if (checkpointed < log) return false;
      if (checkpointed - copied <= LAST_PAGES_MAX) return true;
      copied = checkpointed;
    }
    return true;
  }

  /** If there is no thread, the log must not grow until the disk is full. */
  #copyHere(): void {
    try {
      this.writer.query("PRAGMA wal_checkpoint(PASSIVE)").get();
    } catch {
      // A long write is running, or the disk fails, which the next commit reports.
    }
  }

  /** NOOP only reports, in less than a microsecond. */
  #logPages(): number {
    try {
      const state = this.writer.query<LogState, []>("PRAGMA wal_checkpoint(NOOP)").get();
      return state?.log ?? 0;
    } catch {
      return this.#pages; // the commit before it has succeeded or reported the failure
    }
  }
}
