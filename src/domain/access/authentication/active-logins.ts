// Checks whether a workstation's whole login is active: the grant, and the browser sign-in that approved it. An access token
// needs only the grant (authenticate.ts); credentials bound to the login session need both.
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import * as store from "./active-logins-store.ts";

export interface ActiveLogin {
  userId: string;
  loginSessionId: string;
  /** when the first of the two expires */
  expiresAtMs: number;
}

/** @returns the login of a grant; undefined if the grant or the session has ended. Its user may be suspended. */
export type FindActiveLogin = (grantId: string) => ActiveLogin | undefined;

/** @returns the lookup, with its queries prepared */
export const createActiveLogins =
  ({ db, clock }: { db: Db; clock: Clock }): FindActiveLogin =>
  (grantId) => {
    const found = store.findActiveLogin(db.read, grantId);
    if (!found) return undefined;
    const { userId, loginSessionId, grantExpiresAtMs, sessionExpiresAtMs } = found;
    const expiresAtMs = Math.min(grantExpiresAtMs, sessionExpiresAtMs);
    return clock.nowMs() < expiresAtMs ? { userId, loginSessionId, expiresAtMs } : undefined;
  };
