// Records that an object is missing or damaged. Its session answers 410 from then on, and the next presign asks for the bytes again.
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import type { ArtifactRow } from "../model.ts";
import * as store from "./lost-store.ts";

/** Writes one audit entry for an artifact, however often it is found lost. */
export async function markLost(
  { db, clock, audit }: Pick<SessionsDependencies, "db" | "clock" | "audit">,
  actor: Actor,
  { id, sessionId, userId, sha256, store: kind }: ArtifactRow,
): Promise<void> {
  const nowMs = clock.nowMs();
  await db.write((tx) => {
    if (!store.markLost(tx, { id, nowMs })) return;
    const after = { artifact_id: id, owner: userId, sha256, store: kind };
    audit.record(tx, { actor, action: "captured_session.lose", target: sessionId, after });
  }, "unobserved");
}
