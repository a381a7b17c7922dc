// Decides whether a frequent write waits for a moment, so that it shares a commit with others of its kind. Each commit blocks all
// requests until the disk has answered. write-queue.ts groups the writes.

/** The longest wait of such a write. */
export const GROUPING_MS = 2;
/** Writes per second; with fewer of them, waiting is useless. */
export const GROUPING_RATE_MIN = 200;
/**
 * A write that arrives this soon after a commit may be from a caller who waited for that commit. Callers who send one write after
 * the other then send the next ones in the same turn, and waiting would only delay them.
 */
export const ANSWERED_MS = 0.5;
/** Share of such writes from which callers send one write after the other. Of independent writes it is a fifth. */
export const ANSWERED_SHARE_MIN = 0.5;

/** Weight of the newest write in the moving means. */
const NEWEST = 1 / 16;
/** Upper bound of a gap, so that a burst after a long pause is detected soon. */
const GAP_MS_MAX = 200;
const SECOND_MS = 1_000;

export class CommitGrouping {
  #meanGapMs = GAP_MS_MAX;
  #answeredShare = 1;
  #lastMs = Number.NEGATIVE_INFINITY;
  #committedMs = Number.NEGATIVE_INFINITY;

  /**
   * @param nowMs time of a monotonic clock
   * @returns how long the present write waits, in milliseconds
   */
  waitFor(nowMs: number): number {
    const gapMs = Math.min(GAP_MS_MAX, nowMs - this.#lastMs);
    const isAnswered = nowMs - this.#committedMs < ANSWERED_MS;
    this.#lastMs = nowMs;
    this.#meanGapMs += (gapMs - this.#meanGapMs) * NEWEST;
    this.#answeredShare += (Number(isAnswered) - this.#answeredShare) * NEWEST;
    const comesOften = this.#meanGapMs < SECOND_MS / GROUPING_RATE_MIN;
    const isNext = isAnswered && this.#answeredShare >= ANSWERED_SHARE_MIN;
    return comesOften && !isNext ? GROUPING_MS : 0;
  }

  /** Notes a commit, after which callers are answered. */
  committed(nowMs: number): void {
    this.#committedMs = nowMs;
  }
}
