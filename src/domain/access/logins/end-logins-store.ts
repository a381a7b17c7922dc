// SQL that revokes access. end-logins.ts decides which rows end together.
import { and, asc, eq, gt, inArray, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { markTopicChanged } from "../../../platform/database/changed-topics.ts";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { deviceLogins, grants, loginSessions, refreshTokens, signInAttempts } from "../tables.ts";

/** Selects rows by owner or by id. There is no form for all rows, so a missing id can never select them. */
export type LoginOwner =
  | { userId: string }
  | { userIds: readonly string[] }
  | { loginSessionIds: readonly string[] }
  | { ids: readonly string[] };

const TABLES = { deviceLogins, grants, loginSessions } as const;

/** @returns ids of logins of one kind in their order, whether or not they have ended */
export const listIds = (
  connection: Connection,
  kind: keyof typeof TABLES,
  { after, limit }: { after: string; limit: number },
): string[] => {
  const { id } = TABLES[kind];
  const rows = connection
    .select({ id })
    .from(TABLES[kind])
    .where(gt(id, after))
    .orderBy(asc(id))
    .limit(limit);
  return rows.all().map((row) => row.id);
};

/** @returns how many login sessions this ended */
export function endSessions(tx: Tx, whose: LoginOwner, nowMs: number): number {
  markTopicChanged(tx, "access");
  const { userId, id } = loginSessions;
  const rows = matching(whose, { userId, loginSessionId: id, id });
  return tx
    .update(loginSessions)
    .set({ endedAtMs: nowMs })
    .where(and(isNull(loginSessions.endedAtMs), rows))
    .returning({ id: loginSessions.id })
    .all().length;
}

/** @returns the sessions that this call ended, including expired ones */
export function endOtherSessions(
  tx: Tx,
  { userId, sessionId, nowMs }: { userId: string; sessionId: string; nowMs: number },
): { id: string; expiresAtMs: number }[] {
  markTopicChanged(tx, "access");
  return tx
    .update(loginSessions)
    .set({ endedAtMs: nowMs })
    .where(
      and(eq(loginSessions.userId, userId), ne(loginSessions.id, sessionId), isNull(loginSessions.endedAtMs)),
    )
    .returning({ id: loginSessions.id, expiresAtMs: loginSessions.expiresAtMs })
    .all();
}

/** Selects the sessions of a provider session; with a user, also the user's sessions whose provider session is unknown. */
export interface ProviderSession {
  issuer: string;
  providerSessionId: string;
  userId?: string | undefined;
}

/** @returns the sessions that began with a provider session, open or ended, because ended ones may have grants */
export const sessionsOfProvider = (
  tx: Tx,
  { issuer, providerSessionId, userId }: ProviderSession,
): { id: string }[] => {
  const { userId: ofUser, issuer: ofIssuer, providerSessionId: ofSession } = loginSessions;
  const isNamed = and(eq(ofIssuer, issuer), eq(ofSession, providerSessionId));
  const isUnnamed =
    userId === undefined ? undefined : and(eq(ofUser, userId), eq(ofIssuer, issuer), isNull(ofSession));
  return tx.select({ id: loginSessions.id }).from(loginSessions).where(or(isNamed, isUnnamed)).all();
};

/** Removes device logins that one of these sessions decided and that no workstation has redeemed. */
export function removeDeviceLoginsOf(tx: Tx, sessions: readonly { id: string }[]): void {
  markTopicChanged(tx, "access");
  const isTheirs = isOneOf(
    deviceLogins.loginSessionId,
    sessions.map(({ id }) => id),
  );
  tx.delete(deviceLogins)
    .where(and(inArray(deviceLogins.state, ["pending", "approved"]), isTheirs))
    .run();
}

/** Revokes grants and removes their refresh tokens. @returns how many grants this revoked */
export function revokeGrants(tx: Tx, whose: LoginOwner, revoked: { reason: string; nowMs: number }): number {
  markTopicChanged(tx, "access");
  const rows = matching(whose, {
    userId: grants.userId,
    loginSessionId: grants.loginSessionId,
    id: grants.id,
  });
  const theirs = tx.select({ id: grants.id }).from(grants).where(rows);
  tx.delete(refreshTokens).where(inArray(refreshTokens.grantId, theirs)).run();
  return tx
    .update(grants)
    .set({ revokedAtMs: revoked.nowMs, revokedReason: revoked.reason })
    .where(and(isNull(grants.revokedAtMs), rows))
    .returning({ id: grants.id })
    .all().length;
}

/** @returns the number of removed device logins that could still have become a grant */
export function removeDeviceLogins(tx: Tx, whose: LoginOwner): number {
  markTopicChanged(tx, "access");
  const rows = matching(whose, {
    userId: deviceLogins.userId,
    loginSessionId: deviceLogins.loginSessionId,
    id: deviceLogins.id,
  });
  return tx
    .delete(deviceLogins)
    .where(and(inArray(deviceLogins.state, ["pending", "approved"]), rows))
    .returning({ id: deviceLogins.id })
    .all().length;
}

/** Removes the users' sign-ins that wait for a second factor. Other ids select none. */
export function removeAttempts(tx: Tx, whose: LoginOwner): void {
  const { userId } = signInAttempts;
  if ("userId" in whose) tx.delete(signInAttempts).where(eq(userId, whose.userId)).run();
  if ("userIds" in whose) tx.delete(signInAttempts).where(isOneOf(userId, whose.userIds)).run();
}

/** Removes all sign-ins that wait for a second factor. Each user has at most a few, which last at most ten minutes. */
export const removeAllAttempts = (tx: Tx): void => void tx.delete(signInAttempts).run();

/** @returns the condition on the given id or ids */
function matching(
  whose: LoginOwner,
  columns: { userId: SQLiteColumn; loginSessionId: SQLiteColumn; id: SQLiteColumn },
): SQL {
  if ("ids" in whose) return isOneOf(columns.id, whose.ids);
  if ("userIds" in whose) return isOneOf(columns.userId, whose.userIds);
  if ("loginSessionIds" in whose) return isOneOf(columns.loginSessionId, whose.loginSessionIds);
  return eq(columns.userId, whose.userId);
}

/** Binds one value however many ids there are: a group may have more users than a statement may have parameters. */
const isOneOf = (column: SQLiteColumn, ids: readonly string[]): SQL =>
  inArray(column, sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`);
