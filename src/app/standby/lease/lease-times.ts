// Times of the lease, and the clock that measures them. No time of another machine is ever compared with ours.
import { SECOND_MS } from "../../../platform/clock.ts";

/** Duration of the lease, from the start of its renewal. */
export const LEASE_MS = 15 * SECOND_MS;
export const RENEW_EVERY_MS = 5 * SECOND_MS;
/** A holder stops this long before the end, so that a commit in progress can finish. */
export const MARGIN_MS = SECOND_MS;
/** Delay after a failed renewal. */
export const RETRY_EVERY_MS = SECOND_MS;
/** for one request to the store */
export const REQUEST_MS = 4 * SECOND_MS;

/** Milliseconds of two clocks. The monotonic clock stops while a virtual machine is paused; the wall clock can be corrected. */
export interface ClockReading {
  monotonicMs: number;
  wallMs: number;
}

export const readClocks = (): ClockReading => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/**
 * For ending a wait: never more than the real elapsed time, because the monotonic clock ignores corrections.
 * @returns a lower bound of the time elapsed since then
 */
export const waitedMs = (since: ClockReading, now: ClockReading): number =>
  now.monotonicMs - since.monotonicMs;

/**
 * For ending a permission: never less than the real elapsed time.
 * @returns the larger elapsed time of both clocks; infinite if the wall clock was set back
 */
export function elapsedMs(since: ClockReading, now: ClockReading): number {
  const wallMs = now.wallMs - since.wallMs;
  return Math.max(
    now.monotonicMs - since.monotonicMs,
    wallMs < -MARGIN_MS ? Number.POSITIVE_INFINITY : wallMs,
  );
}
