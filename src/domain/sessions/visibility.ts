// Decides who may see a session: its owner, its recipients, and administrators, all within one organization. Suspended and removed
// users cannot authenticate, so they never get here.
import type { Connection } from "../../platform/database/database.ts";
import { sessionNotFound, sessionNotVisible } from "./errors.ts";
import type { SessionRow, Viewer } from "./model.ts";
import { findSession, hasGrant } from "./store.ts";

export function mayView(
  connection: Connection,
  { id, userId, sharingMode }: Pick<SessionRow, "id" | "userId" | "sharingMode">,
  viewer: Viewer,
): boolean {
  if (userId === viewer.userId || viewer.isAdministrator || sharingMode === "workspace") return true;
  return sharingMode === "selected" && hasGrant(connection, { sessionId: id, userId: viewer.userId });
}

/**
 * @returns the session
 * @throws DomainError `sessions.not_found`, also for one of another organization; `sessions.not_visible`
 */
export function visibleSession(connection: Connection, viewer: Viewer, id: string): SessionRow {
  const session = findSession(connection, { organizationId: viewer.organizationId, id });
  if (!session) throw sessionNotFound(id);
  if (!mayView(connection, session, viewer)) throw sessionNotVisible();
  return session;
}

/** Why a viewer may read the content of a session. */
export type ReadingRight = "owner" | "recipient" | "administrator";

/** @returns undefined for an administrator who may know that the session exists but may not read it */
export function rightToRead(
  connection: Connection,
  session: Pick<SessionRow, "id" | "userId" | "sharingMode">,
  viewer: Viewer,
  { administratorsMayRead }: { administratorsMayRead: boolean },
): ReadingRight | undefined {
  if (session.userId === viewer.userId) return "owner";
  if (mayView(connection, session, { ...viewer, isAdministrator: false })) return "recipient";
  return viewer.isAdministrator && administratorsMayRead ? "administrator" : undefined;
}

/** @returns whether the viewer may complete or remove it */
export const mayManage = ({ userId }: Pick<SessionRow, "userId">, viewer: Viewer): boolean =>
  userId === viewer.userId || viewer.isAdministrator;
