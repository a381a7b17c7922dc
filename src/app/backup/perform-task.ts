// The tasks on databases and backups. They take seconds of processor time, so backup-task.ts runs them in a thread.
import { packBackup } from "../../domain/backup/pack.ts";
import { unpackBackup } from "../../domain/backup/unpack.ts";
import { openConnection } from "../../platform/database/connection.ts";
import { copyDatabase, inspectDatabase } from "../../platform/database/maintenance/copy.ts";
import { migrate } from "../../platform/database/schema/migrate.ts";
import { asFileError } from "../../platform/files/operator-files.ts";
import type { BackupTasks, Report, TaskName } from "./backup-task.ts";

/** A copy reads each page once, in order, so a small cache is enough. SQLite gives the copy a cache of the same size. */
const COPY_CACHE_KIB = 2_048;

type Work<Name extends TaskName> = (
  request: BackupTasks[Name]["request"],
  report: Report,
) => BackupTasks[Name]["result"];

const WORK: { readonly [Name in TaskName]: Work<Name> } = {
  copy({ from, to }) {
    using connection = openConnection(from, { readonly: true, pageCacheKib: COPY_CACHE_KIB });
    copyDatabase(connection, to);
    return inspectDatabase(to);
  },
  migrate: ({ file, nowMs, ...options }) => migrate(file, { ...options, clock: { nowMs: () => nowMs } }),
  pack: packBackup,
  unpack: unpackBackup,
};

/** The path to name in errors about a full disk or a missing permission. */
const PLACE: { readonly [Name in TaskName]: (request: BackupTasks[Name]["request"]) => string } = {
  copy: ({ to }) => to,
  migrate: ({ backupDirectory }) => backupDirectory,
  pack: ({ target }) => target,
  unpack: ({ database }) => database,
};

/** Runs one task in the thread of the caller. @throws DomainError `backup.*`, `file.*`, `schema.*`, `storage.*` */
export function performTask<Name extends TaskName>(
  name: Name,
  request: BackupTasks[Name]["request"],
  report: Report,
): BackupTasks[Name]["result"] {
  try {
    return WORK[name](request, report);
  } catch (error) {
    throw asFileError(error, PLACE[name](request));
  }
}
