// Where `doctor` reads the database: the file itself, or a copy. A process that was killed leaves commits in the write-ahead log;
// reading them in place would change -shm, and the last reader would put them into the file.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type DataDirectory, isServerRunning } from "../../platform/data-directory/data-directory.ts";
import { copyOwnFile } from "../../platform/own-files.ts";

/** The data directory with the database to read. */
export interface ReadableDatabase extends Disposable {
  directory: DataDirectory;
}

/**
 * Beside a running service its own -wal and -shm are used, as by every other command.
 * @returns the directory; its database is a copy in the system's temporary folder, removed at the end, where a dead process left a log
 */
export function openReadable(directory: DataDirectory): ReadableDatabase {
  const { database } = directory;
  const isLeft = existsSync(`${database}-wal`) && !isServerRunning(directory); // an empty log has a -shm, too
  if (!isLeft) return { directory, [Symbol.dispose]: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "quartermaster-doctor-")); // for this user alone
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, basename(database));
    for (const end of ["", "-wal"]) copyOwnFile(`${database}${end}`, `${copy}${end}`);
    return { directory: { ...directory, database: copy }, [Symbol.dispose]: remove };
  } catch {
    remove();
    return { directory, [Symbol.dispose]: () => {} }; // not readable, or no room: the checks say so
  }
}
