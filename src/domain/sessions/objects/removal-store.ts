// SQL of objects that must be deleted. The transaction that removes the row also writes the mark, which is removed after the
// object is deleted.
import { and, asc, eq } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import type { ArtifactRow, StoreKind } from "../model.ts";
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

/** @returns marked objects, oldest first; only those of `store`, if given */
export const marked = (connection: Connection, limit: number, store?: StoreKind): MarkedObject[] =>
  connection
    .select()
    .from(sessionObjectRemovals)
    .where(store && eq(sessionObjectRemovals.store, store))
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

/** @returns whether there is an artifact with the id, in any state and store */
export const isArtifact = (connection: Connection, id: string): boolean =>
  connection
    .select({ id: sessionArtifacts.id })
    .from(sessionArtifacts)
    .where(eq(sessionArtifacts.id, id))
    .limit(1)
    .get() !== undefined;

const isMarkOf = ({ store, place }: Place) =>
  and(eq(sessionObjectRemovals.store, store), eq(sessionObjectRemovals.place, place));

export const isMarked = (connection: Connection, object: Place): boolean =>
  connection.select().from(sessionObjectRemovals).where(isMarkOf(object)).limit(1).get() !== undefined;

/** @returns whether it was marked */
export const unmark = (tx: Tx, object: Place): boolean =>
  changesOf(tx.delete(sessionObjectRemovals).where(isMarkOf(object)).run()) > 0;
