// Entry point of the thread that reads, validates and writes large documents, which would block the service for seconds. It does
// one task and ends; document-threads.ts starts it and limits its time.
import { workerData } from "node:worker_threads";
import { answer } from "../../platform/task-thread.ts";
import { runDocumentTask } from "./document-tasks.ts";

const { name, request, readingMsMax } = workerData;

/** Measured in processor time, so that a busy machine does not cause rejections. */
const isTimeOver = (): boolean => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000 > readingMsMax;
};

answer(() => runDocumentTask(name, request, isTimeOver));
