// The job that removes dead rows of this area, a bounded batch per transaction, so that requests get their turn in
// between. When it runs is the scheduler's business; that a row is dead never depends on it.
import type { Clock } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import * as budgets from "./budgets/budgets.ts";
import * as deviceLogins from "./device-login/device-logins-store.ts";
import { DEVICE_LOGIN, DEVICE_LOGIN_KEPT_MS, ENDED_LOGIN_KEPT_MS, type StoredState } from "./model.ts";
import type { LoginSessions } from "./sign-in/login-sessions.ts";
import * as grants from "./tokens/grants-store.ts";
import { graceStartMs } from "./tokens/refresh-token.ts";

export interface SweepDependencies {
  db: Db;
  clock: Clock;
  sessions: Pick<LoginSessions, "sweep">;
}

/** How many rows of each kind a run removed. */
export interface Swept {
  deviceLogins: number;
  /** device logins among them that nobody decided on, or whose tokens nobody fetched */
  expiredDeviceLogins: number;
  refreshTokens: number;
  grants: number;
  loginSessions: number;
  budgets: number;
}

/**
 * Removes what has been dead for long enough. Grants take their tokens with them, and go before the sessions they name.
 * Rotated tokens go with the next refresh of their family; here go those of families without one.
 * @param signal ends the run between two batches
 */
export async function sweepLogins(
  { db, clock, sessions }: SweepDependencies,
  signal: AbortSignal,
): Promise<Swept> {
  const nowMs = clock.nowMs();
  // Repeats until a batch finds nothing.
  const all = async (remove: (tx: Tx) => number): Promise<number> => {
    let removed = 0;
    while (!signal.aborted) {
      const batch = await db.write(remove, "access");
      if (batch === 0) break;
      removed += batch;
    }
    return removed;
  };
  let expiredDeviceLogins = 0;
  const removeDeviceLogins = (tx: Tx): number => {
    const states = deviceLogins.removeExpired(tx, nowMs - DEVICE_LOGIN_KEPT_MS);
    expiredDeviceLogins += states.filter(isUnfinished).length;
    return states.length;
  };
  return {
    deviceLogins: await all(removeDeviceLogins),
    expiredDeviceLogins,
    refreshTokens: await all((tx) => grants.removeRotatedTokens(tx, graceStartMs(nowMs))),
    grants: await all((tx) => grants.removeExpired(tx, nowMs - ENDED_LOGIN_KEPT_MS)),
    loginSessions: await all((tx) => sessions.sweep(tx)),
    budgets: await all((tx) => budgets.sweep(tx, nowMs)),
  };
}

const isUnfinished = (state: StoredState): boolean => Object.keys(DEVICE_LOGIN[state].on).length > 0;
