// Ends logins and everything that depends on them, in the caller's transaction, so that access ends together with the change that
// requires it. Plain functions, passed to identity as a dependency. The caller writes the audit entry.
import type { Tx } from "../../../platform/database/database.ts";
import * as store from "./end-logins-store.ts";

/** Why and when; the reason is stored with each grant. */
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

/** Ends every access of the given users: login sessions, grants with their tokens, and pending device logins. */
export const endLogins = (
  tx: Tx,
  { reason, nowMs, ...whose }: Ending & ({ userId: string } | { userIds: readonly string[] }),
): EndedLogins => endAll(tx, whose, { reason, nowMs });

/** Ends one login session, the grants that it approved, and the device logins that it is deciding. */
export const endLoginSession = (
  tx: Tx,
  { loginSessionId, ...ending }: Ending & { loginSessionId: string },
): EndedLogins => endAll(tx, { loginSessionId }, ending);

/**
 * Signs a user out of every browser but one, and ends the device logins that those browsers are deciding. Grants that they
 * approved stay active.
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

/**
 * Ends the browser sessions that began with one session at a provider, or every browser session of a user, and the device logins that
 * they are deciding. Grants end only if asked, because a logout in a browser does not concern workstations.
 * @returns how many were open
 */
export function endProviderSessions(
  tx: Tx,
  {
    endsGrants,
    reason,
    nowMs,
    ...whose
  }: Ending & { endsGrants: boolean } & ({ issuer: string; providerSessionId: string } | { userId: string }),
): Pick<EndedLogins, "loginSessions" | "grants"> {
  if ("userId" in whose) {
    store.removeDeviceLogins(tx, whose);
    const loginSessions = store.endSessions(tx, whose, nowMs);
    return { loginSessions, grants: endsGrants ? store.revokeGrants(tx, whose, { reason, nowMs }) : 0 };
  }
  const sessions = store.sessionsOfProvider(tx, whose);
  store.removeDeviceLoginsOf(tx, sessions);
  const ended = { loginSessions: 0, grants: 0 };
  for (const { id: loginSessionId } of sessions) {
    ended.loginSessions += store.endSessions(tx, { loginSessionId }, nowMs);
    if (endsGrants) ended.grants += store.revokeGrants(tx, { loginSessionId }, { reason, nowMs });
  }
  return ended;
}

/** Ends the grant of one workstation. @returns whether it was active */
export const endGrant = (tx: Tx, { grantId, ...ending }: Ending & { grantId: string }): boolean =>
  store.revokeGrants(tx, { grantId }, ending) > 0;

/** Ends every login. A data directory serves one organization, so no id is needed. */
export const endEverything = (tx: Tx, ending: Ending): EndedLogins => endAll(tx, "everybody", ending);

function endAll(tx: Tx, whose: Exclude<store.LoginOwner, { grantId: string }>, ending: Ending): EndedLogins {
  return {
    loginSessions: store.endSessions(tx, whose, ending.nowMs),
    grants: store.revokeGrants(tx, whose, ending),
    deviceLogins: store.removeDeviceLogins(tx, whose),
  };
}
