// SQL of the operator's view: device logins, login sessions and grants, newest first by id (UUIDv7). logins.ts defines their
// outward form; end-logins.ts ends them.
import { and, count, desc, eq, gt, inArray, isNull, lt, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { markTopicChanged } from "../../../platform/database/changed-topics.ts";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { deviceLogins, grants, loginSessions } from "../tables.ts";

export interface LoginFilter {
  /** only rows older than this id */
  after?: string | undefined;
  id?: string | undefined;
  userId?: string | undefined;
  /** omits logins that have ended by this time */
  liveAtMs?: number | undefined;
  limit: number;
}

const isLiveDevice = (nowMs: number) =>
  and(inArray(deviceLogins.state, ["pending", "approved"]), gt(deviceLogins.expiresAtMs, nowMs));
const isLiveSession = (nowMs: number) =>
  and(isNull(loginSessions.endedAtMs), gt(loginSessions.expiresAtMs, nowMs));
const isLiveGrant = (nowMs: number) => and(isNull(grants.revokedAtMs), gt(grants.expiresAtMs, nowMs));

/** @returns the number of logins of every kind that have not ended */
export const countLive = (connection: Connection, nowMs: number): number =>
  [
    connection.select({ total: count() }).from(deviceLogins).where(isLiveDevice(nowMs)).get(),
    connection.select({ total: count() }).from(loginSessions).where(isLiveSession(nowMs)).get(),
    connection.select({ total: count() }).from(grants).where(isLiveGrant(nowMs)).get(),
  ].reduce((sum, row) => sum + (row?.total ?? 0), 0);

const listed = (
  filter: LoginFilter,
  columns: { id: SQLiteColumn; userId: SQLiteColumn },
): (SQL | undefined)[] => [
  filter.after === undefined ? undefined : lt(columns.id, filter.after),
  filter.id === undefined ? undefined : eq(columns.id, filter.id),
  filter.userId === undefined ? undefined : eq(columns.userId, filter.userId),
];

const ifLive = ({ liveAtMs }: LoginFilter, condition: (nowMs: number) => SQL | undefined): SQL | undefined =>
  liveAtMs === undefined ? undefined : condition(liveAtMs);

export const listDeviceLogins = (connection: Connection, filter: LoginFilter) =>
  connection
    .select()
    .from(deviceLogins)
    .where(and(...listed(filter, deviceLogins), ifLive(filter, isLiveDevice)))
    .orderBy(desc(deviceLogins.id))
    .limit(filter.limit)
    .all();

export const listSessions = (connection: Connection, filter: LoginFilter) =>
  connection
    .select()
    .from(loginSessions)
    .where(and(...listed(filter, loginSessions), ifLive(filter, isLiveSession)))
    .orderBy(desc(loginSessions.id))
    .limit(filter.limit)
    .all();

export const listGrants = (connection: Connection, filter: LoginFilter) =>
  connection
    .select()
    .from(grants)
    .where(and(...listed(filter, grants), ifLive(filter, isLiveGrant)))
    .orderBy(desc(grants.id))
    .limit(filter.limit)
    .all();

/** @returns whether the device login existed */
export function removeDeviceLogin(tx: Tx, id: string): boolean {
  markTopicChanged(tx, "access");
  const removed = tx.delete(deviceLogins).where(eq(deviceLogins.id, id));
  return removed.returning({ id: deviceLogins.id }).get() !== undefined;
}
