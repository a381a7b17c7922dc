// SQL of what branches and tags stood for when they were last looked up.
import { and, eq } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { sourceWatches } from "../mirroring/tables.ts";

export type WatchRow = typeof sourceWatches.$inferSelect;
export type WatchKey = Pick<WatchRow, "organizationId" | "connectionId" | "repository" | "ref">;

export const findWatch = (connection: Connection, key: WatchKey): WatchRow | undefined =>
  connection
    .select()
    .from(sourceWatches)
    .where(
      and(
        eq(sourceWatches.organizationId, key.organizationId),
        eq(sourceWatches.connectionId, key.connectionId),
        eq(sourceWatches.repository, key.repository),
        eq(sourceWatches.ref, key.ref),
      ),
    )
    .limit(1)
    .get();

/** Inserts or replaces what a ref stands for. */
export function putWatch(tx: Tx, { commit, reason, checkedAtMs, ...key }: WatchRow): void {
  tx.insert(sourceWatches)
    .values({ ...key, commit, reason, checkedAtMs })
    .onConflictDoUpdate({
      target: [
        sourceWatches.organizationId,
        sourceWatches.connectionId,
        sourceWatches.repository,
        sourceWatches.ref,
      ],
      set: { commit, reason, checkedAtMs },
    })
    .run();
}
