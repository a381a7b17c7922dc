// Whether a workstation's login still stands as a whole: the grant, and the browser sign-in behind it. An access token needs
// the grant alone (authenticate.ts); what is bound to the login session needs both (gateway-keys.md section 9.2).
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import * as store from "./active-logins-store.ts";

export interface ActiveLogin {
  userId: string;
  loginSessionId: string;
  /** when the first of both ends */
  expiresAtMs: number;
}

/** @returns the login behind a grant; nothing when either has ended. Its user may be suspended. */
export type FindActiveLogin = (grantId: string) => ActiveLogin | undefined;

/** @returns the look-up; one prepared query each */
export const createActiveLogins =
  ({ db, clock }: { db: Db; clock: Clock }): FindActiveLogin =>
  (grantId) => {
    const found = store.findActiveLogin(db.read, grantId);
    if (!found) return undefined;
    const { userId, loginSessionId, grantExpiresAtMs, sessionExpiresAtMs } = found;
    const expiresAtMs = Math.min(grantExpiresAtMs, sessionExpiresAtMs);
    return clock.nowMs() < expiresAtMs ? { userId, loginSessionId, expiresAtMs } : undefined;
  };
