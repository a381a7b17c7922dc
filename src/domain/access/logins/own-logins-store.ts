// SQL that counts one user's logins. logins-store.ts has the lists.
import { and, count, eq, gt, inArray, isNull } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { LOGINS_PER_PAGE_MAX } from "../model.ts";
import { deviceLogins, grants, loginSessions } from "../tables.ts";
import type { EndedLogins } from "./end-logins.ts";

const total = { total: count() };

/** @returns how many logins of a user are active */
export function countLive(connection: Connection, userId: string, nowMs: number): EndedLogins {
  const sessions = connection
    .select(total)
    .from(loginSessions)
    .where(
      and(
        eq(loginSessions.userId, userId),
        isNull(loginSessions.endedAtMs),
        gt(loginSessions.expiresAtMs, nowMs),
      ),
    )
    .get();
  const workstations = connection
    .select(total)
    .from(grants)
    .where(and(eq(grants.userId, userId), isNull(grants.revokedAtMs), gt(grants.expiresAtMs, nowMs)))
    .get();
  const underWay = connection
    .select(total)
    .from(deviceLogins)
    .where(
      and(
        eq(deviceLogins.userId, userId),
        inArray(deviceLogins.state, ["pending", "approved"]),
        gt(deviceLogins.expiresAtMs, nowMs),
      ),
    )
    .get();
  return {
    loginSessions: sessions?.total ?? 0,
    grants: workstations?.total ?? 0,
    deviceLogins: underWay?.total ?? 0,
  };
}

/** @returns the number of active grants that each login session approved; for one page of sessions */
export function countApproved(
  connection: Connection,
  loginSessionIds: readonly string[],
  nowMs: number,
): Map<string, number> {
  const rows = connection
    .select({ id: grants.loginSessionId, total: count() })
    .from(grants)
    .where(
      and(
        inArray(grants.loginSessionId, [...loginSessionIds]),
        isNull(grants.revokedAtMs),
        gt(grants.expiresAtMs, nowMs),
      ),
    )
    .groupBy(grants.loginSessionId)
    .limit(LOGINS_PER_PAGE_MAX)
    .all();
  return new Map(rows.map(({ id, total }) => [id, total]));
}

/** @returns the given grants that are active and belong to the user; for one page of workstations */
export function listLiveGrants(
  connection: Connection,
  { userId, grantIds }: { userId: string; grantIds: readonly string[] },
  nowMs: number,
): string[] {
  const rows = connection
    .select({ id: grants.id })
    .from(grants)
    .where(
      and(
        inArray(grants.id, [...grantIds]),
        eq(grants.userId, userId),
        isNull(grants.revokedAtMs),
        gt(grants.expiresAtMs, nowMs),
      ),
    )
    .limit(LOGINS_PER_PAGE_MAX)
    .all();
  return rows.map(({ id }) => id);
}
