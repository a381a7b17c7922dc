// SQL for the login of a workstation: its grant, and the browser sign-in that approved it.
import { and, eq, isNull } from "drizzle-orm";
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

/** @returns both, unless one was revoked or ended; either may have expired */
export const findActiveLogin = (connection: Connection, grantId: string) =>
  selectActiveLogin(connection).get({ grantId });
