// SQL of objects that must be deleted. The transaction that removes the row also writes the mark, which is removed after the
// object is deleted.
import { and, asc, eq } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import type { ArtifactRow } from "../model.ts";
import { sessionArtifacts, sessionObjectRemovals } from "../tables.ts";

export type MarkedObject = typeof sessionObjectRemovals.$inferSelect;
export type Place = Pick<ArtifactRow, "store" | "place">;

/** Marks the objects of removed artifacts. The deletion keeps an object that other artifacts share. */
export function markPlaces(
  tx: Tx,
  artifacts: readonly Pick<ArtifactRow, "store" | "place" | "sizeBytes">[],
  markedAtMs: number,
): void {
  for (const { store, place, sizeBytes } of artifacts)
    tx.insert(sessionObjectRemovals)
      .values({ store, place, sizeBytes, markedAtMs })
      .onConflictDoNothing()
      .run();
}

/** @returns marked objects, oldest first */
export const marked = (connection: Connection, limit: number): MarkedObject[] =>
  connection
    .select()
    .from(sessionObjectRemovals)
    .orderBy(asc(sessionObjectRemovals.markedAtMs))
    .limit(limit)
    .all();

/** @returns whether an artifact in any state names the object */
export const isNamed = (connection: Connection, { store, place }: Place): boolean =>
  connection
    .select({ id: sessionArtifacts.id })
    .from(sessionArtifacts)
    .where(and(eq(sessionArtifacts.place, place), eq(sessionArtifacts.store, store)))
    .limit(1)
    .get() !== undefined;

export const unmark = (tx: Tx, { store, place }: Place): void =>
  void tx
    .delete(sessionObjectRemovals)
    .where(and(eq(sessionObjectRemovals.store, store), eq(sessionObjectRemovals.place, place)))
    .run();
