// SQL that deletes a session and all of its rows.
import { eq } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import type { ArtifactRow, SessionRow } from "./model.ts";
import { markPlaces } from "./objects/removal-store.ts";
import { capturedSessions, sessionArtifacts, sessionGrants } from "./tables.ts";

/** Deletes the session, its grants and artifacts, and marks their objects for deletion. @returns the deleted artifacts */
export function dropSession(tx: Tx, { id }: Pick<SessionRow, "id">, nowMs: number): ArtifactRow[] {
  tx.update(capturedSessions).set({ currentArtifactId: null }).where(eq(capturedSessions.id, id)).run();
  tx.delete(sessionGrants).where(eq(sessionGrants.sessionId, id)).run();
  const artifacts = tx.delete(sessionArtifacts).where(eq(sessionArtifacts.sessionId, id)).returning().all();
  tx.delete(capturedSessions).where(eq(capturedSessions.id, id)).run();
  markPlaces(tx, artifacts, nowMs);
  return artifacts;
}

/** @returns the ids of the user's sessions in any state */
export const listOwned = (tx: Tx, userId: string): Pick<SessionRow, "id">[] =>
  tx
    .select({ id: capturedSessions.id })
    .from(capturedSessions)
    .where(eq(capturedSessions.userId, userId))
    .all();

/** Removes the user from sessions that others shared by name. @returns how many sessions */
export const dropGrantsOf = (tx: Tx, userId: string): number =>
  tx
    .delete(sessionGrants)
    .where(eq(sessionGrants.userId, userId))
    .returning({ sessionId: sessionGrants.sessionId })
    .all().length;
