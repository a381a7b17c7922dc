// How often somebody may do something: a bucket of tokens for each of them, refilled with time. It lives in memory, so a
// restart forgives; budgets that must survive one are the access area's.
import { type Clock, SECOND_MS } from "../../platform/clock.ts";

export interface RateLimit {
  perSecond: number;
  /** at once, after a rest */
  burst: number;
}

export interface Rates {
  /**
   * Takes one from the key's bucket.
   * @returns 0, or the whole seconds to wait where nothing was left to take
   */
  take(key: string): number;
  /** @returns what `take` would, without taking */
  wait(key: string): number;
  /** Takes more than there may be: the key waits until the debt is refilled. */
  charge(key: string, count: number): void;
}

/** Keys that are remembered; the one that was idle for longest is forgotten, and starts with a full bucket again. */
export const RATE_KEYS_MAX = 10_000;

interface Bucket {
  left: number;
  atMs: number;
}

/** @returns rates that all keys start with a full bucket for */
export function createRates(clock: Clock, { perSecond, burst }: RateLimit): Rates {
  const buckets = new Map<string, Bucket>(); // in the order of their last use

  const refilled = (key: string): Bucket => {
    const nowMs = clock.nowMs();
    const bucket = buckets.get(key) ?? { left: burst, atMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - bucket.atMs); // the clock may have been set back
    bucket.left = Math.min(burst, bucket.left + (elapsedMs / SECOND_MS) * perSecond);
    bucket.atMs = nowMs;
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > RATE_KEYS_MAX) buckets.delete(buckets.keys().next().value ?? key);
    return bucket;
  };

  const waitFor = ({ left }: Bucket): number => (left < 1 ? Math.ceil((1 - left) / perSecond) : 0);

  return {
    take(key) {
      const bucket = refilled(key);
      const seconds = waitFor(bucket);
      if (seconds === 0) bucket.left -= 1;
      return seconds;
    },
    wait: (key) => waitFor(refilled(key)),
    charge(key, count) {
      refilled(key).left -= count;
    },
  };
}
