// Reads, validates and writes large documents in a thread, one at a time, while the service keeps answering. Small
// documents are handled inline. The thread itself is document-worker.ts. The thread is kept for some time, because its
// compiled code reads further policies several times as fast, and an editor requests a check after every pause.
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { DomainError } from "../../platform/errors.ts";
import { nextResultOf } from "../../platform/task-thread.ts";
import { runDocumentTask, type TaskName, type TaskRequest, type TaskResult } from "./document-tasks.ts";

/** Tasks with up to this many characters of text run inline: starting a thread takes as long as reading that many. */
export const INLINE_CHARACTERS_MAX = 8 * 1024;
/** Maximum number of threads. One thread leaves the other processor free for requests. */
const THREADS_MAX = 1;
/** Maximum number of tasks that wait for a thread; further ones are rejected. */
export const TASKS_WAITING_MAX = 16;
/** Idle time after which the thread ends and frees its memory. */
const IDLE_MS = 60_000;
/** Time limit of a whole task, in wall-clock time with a margin for a busy machine. */
const TASK_MS_MAX = 60_000;
/** Time limit for the YAML of one task, in processor time of the thread. */
const READING_MS_MAX = 2_000;
const BUSY_RETRY_SECONDS = 5;

export interface DocumentThreadsOptions {
  readingMsMax?: number;
  taskMsMax?: number;
  idleMs?: number;
}

/**
 * Runs a task, in a thread if its texts are large.
 * @throws what the task throws; `document.*`
 */
export type RunDocumentTask = <Name extends TaskName>(
  name: Name,
  request: TaskRequest<Name>,
) => Promise<TaskResult<Name>>;

/** Runs every task inline, for a command, which has no other callers. */
export const runTaskHere: RunDocumentTask = async (name, request) => runDocumentTask(name, request);

/** @returns a function that runs tasks; a service needs one */
export function createDocumentThreads(options: DocumentThreadsOptions = {}): RunDocumentTask {
  const limit = pLimit(THREADS_MAX);
  const thread = new DocumentThread(options);
  return async (name, request) => {
    if (!isLongerThan(INLINE_CHARACTERS_MAX, request)) return runDocumentTask(name, request);
    if (limit.pendingCount >= TASKS_WAITING_MAX) throw busy();
    return await limit(() => thread.run(name, request));
  };
}

/** @returns whether the total length of all strings in a task, without object keys, exceeds the limit */
function isLongerThan(charactersMax: number, request: unknown): boolean {
  const rest: unknown[] = [request];
  let characters = 0;
  while (rest.length > 0 && characters <= charactersMax) {
    const value = rest.pop();
    if (typeof value === "string" || value instanceof Uint8Array) characters += value.length;
    else if (typeof value === "object" && value !== null)
      for (const member of Object.values(value)) rest.push(member);
  }
  return characters > charactersMax;
}

/** A message to the thread. */
export interface DocumentTask {
  name: TaskName;
  request: TaskRequest<TaskName>;
  readingMsMax: number;
}

/** The thread starts with a task, and ends when it fails or stays idle for a while. Runs one task at a time. */
class DocumentThread {
  #worker: Worker | undefined;
  #idle: Timer | undefined;

  constructor(private readonly options: DocumentThreadsOptions) {}

  async run<Name extends TaskName>(name: Name, request: TaskRequest<Name>): Promise<TaskResult<Name>> {
    const { readingMsMax = READING_MS_MAX, taskMsMax = TASK_MS_MAX, idleMs = IDLE_MS } = this.options;
    clearTimeout(this.#idle);
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(tooLong()), taskMsMax);
    this.#worker ??= new Worker(new URL("./document-worker.ts", import.meta.url));
    const worker = this.#worker;
    worker.ref();
    try {
      const task: DocumentTask = { name, request, readingMsMax };
      worker.postMessage(task);
      return await nextResultOf<TaskResult<Name>>(worker, { signal: limit.signal });
    } catch (error) {
      const isAnswer = error instanceof DomainError && !limit.signal.aborted;
      if (!isAnswer) this.#end();
      throw error;
    } finally {
      clearTimeout(timer);
      // An idle thread does not keep the process alive.
      worker.unref();
      this.#idle = setTimeout(() => this.#end(), idleMs).unref();
    }
  }

  #end(): void {
    void this.#worker?.terminate().catch(() => {}); // the thread may have ended already
    this.#worker = undefined;
  }
}

const tooLong = () =>
  new DomainError("unavailable", "document.too_slow", "checking the document takes too long", {
    hint: "try again when the machine is less busy",
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });

const busy = () =>
  new DomainError("unavailable", "document.busy", "too many documents are waiting", {
    hint: "try again in a moment",
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });
