// SQL of objects that are found missing or damaged.
import { and, eq, isNull } from "drizzle-orm";
import type { Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { sessionArtifacts } from "../tables.ts";

/** @returns false if that was known, or the artifact is gone */
export const markLost = (tx: Tx, { id, nowMs }: { id: string; nowMs: number }): boolean =>
  changesOf(
    tx
      .update(sessionArtifacts)
      .set({ lostAtMs: nowMs })
      .where(and(eq(sessionArtifacts.id, id), isNull(sessionArtifacts.lostAtMs)))
      .run(),
  ) > 0;
