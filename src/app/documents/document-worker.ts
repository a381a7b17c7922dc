// Entry of the thread that reads, judges and writes large documents, which would keep the service from answering for
// seconds. It does one task and ends; who starts it, and how long it may take, is document-threads.ts.
import { parentPort, workerData } from "node:worker_threads";
import { DomainError } from "../../platform/errors.ts";
import { runDocumentTask, type ThreadMessage } from "./document-tasks.ts";

/** Bytes are handed over; texts are copied. */
function say(message: ThreadMessage): void {
  const bytes = "result" in message && message.result instanceof Uint8Array ? [message.result.buffer] : [];
  parentPort?.postMessage(message, bytes);
}

/** The classes of errors do not pass from thread to thread. */
function failureOf(error: unknown): ThreadMessage {
  if (!(error instanceof DomainError))
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  const { kind, reason, message, hint, problems } = error;
  return { refused: { kind, reason, message, problems, ...(hint !== undefined && { hint }) } };
}

const { name, request, readingMsMax } = workerData;

/** In processor time: on a busy machine nobody's document is refused for others' work. */
const isTimeOver = (): boolean => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000 > readingMsMax;
};

try {
  say({ result: runDocumentTask(name, request, isTimeOver) });
} catch (error) {
  say(failureOf(error));
}
