// SQL that replaces the sharing of a session.
import { and, eq, ne } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import type { SessionRow } from "../model.ts";
import { capturedSessions, sessionGrants } from "../tables.ts";
import type { WantedSharing } from "./sharing-request.ts";

export function replaceSharing(
  tx: Tx,
  { id, updatedAtMs, harness }: Pick<SessionRow, "id" | "updatedAtMs" | "harness">,
  { mode, userIds }: WantedSharing,
): void {
  tx.update(capturedSessions).set({ sharingMode: mode }).where(eq(capturedSessions.id, id)).run();
  tx.delete(sessionGrants).where(eq(sessionGrants.sessionId, id)).run();
  if (userIds.length === 0) return;
  const grants = userIds.map((userId) => ({ sessionId: id, userId, updatedAtMs, harness }));
  tx.insert(sessionGrants).values(grants).run();
}

/** @returns shared sessions of the organization: one of them, or all of one owner */
export const listShared = (
  connection: Connection,
  organizationId: string,
  wanted: { sessionId: string } | { ownerId: string },
): SessionRow[] =>
  connection
    .select()
    .from(capturedSessions)
    .where(
      and(
        eq(capturedSessions.organizationId, organizationId),
        ne(capturedSessions.sharingMode, "private"),
        "sessionId" in wanted
          ? eq(capturedSessions.id, wanted.sessionId.toLowerCase())
          : eq(capturedSessions.userId, wanted.ownerId),
      ),
    )
    .all();
