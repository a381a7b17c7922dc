// Runs long work on databases and backups in a separate thread, so that the service keeps answering and a command can be
// interrupted. The thread itself is backup-worker.ts.
import { Worker } from "node:worker_threads";
import type { Manifest } from "../../domain/backup/model.ts";
import type { Packed, PackRequest } from "../../domain/backup/pack.ts";
import type { UnpackRequest } from "../../domain/backup/unpack.ts";
import type { Inspected } from "../../platform/database/maintenance/copy.ts";
import type { MigrateOptions, MigrateResult } from "../../platform/database/schema/migrate.ts";
import { resultOf } from "../../platform/task-thread.ts";

/** The options of `migrate` except the clock, which cannot be passed to a thread. */
interface MigrateTask extends Pick<MigrateOptions, "version" | "backupDirectory" | "replicated"> {
  file: string;
  nowMs: number;
}

/** The request and the result of each task, by name. */
export interface BackupTasks {
  /** copies a database through SQLite, then checks the copy */
  copy: { request: { from: string; to: string }; result: Inspected };
  migrate: { request: MigrateTask; result: MigrateResult };
  pack: { request: PackRequest; result: Packed };
  unpack: { request: UnpackRequest; result: Manifest };
}

export type TaskName = keyof BackupTasks;

/** The message that starts a task in the thread. */
export type Task = { [Name in TaskName]: { name: Name; request: BackupTasks[Name]["request"] } }[TaskName];

export type Report = (doneBytes: number, totalBytes: number) => void;

/** perform-task.ts */
export type PerformTask = <Name extends TaskName>(
  name: Name,
  request: BackupTasks[Name]["request"],
  report: Report,
) => BackupTasks[Name]["result"];

export interface TaskOptions {
  signal?: AbortSignal | undefined;
  /** @param phase the part of the work; undefined for a task with one part */
  onProgress?: ((doneBytes: number, totalBytes: number, phase?: string) => void) | undefined;
  /** runs the task here; a thread runs it if omitted */
  perform?: PerformTask | undefined;
}

/**
 * Runs one task to its end. On abort the thread stops after its current SQL statement; the caller removes the files.
 * @throws what the task throws; the signal's reason
 */
export async function runTask<Name extends TaskName>(
  name: Name,
  request: BackupTasks[Name]["request"],
  { signal, onProgress, perform }: TaskOptions = {},
): Promise<BackupTasks[Name]["result"]> {
  signal?.throwIfAborted();
  if (perform) return perform(name, request, (done, total) => onProgress?.(done, total));
  const worker = new Worker(new URL("./backup-worker.ts", import.meta.url), {
    workerData: { name, request },
  });
  return await resultOf<BackupTasks[Name]["result"], [doneBytes: number, totalBytes: number]>(worker, {
    signal,
    onProgress: (progress) => onProgress?.(...progress),
  });
}
