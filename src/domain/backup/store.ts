// SQL of the recorded backups. A data directory serves one organization, and a backup contains the whole directory.
import { desc, eq, lt, lte } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import { backups } from "./tables.ts";

export type BackupRow = typeof backups.$inferSelect;

const newest = (connection: Connection, untilMs: number) =>
  connection
    .select()
    .from(backups)
    .where(lte(backups.createdAtMs, untilMs))
    .orderBy(desc(backups.createdAtMs), desc(backups.id));

export const lastBackup = (connection: Connection, untilMs: number): BackupRow | undefined =>
  newest(connection, untilMs).limit(1).get();

export const newestBackups = (connection: Connection, limit: number): BackupRow[] =>
  newest(connection, Number.MAX_SAFE_INTEGER).limit(limit).all();

export const isRemembered = (connection: Connection, databaseSha256: string): boolean =>
  connection
    .select({ id: backups.id })
    .from(backups)
    .where(eq(backups.databaseSha256, databaseSha256))
    .limit(1)
    .get() !== undefined;

/** Adds one and removes those beyond the newest `keep`; backups dated in the future by a wrong clock do not count. */
export function addBackup(tx: Tx, row: BackupRow, keep: number): void {
  tx.insert(backups).values(row).run();
  const oldest = newest(tx, row.createdAtMs)
    .limit(1)
    .offset(keep - 1)
    .get();
  if (oldest) tx.delete(backups).where(lt(backups.createdAtMs, oldest.createdAtMs)).run();
}
