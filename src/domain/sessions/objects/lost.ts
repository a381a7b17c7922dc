// Records that an object is missing or damaged. Its session then answers 410, and the next presign requests the bytes again. An
// upload of equal bytes restores the object, or an operator restores its file.
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import type { ArtifactRow } from "../model.ts";
import * as store from "./lost-store.ts";

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit">;

/** Writes one audit entry for an artifact, even if it is found lost repeatedly. @returns whether this is the first time */
export async function markLost(
  { db, clock, audit }: Dependencies,
  actor: Actor,
  artifact: ArtifactRow,
): Promise<boolean> {
  const nowMs = clock.nowMs();
  return await db.write((tx) => {
    if (!store.markLost(tx, artifact, nowMs)) return false;
    const after = toAudit(artifact);
    audit.record(tx, { actor, action: "captured_session.lose", target: artifact.sessionId, after });
    return true;
  }, "unobserved");
}

/** Call it when the whole object of a lost artifact could be read again. @returns whether the artifact was marked as lost */
export async function markFound(
  { db, audit }: Pick<Dependencies, "db" | "audit">,
  actor: Actor,
  artifact: ArtifactRow,
): Promise<boolean> {
  return await db.write((tx) => {
    if (!store.markFound(tx, artifact.id)) return false;
    const after = toAudit(artifact);
    audit.record(tx, { actor, action: "captured_session.recover", target: artifact.sessionId, after });
    return true;
  }, "unobserved");
}

/** Call it when an upload has written the file again, which owners of equal bytes share. */
export function markFoundAt(tx: Tx, { audit }: Pick<Dependencies, "audit">, place: string): void {
  for (const artifact of store.markFoundAt(tx, place)) {
    const { organizationId } = artifact;
    const actor = { kind: "system", id: null, label: "upload", organizationId } as const;
    const after = toAudit(artifact);
    audit.record(tx, { actor, action: "captured_session.recover", target: artifact.sessionId, after });
  }
}

const toAudit = ({ id, userId, sha256, store: kind }: ArtifactRow) => ({
  artifact_id: id,
  owner: userId,
  sha256,
  store: kind,
});
