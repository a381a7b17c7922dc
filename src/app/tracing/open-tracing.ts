// Opens tracing for one process, if the settings name a collector. The library is loaded only then.

import { Counter, Gauge, type Registry } from "prom-client";
import { SECOND_MS, within } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import { createOutbound } from "../../platform/outbound/outbound.ts";
import { DROP_CAUSES, type QueueFigures } from "../../platform/tracing/span-queue.ts";
import type { UpstreamTracing } from "../../platform/tracing/traced-outbound.ts";
import { VERSION } from "../../platform/version.ts";
import {
  COLLECTOR_DESTINATION,
  collectorDestinations,
  collectorPathOf,
  collectorTlsOf,
} from "./collector-settings.ts";
import { forgetTracingState, keepTracingState } from "./tracing-state.ts";

/** Time to send the last spans when the process ends. */
const STOP_MS = 2 * SECOND_MS;

export interface TracingParts {
  config: Config;
  ids: Pick<Ids, "uuid">;
  log: Log;
  metrics: Registry;
  /** file with the figures of this process for `status` and `doctor` */
  stateFile: string;
  undo: AsyncDisposableStack;
}

/** @param queue undefined while tracing is off */
function addTracingMetrics(metrics: Registry, queue: { readonly figures: QueueFigures } | undefined): void {
  const registers = [metrics];
  new Counter({
    name: "quartermaster_trace_spans_sent_total",
    help: "Spans that the trace collector accepted",
    registers,
    collect() {
      this.reset();
      this.inc(queue?.figures.sent ?? 0);
    },
  });
  new Counter({
    name: "quartermaster_trace_spans_dropped_total",
    help: "Spans that were dropped, by cause",
    labelNames: ["cause"],
    registers,
    collect() {
      this.reset();
      for (const cause of DROP_CAUSES) this.inc({ cause }, queue?.figures.dropped[cause] ?? 0);
    },
  });
  new Gauge({
    name: "quartermaster_trace_spans_waiting",
    help: "Spans that wait for the trace collector",
    registers,
    collect() {
      this.set(queue?.figures.waiting ?? 0);
    },
  });
}

/** Registers its metrics, so call it once per process. @returns undefined while tracing is off */
export async function openTracing(parts: TracingParts): Promise<UpstreamTracing | undefined> {
  const { config, ids, metrics, stateFile, undo } = parts;
  forgetTracingState(stateFile);
  const url = config.get("tracing.url");
  if (url === undefined) {
    addTracingMetrics(metrics, undefined);
    return undefined;
  }
  const [{ Tracer }, { SpanQueue }, { collector }] = await Promise.all([
    import("../../platform/tracing/tracer.ts"),
    import("../../platform/tracing/span-queue.ts"),
    import("../../platform/tracing/collector.ts"),
  ]);
  const send = collector({
    outbound: createOutbound({ allowed: collectorDestinations(config) }),
    destination: COLLECTOR_DESTINATION,
    path: collectorPathOf(url),
    authorization: config.get("tracing.authorization"),
    tls: () => collectorTlsOf(config),
  });
  const queue = new SpanQueue({ send, nowMs: Date.now, observe: observerOf(parts) });
  undo.defer(async () => {
    await within(STOP_MS, queue.shutdown());
    forgetTracingState(stateFile);
  });
  addTracingMetrics(metrics, queue);
  const tracer = new Tracer({
    sampleRatio: config.get("tracing.sample_ratio"),
    trustsCallers: config.get("tracing.trust_callers"),
    processor: queue,
    version: VERSION,
    resource: {
      "service.name": "quartermaster",
      "service.version": VERSION,
      "service.instance.id": ids.uuid(),
    },
  });
  return { tracer, propagates: config.get("tracing.propagate") };
}

/** Logs only changes, because a collector may be down for days. */
function observerOf({ log, stateFile }: TracingParts): (figures: QueueFigures) => void {
  const keep = keepTracingState(stateFile, Date.now);
  let wasFailing = false;
  return (figures) => {
    keep(figures);
    const isFailing = figures.error !== null;
    if (isFailing === wasFailing) return;
    wasFailing = isFailing;
    if (isFailing) log.warning("tracing.send_failed", { message: figures.error });
    else log.info("tracing.send_resumed", { sent: figures.sent });
  };
}
