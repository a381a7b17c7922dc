// Metrics of traces: spans that were sent, that wait, and that were dropped.
import { Counter, Gauge, type Registry } from "prom-client";
import { DROP_CAUSES, type QueueFigures } from "../../platform/tracing/span-queue.ts";

/** @param queue undefined while tracing is off */
export function addTracingMetrics(
  metrics: Registry,
  queue: { readonly figures: QueueFigures } | undefined,
): void {
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
