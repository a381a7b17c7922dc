// Reads, validates and writes large documents in a thread, one at a time, while the service keeps answering. Small documents are
// handled inline. The thread itself is document-worker.ts.
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { DomainError } from "../../platform/errors.ts";
import { resultOf } from "../../platform/task-thread.ts";
import { runDocumentTask, type TaskName, type TaskRequest, type TaskResult } from "./document-tasks.ts";

/** Tasks with up to this many characters of text run inline: starting a thread takes as long as reading that many. */
export const INLINE_CHARACTERS_MAX = 8 * 1024;
/** Threads at the same time. One leaves the other processor free for requests. */
const THREADS_MAX = 1;
/** Tasks that may wait for a thread; further ones are rejected. */
export const TASKS_WAITING_MAX = 16;
/** For a whole task, in wall-clock time with a margin for a busy machine. */
const TASK_MS_MAX = 60_000;
/** For the YAML of one task, in processor time of the thread. */
const READING_MS_MAX = 2_000;
const BUSY_RETRY_SECONDS = 5;

export interface DocumentThreadsOptions {
  readingMsMax?: number;
  taskMsMax?: number;
}

/**
 * Runs a task, in a thread if its texts are large.
 * @throws what the task throws; `document.*`
 */
export type RunDocumentTask = <Name extends TaskName>(
  name: Name,
  request: TaskRequest<Name>,
) => Promise<TaskResult<Name>>;

/** @returns a function that runs tasks; a service needs one */
export function createDocumentThreads(options: DocumentThreadsOptions = {}): RunDocumentTask {
  const limit = pLimit(THREADS_MAX);
  return async (name, request) => {
    if (charactersIn(request) <= INLINE_CHARACTERS_MAX) return runDocumentTask(name, request);
    if (limit.pendingCount >= TASKS_WAITING_MAX) throw busy();
    return await limit(() => runInThread(name, request, options));
  };
}

/** @returns the total length of all strings in a task, without object keys */
function charactersIn(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + charactersIn(member), 0);
}

async function runInThread<Name extends TaskName>(
  name: Name,
  request: TaskRequest<Name>,
  { readingMsMax = READING_MS_MAX, taskMsMax = TASK_MS_MAX }: DocumentThreadsOptions,
): Promise<TaskResult<Name>> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(tooLong()), taskMsMax);
  const worker = new Worker(new URL("./document-worker.ts", import.meta.url), {
    workerData: { name, request, readingMsMax },
  });
  try {
    return await resultOf<TaskResult<Name>>(worker, { signal: limit.signal });
  } finally {
    clearTimeout(timer);
  }
}

const tooLong = () =>
  new DomainError("unavailable", "document.too_slow", "checking the document takes too long", {
    hint: "try again when the machine is less busy",
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });

const busy = () =>
  new DomainError("unavailable", "document.busy", "too many documents are waiting", {
    hint: "try again when they are done",
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });
