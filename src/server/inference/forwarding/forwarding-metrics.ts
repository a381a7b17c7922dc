// Metrics of forwarding. Counting adds to plain numbers, because it happens for every request and every piece; the
// registry reads them when it is asked. Labels come from fixed lists, never from a request.
import { Gauge, type Registry } from "prom-client";
import type { RequestRow } from "../../../domain/inference/log/record.ts";
import { DurationTally, type Named, Tally } from "../tally.ts";
import type { OpenCall, Phase } from "./open-call.ts";

const BUCKETS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 15, 60, 300];
const ADDED_BUCKETS_SECONDS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.02, 0.1];

/** Values that are read at each scrape of the metrics. */
export interface Gauges {
  streams(): number;
  bufferedBytes(): number;
}

export class ForwardingMetrics {
  readonly #chunks: Tally;
  readonly #bytes: Tally;
  readonly #tokens: Tally;
  readonly #aborts: Tally;
  readonly #cuts: Tally;
  readonly #replays: Tally;
  readonly #rejected: Tally;
  readonly #added: DurationTally;
  readonly #head: DurationTally;
  readonly #firstByte: DurationTally;

  constructor(metrics: Registry, gauges: Gauges) {
    const counter = (named: Named, ...labels: string[]) => new Tally(named, labels, metrics);
    this.#chunks = counter({
      name: "quartermaster_inference_chunks_total",
      help: "Pieces of responses that were passed on",
    });
    this.#bytes = counter(
      {
        name: "quartermaster_inference_bytes_total",
        help: "Bytes of bodies that were passed on, by direction",
      },
      "direction",
    );
    this.#tokens = counter(
      { name: "quartermaster_inference_tokens_total", help: "Tokens that the gateway reported, by kind" },
      "kind",
    );
    this.#aborts = counter(
      {
        name: "quartermaster_inference_client_aborts_total",
        help: "Inference requests that the client canceled, by phase",
      },
      "phase",
    );
    this.#cuts = counter(
      {
        name: "quartermaster_inference_cut_total",
        help: "Inference requests that ended because access ended, by cause",
      },
      "cause",
    );
    this.#replays = counter({
      name: "quartermaster_inference_replays_total",
      help: "Inference requests that were sent again with another key",
    });
    this.#rejected = counter(
      { name: "quartermaster_inference_disowned_total", help: "Keys that the gateway refused, by reason" },
      "reason",
    );
    const histogram = (named: Named, buckets = BUCKETS_SECONDS) => new DurationTally(named, buckets, metrics);
    this.#added = histogram(
      {
        name: "quartermaster_inference_added_seconds",
        help: "Own time until an inference request is sent on",
      },
      ADDED_BUCKETS_SECONDS,
    );
    this.#head = histogram({
      name: "quartermaster_inference_upstream_head_seconds",
      help: "Time until the gateway begins to answer",
    });
    this.#firstByte = histogram({
      name: "quartermaster_inference_first_byte_seconds",
      help: "Time until the first byte of a response",
    });
    addGauges(metrics, gauges);
  }

  /** Counts an ended call by its last phase. */
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
    if (sentMs !== undefined) this.#added.add((sentMs - startedMs) / 1_000);
    if (sentMs !== undefined && headMs !== undefined) this.#head.add((headMs - sentMs) / 1_000);
    if (firstByteMs !== undefined) this.#firstByte.add((firstByteMs - startedMs) / 1_000);
  }

  replayed(): void {
    this.#replays.add("");
  }

  rejected(reason: string): void {
    this.#rejected.add(reason);
  }
}

function addGauges(metrics: Registry, { streams, bufferedBytes }: Gauges): void {
  new Gauge({
    name: "quartermaster_inference_streams",
    help: "Event streams of inference that are open",
    registers: [metrics],
    collect() {
      this.set(streams());
    },
  });
  new Gauge({
    name: "quartermaster_inference_buffered_bytes",
    help: "Bytes of request bodies in memory",
    registers: [metrics],
    collect() {
      this.set(bufferedBytes());
    },
  });
}
