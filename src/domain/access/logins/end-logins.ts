// Ending logins: what is taken away together, always by rows and always in the caller's transaction, so that access ends
// with the change that calls for it. Plain functions, given to identity as a dependency. The caller writes the audit entry.
import type { Tx } from "../../../platform/database/database.ts";
import * as store from "./end-logins-store.ts";

/** Why and when; the reason is kept with each grant. */
export interface Ending {
  /** stable word, such as `user_suspended` */
  reason: string;
  nowMs: number;
}

/** How many of each were still open. */
export interface EndedLogins {
  loginSessions: number;
  grants: number;
  deviceLogins: number;
}

/**
 * Ends everything users can come in with: login sessions, grants with their tokens, device logins under way.
 * @source client-and-auth.md section 2.7, control-api.md section 2.4
 */
export const endLogins = (
  tx: Tx,
  { reason, nowMs, ...whose }: Ending & ({ userId: string } | { userIds: readonly string[] }),
): EndedLogins => endAll(tx, whose, { reason, nowMs });

/** Ends one login session, the grants that it approved, and the device logins it is deciding. */
export const endLoginSession = (
  tx: Tx,
  { loginSessionId, ...ending }: Ending & { loginSessionId: string },
): EndedLogins => endAll(tx, { loginSessionId }, ending);

/**
 * Signs a user out of every browser but one, and ends the device logins that those browsers are deciding. What they approved
 * goes on.
 * @returns how many sessions were in use
 */
export const endOtherSessions = (
  tx: Tx,
  { userId, sessionId, nowMs }: { userId: string; sessionId: string; nowMs: number },
): number => {
  const ended = store.endOtherSessions(tx, { userId, sessionId, nowMs });
  store.removeDeviceLoginsOf(tx, ended);
  return ended.filter(({ expiresAtMs }) => nowMs < expiresAtMs).length;
};

/** Ends what one device login gave one workstation. @returns whether it was open */
export const endGrant = (tx: Tx, { grantId, ...ending }: Ending & { grantId: string }): boolean =>
  store.revokeGrants(tx, { grantId }, ending) > 0;

/** Ends every login there is; a data directory serves one organization, so its id is not asked for. */
export const endEverything = (tx: Tx, ending: Ending): EndedLogins => endAll(tx, "everybody", ending);

function endAll(tx: Tx, whose: Exclude<store.LoginOwner, { grantId: string }>, ending: Ending): EndedLogins {
  return {
    loginSessions: store.endSessions(tx, whose, ending.nowMs),
    grants: store.revokeGrants(tx, whose, ending),
    deviceLogins: store.removeDeviceLogins(tx, whose),
  };
}
