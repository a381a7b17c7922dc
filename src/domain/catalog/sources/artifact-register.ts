// The rows of stored archives. Identical bytes share one row.
import type { Clock } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Ids } from "../../../platform/ids.ts";
import * as store from "../store.ts";

/** @returns the id of the artifact with that digest, which may be new */
export function registerArtifact(
  tx: Tx,
  { clock, ids }: { clock: Clock; ids: Ids },
  archive: Omit<store.ArtifactRow, "id" | "createdAtMs" | "unnamedSinceMs">,
): string {
  const known = store.findArtifactByDigest(tx, archive.organizationId, archive.sha256);
  if (known) return known.id;
  const id = ids.uuid();
  const { organizationId, sha256, sizeBytes, entries, expandedBytes } = archive;
  const createdAtMs = clock.nowMs();
  store.addArtifact(tx, { id, organizationId, sha256, sizeBytes, createdAtMs, entries, expandedBytes });
  return id;
}
