// The current version of a session, and the store that has its bytes.
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { sessionGone, sessionNotFound } from "../errors.ts";
import type { ArtifactRow, SessionRow } from "../model.ts";
import { markLost } from "../objects/lost.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { findArtifact } from "../store.ts";

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "stores">;

/** @throws DomainError `sessions.not_found` without a completed version, `sessions.expired`, `sessions.bytes_lost` */
export function currentOf(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  session: SessionRow,
): ArtifactRow {
  const { currentArtifactId: id, organizationId, goneAtMs } = session;
  const artifact = id === null ? undefined : findArtifact(db.read, { organizationId, id });
  if (!artifact) throw goneAtMs === null ? sessionNotFound(session.id) : sessionGone("expired");
  if (artifact.lostAtMs !== null) throw sessionGone("lost");
  // A held session can be downloaded after its deadline.
  if (session.heldAtMs === null && clock.nowMs() >= artifact.expiresAtMs) throw sessionGone("expired");
  return artifact;
}

/** @throws DomainError `sessions.bytes_lost`, which is recorded; `sessions.store_unavailable` */
export async function storeWith(
  own: Dependencies,
  artifact: ArtifactRow,
  actor: Actor,
): Promise<ObjectStore> {
  const objects = own.stores.of(artifact.store);
  const found = await objects.inspect(artifact.place);
  if (found?.sizeBytes === artifact.sizeBytes) return objects;
  await markLost(own, actor, artifact);
  throw sessionGone("lost");
}
