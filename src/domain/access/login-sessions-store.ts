// SQL of browser sign-ins. When a session counts and when it is prolonged is for login-sessions.ts.
import { and, desc, eq, inArray, isNull, lte, notExists, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database.ts";
import { deviceLogins, grants, loginSessions } from "./tables.ts";

export type LoginSessionRow = typeof loginSessions.$inferSelect;

/** A list shows this many sessions of one user, newest first. */
export const SESSIONS_LISTED_MAX = 100;
/** One sweep removes this many rows, so that it never holds the write lock for long. */
const SWEPT_MAX = 1_000;

const selectByToken = statement((connection) =>
  connection
    .select()
    .from(loginSessions)
    .where(and(eq(loginSessions.tokenHash, sql.placeholder("tokenHash")), isNull(loginSessions.endedAtMs)))
    .limit(1)
    .prepare(),
);

/** @returns the session of a token that nobody ended; it may have expired */
export const findOpen = (connection: Connection, tokenHash: string): LoginSessionRow | undefined =>
  selectByToken(connection).get({ tokenHash });

export const listOpen = (connection: Connection, userId: string, nowMs: number): LoginSessionRow[] =>
  connection
    .select()
    .from(loginSessions)
    .where(
      and(
        eq(loginSessions.userId, userId),
        isNull(loginSessions.endedAtMs),
        sql`${loginSessions.expiresAtMs} > ${nowMs}`,
      ),
    )
    .orderBy(desc(loginSessions.createdAtMs))
    .limit(SESSIONS_LISTED_MAX)
    .all();

export const add = (tx: Tx, row: LoginSessionRow): void => void tx.insert(loginSessions).values(row).run();

/** Prolongs a session unless it was ended, or prolonged by another request, since it was read. */
export function prolong(
  tx: Tx,
  { id, renewedAtMs }: LoginSessionRow,
  times: { renewedAtMs: number; expiresAtMs: number },
): void {
  const unchanged = and(
    eq(loginSessions.id, id),
    eq(loginSessions.renewedAtMs, renewedAtMs),
    isNull(loginSessions.endedAtMs),
  );
  tx.update(loginSessions).set(times).where(unchanged).run();
}

/** @returns the session that this ended, if one was open */
export const endByToken = (tx: Tx, tokenHash: string, nowMs: number): LoginSessionRow | undefined =>
  tx
    .update(loginSessions)
    .set({ endedAtMs: nowMs })
    .where(and(eq(loginSessions.tokenHash, tokenHash), isNull(loginSessions.endedAtMs)))
    .returning()
    .get();

/** Removes sessions that expired and that no grant or device login names any more. @returns how many */
export function removeExpired(tx: Tx, nowMs: number): number {
  const ofGrant = tx.select().from(grants).where(eq(grants.loginSessionId, loginSessions.id));
  const ofDeviceLogin = tx
    .select()
    .from(deviceLogins)
    .where(eq(deviceLogins.loginSessionId, loginSessions.id));
  const dead = tx
    .select({ id: loginSessions.id })
    .from(loginSessions)
    .where(and(lte(loginSessions.expiresAtMs, nowMs), notExists(ofGrant), notExists(ofDeviceLogin)))
    .limit(SWEPT_MAX);
  return tx
    .delete(loginSessions)
    .where(inArray(loginSessions.id, dead))
    .returning({ id: loginSessions.id })
    .all().length;
}
