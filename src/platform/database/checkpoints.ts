// Decides when the pages of a long write are copied from the write-ahead log into the database file (a checkpoint). By default
// SQLite does so at a commit, which would block the service for as long as the write itself. Here another thread does it.
import type { Database } from "bun:sqlite";
import { open } from "node:fs/promises";

/** Copies the log into the file, as far as no reader needs older pages; resolves after the attempt. */
export type Checkpoint = () => Promise<unknown>;

/**
 * Flushes the log to the disk in a thread of the runtime. A commit would block the whole process while it flushes, and for long
 * if there are many pages.
 */
export async function flushLog({ filename }: Database): Promise<void> {
  try {
    await using log = await open(`${filename}-wal`);
    await log.datasync();
  } catch {
    // The commit flushes again, and reports what is wrong with the disk.
  }
}

export class Checkpoints {
  /** the checkpoint under way; meanwhile commits do not start one */
  #running: Promise<void> | undefined;
  #isWantedAgain = false;
  /** size of the log in pages at which a commit starts a checkpoint; 0 if other software runs checkpoints */
  #pagesMax = 0;

  constructor(
    private readonly writer: Database,
    private readonly checkpoint: Checkpoint | undefined,
  ) {}

  /** Commits to the log only. Another thread then updates the file; without one, the next commit does. */
  after(commit: () => void): void {
    if (!this.#running) this.#pagesMax = this.#pagesMaxNow();
    this.#setPagesMax(0);
    try {
      commit();
    } finally {
      if (this.checkpoint === undefined || this.#pagesMax === 0) this.#setPagesMax(this.#pagesMax);
      else this.#begin(this.checkpoint);
    }
  }

  /** Resolves when no checkpoint is running. */
  async ended(): Promise<void> {
    await this.#running;
  }

  #begin(checkpoint: Checkpoint): void {
    this.#isWantedAgain = this.#running !== undefined;
    this.#running ??= this.#perform(checkpoint);
  }

  async #perform(checkpoint: Checkpoint): Promise<void> {
    do {
      this.#isWantedAgain = false;
      await checkpoint().catch(() => {}); // the next commit tries again, and reports what is wrong with the disk
    } while (this.#isWantedAgain);
    this.#running = undefined;
    this.#setPagesMax(this.#pagesMax);
  }

  #pagesMaxNow(): number {
    const pragma = this.writer.query<{ wal_autocheckpoint: number }, []>("PRAGMA wal_autocheckpoint");
    return pragma.get()?.wal_autocheckpoint ?? 0;
  }

  #setPagesMax(pages: number): void {
    this.writer.query(`PRAGMA wal_autocheckpoint=${pages}`).run();
  }
}
