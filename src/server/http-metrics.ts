// Counts and times answers by route template, never by path: a path may hold an id.
import type { Metrics } from "../platform/metrics.ts";

export interface HttpMetrics {
  observe(answer: { route: string; method: string; status: number; durationMs: number }): void;
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export function createHttpMetrics(metrics: Metrics): HttpMetrics {
  const requests = metrics.counter("http_requests_total", "Answers by route, method and status", {
    labels: { route: [], method: METHODS, status: [] },
  });
  const durations = metrics.histogram("http_request_duration_seconds", "Time to the head of the answer", {
    labels: { route: [] },
    buckets: DURATION_BUCKETS_SECONDS,
  });
  // Handles are resolved once for each combination: looking them up costs more than counting.
  const known = new Map<string, ReturnType<typeof requests.labels>>();
  const timers = new Map<string, ReturnType<typeof durations.labels>>();
  return {
    observe({ route, method, status, durationMs }) {
      const key = `${status}${method}${route}`;
      let counter = known.get(key);
      if (!counter) {
        counter = requests.labels(route, METHODS.includes(method) ? method : "other", String(status));
        known.set(key, counter);
      }
      counter.inc();
      let timer = timers.get(route);
      if (!timer) {
        timer = durations.labels(route);
        timers.set(route, timer);
      }
      timer.observe(durationMs / 1_000);
    },
  };
}
