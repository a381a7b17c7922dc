// SQL of the backups that were made. A data directory serves one organization, and its backups are of the whole directory.
import { desc, lt } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import { backups } from "./tables.ts";

export type BackupRow = typeof backups.$inferSelect;

const newest = (connection: Connection) =>
  connection.select().from(backups).orderBy(desc(backups.createdAtMs), desc(backups.id));

export const lastBackup = (connection: Connection): BackupRow | undefined =>
  newest(connection).limit(1).get();

/** Adds one and forgets those beyond the newest `keep`. */
export function addBackup(tx: Tx, row: BackupRow, keep: number): void {
  tx.insert(backups).values(row).run();
  const oldest = newest(tx)
    .limit(1)
    .offset(keep - 1)
    .get();
  if (oldest) tx.delete(backups).where(lt(backups.createdAtMs, oldest.createdAtMs)).run();
}
