// The request log of a running service: the queue and its thread. Commands read the file directly (file-source.ts).
import { type Clock, within } from "../../../../platform/clock.ts";
import type { Log } from "../../../../platform/observe/log.ts";
import type { UsageBatch, UsageDelta } from "../../usage/model.ts";
import type { FoundRows, LogFigures, RowSearch, SeenValues } from "../model.ts";
import type { RequestLog, RequestRow } from "../record.ts";
import type { SummaryFound, SummarySearch } from "../summary/model.ts";
import { CLOSE_WAIT_MS, LogClient, type StartLogThread } from "./log-client.ts";
import { type QueueFigures, RequestQueue } from "./request-log-queue.ts";

/** Runs searches: in the thread of the service, or on the file for a command. */
export interface LogSource {
  /** @throws DomainError `request_log.*`, `storage.*` */
  search(search: RowSearch): Promise<FoundRows>;
  summarize(search: SummarySearch): Promise<SummaryFound>;
  seen(fromMs: number): Promise<SeenValues>;
  figures(fromMs: number): Promise<LogFigures>;
}

/** The log of a running service. */
export interface ServiceLog extends LogSource {
  /** Adds all rows, or none. @returns false if they do not fit in the queue */
  offer(rows: readonly RequestRow[]): boolean;
}

export interface RunningLogOptions {
  file: string;
  /** without it, no rows are queued or written */
  isEnabled: boolean;
  queueRowsMax: number;
  clock: Clock;
  log: Pick<Log, "warning" | "error">;
  startThread: StartLogThread;
}

export class RunningLog implements RequestLog, ServiceLog {
  readonly #client: LogClient;
  readonly #queue: RequestQueue;

  constructor(private readonly options: RunningLogOptions) {
    const { file, startThread, queueRowsMax: rowsMax, clock, log } = options;
    this.#client = new LogClient(file, startThread);
    this.#queue = new RequestQueue({
      rowsMax,
      clock,
      log,
      write: (request) => this.#client.ask("write", request),
    });
  }

  add(row: RequestRow): void {
    if (this.options.isEnabled) this.#queue.add(row);
  }

  offer(rows: readonly RequestRow[]): boolean {
    return !this.options.isEnabled || this.#queue.offer(rows);
  }

  search(search: RowSearch): Promise<FoundRows> {
    return this.#client.ask("search", search);
  }

  summarize(search: SummarySearch): Promise<SummaryFound> {
    return this.#client.ask("summarize", search);
  }

  seen(fromMs: number): Promise<SeenValues> {
    return this.#client.ask("seen", { fromMs });
  }

  figures(fromMs: number): Promise<LogFigures> {
    return this.#client.ask("figures", { fromMs });
  }

  /** Deletes rows that arrived earlier. @returns how many */
  async sweep(beforeMs: number): Promise<number> {
    const { removed } = await this.#client.ask("sweep", { beforeMs });
    return removed;
  }

  /** Passes sums of usage to the process that counts them. @throws DomainError `storage.*`; Error if the thread ended */
  async handOverUsage(deltas: readonly UsageDelta[]): Promise<void> {
    await this.#client.ask("handOverUsage", { deltas });
  }

  /** @returns the batch that was taken but not removed, or else a new batch with this id; undefined if there is nothing to count */
  async takeUsage(id: string): Promise<UsageBatch | undefined> {
    return (await this.#client.ask("takeUsage", { id })) ?? undefined;
  }

  async removeUsage(batch: string): Promise<void> {
    await this.#client.ask("removeUsage", { batch });
  }

  /** @returns the sums of a day that are not counted yet */
  waitingUsage(day: number): Promise<UsageDelta[]> {
    return this.#client.ask("waitingUsage", { day });
  }

  queueFigures(): QueueFigures {
    return this.#queue.figures();
  }

  /** Writes the queued rows, closes the file and ends the thread. */
  async close(): Promise<void> {
    await within(CLOSE_WAIT_MS, this.#queue.close());
    await this.#client.end();
  }
}
