// Decides whether a frequent write waits briefly to share a commit with others of its kind. Each commit blocks all
// requests until the disk responds. write-queue.ts groups the writes.

/** Longest wait of such a write. */
export const GROUPING_MS = 2;
/** Writes per second below which waiting is useless. */
export const GROUPING_RATE_MIN = 200;
/**
 * A write that arrives this soon after a commit may come from a caller that waited for that commit. Such callers send
 * their next writes in the same turn anyway, so waiting would only delay them.
 */
export const ANSWERED_MS = 0.5;
/**
 * If such writes have at least this share, callers are sending one write after the other. Among independent writes the
 * share is a fifth.
 */
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
   * @returns how long this write waits, in milliseconds
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

  /** Records a commit, after which its callers get their responses. */
  committed(nowMs: number): void {
    this.#committedMs = nowMs;
  }
}
