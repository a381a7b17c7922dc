// Stores when workstations were last seen whose report says the same as the one before it. Such reports are most of what a fleet
// sends, and only the time in the record changes. store.ts compares the reports.
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import * as store from "./store.ts";

/** Such reports a second. With fewer of them, each is on the disk before it is answered. */
export const DEFERRED_RATE_MIN = 200;
/** Times that one transaction stores, because requests wait for it. */
export const TIMES_PER_WRITE_MAX = 256;

/** Times that are stored together. */
interface Batch {
  times: store.SeenTime[];
  stored: Promise<void>;
}

export class SeenTimes {
  #batch: Batch | undefined;
  /** the last batch was not stored */
  #isFailing = false;
  #second = 0;
  #inSecond = 0;
  #inSecondBefore = 0;

  constructor(private readonly own: { db: Db; clock: Clock }) {}

  /**
   * Resolves when the time is on the disk. While more than DEFERRED_RATE_MIN times come in a second, it resolves at once, and the
   * time is stored up to BACKGROUND_BATCH_MS later, together with others. A crash loses such a time until the next report. After a
   * failure, every caller waits again until a batch is stored.
   * @throws DomainError `storage.*`
   */
  async store(time: store.SeenTime): Promise<void> {
    const isDeferred = this.#isFrequent(time.lastSeenAtMs);
    if (!isDeferred) return await this.own.db.writeGrouped((tx) => store.updateSeen(tx, time), "clients");
    this.#batch ??= this.#open();
    const { times, stored } = this.#batch;
    if (times.push(time) === TIMES_PER_WRITE_MAX) this.#batch = undefined;
    if (this.#isFailing) await stored;
  }

  #open(): Batch {
    const times: store.SeenTime[] = [];
    const write = (tx: Tx): void => {
      if (this.#batch?.times === times) this.#batch = undefined;
      for (const time of times) store.updateSeen(tx, time);
    };
    const stored = this.own.db.writeInBackground(write, "clients");
    stored.then(
      () => {
        this.#isFailing = false;
      },
      () => {
        if (this.#batch?.times === times) this.#batch = undefined;
        this.#isFailing = true;
      },
    );
    return { times, stored };
  }

  /** Counts a time. */
  #isFrequent(nowMs: number): boolean {
    const second = Math.floor(nowMs / SECOND_MS);
    if (second !== this.#second) {
      this.#inSecondBefore = second === this.#second + 1 ? this.#inSecond : 0;
      this.#second = second;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
    return Math.max(this.#inSecond, this.#inSecondBefore) > DEFERRED_RATE_MIN;
  }
}
