// Spans that wait to be sent: a bounded queue, sent in batches, one request at a time. Nothing waits for it. A span that
// finds no room, or that the collector refuses, is dropped and counted.
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { SECOND_MS } from "../clock.ts";
import type { TraceProcessor } from "./tracer.ts";

/** Maximum number of waiting spans: about 4 MB. */
export const SPANS_WAITING_MAX = 4_096;
/** Maximum number of spans in one request, which takes the thread that answers requests a millisecond or two to build. */
export const BATCH_SPANS_MAX = 256;
/** Also the time between two attempts while the collector is down. */
export const SEND_EVERY_MS = 5 * SECOND_MS;

/** `queue_full`: no room, because the collector is down or slow; `refused`: the collector rejected them; `stopped`: the service ended. */
export const DROP_CAUSES = ["queue_full", "refused", "stopped"] as const;
export type DropCause = (typeof DROP_CAUSES)[number];

/** The result of sending a batch. */
export type Delivered =
  | { taken: true /** of the batch */; refused: number }
  /** `isFinal`: another attempt would also fail */
  | { taken: false; isFinal: boolean; error: string };

export interface QueueFigures {
  waiting: number;
  sent: number;
  dropped: Readonly<Record<DropCause, number>>;
  /** UTC milliseconds; null if none was dropped */
  lastDroppedMs: number | null;
  /** UTC milliseconds; null unless the last attempt failed */
  failingSinceMs: number | null;
  error: string | null;
}

export interface SpanQueueOptions {
  /** never rejects */
  send(spans: readonly ReadableSpan[]): Promise<Delivered>;
  /** called after each attempt */
  observe?: ((figures: QueueFigures) => void) | undefined;
  /** UTC milliseconds */
  nowMs(): number;
}

export class SpanQueue implements TraceProcessor {
  #waiting: ReadableSpan[] = [];
  #sending: Promise<void> | undefined;
  #isStopped = false;
  #sent = 0;
  readonly #dropped: Record<DropCause, number> = { queue_full: 0, refused: 0, stopped: 0 };
  #lastDroppedMs: number | null = null;
  #failure: { sinceMs: number; error: string } | undefined;
  readonly #timer: Timer;

  constructor(private readonly options: SpanQueueOptions) {
    this.#timer = setInterval(() => void this.#send(), SEND_EVERY_MS);
    this.#timer.unref();
  }

  get figures(): QueueFigures {
    return {
      waiting: this.#waiting.length,
      sent: this.#sent,
      dropped: { ...this.#dropped },
      lastDroppedMs: this.#lastDroppedMs,
      failingSinceMs: this.#failure?.sinceMs ?? null,
      error: this.#failure?.error ?? null,
    };
  }

  /** A trace that finds the queue full is counted as one dropped span. */
  accepts(): boolean {
    const isFull = this.#waiting.length >= SPANS_WAITING_MAX;
    if (isFull) this.#drop("queue_full", 1);
    return !isFull;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#isStopped) this.#drop("stopped", 1);
    else if (this.#waiting.length >= SPANS_WAITING_MAX) this.#drop("queue_full", 1);
    else this.#waiting.push(span);
  }

  /** Sends all waiting spans, up to the first failure. */
  async forceFlush(): Promise<void> {
    await this.#sending;
    await this.#send();
  }

  /** Sends waiting spans until the first failure, and drops the rest. */
  async shutdown(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopped = true;
    await this.forceFlush();
    this.#drop("stopped", this.#waiting.length);
    this.#waiting = [];
    this.options.observe?.(this.figures);
  }

  #drop(cause: DropCause, count: number): void {
    if (count === 0) return;
    this.#dropped[cause] += count;
    this.#lastDroppedMs = this.options.nowMs();
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_SPANS_MAX);
      const delivered = await this.options.send(batch);
      this.#note(batch, delivered);
      this.options.observe?.(this.figures);
      if (!delivered.taken && !delivered.isFinal) return;
    }
  }

  #note(batch: readonly ReadableSpan[], delivered: Delivered): void {
    if (delivered.taken) {
      this.#failure = undefined;
      this.#sent += batch.length - delivered.refused;
      this.#drop("refused", delivered.refused);
    } else {
      this.#failure = { sinceMs: this.#failure?.sinceMs ?? this.options.nowMs(), error: delivered.error };
      if (!delivered.isFinal) return;
      this.#drop("refused", batch.length);
    }
    this.#waiting.splice(0, batch.length);
  }
}
