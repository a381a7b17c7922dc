// SQL that marks objects as missing or damaged, and removes the mark when they are whole again.
import { and, eq, isNotNull, isNull } from "drizzle-orm";
import type { Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import type { ArtifactRow } from "../model.ts";
import { sessionArtifacts } from "../tables.ts";

type StoredObject = Pick<ArtifactRow, "id" | "store" | "place">;

/** @returns false if it was marked already, or the artifact is gone or has moved to another store */
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

/** @returns false if it was not lost, or the artifact is gone */
export const markFound = (tx: Tx, id: string): boolean =>
  changesOf(
    tx
      .update(sessionArtifacts)
      .set({ lostAtMs: null })
      .where(and(eq(sessionArtifacts.id, id), isNotNull(sessionArtifacts.lostAtMs)))
      .run(),
  ) > 0;
