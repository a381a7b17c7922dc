// Entry point of the thread that upgrades databases, and copies, packs and unpacks backups. SQLite and digests
// would block the service for seconds. The thread does one task and reports its progress; backup-task.ts starts it.
import { workerData } from "node:worker_threads";
import { answer, reportProgress } from "../../platform/task-thread.ts";
import type { Task } from "./backup-task.ts";
import { performTask } from "./perform-task.ts";

const REPORT_EVERY_MS = 100;

let reportedAtMs = 0;

function report(doneBytes: number, totalBytes: number): void {
  const nowMs = performance.now();
  if (nowMs - reportedAtMs < REPORT_EVERY_MS && doneBytes < totalBytes) return;
  reportedAtMs = nowMs;
  reportProgress([doneBytes, totalBytes]);
}

const { name, request }: Task = workerData;
answer(() => performTask(name, request, report));
