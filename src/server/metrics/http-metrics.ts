// Counts and times responses by route template, because a path may contain an id.
import { Counter, Histogram, type Registry } from "prom-client";
import type { DocumentedRoute } from "../openapi.ts";

export interface HttpMetrics {
  observe(answer: { route: string; method: string; status: number; durationMs: number }): void;
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Label for requests that match no route. */
export const UNMATCHED = "unmatched";
const FAILED = "500";
const FIRST_REFUSAL = 400;

/** @param routes their series for success and server errors start at zero */
export function createHttpMetrics(metrics: Registry, routes: readonly DocumentedRoute[]): HttpMetrics {
  const requests = new Counter({
    name: "quartermaster_http_requests_total",
    help: "Answers by route, method and status",
    labelNames: ["route", "method", "status"],
    registers: [metrics],
  });
  const durations = new Histogram({
    name: "quartermaster_http_request_duration_seconds",
    help: "Time to the head of the answer",
    labelNames: ["route"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [metrics],
  });
  durations.zero({ route: UNMATCHED });
  for (const { path: route, method, hooks } of routes) {
    if (!METHODS.includes(method)) continue;
    const documented = Object.keys(hooks.detail?.["x-answers"] ?? {});
    const good = documented.filter((status) => Number(status) < FIRST_REFUSAL);
    for (const status of [...good, FAILED]) requests.inc({ route, method, status }, 0);
  }
  return {
    observe({ route, method, status, durationMs }) {
      requests.inc({ route, method: METHODS.includes(method) ? method : "other", status });
      durations.observe({ route }, durationMs / 1_000);
    },
  };
}
