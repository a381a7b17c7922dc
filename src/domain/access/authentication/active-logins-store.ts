// SQL for the login of a workstation: its grant, and the browser sign-in that approved it.
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type Connection, statement } from "../../../platform/database/database.ts";
import { named } from "../../../platform/database/drizzle.ts";
import { grants, loginSessions } from "../tables.ts";

const selectActiveLogin = statement((connection) =>
  connection
    .select({
      userId: grants.userId,
      loginSessionId: grants.loginSessionId,
      grantExpiresAtMs: grants.expiresAtMs,
      sessionExpiresAtMs: loginSessions.expiresAtMs,
    })
    .from(grants)
    .innerJoin(loginSessions, eq(loginSessions.id, grants.loginSessionId))
    .where(and(eq(grants.id, named("grantId")), isNull(grants.revokedAtMs), isNull(loginSessions.endedAtMs)))
    .limit(1)
    .prepare(),
);

/** @returns both; undefined if one was revoked or ended. Either may have expired. */
export const findActiveLogin = (connection: Connection, grantId: string) =>
  selectActiveLogin(connection).get({ grantId });

/**
 * For a statement of another area.
 * @param grantId column with ids of grants
 * @returns when the login of the grant expires, UTC milliseconds; null if it has ended
 */
export const loginExpiryOf = (grantId: SQLiteColumn): SQL<number | null> => sql`(
  SELECT min(${grants.expiresAtMs}, ${loginSessions.expiresAtMs}) FROM ${grants}
  JOIN ${loginSessions} ON ${loginSessions.id} = ${grants.loginSessionId}
  WHERE ${grants.id} = ${grantId} AND ${grants.revokedAtMs} IS NULL AND ${loginSessions.endedAtMs} IS NULL)`;
