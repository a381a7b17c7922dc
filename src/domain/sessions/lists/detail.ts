// One session with its versions, newest first.
import type { Steps } from "../../../platform/steps.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { sessionNotFound } from "../errors.ts";
import { VERSIONS_SHOWN_MAX } from "../limits.ts";
import type { ArtifactRow, Viewer } from "../model.ts";
import { mayManage, visibleSession } from "../visibility.ts";
import { granteesOf, listArtifacts, listedSessions } from "./list-store.ts";
import type { SessionLists, SessionView } from "./lists.ts";

export interface SessionDetail {
  session: SessionView;
  /** the named recipients: all for the owner and administrators, for other viewers only themselves */
  userIds: readonly string[];
  artifacts: readonly ArtifactRow[];
}

type Dependencies = Pick<SessionsDependencies, "db"> & { lists: SessionLists };

/**
 * Only the owner and administrators see versions that were never complete.
 * @throws DomainError `sessions.not_found`, `sessions.not_visible`
 */
export function* sessionDetail(
  { db, lists }: Dependencies,
  viewer: Viewer,
  id: string,
): Steps<SessionDetail> {
  const row = visibleSession(db.read, viewer, id);
  const [session] = listedSessions(db.read, [row.id]);
  if (!session) throw sessionNotFound(id);
  const isManager = mayManage(row, viewer);
  const artifacts = listArtifacts(db.read, { sessionId: row.id, limit: VERSIONS_SHOWN_MAX });
  const wasComplete = ({ completedAtMs }: ArtifactRow): boolean => completedAtMs !== null;
  const grantees = granteesOf(db.read, row.id);
  return {
    session: yield* lists.view(session),
    userIds: isManager ? grantees : grantees.filter((grantee) => grantee === viewer.userId),
    artifacts: isManager ? artifacts : artifacts.filter(wasComplete),
  };
}
