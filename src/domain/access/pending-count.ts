// How many undecided device logins are on the disk, without counting on every request. Which number is too many, and
// what a refused caller hears, is in device-logins.ts.
import { SECOND_MS } from "../../platform/clock.ts";

/** Counting walks the index of all pending rows: a few milliseconds at the limit, so once a second at most. */
const RECOUNT_AFTER_MS = SECOND_MS;

/** A count that is exact when taken, and grows by our own inserts until it is taken again. */
export class PendingCount {
  #rows = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  /** @returns the number of pending rows; too high at most, except for what other processes added in the last second */
  current(nowMs: number, count: () => number): number {
    const isFresh = nowMs >= this.#countedAtMs && nowMs < this.#countedAtMs + RECOUNT_AFTER_MS;
    if (!isFresh) {
      this.#rows = count();
      this.#countedAtMs = nowMs;
    }
    return this.#rows;
  }

  /** Counts one insert. */
  add(): void {
    this.#rows += 1;
  }
}
