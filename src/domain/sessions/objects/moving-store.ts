// SQL that finds versions in a store other than the wanted one.
import { and, asc, count, eq, gt, inArray, isNotNull, ne, or, type SQL, sum } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import type { ArtifactRow, StoreKind } from "../model.ts";
import { sessionArtifacts } from "../tables.ts";

const { id, organizationId, store, status, storedAtMs, sizeBytes } = sessionArtifacts;

interface Elsewhere {
  organizationId: string;
  to: StoreKind;
}

/** Complete and superseded versions, and pending ones whose bytes are stored. */
const isElsewhere = (wanted: Elsewhere): SQL | undefined =>
  and(
    eq(organizationId, wanted.organizationId),
    ne(store, wanted.to),
    or(inArray(status, ["complete", "superseded"]), and(eq(status, "pending"), isNotNull(storedAtMs))),
  );

export function totalElsewhere(
  connection: Connection,
  wanted: Elsewhere,
): { objects: number; bytes: number } {
  const found = connection
    .select({ objects: count(), bytes: sum(sizeBytes) })
    .from(sessionArtifacts)
    .where(isElsewhere(wanted))
    .get();
  return { objects: found?.objects ?? 0, bytes: Number(found?.bytes ?? 0) };
}

/** @returns versions after that id, ordered by id */
export const listElsewhere = (
  connection: Connection,
  { afterId, limit, ...wanted }: Elsewhere & { afterId: string; limit: number },
): ArtifactRow[] =>
  connection
    .select()
    .from(sessionArtifacts)
    .where(and(gt(id, afterId), isElsewhere(wanted)))
    .orderBy(asc(id))
    .limit(limit)
    .all();

export const switchStore = (tx: Tx, moved: Pick<ArtifactRow, "id" | "store" | "place">): void =>
  void tx
    .update(sessionArtifacts)
    .set({ store: moved.store, place: moved.place })
    .where(eq(id, moved.id))
    .run();
