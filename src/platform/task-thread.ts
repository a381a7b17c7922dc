// Runs tasks in a thread: the caller waits for the result, and the thread sends the result or the error.
import { parentPort, type Worker } from "node:worker_threads";
import { codeOf, DomainError, type ErrorKind, type Problem } from "./errors.ts";
import { isOutOfMemory } from "./memory/memory-limits.ts";

/** A DomainError as it is sent between threads, which lose error classes. */
interface Refusal {
  kind: ErrorKind;
  reason: string;
  message: string;
  problems: readonly Problem[];
  hint?: string;
}

/** Any other error, with the code of its cause. */
interface Unexpected {
  failed: string;
  code: string | undefined;
}

/** An error as it is sent to another thread or process. */
export type Failure = { refused: Refusal } | Unexpected;

type Message<Result, Progress> = { progress: Progress } | { result: Result } | Failure;

export interface ThreadOptions<Progress> {
  /** aborts the wait and ends the thread */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * Waits for the only result of a thread that calls `answer`, and ends the thread in any case.
 * @throws what the task throws; the signal's reason
 */
export async function resultOf<Result, Progress = never>(
  worker: Worker,
  options: ThreadOptions<Progress> = {},
): Promise<Result> {
  try {
    return await nextResultOf<Result, Progress>(worker, options);
  } finally {
    void worker.terminate().catch(() => {}); // the thread may have ended already
  }
}

/**
 * Waits for the next result of a thread, which continues to run.
 * @throws what the task throws; the signal's reason
 */
export async function nextResultOf<Result, Progress = never>(
  worker: Worker,
  { signal, onProgress }: ThreadOptions<Progress> = {},
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const abort = () => reject(signal?.reason);
  const receive = (message: Message<Result, Progress>) => {
    if ("progress" in message) onProgress?.(message.progress);
    else if ("result" in message) resolve(message.result);
    else reject(errorIn(message));
  };
  const end = () => reject(new Error("the thread ended without a result"));
  signal?.addEventListener("abort", abort, { once: true });
  worker.on("message", receive).on("error", reject).on("exit", end);
  try {
    return await promise;
  } finally {
    signal?.removeEventListener("abort", abort);
    worker.off("message", receive).off("error", reject).off("exit", end);
  }
}

/** @returns the error that the other thread sent */
export function errorIn(message: Failure): Error {
  if ("failed" in message) {
    const { failed, code } = message;
    return Object.assign(new Error(failed), code !== undefined && { code });
  }
  const { kind, reason, message: text, ...details } = message.refused;
  return new DomainError(kind, reason, text, details);
}

/** In the thread: runs the task and sends its result or its error. Bytes are transferred, other values copied. */
export function answer(run: () => unknown): void {
  try {
    const result = run();
    const isBytes = result instanceof Uint8Array && result.buffer instanceof ArrayBuffer;
    parentPort?.postMessage({ result }, isBytes ? [result.buffer] : []);
  } catch (error) {
    parentPort?.postMessage(failureOf(error));
  }
}

/** `answer` for work that takes several turns. */
export async function respondLater(run: () => Promise<unknown>): Promise<void> {
  try {
    parentPort?.postMessage({ result: await run() });
  } catch (error) {
    parentPort?.postMessage(failureOf(error));
  }
}

/** In the thread: sends a report to `onProgress`. */
export const reportProgress = (progress: unknown): void => parentPort?.postMessage({ progress });

/** @returns the error in the form that can be sent */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof DomainError)) {
    const failed = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { failed, code: isOutOfMemory(error) ? "ENOMEM" : codeOf(error) };
  }
  const { kind, reason, message, hint, problems } = error;
  return { refused: { kind, reason, message, problems, ...(hint !== undefined && { hint }) } };
}
