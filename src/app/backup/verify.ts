// Verifies a backup in full without restoring it: prepares in a temporary folder what `restore` would use, then removes it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Manifest } from "../../domain/backup/model.ts";
import type { Clock } from "../../platform/clock.ts";
import type { TaskOptions } from "./backup-task.ts";
import { inspectFile, readBackup } from "./read-backup.ts";

export interface VerifiedBackup {
  /** undefined for a copy of the database alone */
  manifest: Manifest | undefined;
  schema: number;
  rows: Readonly<Record<string, number>>;
}

/**
 * @throws DomainError what `restore` would throw before it changes anything: `backup.*`, `schema.*`, `file.*`, `storage.*`; the
 *   signal's reason
 */
export async function verifyBackup(
  path: string,
  options: TaskOptions & { clock: Clock },
): Promise<VerifiedBackup> {
  const backup = inspectFile(path);
  const folder = workFolder(dirname(path));
  try {
    const { rows } = await readBackup({ ...options, backup, folder });
    return { manifest: backup.manifest, schema: backup.schema, rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The folder of the file has room for a database. On read-only media, the system's temporary folder is used. */
function workFolder(beside: string): string {
  try {
    return mkdtempSync(join(beside, ".verifying-"));
  } catch {
    return mkdtempSync(join(tmpdir(), "quartermaster-verifying-"));
  }
}
