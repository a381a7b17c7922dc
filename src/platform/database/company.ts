// Whether a write that comes often should wait a moment for others of its kind, so that they share a commit: each commit
// stops all requests until the disk has answered. How writes are put together is write-queue.ts's.

/** How long such a write waits at most. */
export const COMPANY_MS = 2;
/** A second; with fewer there is nobody to wait for. */
export const COMPANY_RATE_MIN = 200;
/**
 * A write that comes so soon after a commit comes from a caller who waited for that commit. All who will come with it are
 * here within the same turn, and to wait would only make callers slower who send one after the other.
 */
export const ANSWERED_MS = 0.5;

/** Weight of the newest gap in the mean. */
const NEWEST = 1 / 16;
/** Of a gap, so that a rush after a long rest is soon seen as one. */
const GAP_MS_MAX = 200;
const SECOND_MS = 1_000;

export class Company {
  #meanGapMs = GAP_MS_MAX;
  #lastMs = Number.NEGATIVE_INFINITY;
  #committedMs = Number.NEGATIVE_INFINITY;

  /** @returns how long the write that comes now waits; times are of a clock that nobody sets */
  waitFor(nowMs: number): number {
    const gapMs = Math.min(GAP_MS_MAX, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#meanGapMs += (gapMs - this.#meanGapMs) * NEWEST;
    const comesOften = this.#meanGapMs < SECOND_MS / COMPANY_RATE_MIN;
    return comesOften && nowMs - this.#committedMs >= ANSWERED_MS ? COMPANY_MS : 0;
  }

  /** Callers are answered now. */
  committed(nowMs: number): void {
    this.#committedMs = nowMs;
  }
}
