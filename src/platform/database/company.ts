// Decides whether a frequent write waits for a moment, so that it shares a commit with others of its kind. Each commit blocks all
// requests until the disk has answered. write-queue.ts groups the writes.

/** The longest wait of such a write. */
export const COMPANY_MS = 2;
/** Writes per second; with fewer of them, waiting is useless. */
export const COMPANY_RATE_MIN = 200;
/**
 * A write that arrives this soon after a commit is from a caller who waited for that commit. The writes to group it with
 * arrive in the same turn, and waiting would only delay callers who send one write after the other.
 */
export const ANSWERED_MS = 0.5;

/** Weight of the newest gap in the moving mean. */
const NEWEST = 1 / 16;
/** Upper bound of a gap, so that a burst after a long pause is detected soon. */
const GAP_MS_MAX = 200;
const SECOND_MS = 1_000;

export class Company {
  #meanGapMs = GAP_MS_MAX;
  #lastMs = Number.NEGATIVE_INFINITY;
  #committedMs = Number.NEGATIVE_INFINITY;

  /**
   * @param nowMs time of a monotonic clock
   * @returns how long the present write waits, in milliseconds
   */
  waitFor(nowMs: number): number {
    const gapMs = Math.min(GAP_MS_MAX, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#meanGapMs += (gapMs - this.#meanGapMs) * NEWEST;
    const comesOften = this.#meanGapMs < SECOND_MS / COMPANY_RATE_MIN;
    return comesOften && nowMs - this.#committedMs >= ANSWERED_MS ? COMPANY_MS : 0;
  }

  /** Notes a commit, after which callers are answered. */
  committed(nowMs: number): void {
    this.#committedMs = nowMs;
  }
}
