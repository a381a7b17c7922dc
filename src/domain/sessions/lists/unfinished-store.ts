// SQL of sessions that have an unfinished or failed upload. They are read by their uploads, of which an index has no others, and their
// order is made here: SQLite would sort all of them again in each step.
import { and, asc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { STEP_ROWS } from "../../shared/page-steps.ts";
import type { ArtifactStatus } from "../model.ts";
import { capturedSessions, sessionArtifacts } from "../tables.ts";
import type { Scope, SessionFilter } from "./list-query.ts";
import { matchingOf, type SessionPlace } from "./list-store.ts";

const { userId, sessionId, sha256, status } = sessionArtifacts;
const { id, organizationId, updatedAtMs } = capturedSessions;
/** In the words of the partial index. */
const isUnfinished = sql`${status} IN ('pending', 'failed')`;

/** The columns of that index. */
interface UploadKey {
  userId: string;
  sessionId: string;
  sha256: string;
}

const FIRST: UploadKey = { userId: "", sessionId: "", sha256: "" };
const LAST: UploadKey = { userId: "\u{10ffff}", sessionId: "", sha256: "" };

const row = (key: UploadKey): SQL => sql`(${key.userId}, ${key.sessionId}, ${key.sha256})`;
const isIn = (after: UploadKey, upTo: UploadKey): SQL =>
  sql`(${userId}, ${sessionId}, ${sha256}) > ${row(after)} AND (${userId}, ${sessionId}, ${sha256}) <= ${row(upTo)}`;

/** @returns the sessions of the scope with such an upload, in no order */
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
      .select({ userId, sessionId, sha256 })
      .from(sessionArtifacts)
      .where(and(isUnfinished, isOwned, isIn(after, LAST)))
      .orderBy(asc(userId), asc(sessionId), asc(sha256))
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
