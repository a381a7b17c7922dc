// When the pages of a long write go from the write-ahead log into the database file. SQLite's own way is the next commit: that
// would keep the service from answering for as long as the write itself, so another thread does it where there is one.
import type { Database } from "bun:sqlite";
import { open } from "node:fs/promises";

/** Puts the log into the file, as far as nobody needs older pages; resolves when that was tried. */
export type Checkpoint = () => Promise<unknown>;

/**
 * Has what the log holds written to the disk by a thread of the runtime. A commit waits for the disk with the whole process,
 * and long for many pages.
 */
export async function flushLog({ filename }: Database): Promise<void> {
  try {
    await using log = await open(`${filename}-wal`);
    await log.datasync();
  } catch {
    // The commit does the same again, and tells what is wrong with the disk.
  }
}

export class Checkpoints {
  /** under way, with commits that leave the log alone */
  #running: Promise<void> | undefined;
  #isWantedAgain = false;
  /** pages from which a commit puts the log into the file; 0 where other software does that */
  #pagesMax = 0;

  constructor(
    private readonly writer: Database,
    private readonly checkpoint: Checkpoint | undefined,
  ) {}

  /** Commits into the log only; the file follows in another thread, or else with the next commit. */
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

  /** Resolves when no checkpoint is under way. */
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
      await checkpoint().catch(() => {}); // then a commit does it, and tells what is wrong with the disk
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
