// Removes expired rows of this area, one bounded batch per transaction, so that requests run in between. The scheduler decides
// when. No decision depends on whether an expired row was already removed.
import type { Clock } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import { runInBatches } from "../../platform/steps.ts";
import * as budgets from "./budgets/budgets.ts";
import * as deviceLogins from "./device-login/device-logins-store.ts";
import { DEVICE_LOGIN, DEVICE_LOGIN_KEPT_MS, ENDED_LOGIN_KEPT_MS, type StoredState } from "./model.ts";
import { removeExpiredChallenges } from "./second-factor/second-factor-store.ts";
import { removeExpired as removeExpiredAttempts } from "./second-factor/sign-in-attempts-store.ts";
import type { LoginSessions } from "./sign-in/login-sessions.ts";
import * as grants from "./tokens/grants-store.ts";
import { graceStartMs } from "./tokens/refresh-token.ts";

export interface SweepDependencies {
  db: Db;
  clock: Clock;
  sessions: Pick<LoginSessions, "sweep">;
}

/** Number of removed rows by kind. */
export interface Swept {
  deviceLogins: number;
  /** device logins that expired without a decision, or before their tokens were fetched */
  expiredDeviceLogins: number;
  refreshTokens: number;
  grants: number;
  loginSessions: number;
  budgets: number;
  signInAttempts: number;
  passkeyChallenges: number;
}

/**
 * Removes rows whose retention is over. Grants are removed with their tokens, and before the sessions they refer to. A refresh
 * removes the rotated tokens of its family; the sweep covers families that no longer refresh.
 * @param signal ends the run between two batches
 */
export async function sweepLogins(
  { db, clock, sessions }: SweepDependencies,
  signal: AbortSignal,
): Promise<Swept> {
  const nowMs = clock.nowMs();
  const all = (remove: (tx: Tx) => number): Promise<number> =>
    runInBatches(() => db.write(remove, "access"), { limit: 1, signal });
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
    signInAttempts: await all((tx) => removeExpiredAttempts(tx, nowMs)),
    passkeyChallenges: await all((tx) => removeExpiredChallenges(tx, nowMs)),
  };
}

const isUnfinished = (state: StoredState): boolean => Object.keys(DEVICE_LOGIN[state].on).length > 0;
