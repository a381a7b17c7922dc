// Chooses whether `doctor` reads the database file itself or a copy. A killed process leaves commits in the write-ahead log.
// Reading them in place would change the -shm file, and the last reader would checkpoint the log.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type DataDirectory, isServerRunning } from "../../platform/data-directory/data-directory.ts";
import { copyOwnFile } from "../../platform/files/data-files.ts";

/** The data directory whose database `doctor` reads. */
export interface ReadableDatabase extends Disposable {
  directory: DataDirectory;
}

/**
 * While the service runs, its -wal and -shm files are used, as by every other command.
 * @returns the directory; if a killed process left a log, one with a copy of the database in the system's temporary
 * folder, which is removed on disposal
 */
export function openReadable(directory: DataDirectory): ReadableDatabase {
  return leftCopy(directory) ?? { directory, [Symbol.dispose]: () => {} };
}

/** @returns undefined if no killed process left a log, or if it cannot be copied; the checks then report the reason */
function leftCopy(directory: DataDirectory): ReadableDatabase | undefined {
  const { database } = directory;
  if (!existsSync(`${database}-wal`)) return undefined;
  let folder: string | undefined;
  const remove = () => folder !== undefined && rmSync(folder, { recursive: true, force: true });
  try {
    if (isServerRunning(directory)) return undefined;
    folder = mkdtempSync(join(tmpdir(), "quartermaster-doctor-")); // readable by this user only
    const copy = join(folder, basename(database));
    for (const end of ["", "-wal"]) copyOwnFile(`${database}${end}`, `${copy}${end}`); // SQLite creates -shm even for an empty log
    return { directory: { ...directory, database: copy }, [Symbol.dispose]: () => void remove() };
  } catch {
    remove();
    return undefined;
  }
}
