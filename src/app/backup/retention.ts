// Decides which scheduled backups to keep. The manifest and the installation's log identify a backup, never its file name alone:
// several installations may share a folder, and a clock may have been wrong.
import { rmSync } from "node:fs";
import { FUTURE_TOLERANCE_MS, type Manifest } from "../../domain/backup/model.ts";
import { listBackups } from "./backup-folder.ts";

export interface Retention {
  /** number of backups to keep */
  keep: number;
  nowMs: number;
  /** the backup that was just made; it is never removed */
  made: string;
  /** whether this installation made the backup */
  isOurs(manifest: Manifest): boolean;
}

/**
 * Removes all but the newest scheduled backups of this installation. Backups of other installations, unreadable files and backups
 * from the future are neither counted nor removed.
 * @returns the paths of the removed backups
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
