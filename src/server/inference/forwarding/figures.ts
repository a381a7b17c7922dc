// Figures of forwarding for the metrics. Counting adds to plain numbers, because it happens for every request and every piece; the
// registry reads them when it is asked. Labels come from fixed lists, never from a request.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RequestRow } from "../../../domain/inference/log/record.ts";
import type { OpenCall, Phase } from "./open-call.ts";

const BUCKETS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 15, 60, 300];
const ADDED_BUCKETS_SECONDS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.02, 0.1];

/** Values that are read when the metrics are. */
export interface Gauges {
  streams(): number;
  bufferedBytes(): number;
}

/** A counter with one label set per key; keys join label values with a tab. */
class Tally {
  readonly #counts = new Map<string, number>();

  constructor(name: string, help: string, labelNames: readonly string[], metrics: Registry) {
    const counts = this.#counts;
    new Counter({
      name: `quartermaster_inference_${name}`,
      help,
      labelNames,
      registers: [metrics],
      collect() {
        this.reset();
        for (const [key, count] of counts) {
          const values = key.split("\t");
          this.inc(Object.fromEntries(labelNames.map((label, at) => [label, values[at] ?? ""])), count);
        }
      },
    });
  }

  add(key: string, count = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }
}

export class Figures {
  readonly #chunks: Tally;
  readonly #bytes: Tally;
  readonly #tokens: Tally;
  readonly #aborts: Tally;
  readonly #cuts: Tally;
  readonly #replays: Tally;
  readonly #disowned: Tally;
  readonly #added: Histogram;
  readonly #head: Histogram;
  readonly #firstByte: Histogram;

  constructor(metrics: Registry, gauges: Gauges) {
    const tally = (name: string, help: string, ...labels: string[]) => new Tally(name, help, labels, metrics);
    this.#chunks = tally("chunks_total", "Pieces of answers that were passed on");
    this.#bytes = tally("bytes_total", "Bytes of bodies that were passed on", "direction");
    this.#tokens = tally("tokens_total", "Tokens that the upstream reported", "kind");
    this.#aborts = tally("client_aborts_total", "Requests that the client gave up", "phase");
    this.#cuts = tally("cut_total", "Requests that were ended because access ended", "cause");
    this.#replays = tally("replays_total", "Requests that were sent again with another key");
    this.#disowned = tally("disowned_total", "Keys that the upstream refused", "reason");
    const histogram = (name: string, help: string, buckets = BUCKETS_SECONDS) =>
      new Histogram({ name: `quartermaster_inference_${name}`, help, buckets, registers: [metrics] });
    this.#added = histogram("added_seconds", "Own time before a request is sent", ADDED_BUCKETS_SECONDS);
    this.#head = histogram("upstream_head_seconds", "Time until the upstream's head");
    this.#firstByte = histogram("first_byte_seconds", "Time until the first byte of an answer");
    addGauge(metrics, "streams", "Event streams that are open", gauges.streams);
    addGauge(metrics, "buffered_bytes", "Bytes of request bodies in memory", gauges.bufferedBytes);
  }

  /** Counts a call that is over, in the phase that it was in. */
  count(open: OpenCall, row: RequestRow, phase: Phase): void {
    const { sentMs, headMs, firstByteMs, startedMs } = open;
    this.#bytes.add("up", open.requestBytes);
    this.#bytes.add("down", open.responseBytes);
    this.#chunks.add("", open.pieces);
    if (row.inputTokens !== null) this.#tokens.add("input", row.inputTokens);
    if (row.outputTokens !== null) this.#tokens.add("output", row.outputTokens);
    if (row.cacheReadTokens !== null) this.#tokens.add("cache_read", row.cacheReadTokens);
    if (row.cacheWriteTokens !== null) this.#tokens.add("cache_write", row.cacheWriteTokens);
    if (row.outcome === "client_closed") this.#aborts.add(phase);
    if (row.outcome === "cut") this.#cuts.add(open.stopped?.reason ?? "");
    if (sentMs !== undefined) this.#added.observe((sentMs - startedMs) / 1_000);
    if (sentMs !== undefined && headMs !== undefined) this.#head.observe((headMs - sentMs) / 1_000);
    if (firstByteMs !== undefined) this.#firstByte.observe((firstByteMs - startedMs) / 1_000);
  }

  replayed(): void {
    this.#replays.add("");
  }

  disowned(reason: string): void {
    this.#disowned.add(reason);
  }
}

function addGauge(metrics: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name: `quartermaster_inference_${name}`,
    help,
    registers: [metrics],
    collect() {
      this.set(read());
    },
  });
}
