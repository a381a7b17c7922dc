// Entry point of the thread that reads, validates and writes large documents, which would block the service for
// seconds. It runs one task at a time; document-threads.ts starts it, ends it and limits its time.
import { parentPort } from "node:worker_threads";
import { answer } from "../../platform/task-thread.ts";
import { runDocumentTask } from "./document-tasks.ts";
import type { DocumentTask } from "./document-threads.ts";

/** Processor time, so that a busy machine does not cause rejections. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

parentPort?.on("message", ({ name, request, readingMsMax }: DocumentTask) => {
  const beganMs = usedMs();
  answer(() => runDocumentTask(name, request, () => usedMs() - beganMs > readingMsMax));
});
