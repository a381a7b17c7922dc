// The thread's side of the request log: writes batches, removes old rows and searches, over one connection to the file. Batches
// have priority: searches and sweeps work in turns of a few milliseconds, between which waiting batches are written.
import { asStorageError } from "../../../../platform/database/storage-errors.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns, type Steps } from "../../../../platform/steps.ts";
import { PendingUsageSums } from "../../usage/pending-usage-sums-store.ts";
import { UncountedSums } from "../../usage/uncounted-sums.ts";
import { FileSource } from "../file-source.ts";
import { asLogFileError, openLogFile } from "../log-file-store.ts";
import { type DropCause, SEARCH_MS_MAX } from "../model.ts";
import { LogReader } from "../search-store.ts";
import { LogFiles, type OutsideChange } from "./log-files.ts";
import { rowsInText } from "./row-text.ts";
import { RowWriter } from "./rows-store.ts";
import {
  type FromThread,
  failureOf,
  type LogTaskName,
  type LogTasks,
  type ToThread,
  type WriteResult,
} from "./thread-messages.ts";

/** Maximum number of running and waiting searches; further ones are rejected. */
export const SEARCHES_MAX = 8;
const BUSY_RETRY_SECONDS = 5;

export interface LogThreadOptions {
  file: string;
  send(response: FromThread): void;
  searchMsMax?: number | undefined;
  /** how long a search may work before waiting batches are written; see runInTurns */
  turnMs?: number | undefined;
}

interface OpenFile {
  sums: PendingUsageSums;
  writer: RowWriter;
  reader: LogReader;
  files: LogFiles;
}

export class LogThread {
  #open: OpenFile | undefined;
  #searches = 0;
  readonly #kept = new UncountedSums();
  /** not reported yet */
  #changedOutside: string | undefined;

  constructor(private readonly options: LogThreadOptions) {}

