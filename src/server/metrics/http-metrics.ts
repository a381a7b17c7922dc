// Counts and times responses by route template, because a path may contain an id.
import type { CounterHandle, HistogramHandle, Metrics } from "../../platform/observe/metrics.ts";
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
export function createHttpMetrics(metrics: Metrics, routes: readonly DocumentedRoute[]): HttpMetrics {
  const requests = metrics.counter("http_requests_total", "Answers by route, method and status", {
    labels: { route: [], method: METHODS, status: [] },
  });
  const durations = metrics.histogram("http_request_duration_seconds", "Time to the head of the answer", {
    labels: { route: [UNMATCHED] },
    buckets: DURATION_BUCKETS_SECONDS,
  });
  for (const { path, method, hooks } of routes) {
    if (!METHODS.includes(method)) continue;
    const documented = Object.keys(hooks.detail?.["x-answers"] ?? {});
    const good = documented.filter((status) => Number(status) < FIRST_REFUSAL);
    for (const status of [...good, FAILED]) requests.labels(path, method, status);
  }
  const known = new Map<string, RouteHandles>();
  const handlesOf = (route: string): RouteHandles => {
    const found = known.get(route) ?? { timer: durations.labels(route), counters: new Map() };
    known.set(route, found);
    return found;
  };
  return {
    observe({ route, method, status, durationMs }) {
      const { timer, counters } = known.get(route) ?? handlesOf(route);
      const key = METHODS.indexOf(method) * 1_000 + status;
      let counter = counters.get(key);
      if (!counter) {
        counter = requests.labels(route, METHODS.includes(method) ? method : "other", String(status));
        counters.set(key, counter);
      }
      counter.inc();
      timer.observe(durationMs / 1_000);
    },
  };
}

/** Metric handles of one route, resolved once: a lookup by labels costs more than the counting. */
interface RouteHandles {
  timer: HistogramHandle;
  /** by method and status */
  counters: Map<number, CounterHandle>;
}
