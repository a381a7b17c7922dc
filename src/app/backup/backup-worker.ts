// Entry point of the thread that upgrades databases, and copies, packs and unpacks backups. SQLite and digests
// would block the service for seconds. The thread does one task and reports its progress; backup-task.ts starts it.
import { workerData } from "node:worker_threads";
import { packBackup } from "../../domain/backup/pack.ts";
import { unpackBackup } from "../../domain/backup/unpack.ts";
import { openConnection } from "../../platform/database/connection.ts";
import { copyDatabase, inspectDatabase } from "../../platform/database/maintenance/copy.ts";
import { migrate } from "../../platform/database/schema/migrate.ts";
import { asFileError } from "../../platform/files/files.ts";
import { answer, reportProgress } from "../../platform/task-thread.ts";
import type { Task } from "./backup-task.ts";

const REPORT_EVERY_MS = 100;
/** Small, because a copy reads each page once, in order. SQLite gives the copy a cache of the same size. */
const COPY_CACHE_KIB = 2_048;

let reportedAtMs = 0;

function report(doneBytes: number, totalBytes: number): void {
  const nowMs = performance.now();
  if (nowMs - reportedAtMs < REPORT_EVERY_MS && doneBytes < totalBytes) return;
  reportedAtMs = nowMs;
  reportProgress([doneBytes, totalBytes]);
}

function run({ name, request }: Task) {
  switch (name) {
    case "copy":
      return copy(request);
    case "migrate":
      return migrate(request.file, { ...request, clock: { nowMs: () => request.nowMs } });
    case "pack":
      return packBackup(request, report);
    case "unpack":
      return unpackBackup(request, report);
  }
}

function copy({ from, to }: { from: string; to: string }) {
  using connection = openConnection(from, { readonly: true, pageCacheKib: COPY_CACHE_KIB });
  copyDatabase(connection, to);
  return inspectDatabase(to);
}

/** The path to name in errors about a full disk or a missing permission. */
function placeOf({ name, request }: Task): string {
  switch (name) {
    case "copy":
      return request.to;
    case "migrate":
      return request.backupDirectory;
    case "pack":
      return request.target;
    case "unpack":
      return request.database;
  }
}

const task: Task = workerData;
answer(() => {
  try {
    return run(task);
  } catch (error) {
    throw asFileError(error, placeOf(task));
  }
});
