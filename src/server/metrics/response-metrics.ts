// Counts responses and their durations in plain numbers, which the registry reads. The library would write the labels of each response
// as text.
import { Counter, Histogram, type Registry } from "prom-client";
import { UNMATCHED } from "../http/exchange.ts";
import type { DocumentedRoute } from "../openapi.ts";
import { BucketCounts } from "./bucket-counts.ts";

const RESPONSES = {
  name: "quartermaster_http_requests_total",
  help: "Responses by route, method and status",
};
const DURATIONS = {
  name: "quartermaster_http_request_duration_seconds",
  help: "Time to the head of the response",
};
const BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const OTHER_METHOD = "other";
const FAILED = 500;
const FIRST_REFUSAL = 400;

interface CountedResponse {
  route: string;
  method: string;
  status: number;
  seconds: number;
}

/**
 * @param routes returns the routes whose series for success and server errors start at zero, created when the metrics are read
 * @returns a function that counts one response; create it once
 */
export function createResponseMetrics(
  metrics: Registry,
  routes: () => readonly DocumentedRoute[],
): (response: CountedResponse) => void {
  const responses = new ResponseCounts();
  responses.of(UNMATCHED);
  let zeros = 0;
  new Counter({
    ...RESPONSES,
    labelNames: ["route", "method", "status"],
    registers: [metrics],
    collect() {
      const known = routes();
      if (known.length > zeros) addZeros(responses, known);
      zeros = known.length;
      this.reset();
      for (const [route, { counts }] of responses.byRoute)
        for (const [method, statuses] of counts)
          for (const [status, count] of statuses) this.inc({ route, method, status }, count);
    },
  });
  new DurationHistogram(metrics, responses);
  return ({ route, method, status, seconds }) => {
    const counts = responses.of(route);
    counts.count(METHODS.includes(method) ? method : OTHER_METHOD, status, 1);
    counts.durations.observe(seconds);
  };
}

/** @returns the responses of a route, as pairs of a status and a count */
export async function responsesByStatus(metrics: Registry, route: string): Promise<[number, number][]> {
  const counted = await metrics.getSingleMetric(RESPONSES.name)?.get();
  const own = counted?.values.filter(({ labels }) => labels.route === route) ?? [];
  return own.map(({ labels, value }) => [Number(labels.status), value]);
}

function addZeros(responses: ResponseCounts, routes: readonly DocumentedRoute[]): void {
  for (const { path, method, hooks } of routes) {
    if (!METHODS.includes(method)) continue;
    const documented = Object.keys(hooks.detail?.["x-answers"] ?? {}).map(Number);
    const good = documented.filter((status) => status < FIRST_REFUSAL);
    for (const status of [...good, FAILED]) responses.of(path).count(method, status, 0);
  }
}

class ResponseCounts {
  readonly byRoute = new Map<string, RouteCounts>();

  of(route: string): RouteCounts {
    const known = this.byRoute.get(route);
    if (known) return known;
    const fresh = new RouteCounts();
    this.byRoute.set(route, fresh);
    return fresh;
  }
}

class RouteCounts {
  /** by method and status */
  readonly counts = new Map<string, Map<number, number>>();
  readonly durations = new BucketCounts(BUCKETS_SECONDS);

  count(method: string, status: number, more: number): void {
    let statuses = this.counts.get(method);
    if (!statuses) {
      statuses = new Map();
      this.counts.set(method, statuses);
    }
    statuses.set(status, (statuses.get(status) ?? 0) + more);
  }
}

/** Reports the durations of each route that has responded, and of unmatched requests. */
class DurationHistogram extends Histogram<"route"> {
  readonly #responses: ResponseCounts;

  constructor(metrics: Registry, responses: ResponseCounts) {
    super({ ...DURATIONS, labelNames: ["route"], buckets: BUCKETS_SECONDS, registers: [metrics] });
    this.#responses = responses;
  }

  /** The registry reads the values here. The library's own method would read only its own counts. */
  async getForPromString() {
    return { ...DURATIONS, type: "histogram", aggregator: "sum", values: [...this.#values()] };
  }

  *#values() {
    for (const [route, { durations }] of this.#responses.byRoute)
      if (route === UNMATCHED || !durations.isEmpty) yield* durations.samples(DURATIONS.name, { route });
  }
}
