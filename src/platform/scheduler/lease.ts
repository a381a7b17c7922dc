// When a job's lease is good, and when it may be taken from its owner. Leases are compared by the wall clock because
// processes share nothing else; a clock that jumps is dealt with by patience, see TAKEOVER_TURNS.
import { SECOND_MS } from "../clock.ts";
import type { JobRow } from "./tables.ts";

/** How long a lease outlives the run's time limit, for a run that winds down slowly. */
export const LEASE_GRACE_MS = 30 * SECOND_MS;
/**
 * Turns for which a lease must look dead before it is taken over. A jump of the clock makes a good lease look dead,
 * too, but then its owner renews it within one turn.
 */
export const TAKEOVER_TURNS = 5;

/** @returns until when a lease taken or renewed at `nowMs` holds, for a run of at most `timeLimitMs` */
export const leaseUntilMs = (timeLimitMs: number, nowMs: number): number =>
  nowMs + timeLimitMs + LEASE_GRACE_MS;

/** @returns whether the lease can belong to a run that began lately by the present clock */
export const isLeaseValid = (
  untilMs: number,
  { timeLimitMs, nowMs }: { timeLimitMs: number; nowMs: number },
): boolean => untilMs > nowMs && untilMs <= leaseUntilMs(timeLimitMs, nowMs);

/**
 * @returns a function to be asked once a turn whether a job can be taken: it has no lease, or one that looked dead
 *   and did not change for TAKEOVER_TURNS turns
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
