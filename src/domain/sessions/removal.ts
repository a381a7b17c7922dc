// Removes a session: it disappears immediately, and its objects are deleted right afterwards or by the next run of the job.
import type { Actor } from "../shared/actor.ts";
import type { SessionsDependencies } from "./dependencies.ts";
import { notOwnUpload, onHold, sessionNotFound } from "./errors.ts";
import type { Viewer } from "./model.ts";
import type { Removals } from "./objects/removals.ts";
import { dropSession } from "./removal-store.ts";
import { findSession } from "./store.ts";
import { mayManage } from "./visibility.ts";

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit"> & { removals: Removals };

/** Number of objects to delete before the response. */
const DRAINED_AT_ONCE = 20;

export class SessionRemoval {
  constructor(private readonly dependencies: Dependencies) {}

  /** @throws DomainError `sessions.not_found`, `sessions.not_owner`, `sessions.on_hold` */
  async remove(actor: Actor, viewer: Viewer, id: string): Promise<void> {
    const { db, clock, audit, removals } = this.dependencies;
    await db.write((tx) => {
      const session = findSession(tx, { organizationId: viewer.organizationId, id });
      if (!session) throw sessionNotFound(id);
      if (!mayManage(session, viewer)) throw notOwnUpload();
      if (session.heldAtMs !== null) throw onHold();
      const artifacts = dropSession(tx, session, clock.nowMs());
      const bytes = artifacts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const before = { owner: session.userId, harness: session.harness, artifacts: artifacts.length, bytes };
      audit.record(tx, { actor, action: "captured_session.remove", target: session.id, before });
    }, "unobserved");
    await removals.drain({ limit: DRAINED_AT_ONCE });
  }
}
