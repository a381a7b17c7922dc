// Token-bucket rate limits by key, kept in memory: a restart resets them. The access area has the limits that survive a restart.
import type { LRUCache } from "lru-cache";
import { type Clock, SECOND_MS } from "./clock.ts";
import { growingCache } from "./memory/growing-cache.ts";

export interface RateLimit {
  perSecond: number;
  /** number of tokens in a full bucket */
  burst: number;
}

export interface Rates {
  /**
   * Takes one token from the key's bucket.
   * @returns 0, or the whole seconds to wait if the bucket is empty
   */
  take(key: string): number;
  /** @returns the result of `take`, without taking a token */
  wait(key: string): number;
  /** Takes tokens even below zero; the key waits until the bucket has refilled. */
  charge(key: string, count: number): void;
}

/** Number of keys kept. The least recently used key is evicted and starts again with a full bucket. */
export const RATE_KEYS_MAX = 10_000;

interface Bucket {
  left: number;
  atMs: number;
}

/** Buckets of one or more limiters; keys of different limiters must differ. */
export type Buckets = LRUCache<string, Bucket>;

/** @returns a table for the buckets of at most `max` keys */
export const createBuckets = (max = RATE_KEYS_MAX): Buckets => growingCache(max);

/** @returns a rate limiter whose keys start with a full bucket */
export function createRates(
  clock: Clock,
  { perSecond, burst }: RateLimit,
  buckets: Buckets = createBuckets(),
): Rates {
  const bucketOf = (key: string, nowMs: number): Bucket => {
    const known = buckets.get(key);
    if (known) return known;
    const full = { left: burst, atMs: nowMs };
    buckets.set(key, full);
    return full;
  };

  const refilled = (key: string): Bucket => {
    const nowMs = clock.nowMs();
    const bucket = bucketOf(key, nowMs);
    const elapsedMs = Math.max(0, nowMs - bucket.atMs); // the clock may have been set back
    bucket.left = Math.min(burst, bucket.left + (elapsedMs / SECOND_MS) * perSecond);
    bucket.atMs = nowMs;
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
