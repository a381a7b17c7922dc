// SQL that removes rows for retention, and recomputes deadlines.
import { and, asc, count, eq, gt, inArray, isNotNull, isNull, lte, notExists, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import type { ArtifactRow, SessionRow } from "../model.ts";
import { markPlaces } from "../objects/removal-store.ts";
import { capturedSessions, sessionArtifacts, sessionGrants } from "../tables.ts";

interface Turn {
  nowMs: number;
  limit: number;
}

/**
 * Deletes the rows of due artifacts, except those of held sessions, and marks their objects.
 * @returns the deleted rows
 */
export function dropDue(tx: Tx, { nowMs, limit }: Turn): ArtifactRow[] {
  const due = tx
    .select({ id: sessionArtifacts.id })
    .from(sessionArtifacts)
    .innerJoin(capturedSessions, eq(capturedSessions.id, sessionArtifacts.sessionId))
    .where(and(lte(sessionArtifacts.expiresAtMs, nowMs), isNull(capturedSessions.heldAtMs)))
    .orderBy(asc(sessionArtifacts.expiresAtMs))
    .limit(limit)
    .all()
    .map(({ id }) => id);
  if (due.length === 0) return [];
  tx.update(capturedSessions)
    .set({ currentArtifactId: null, searchNumber: null, goneAtMs: nowMs })
    .where(inArray(capturedSessions.currentArtifactId, due))
    .run();
  const artifacts = tx.delete(sessionArtifacts).where(inArray(sessionArtifacts.id, due)).returning().all();
  markPlaces(tx, artifacts, nowMs);
  dropUnfinished(tx, [...new Set(artifacts.map(({ sessionId }) => sessionId))]);
  return artifacts;
}

const withoutArtifacts = (tx: Tx) =>
  notExists(
    tx
      .select({ one: sql`1` })
      .from(sessionArtifacts)
      .where(eq(sessionArtifacts.sessionId, capturedSessions.id)),
  );

/** Deletes those sessions that never had a complete artifact and have no artifact left. */
function dropUnfinished(tx: Tx, ids: readonly string[]): void {
  const isNeverComplete = and(isNull(capturedSessions.currentArtifactId), isNull(capturedSessions.goneAtMs));
  const rows = tx
    .select({ id: capturedSessions.id })
    .from(capturedSessions)
    .where(and(inArray(capturedSessions.id, [...ids]), isNeverComplete, withoutArtifacts(tx)))
    .limit(ids.length)
    .all();
  dropSessions(tx, rows);
}

/** Deletes sessions that have answered 410 for long enough. @returns how many */
export function dropTombstones(
  tx: Tx,
  { goneBeforeMs, limit }: { goneBeforeMs: number; limit: number },
): number {
  const rows = tx
    .select({ id: capturedSessions.id })
    .from(capturedSessions)
    .where(
      and(
        isNotNull(capturedSessions.goneAtMs),
        lte(capturedSessions.goneAtMs, goneBeforeMs),
        isNull(capturedSessions.heldAtMs),
        withoutArtifacts(tx),
      ),
    )
    .limit(limit)
    .all();
  dropSessions(tx, rows);
  return rows.length;
}

function dropSessions(tx: Tx, rows: readonly Pick<SessionRow, "id">[]): void {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  tx.delete(sessionGrants).where(inArray(sessionGrants.sessionId, ids)).run();
  tx.delete(capturedSessions).where(inArray(capturedSessions.id, ids)).run();
}

/** The settings that determine a deadline. */
export interface Deadlines {
  organizationId: string;
  retentionMs: number;
  supersededMs: number;
}

/**
 * Gives complete and superseded artifacts after `afterId` the deadline of the settings.
 * @returns the last id that it read, undefined at the end, and the number of changed deadlines
 */
export function recomputeDeadlines(
  tx: Tx,
  { organizationId, retentionMs, supersededMs }: Deadlines,
  { afterId, limit }: { afterId: string; limit: number },
): { lastId: string | undefined; changed: number } {
  const { id, status, completedAtMs, supersededAtMs, expiresAtMs } = sessionArtifacts;
  const rows = tx
    .select({ id, status, completedAtMs, supersededAtMs, expiresAtMs })
    .from(sessionArtifacts)
    .where(and(sql`${id} > ${afterId}`, eq(sessionArtifacts.organizationId, organizationId)))
    .orderBy(asc(id))
    .limit(limit)
    .all();
  let changed = 0;
  for (const row of rows) {
    const wanted = deadlineOf(row, { retentionMs, supersededMs });
    if (wanted === undefined || wanted === row.expiresAtMs) continue;
    tx.update(sessionArtifacts).set({ expiresAtMs: wanted }).where(eq(id, row.id)).run();
    changed += 1;
  }
  return { lastId: rows.length < limit ? undefined : rows.at(-1)?.id, changed };
}

/** @returns the deadline of a complete or superseded version; a superseded one is never kept longer than a current one */
function deadlineOf(
  { status, completedAtMs, supersededAtMs }: Pick<ArtifactRow, "status" | "completedAtMs" | "supersededAtMs">,
  { retentionMs, supersededMs }: Pick<Deadlines, "retentionMs" | "supersededMs">,
): number | undefined {
  if (completedAtMs === null) return undefined;
  if (status === "complete") return completedAtMs + retentionMs;
  if (status !== "superseded" || supersededAtMs === null) return undefined;
  return Math.min(completedAtMs + retentionMs, supersededAtMs + supersededMs);
}

/** @returns how many deadlines `recomputeDeadlines` would change, and how many of those would have passed */
export function countDeadlines(
  connection: Connection,
  { organizationId, retentionMs, supersededMs }: Deadlines,
  nowMs: number,
): { changed: number; due: number } {
  const { status, completedAtMs, supersededAtMs, expiresAtMs } = sessionArtifacts;
  const wanted = sql`CASE ${status} WHEN 'complete' THEN ${completedAtMs} + ${retentionMs}
    WHEN 'superseded' THEN min(${completedAtMs} + ${retentionMs}, ${supersededAtMs} + ${supersededMs}) ELSE ${expiresAtMs} END`;
  const found = connection
    .select({ changed: count(), due: sql<number>`coalesce(sum(${wanted} <= ${nowMs}), 0)` })
    .from(sessionArtifacts)
    .where(and(eq(sessionArtifacts.organizationId, organizationId), sql`${wanted} <> ${expiresAtMs}`))
    .get();
  return found ?? { changed: 0, due: 0 };
}

/** @param heldAtMs null ends the hold */
export const setHold = (tx: Tx, id: string, heldAtMs: number | null): void =>
  void tx.update(capturedSessions).set({ heldAtMs }).where(eq(capturedSessions.id, id)).run();

/** @returns complete and superseded artifacts after that id, ordered by id */
export const listStored = (
  connection: Connection,
  { organizationId, afterId, limit }: { organizationId: string; afterId: string; limit: number },
): ArtifactRow[] =>
  connection
    .select()
    .from(sessionArtifacts)
    .where(
      and(
        gt(sessionArtifacts.id, afterId),
        eq(sessionArtifacts.organizationId, organizationId),
        inArray(sessionArtifacts.status, ["complete", "superseded"]),
      ),
    )
    .orderBy(asc(sessionArtifacts.id))
    .limit(limit)
    .all();

/** @returns the number of sessions whose current version is lost */
export const countLost = (connection: Connection): number =>
  connection
    .select({ sessions: count() })
    .from(sessionArtifacts)
    .where(and(isNotNull(sessionArtifacts.lostAtMs), eq(sessionArtifacts.status, "complete")))
    .get()?.sessions ?? 0;
