// All calls between their admission and their last byte. It creates them, records how they ended, and lets them finish when the
// service stops. timers.ts checks them regularly.
import type { RequestLog, RequestRow, UsageCounter } from "../../../domain/inference/log/record.ts";
import type { Call } from "../call.ts";
import type { ForwardingMetrics } from "./forwarding-metrics.ts";
import { type End, OpenCall, type OpenCallOptions, type Stop } from "./open-call.ts";
import type { BufferBudget } from "./request-body.ts";
import { rowOf } from "./row.ts";

/** A request that has ended, for the metrics. */
export interface FinishedRequest {
  requestId: string;
  route: string;
  status: number | null;
  outcome: End["outcome"];
}

export interface OpenCallsOptions {
  /** milliseconds of a monotonic clock */
  nowMs: () => number;
  log: RequestLog;
  usage: UsageCounter;
  figures: Pick<ForwardingMetrics, "count">;
  finished(request: FinishedRequest): void;
  budget: BufferBudget;
  /** idle time until the listener closes a connection */
  connectionIdleSeconds: number;
  /** called when there are calls again */
  onBusy(): void;
}

export class OpenCalls implements Iterable<OpenCall> {
  /**
   * Unordered; each call contains its index. A Set would keep ended calls in memory: when it grows or shrinks, its old
   * table still refers to them until a full garbage collection.
   */
  readonly #calls: OpenCall[] = [];
  /** resolves when the last call has ended; undefined while no caller waits */
  #idle: PromiseWithResolvers<void> | undefined;

  readonly #callOptions: OpenCallOptions;

  constructor(private readonly options: OpenCallsOptions) {
    this.#callOptions = { nowMs: options.nowMs, onOver: this.#over };
  }

  /** calls in progress */
  get size(): number {
    return this.#calls.length;
  }

  /** event streams in progress */
  get streams(): number {
    let count = 0;
    for (const { isEventStream } of this.#calls) if (isEventStream) count += 1;
    return count;
  }

  /** Calls may end in the meantime. */
  *[Symbol.iterator](): Iterator<OpenCall> {
    for (let at = this.#calls.length - 1; at >= 0; at -= 1) {
      const open = this.#calls[at];
      if (open) yield open;
    }
  }

  open(call: Call): OpenCall {
    call.server.timeout(call.request, 0); // the runtime would end a quiet stream as if it were complete
    const open = new OpenCall(call, this.#callOptions);
    open.place = this.#calls.push(open) - 1;
    call.request.signal.addEventListener("abort", open);
    if (this.#calls.length === 1) this.options.onBusy();
    return open;
  }

  /** Releases the memory of a buffered body when it will not be sent again. */
  releaseBody(open: OpenCall): void {
    this.options.budget.release(open.heldBytes);
    open.heldBytes = 0;
  }

  /** Writes the row of a call that takes long, so that a crash loses little. */
  writeEarlyRow(open: OpenCall): void {
    open.hasEarlyRow = true;
    this.options.log.add(rowOf(open, { outcome: null, nowMs: this.options.nowMs() }));
  }

  /** Stops every call. */
  stopAll(stop: Stop): void {
    for (const open of this) open.stop(stop);
  }

  /** @returns when no call is in progress */
  async whenIdle(): Promise<void> {
    if (this.#calls.length === 0) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  readonly #over: OpenCallOptions["onOver"] = (open: OpenCall, { outcome, phase }: End): void => {
    this.#remove(open);
    open.call.admitted.release();
    this.releaseBody(open);
    // Without it, the connection would stay open forever after its requests have ended.
    open.call.server.timeout(open.call.request, this.options.connectionIdleSeconds);
    const row = rowOf(open, { outcome, nowMs: this.options.nowMs() });
    this.#record(open, row, phase);
    if (this.#calls.length > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  };

  /** The last call takes its place. */
  #remove({ place }: OpenCall): void {
    const last = this.#calls.pop();
    if (!last || last.place === place) return;
    this.#calls[place] = last;
    last.place = place;
  }

  #record(open: OpenCall, row: RequestRow, phase: End["phase"]): void {
    this.options.log.add(row);
    this.options.usage.count(row);
    this.options.figures.count(open, row, phase);
    this.options.finished({
      requestId: open.call.requestId,
      route: open.call.entry.route,
      status: row.httpStatus,
      outcome: row.outcome ?? "complete",
    });
  }
}
