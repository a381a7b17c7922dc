// Reads a backup in full without putting it in force: the database is unpacked beside the file, checked, and removed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runTask, type TaskOptions } from "../backup-task.ts";
import { damaged, noRoom } from "../domain/backup/errors.ts";
import { DATABASE_NAME, type Manifest } from "../domain/backup/model.ts";
import { readManifest } from "../domain/backup/unpack.ts";
import { isDatabaseFile } from "../platform/database/copy.ts";
import { roomOf } from "../platform/disk.ts";

export interface Checked {
  /** undefined for a copy of the database alone */
  manifest: Manifest | undefined;
  schema: number;
  rows: Readonly<Record<string, number>>;
}

/**
 * @throws DomainError `backup.damaged`, `backup.unreadable`, `file.*`, `storage.*`; the signal's reason
 */
export async function checkBackup(path: string, options: TaskOptions): Promise<Checked> {
  if (isDatabaseFile(path)) {
    const { problems, ...found } = await runTask("inspect", { file: path }, options);
    if (problems.length > 0) throw damaged(path, `it fails the integrity check: ${problems[0]}`);
    return { manifest: undefined, schema: found.schema, rows: found.rows };
  }
  const needed = readManifest(path).database.size_bytes;
  const folder = workFolder(dirname(path));
  try {
    const { availableBytes: available } = roomOf(folder);
    if (available < needed) throw noRoom(dirname(folder), { needed, available });
    const manifest = await runTask("unpack", { path, database: join(folder, DATABASE_NAME) }, options);
    return { manifest, schema: manifest.schema, rows: manifest.database.rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the file is there is room for one; a medium that is only read leaves the system's folder. */
function workFolder(beside: string): string {
  try {
    return mkdtempSync(join(beside, ".verifying-"));
  } catch {
    return mkdtempSync(join(tmpdir(), "quartermaster-verifying-"));
  }
}
