// Decides whether a frequent write waits for a moment, so that it shares a commit with others of its kind. Each commit blocks all
// requests until the disk has answered. write-queue.ts groups the writes.

/** The longest wait of such a write. */
export const COMPANY_MS = 2;
/** Writes per second; with fewer of them, waiting is useless. */
export const COMPANY_RATE_MIN = 200;
/** A write that arrives this soon after a commit may be from a caller who waited for that commit. */
export const ANSWERED_MS = 0.5;
/**
 * A write that joins a waiting one after a pause of this length is from an independent caller. Callers who waited for the same
 * commit send their next writes together.
 */
export const APART_MS = 0.25;
/**
 * While callers only send one write after the other, waiting delays them and finds nobody. Then only one in so many commits is
 * delayed, to notice independent callers.
 */
export const PROBE_COMMITS = 128;

/** Weight of the newest gap in the moving mean. */
const NEWEST = 1 / 16;
/** Upper bound of a gap, so that a burst after a long pause is detected soon. */
const GAP_MS_MAX = 200;
/** Weight of the newest wait in the share of waits that independent callers joined. */
const NEWEST_WAIT = 1 / 8;
/** With a smaller share, callers depend on their answers. At COMPANY_RATE_MIN, independent callers reach 0.3. */
const JOINED_SHARE_MIN = 0.2;
const SECOND_MS = 1_000;

export class Company {
  #meanGapMs = GAP_MS_MAX;
  #lastMs = Number.NEGATIVE_INFINITY;
  #committedMs = Number.NEGATIVE_INFINITY;
  #joinedShare = 1;
  /** the wait under way; ends with the next commit */
  #wait: { isJoined: boolean } | undefined;
  /** no write has arrived since the last commit */
  #isFirst = true;
  /** commits since the last probe whose first write was from an answered caller */
  #sinceProbe = 0;

  /**
   * @param nowMs time of a monotonic clock
   * @returns how long the present write waits, in milliseconds
   */
  waitFor(nowMs: number): number {
    const gapMs = Math.min(GAP_MS_MAX, nowMs - this.#lastMs);
    const isFirst = this.#isFirst;
    this.#lastMs = nowMs;
    this.#isFirst = false;
    this.#meanGapMs += (gapMs - this.#meanGapMs) * NEWEST;
    if (this.#meanGapMs >= SECOND_MS / COMPANY_RATE_MIN) return 0;
    if (this.#wait) this.#wait.isJoined ||= gapMs >= APART_MS;
    else if (this.#isAnswered(nowMs) && !(isFirst && this.#isProbeDue())) return 0;
    this.#wait ??= { isJoined: false };
    return COMPANY_MS;
  }

  /** Notes a commit, after which callers are answered. */
  committed(nowMs: number): void {
    this.#committedMs = nowMs;
    this.#isFirst = true;
    if (this.#wait) this.#joinedShare += (Number(this.#wait.isJoined) - this.#joinedShare) * NEWEST_WAIT;
    this.#wait = undefined;
  }

  /** @returns whether the write is probably from a caller who waited for the last commit */
  #isAnswered(nowMs: number): boolean {
    return this.#joinedShare < JOINED_SHARE_MIN && nowMs - this.#committedMs < ANSWERED_MS;
  }

  #isProbeDue(): boolean {
    this.#sinceProbe = (this.#sinceProbe + 1) % PROBE_COMMITS;
    return this.#sinceProbe === 0;
  }
}
