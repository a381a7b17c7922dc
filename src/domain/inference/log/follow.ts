// Follows the request log in the order in which requests end, for commands.

import type { RequestRow } from "./record.ts";
import type { RequestLogs } from "./request-logs.ts";
import type { LogReader } from "./search-store.ts";
import type { RowView } from "./wire.ts";

/** Number of rows to read at a time. */
export const ROWS_MAX = 1_000;
/** Maximum number of running requests that are held until they end; further ones are shown immediately. */
export const RUNNING_MAX = 10_000;

export class LogFollower {
  /** number of the last row read; undefined before the first read */
  #last: number | undefined;
  /** ids of rows whose requests had not ended */
  #running = new Set<string>();

  /** @param earlier rows to begin with */
  constructor(
    private readonly logs: Pick<RequestLogs, "file" | "keptFromMs" | "viewOf">,
    private readonly earlier: number,
  ) {}

  /** @returns rows of requests that have finished since the last call @throws DomainError `storage.*` */
  next(): RowView[] {
    const rows = this.logs.file.read((reader) => [...this.#completed(reader), ...this.#added(reader)]);
    const keptFromMs = this.logs.keptFromMs();
    return (rows ?? []).filter((row) => row.occurredAtMs >= keptFromMs).map((row) => this.logs.viewOf(row));
  }

  #completed(reader: LogReader): RequestRow[] {
    const rows = reader.find([...this.#running]);
    this.#running = new Set(rows.filter(({ outcome }) => outcome === null).map(({ id }) => id));
    return rows.filter(({ outcome }) => outcome !== null);
  }

  #added(reader: LogReader): RequestRow[] {
    const newest = reader.lastNumber();
    // A new file restarts the row numbers.
    if (this.#last !== undefined && newest < this.#last) this.#last = 0;
    this.#last ??= Math.max(0, newest - this.earlier);
    const rows = reader.writtenAfter(this.#last, ROWS_MAX);
    this.#last = rows.at(-1)?.number ?? this.#last;
    return rows.map(({ row }) => row).filter((row) => !this.#isRunning(row));
  }

  /** A row without a request id comes from a separate proxy and is never completed. */
  #isRunning({ id, outcome, requestId }: RequestRow): boolean {
    if (outcome !== null || requestId === null || this.#running.size >= RUNNING_MAX) return false;
    this.#running.add(id);
    return true;
  }
}
