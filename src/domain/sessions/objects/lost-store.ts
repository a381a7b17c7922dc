// SQL that marks objects as missing or damaged, and removes the mark when they are intact again.
import { and, eq, isNotNull, isNull } from "drizzle-orm";
import { statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, named } from "../../../platform/database/drizzle.ts";
import type { ArtifactRow } from "../model.ts";
import { sessionArtifacts } from "../tables.ts";

type StoredObject = Pick<ArtifactRow, "id" | "store" | "place">;

/** @returns false if it was already marked, or the artifact no longer exists or has moved to another store */
export const markLost = (tx: Tx, { id, store, place }: StoredObject, nowMs: number): boolean =>
  changesOf(
    tx
      .update(sessionArtifacts)
      .set({ lostAtMs: nowMs })
      .where(
        and(
          eq(sessionArtifacts.id, id),
          eq(sessionArtifacts.store, store),
          eq(sessionArtifacts.place, place),
          isNull(sessionArtifacts.lostAtMs),
        ),
      )
      .run(),
  ) > 0;

const updateFoundAt = statement((connection) =>
  connection
    .update(sessionArtifacts)
    .set({ lostAtMs: null })
    .where(
      and(
        eq(sessionArtifacts.place, named("place")),
        eq(sessionArtifacts.store, "local"),
        isNotNull(sessionArtifacts.lostAtMs),
      ),
    )
    .returning()
    .prepare(),
);

/** Records that the local file was written again. @returns all owners' versions that had lost it */
export const markFoundAt = (tx: Tx, place: string): ArtifactRow[] => updateFoundAt(tx).all({ place });

/** @returns false if it was not lost, or the artifact no longer exists */
export const markFound = (tx: Tx, id: string): boolean =>
  changesOf(
    tx
      .update(sessionArtifacts)
      .set({ lostAtMs: null })
      .where(and(eq(sessionArtifacts.id, id), isNotNull(sessionArtifacts.lostAtMs)))
      .run(),
  ) > 0;
