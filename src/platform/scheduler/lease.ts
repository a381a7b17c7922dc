// Decides whether the lease of a job is valid, and when another process may take it over. Leases are compared with the wall
// clock, because processes share no other clock. TAKEOVER_TURNS handles jumps of the clock.
import { SECOND_MS } from "../clock.ts";
import type { JobRow } from "./tables.ts";

/** How long a lease lasts beyond the time limit of its run, because a run may end slowly. */
export const LEASE_GRACE_MS = 30 * SECOND_MS;
/**
 * Number of turns that a lease must look expired before another process takes it over. After a clock jump a valid lease also
 * looks expired, but its owner renews it within one turn.
 */
export const TAKEOVER_TURNS = 5;

/** @returns the end of a lease that is taken or renewed at `nowMs`, for a run of at most `timeLimitMs` */
export const leaseUntilMs = (timeLimitMs: number, nowMs: number): number =>
  nowMs + timeLimitMs + LEASE_GRACE_MS;

/** @returns whether the lease is valid by the current clock */
export const isLeaseValid = (
  untilMs: number,
  { timeLimitMs, nowMs }: { timeLimitMs: number; nowMs: number },
): boolean => untilMs > nowMs && untilMs <= leaseUntilMs(timeLimitMs, nowMs);

/**
 * @returns a function to call once a turn. It returns whether a job can be taken: the job has no lease, or its lease has been
 * expired and unchanged for TAKEOVER_TURNS turns.
 */
export function createTakeover(): (row: JobRow, present: { timeLimitMs: number; nowMs: number }) => boolean {
  const suspects = new Map<string, { lease: string; turns: number }>();
  return ({ name, leaseOwner, leaseUntilMs: untilMs }, present) => {
    if (leaseOwner === null || isLeaseValid(untilMs ?? 0, present)) {
      suspects.delete(name);
      return leaseOwner === null;
    }
    const lease = `${leaseOwner} ${untilMs}`;
    const before = suspects.get(name);
    const turns = before?.lease === lease ? before.turns + 1 : 1;
    suspects.set(name, { lease, turns });
    return turns >= TAKEOVER_TURNS;
  };
}
