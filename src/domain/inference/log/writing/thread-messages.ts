// Messages between the service and the thread of the request log. Errors are sent as plain objects, because a message does not
// keep their class.
import { DomainError, type ErrorKind } from "../../../../platform/errors.ts";
import type { UsageBatch, UsageDelta } from "../../usage/model.ts";
import type { DropCause, FoundRows, Gap, LogFigures, RowSearch, SeenValues } from "../model.ts";
import type { SummaryFound, SummarySearch } from "../summary/model.ts";

/** The request and the result of each task of the thread. */
export interface LogTasks {
  /** rows as text: see row-text.ts */
  write: { request: { rows: string; gaps: readonly Gap[] }; result: WriteResult };
  search: { request: RowSearch; result: FoundRows };
  summarize: { request: SummarySearch; result: SummaryFound };
  seen: { request: { fromMs: number }; result: SeenValues };
  sweep: { request: { beforeMs: number }; result: { removed: number } };
  figures: { request: { fromMs: number }; result: LogFigures };
  /** the tasks of usage/pending-usage-sums-store.ts */
  handOverUsage: { request: { deltas: readonly UsageDelta[] }; result: null };
  takeUsage: { request: { id: string }; result: UsageBatch | null };
  removeUsage: { request: { batch: string }; result: null };
  waitingUsage: { request: { day: number }; result: UsageDelta[] };
  /** closes the file, after which the thread may end */
  close: { request: null; result: null };
}

export type LogTaskName = keyof LogTasks;

/**
 * A failed write changed nothing; the cause is undefined while another process holds the file. `changedOutside` describes what
 * others changed in the files since the last write.
 */
export type WriteResult =
  | { isWritten: true; unfit: number; changedOutside?: string | undefined }
  | { isWritten: false; cause: DropCause | undefined; error: string };

/** A task; its response has the same number. */
export type ToThread = {
  [Name in LogTaskName]: { number: number; name: Name; request: LogTasks[Name]["request"] };
}[LogTaskName];

export type FromThread =
  | { number: number; result: LogTasks[LogTaskName]["result"] }
  | { number: number; refused: Refusal }
  | { number: number; failed: string };

interface Refusal {
  kind: ErrorKind;
  reason: string;
  message: string;
  hint: string | undefined;
}

/** @returns the response to a task that threw */
export function failureOf(number: number, error: unknown): FromThread {
  if (!(error instanceof DomainError))
    return { number, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  const { kind, reason, message, hint } = error;
  return { number, refused: { kind, reason, message, hint } };
}

/** @returns the error in such a response */
export function errorIn(response: { refused: Refusal } | { failed: string }): Error {
  if ("failed" in response) return new Error(response.failed);
  const { kind, reason, message, hint } = response.refused;
  return new DomainError(kind, reason, message, { ...(hint !== undefined && { hint }) });
}
