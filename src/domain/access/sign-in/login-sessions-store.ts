// SQL of browser sign-ins. login-sessions.ts decides when a session is valid and when it is extended.
import { and, eq, inArray, isNull, lte, notExists } from "drizzle-orm";
import { markTopicChanged } from "../../../platform/database/changed-topics.ts";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, insertAll } from "../../../platform/database/drizzle.ts";
import { timedRows } from "../../../platform/database/maintenance/timed-rows.ts";
import { SWEEP_BATCH_ROWS } from "../model.ts";
import { deviceLogins, grants, loginSessions } from "../tables.ts";

export type LoginSessionRow = typeof loginSessions.$inferSelect;

export const timedSignIns = timedRows(loginSessions, loginSessions.createdAtMs);

const selectByToken = statement((connection) =>
  connection
    .select()
    .from(loginSessions)
    .where(and(equalAll(loginSessions, "tokenHash"), isNull(loginSessions.endedAtMs)))
    .limit(1)
    .prepare(),
);

/** @returns the session of a token, which may have expired; undefined if it was ended */
export const findOpen = (connection: Connection, tokenHash: string): LoginSessionRow | undefined =>
  selectByToken(connection).get({ tokenHash });

/** @returns the session, even if it was ended or has expired */
export const findById = (connection: Connection, id: string): LoginSessionRow | undefined =>
  connection.select().from(loginSessions).where(eq(loginSessions.id, id)).limit(1).get();

/** Marks an open session as confirmed. @returns whether it was open */
export function confirm(tx: Tx, id: string, nowMs: number): boolean {
  const confirmed = tx
    .update(loginSessions)
    .set({ confirmedAtMs: nowMs })
    .where(and(eq(loginSessions.id, id), isNull(loginSessions.endedAtMs)))
    .returning({ id: loginSessions.id })
    .get();
  return confirmed !== undefined;
}

export function forgetConfirmations(tx: Tx, userId: string): void {
  tx.update(loginSessions).set({ confirmedAtMs: null }).where(eq(loginSessions.userId, userId)).run();
}

const insertSession = statement((connection) =>
  connection.insert(loginSessions).values(insertAll(loginSessions)).prepare(),
);

export const add = (tx: Tx, row: LoginSessionRow): void => void insertSession(tx).run(row);

export function extend(tx: Tx, id: string, times: { renewedAtMs: number; expiresAtMs: number }): void {
  tx.update(loginSessions).set(times).where(eq(loginSessions.id, id)).run();
}

/** @returns whether the session was open */
export function replaceToken(tx: Tx, id: string, tokenHash: string): boolean {
  markTopicChanged(tx, "access");
  const replaced = tx
    .update(loginSessions)
    .set({ tokenHash })
    .where(and(eq(loginSessions.id, id), isNull(loginSessions.endedAtMs)))
    .returning({ id: loginSessions.id })
    .get();
  return replaced !== undefined;
}

/** @returns the session that this call ended; undefined if none was open */
export function endByToken(tx: Tx, tokenHash: string, nowMs: number): LoginSessionRow | undefined {
  markTopicChanged(tx, "access");
  return tx
    .update(loginSessions)
    .set({ endedAtMs: nowMs })
    .where(and(eq(loginSessions.tokenHash, tokenHash), isNull(loginSessions.endedAtMs)))
    .returning()
    .get();
}

/** Removes a batch of sessions that expired by then and that no grant or device login refers to. @returns how many */
export function removeExpired(tx: Tx, expiredByMs: number): number {
  markTopicChanged(tx, "access");
  const ofGrant = tx.select().from(grants).where(eq(grants.loginSessionId, loginSessions.id));
  const ofDeviceLogin = tx
    .select()
    .from(deviceLogins)
    .where(eq(deviceLogins.loginSessionId, loginSessions.id));
  const dead = tx
    .select({ id: loginSessions.id })
    .from(loginSessions)
    .where(and(lte(loginSessions.expiresAtMs, expiredByMs), notExists(ofGrant), notExists(ofDeviceLogin)))
    .limit(SWEEP_BATCH_ROWS);
  return tx
    .delete(loginSessions)
    .where(inArray(loginSessions.id, dead))
    .returning({ id: loginSessions.id })
    .all().length;
}
