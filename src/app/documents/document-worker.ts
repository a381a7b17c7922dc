// Entry point of the thread that reads, validates and writes large documents, which would block the service for seconds. It does
// one task and ends; document-threads.ts starts it and limits its time.
import { parentPort, workerData } from "node:worker_threads";
import { DomainError } from "../../platform/errors.ts";
import { runDocumentTask, type ThreadMessage } from "./document-tasks.ts";

/** Bytes are transferred; strings are copied. */
function say(message: ThreadMessage): void {
  const bytes = "result" in message && message.result instanceof Uint8Array ? [message.result.buffer] : [];
  parentPort?.postMessage(message, bytes);
}

/** Error classes are lost between threads. */
function failureOf(error: unknown): ThreadMessage {
  if (!(error instanceof DomainError))
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  const { kind, reason, message, hint, problems } = error;
  return { refused: { kind, reason, message, problems, ...(hint !== undefined && { hint }) } };
}

const { name, request, readingMsMax } = workerData;

/** Measured in processor time, so that a busy machine does not cause rejections. */
const isTimeOver = (): boolean => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000 > readingMsMax;
};

try {
  say({ result: runDocumentTask(name, request, isTimeOver) });
} catch (error) {
  say(failureOf(error));
}
