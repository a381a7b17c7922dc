// SQL of the commits that branches and tags pointed to at the last lookup, and of announced changes.
import { and, eq } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { sourceAnnouncements, sourceWatches } from "../mirroring/tables.ts";

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

type AnnouncementRow = typeof sourceAnnouncements.$inferSelect;

/** @returns UTC milliseconds of the connection's last announcement; 0 if there is none */
export const lastAnnouncementMs = (
  connection: Connection,
  { organizationId, connectionId }: Omit<AnnouncementRow, "announcedAtMs">,
): number =>
  connection
    .select()
    .from(sourceAnnouncements)
    .where(
      and(
        eq(sourceAnnouncements.organizationId, organizationId),
        eq(sourceAnnouncements.connectionId, connectionId),
      ),
    )
    .get()?.announcedAtMs ?? 0;

export function putAnnouncement(tx: Tx, { announcedAtMs, ...key }: AnnouncementRow): void {
  tx.insert(sourceAnnouncements)
    .values({ ...key, announcedAtMs })
    .onConflictDoUpdate({
      target: [sourceAnnouncements.organizationId, sourceAnnouncements.connectionId],
      set: { announcedAtMs },
    })
    .run();
}
