// SQL of sessions with an unfinished or failed upload. They are read through a partial index of such uploads and sorted here,
// because SQLite would sort all of them again in each step.
import { and, asc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { STEP_ROWS } from "../../shared/page-steps.ts";
import type { ArtifactStatus } from "../model.ts";
import { capturedSessions, sessionArtifacts } from "../tables.ts";
import type { Scope, SessionFilter } from "./list-query.ts";
import { matchingOf, type SessionPlace } from "./list-store.ts";

const { userId, sessionId, status } = sessionArtifacts;
const { id, organizationId, updatedAtMs } = capturedSessions;
/** Literally the condition of the partial index. */
const isUnfinished = sql`${status} IN ('pending', 'failed')`;
/** SQLite's row number, which follows the user in that index. */
const rowid = sql<number>`${sessionArtifacts}.rowid`;

/** A position in that index. */
interface UploadPlace {
  userId: string;
  rowid: number;
}

const FIRST: UploadPlace = { userId: "", rowid: 0 };
const LAST: UploadPlace = { userId: "\u{10ffff}", rowid: 0 };

const isIn = (after: UploadPlace, upTo: UploadPlace): SQL =>
  sql`(${userId}, ${rowid}) > (${after.userId}, ${after.rowid}) AND (${userId}, ${rowid}) <= (${upTo.userId}, ${upTo.rowid})`;

/** @returns the scope's sessions with such an upload, unordered */
export function* unfinishedPlaces(
  connection: Connection,
  scope: Scope,
  { status: wanted, filter }: { status: ArtifactStatus; filter: SessionFilter },
): Steps<SessionPlace[]> {
  const { fromMs, beforeMs } = filter.updated;
  const isOwned = scope.kind === "organization" ? undefined : eq(userId, scope.userId);
  const matching = and(
    sql`+${organizationId} = ${scope.organizationId}`,
    fromMs === undefined ? undefined : gte(updatedAtMs, fromMs),
    beforeMs === undefined ? undefined : lt(updatedAtMs, beforeMs),
    matchingOf(filter),
  );
  const places = new Map<string, SessionPlace>();
  for (let after = FIRST; ; ) {
    const end = connection
      .select({ userId, rowid })
      .from(sessionArtifacts)
      .where(and(isUnfinished, isOwned, isIn(after, LAST)))
      .orderBy(asc(userId), asc(rowid))
      .limit(1)
      .offset(STEP_ROWS - 1)
      .get();
    const found = connection
      .select({ first: updatedAtMs, second: id })
      .from(sessionArtifacts)
      .innerJoin(capturedSessions, eq(id, sessionId))
      .where(and(isUnfinished, eq(status, wanted), isOwned, isIn(after, end ?? LAST), matching))
      .all();
    for (const place of found) places.set(place.second, place);
    if (!end) return [...places.values()];
    after = end;
    yield;
  }
}
