// SQL of the stored counts of sessions: the total of a list, and its owners and harnesses, without reading the sessions.
import { and, eq, gte, inArray, lt, type SQL, sql, sum } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { DAY_MS } from "../../../platform/clock.ts";
import type { Connection } from "../../../platform/database/database.ts";
import type { Viewer } from "../model.ts";
import { sessionCounts } from "../tables.ts";
import type { Scope, SessionFilter } from "./list-query.ts";

const { viewerId, mode, ownerId, harness, day, sessions } = sessionCounts;

type Mode = typeof sessionCounts.$inferSelect.mode;
const ALL: readonly Mode[] = ["private", "workspace", "selected"];
/** Selects the counts of a user's own sessions that are not shared with everyone, and of sessions shared with the user by name. */
const PERSONAL: readonly Mode[] = ["private", "selected", "granted"];

const seenBy = (viewer: string | SQLiteColumn, modes: readonly Mode[]): SQL | undefined =>
  and(eq(viewerId, viewer), inArray(mode, [...modes]));

/** Disjoint conditions that together select the counts of a scope. */
function partsOf(scope: Scope): (SQL | undefined)[] {
  if (scope.kind === "organization") return [seenBy(scope.organizationId, ALL)];
  if (scope.kind === "owner") return [seenBy(scope.userId, ALL)];
  return [seenBy(scope.userId, PERSONAL), seenBy(scope.organizationId, ["workspace"])];
}

/** The number of sessions of one UTC day, in days since 1970. */
export interface DayCount {
  day: number;
  sessions: number;
}

/** @returns the number of the scope's sessions with a current artifact, by the day of the last completion, in list order */
export function countByDay(
  connection: Connection,
  scope: Scope,
  {
    harness: wanted,
    updated: { fromMs, beforeMs },
    sort,
  }: Pick<SessionFilter, "harness" | "updated" | "sort">,
): DayCount[] {
  const matching = and(
    wanted === undefined ? undefined : eq(harness, wanted),
    fromMs === undefined ? undefined : gte(day, fromMs / DAY_MS),
    beforeMs === undefined ? undefined : lt(day, beforeMs / DAY_MS),
  );
  const counts = new Map<number, number>();
  for (const part of partsOf(scope)) {
    const rows = connection
      .select({ day, total: sum(sessions).mapWith(Number) })
      .from(sessionCounts)
      .where(and(part, matching))
      .groupBy(day)
      .all();
    for (const row of rows) counts.set(row.day, (counts.get(row.day) ?? 0) + row.total);
  }
  const direction = sort === "updated_asc" ? 1 : -1;
  return [...counts]
    .map(([of, total]) => ({ day: of, sessions: total }))
    .sort((one, other) => direction * (one.day - other.day));
}

/** Days since 1970 in UTC, both inclusive. */
export type DaySpan = Record<"first" | "last", number>;

/** @param days in order @returns spans of at most `sessionsMax` sessions, or of one day */
export function inSpansOf(sessionsMax: number, days: readonly DayCount[]): DaySpan[] {
  const spans: (DaySpan & { sessions: number })[] = [];
  for (const next of days) {
    const span = spans.at(-1);
    if (span && span.sessions + next.sessions <= sessionsMax) {
      span.last = next.day;
      span.sessions += next.sessions;
    } else spans.push({ first: next.day, last: next.day, sessions: next.sessions });
  }
  return spans;
}

/** @returns the harnesses of the scope's sessions, sorted */
export function harnessesIn(connection: Connection, scope: Scope): string[] {
  const names = partsOf(scope).flatMap((part) =>
    connection.selectDistinct({ harness }).from(sessionCounts).where(part).all(),
  );
  return [...new Set(names.map(({ harness: name }) => name))].sort();
}

/** @returns a condition for the users who own a session that the viewer may see, for statements of other areas */
export const ownsVisible =
  ({ isAdministrator, userId }: Viewer) =>
  (owner: SQLiteColumn): SQL => {
    const has = (condition: SQL | undefined): SQL =>
      sql`EXISTS (SELECT 1 FROM ${sessionCounts} WHERE ${condition})`;
    if (isAdministrator) return has(seenBy(owner, ALL));
    const isOwn = and(eq(owner, userId), has(seenBy(owner, ALL)));
    const isGranted = has(and(seenBy(userId, ["granted"]), eq(ownerId, owner)));
    return sql`(${isOwn} OR ${has(seenBy(owner, ["workspace"]))} OR ${isGranted})`;
  };
