// The bounded queue of the request log in the service. Adding a row never waits. Batches go to the thread one at a time and
// stay here until it confirms them, so a failed write or a dead thread loses nothing while the queue has room. Rows beyond that
// are counted, and recorded as a gap with the next batch that is written.
import type { Clock } from "../../../../platform/clock.ts";
import type { Log } from "../../../../platform/observe/log.ts";
import { BATCH_MS, BATCH_ROWS_MAX, type DropCause, type Gap } from "../model.ts";
import type { RequestLog, RequestRow } from "../record.ts";
import { type QueuedRow, textOfRows } from "./row-text.ts";
import type { LogTasks, WriteResult } from "./thread-messages.ts";

/** Pause before a failed batch is retried, which doubles with every further failure. */
const RETRY_MS = { first: 250, max: 5_000 };
/** Number of times the thread may die over a batch before the batch is dropped. */
export const THREAD_ENDS_MAX = 3;
/** Time between two warnings about dropped rows. */
export const WARN_EVERY_MS = 60_000;
/** Maximum number of write attempts when the queue closes. */
const CLOSE_TRIES = 3;

export interface QueueOptions {
  rowsMax: number;
  clock: Clock;
  log: Pick<Log, "warning" | "error">;
  /** writes a batch in the thread; rejects if the thread died */
  write(request: LogTasks["write"]["request"]): Promise<WriteResult>;
}

export interface QueueFigures {
  rows: number;
  dropped: Readonly<Record<DropCause, number>>;
}

export class RequestQueue implements RequestLog {
  #waiting: QueuedRow[] = [];
  #writing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #gaps = new Map<DropCause, Gap>();
  readonly #dropped: Record<DropCause, number> = { queue_full: 0, disk_full: 0, broken: 0 };
  /** why the last write failed; rows beyond the queue's limit are dropped for this cause */
  #lastFailureCause: DropCause | undefined;
  #failures = 0;
  #threadEnds = 0;
  #warnedAtMs = Number.NEGATIVE_INFINITY;
  #unreportedRows = 0;
  #isClosed = false;

  constructor(private readonly options: QueueOptions) {}

  add(row: RequestRow): void {
    this.#push({ row, isOnlyNew: false });
  }

  /**
   * Adds all rows, or none if they do not fit. A row with a known id changes nothing.
   * @returns whether they were added
   */
  offer(rows: readonly RequestRow[]): boolean {
    if (this.#isClosed || this.#waiting.length + rows.length > this.options.rowsMax) return false;
    for (const row of rows) this.#push({ row, isOnlyNew: true });
    return true;
  }

  figures(): QueueFigures {
    return { rows: this.#waiting.length, dropped: { ...this.#dropped } };
  }

  /** Writes everything; rows that cannot be written count as dropped. Rows that arrive later are dropped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    for (let tries = 0; tries < CLOSE_TRIES && (this.#waiting.length > 0 || this.#gaps.size > 0); ) {
      const failures = this.#failures;
      await this.#writeBatch();
      if (this.#failures > failures) tries += 1;
    }
    for (const { row } of this.#waiting) this.#drop(row.occurredAtMs, this.#lastFailureCause ?? "queue_full");
    this.#waiting = [];
    this.#warn(Number.POSITIVE_INFINITY);
  }

  #push(entry: QueuedRow): void {
    if (this.#isClosed || this.#waiting.length >= this.options.rowsMax) {
      this.#drop(entry.row.occurredAtMs, this.#lastFailureCause ?? "queue_full");
      return;
    }
    this.#waiting.push(entry);
    if (this.#writing) return;
    if (this.#waiting.length >= BATCH_ROWS_MAX && this.#failures === 0) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), BATCH_MS);
  }

  #drop(occurredAtMs: number, cause: DropCause): void {
    this.#dropped[cause] += 1;
    this.#unreportedRows += 1;
    const gap = this.#gaps.get(cause);
    if (gap === undefined) {
      this.#gaps.set(cause, { fromMs: occurredAtMs, toMs: occurredAtMs, count: 1, cause });
    } else {
      gap.fromMs = Math.min(gap.fromMs, occurredAtMs);
      gap.toMs = Math.max(gap.toMs, occurredAtMs);
      gap.count += 1;
    }
    this.#warn(this.options.clock.nowMs());
  }

  #warn(nowMs: number): void {
    if (this.#unreportedRows === 0 || nowMs - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = nowMs;
    this.options.log.warning("request_log.dropped", {
      rows: this.#unreportedRows,
      cause: this.#lastFailureCause ?? "queue_full",
      next: "quartermaster doctor",
    });
    this.#unreportedRows = 0;
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing) return;
    this.#writing = this.#writeBatch().finally(() => {
      this.#writing = undefined;
      if (this.#isClosed || this.#waiting.length === 0) return;
      const isFull = this.#failures === 0 && this.#waiting.length >= BATCH_ROWS_MAX;
      const delayMs = this.#failures === 0 ? BATCH_MS : retryMs(this.#failures);
      if (isFull) this.#start();
      else this.#timer ??= setTimeout(() => this.#start(), delayMs);
    });
  }

  /** Writes the first rows of the queue, which leave it only after they are written. Never rejects. */
  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, BATCH_ROWS_MAX);
    const gaps = [...this.#gaps.values()].map((gap) => ({ ...gap }));
    try {
      const result = await this.options.write({ rows: textOfRows(batch), gaps });
      this.#threadEnds = 0;
      if (result.isWritten) this.#written(batch, gaps, result.unfit);
      if (result.isWritten) this.#report(result.changedOutside);
      else this.#failed(result.cause, result.error);
    } catch (error) {
      this.#threadEnds += 1;
      this.#failed("broken", error instanceof Error ? error.message : String(error));
      if (this.#threadEnds >= THREAD_ENDS_MAX) this.#giveUp(batch);
    }
  }

  #written(batch: readonly QueuedRow[], gaps: readonly Gap[], unfit: number): void {
    this.#failures = 0;
    this.#lastFailureCause = undefined;
    this.#waiting = this.#waiting.slice(batch.length);
    for (const { cause, count } of gaps) this.#forgetGap(cause, count);
    for (let left = unfit; left > 0; left--) this.#drop(batch[0]?.row.occurredAtMs ?? 0, "broken");
  }

  #report(what: string | undefined): void {
    if (what !== undefined)
      this.options.log.warning("request_log.changed_outside", { what, next: "quartermaster doctor" });
  }

  /** Rows may have been dropped for the same cause while the gap was written. */
  #forgetGap(cause: DropCause, count: number): void {
    const gap = this.#gaps.get(cause);
    if (!gap) return;
    if (gap.count === count) this.#gaps.delete(cause);
    else gap.count -= count;
  }

  #failed(cause: DropCause | undefined, reason: string): void {
    if (this.#failures === 0) this.options.log.error("request_log.not_written", { reason });
    this.#failures += 1;
    this.#lastFailureCause = cause;
  }

  #giveUp(batch: readonly QueuedRow[]): void {
    this.#threadEnds = 0;
    this.#waiting = this.#waiting.slice(batch.length);
    for (const { row } of batch) this.#drop(row.occurredAtMs, "broken");
  }
}

/** @returns the pause after that many failures */
export const retryMs = (failures: number): number =>
  Math.min(RETRY_MS.first * 2 ** (failures - 1), RETRY_MS.max);
