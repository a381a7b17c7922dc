// Ends logins and everything that depends on them. Runs in the caller's transaction, so that access ends together with the
// change that requires it. identity receives these functions as a dependency. The caller writes the audit entry.
import type { Db, Tx } from "../../../platform/database/database.ts";
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

/** The same, and the number of removed password links, which would have opened another session. */
export interface EndedAccess extends EndedLogins {
  passwordLinks: number;
}

/** Ends every access of the given users: login sessions, grants with their tokens, and pending device logins. */
export const endLogins = (
  tx: Tx,
  { reason, nowMs, ...whose }: Ending & ({ userId: string } | { userIds: readonly string[] }),
): EndedLogins => endAll(tx, whose, { reason, nowMs });

/** Ends login sessions, the grants that they approved, and the device logins that they are deciding. */
export const endLoginSessions = (
  tx: Tx,
  { loginSessionIds, ...ending }: Ending & { loginSessionIds: readonly string[] },
): EndedLogins => endAll(tx, { loginSessionIds }, ending);

/**
 * Signs a user out of every browser except one, and ends the device logins that those browsers are deciding. The grants that
 * they approved stay active.
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
 * Ends every login of a user except one browser session: the other browsers, all workstations, including those that this
 * browser approved, and pending device logins.
 */
export function endOtherLogins(
  tx: Tx,
  { userId, sessionId, reason, nowMs }: Ending & { userId: string; sessionId: string },
): EndedLogins {
  store.removeAttempts(tx, { userId });
  return {
    loginSessions: endOtherSessions(tx, { userId, sessionId, nowMs }),
    grants: store.revokeGrants(tx, { userId }, { reason, nowMs }),
    deviceLogins: store.removeDeviceLogins(tx, { userId }),
  };
}

/**
 * Ends the browser sessions that began with one session at a provider (see ProviderSession), or every browser session of a user, and
 * the device logins that they are deciding. Grants end only on request, because a logout in a browser does not concern workstations.
 * @returns how many were open
 */
export function endProviderSessions(
  tx: Tx,
  {
    endsGrants,
    reason,
    nowMs,
    ...whose
  }: Ending & { endsGrants: boolean } & (store.ProviderSession | { userId: string; issuer?: undefined }),
): Pick<EndedLogins, "loginSessions" | "grants"> {
  if (whose.issuer === undefined) {
    store.removeDeviceLogins(tx, whose);
    const loginSessions = store.endSessions(tx, whose, nowMs);
    return { loginSessions, grants: endsGrants ? store.revokeGrants(tx, whose, { reason, nowMs }) : 0 };
  }
  const sessions = store.sessionsOfProvider(tx, whose);
  store.removeDeviceLoginsOf(tx, sessions);
  const theirs = { loginSessionIds: sessions.map(({ id }) => id) };
  const loginSessions = store.endSessions(tx, theirs, nowMs);
  return { loginSessions, grants: endsGrants ? store.revokeGrants(tx, theirs, { reason, nowMs }) : 0 };
}

/**
 * Signs a user out of every browser, and ends the device logins that those browsers are deciding. Grants stay active.
 * @returns how many sessions were in use
 */
export const endBrowserSessions = (tx: Tx, { userId, nowMs }: { userId: string; nowMs: number }): number =>
  endOtherSessions(tx, { userId, sessionId: NO_SESSION, nowMs });

/** A value that equals no id. */
const NO_SESSION = "";

/** Ends the sign-ins of a user that wait for a second factor. */
export const removeAttempts = (tx: Tx, whose: { userId: string }): void => store.removeAttempts(tx, whose);

/** Ends grants, each of one workstation. @returns how many were active */
export const endGrants = (
  tx: Tx,
  { grantIds, ...ending }: Ending & { grantIds: readonly string[] },
): number => store.revokeGrants(tx, { ids: grantIds }, ending);

/** Number of logins that `endEverything` ends in one transaction, which takes a few milliseconds. */
export const ENDED_AT_ONCE_MAX = 500;

/**
 * Ends every login in many transactions, between which requests and other writes run. A data directory serves one organization,
 * so no id is needed. The order matters: removed sign-ins cannot open sessions, ended sessions cannot approve device logins,
 * and removed device logins cannot become grants.
 */
export async function endEverything(db: Db, { reason, nowMs }: Ending): Promise<EndedLogins> {
  await db.write((tx) => store.removeAllAttempts(tx), "access");
  const loginSessions = await endEach(db, "loginSessions", (tx, ids) =>
    store.endSessions(tx, { ids }, nowMs),
  );
  const deviceLogins = await endEach(db, "deviceLogins", (tx, ids) => store.removeDeviceLogins(tx, { ids }));
  const grants = await endEach(db, "grants", (tx, ids) => store.revokeGrants(tx, { ids }, { reason, nowMs }));
  return { loginSessions, grants, deviceLogins };
}

/** Newer logins have greater ids, so logins that begin while this runs are ended too. */
async function endEach(
  db: Db,
  kind: keyof EndedLogins,
  end: (tx: Tx, ids: readonly string[]) => number,
): Promise<number> {
  let ended = 0;
  for (let after: string | undefined = ""; after !== undefined; ) {
    const slice = { after, limit: ENDED_AT_ONCE_MAX };
    const ids = await db.write((tx) => {
      const found = store.listIds(tx, kind, slice);
      ended += end(tx, found);
      return found;
    }, "access");
    after = ids[ENDED_AT_ONCE_MAX - 1];
  }
  return ended;
}

function endAll(
  tx: Tx,
  whose: Exclude<store.LoginOwner, { ids: readonly string[] }>,
  ending: Ending,
): EndedLogins {
  store.removeAttempts(tx, whose);
  return {
    loginSessions: store.endSessions(tx, whose, ending.nowMs),
    grants: store.revokeGrants(tx, whose, ending),
    deviceLogins: store.removeDeviceLogins(tx, whose),
  };
}