  /** Performs one task and sends its response. Never throws. */
  receive(message: ToThread): void {
    const { number } = message;
    const { send } = this.options;
    // A write is done in the same turn, so that no search delays it.
    if (message.name === "write") {
      send({ number, result: this.#write(message.request) });
      return;
    }
    this.#perform(message).then(
      (result) => send({ number, result }),
      (error: unknown) => send(failureOf(number, asLogFileError(error))),
    );
  }

  #write({ rows, gaps }: LogTasks["write"]["request"]): WriteResult {
    try {
      const { writer, files } = this.#file();
      const unfit = writer.write(rowsInText(rows), gaps);
      files.grew();
      const changedOutside = this.#changedOutside;
      this.#changedOutside = undefined;
      return { isWritten: true, unfit, changedOutside };
    } catch (thrown) {
      const error = asLogFileError(thrown);
      const cause = causeOf(error);
      if (cause === "broken") this.#close(); // the next write opens the current file
      return { isWritten: false, cause, error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #perform(message: Exclude<ToThread, { name: "write" }>): Promise<LogTasks[LogTaskName]["result"]> {
    switch (message.name) {
      case "search":
      case "summarize":
      case "seen":
      case "figures":
        return await this.#read(message);
      case "sweep":
        return {
          removed: await runInTurns(this.#watched(sweep(this.#file(), message.request.beforeMs)), 0),
        };
      case "close":
        this.#close();
        return null;
      default:
        return this.#performOnUsage(message);
    }
  }

  /** On a full disk, the file cannot be created or opened for writing, but the existing rows can still be read. */
  async #read(task: ReadingTask): Promise<LogTasks[ReadingTask["name"]]["result"]> {
    let reader: LogReader;
    try {
      reader = this.#file().reader;
    } catch (error) {
      if (causeOf(asStorageError(error)) !== "disk_full") throw error;
      return await readOnFullDisk(new FileSource(this.options.file, { untouched: true }), task);
    }
    if (task.name === "search") return await this.#search(reader.search(task.request));
    if (task.name === "summarize") return await this.#search(reader.summarize(task.request, true));
    const { fromMs } = task.request;
    return task.name === "seen" ? reader.seenSince(fromMs) : reader.figures(fromMs);
  }

  /** @throws DomainError `request_log.busy`, `request_log.too_slow` */
  async #search<T>(steps: Steps<T>): Promise<T> {
    if (this.#searches >= SEARCHES_MAX) throw busy();
    this.#searches += 1;
    try {
      const { searchMsMax = SEARCH_MS_MAX, turnMs } = this.options;
      return await runInTurns(limited(this.#watched(steps), searchMsMax), turnMs);
    } finally {
      this.#searches -= 1;
    }
  }

  #performOnUsage(task: UsageTask): LogTasks[UsageTask["name"]]["result"] {
    const { sums, files } = this.#file();
    const result = performOnUsage(task, { sums, kept: this.#kept });
    files.grew();
    return result;
  }

  /** Rows written to a moved, deleted or emptied file would be lost. */
  #file(): OpenFile {
    if (this.#checkOutsideChange()?.isReopening) this.#close();
    this.#open ??= openFile(this.options.file, this.#kept);
    return this.#open;
  }

  #checkOutsideChange(): OutsideChange | undefined {
    const change = this.#open?.files.checkOutsideChange();
    this.#changedOutside = change?.what ?? this.#changedOutside;
    return change;
  }

  /** Checks the files before each step. */
  *#watched<T>(steps: Steps<T>): Steps<T> {
    for (;;) {
      this.#checkOutsideChange();
      const step = steps.next();
      if (step.done) return step.value;
      yield;
    }
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.reader.close();
  }
}

function openFile(file: string, kept: UncountedSums): OpenFile {
  const connection = openLogFile(file);
  const sums = new PendingUsageSums(connection);
  sums.restore(kept.all());
  return {
    sums,
    writer: new RowWriter(connection),
    reader: new LogReader(connection),
    files: new LogFiles(file),
  };
}

type ReadingTask = Extract<ToThread, { name: "search" | "summarize" | "seen" | "figures" }>;

function readOnFullDisk(
  file: FileSource,
  task: ReadingTask,
): Promise<LogTasks[ReadingTask["name"]]["result"]> {
  if (task.name === "search") return file.search(task.request);
  if (task.name === "summarize") return file.summarize(task.request);
  const { fromMs } = task.request;
  return task.name === "seen" ? file.seen(fromMs) : file.figures(fromMs);
}

type UsageTask = Extract<ToThread, { name: "handOverUsage" | "takeUsage" | "removeUsage" | "waitingUsage" }>;

function performOnUsage(
  task: UsageTask,
  { sums, kept }: { sums: PendingUsageSums; kept: UncountedSums },
): LogTasks[UsageTask["name"]]["result"] {
  switch (task.name) {
    case "handOverUsage":
      sums.handOver(task.request.deltas);
      kept.handedOver(task.request.deltas);
      return null;
    case "takeUsage": {
      const batch = sums.take(task.request.id);
      kept.took(batch?.deltas);
      return batch ?? null;
    }
    case "removeUsage":
      sums.remove(task.request.batch);
      return null;
    case "waitingUsage":
      return sums.waiting(task.request.day);
  }
}

function* sweep({ writer, reader }: OpenFile, beforeMs: number): Steps<number> {
  let removed = 0;
  for (;;) {
    const some = writer.sweepSome(beforeMs);
    removed += some.removed;
    if (some.isLast) break;
    yield;
  }
  writer.sweepRest(beforeMs);
  yield* reader.cacheAllSums();
  return removed;
}

/** @throws DomainError `request_log.too_slow` at the step that begins after the time limit */
function* limited<T>(steps: Steps<T>, msMax: number): Steps<T> {
  const endMs = performance.now() + msMax;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() >= endMs) throw tooSlow();
    yield;
  }
}

/** @returns why rows are dropped for now; undefined if the same file may soon be writable */
function causeOf(error: unknown): DropCause | undefined {
  const reason = error instanceof DomainError ? error.reason : undefined;
  if (reason === "storage.busy") return undefined;
  return reason === "storage.full" ? "disk_full" : "broken";
}

const tooSlow = (): DomainError =>
  new DomainError("unavailable", "request_log.too_slow", "the search takes too long; narrow the period", {
    hint: "give occurred_from and occurred_to, or a user or a model",
  });

const busy = (): DomainError =>
  new DomainError("unavailable", "request_log.busy", "too many searches of the request log are running", {
    hint: "try again when they are done",
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });
