// Which scheduled backups are kept. A backup counts by what its manifest and the log of the installation say, never by its name
// alone: a folder may be shared, and a clock may have been wrong.
import { rmSync } from "node:fs";
import { FUTURE_TOLERANCE_MS, type Manifest } from "../../domain/backup/model.ts";
import { listBackups } from "./backup-folder.ts";

export interface Retention {
  /** how many are kept */
  keep: number;
  nowMs: number;
  /** the one that was just made, which always stays */
  made: string;
  /** whether this installation made the backup */
  isOurs(manifest: Manifest): boolean;
}

/**
 * Removes the scheduled backups of this installation beyond the newest. Backups of other installations, files that cannot be
 * read, and backups from the future are neither counted nor removed.
 * @returns the paths of those removed
 * @throws DomainError `file.not_permitted`
 */
export function removeOldBackups(folder: string, { keep, nowMs, made, isOurs }: Retention): string[] {
  const old = listBackups(folder)
    .filter(({ kind, manifest }) => kind === "scheduled" && manifest !== undefined && isOurs(manifest))
    .filter(({ createdAtMs = 0 }) => createdAtMs <= nowMs + FUTURE_TOLERANCE_MS)
    .slice(keep)
    .map(({ path }) => path)
    .filter((path) => path !== made);
  for (const path of old) rmSync(path, { force: true });
  return old;
}
