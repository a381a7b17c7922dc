// Counts answers to identity providers by resource and status (operator-experience.md OBS-3); times are with those of all other
// routes (http-metrics.ts).
import { SCIM_BASE_PATH } from "../../domain/scim/wire.ts";
import type { CounterHandle, Metrics } from "../../platform/observe/metrics.ts";

/** Those that providers send changes to; they begin at zero with the usual answers. */
const CHANGED = ["Users", "Groups", "Bulk"];
const RESOURCES = [...CHANGED, "Schemas", "ResourceTypes", "ServiceProviderConfig", ".search"];
const STATUSES = ["200", "201", "204", "400", "404", "409", "500"];

/** @returns what counts one answer; made once */
export function createScimMetrics(metrics: Metrics): (answer: { route: string; status: number }) => void {
  const requests = metrics.counter(
    "scim_requests_total",
    "Answers to identity providers by resource and status",
    {
      labels: { resource: CHANGED, status: STATUSES },
    },
  );
  const known = new Map<string, CounterHandle>();
  return ({ route, status }) => {
    const key = `${route} ${status}`;
    let counter = known.get(key);
    if (!counter) {
      counter = requests.labels(resourceOf(route), String(status));
      known.set(key, counter);
    }
    counter.inc();
  };
}

/** @returns the first part of a route below ours; `other` for all that is not there */
const resourceOf = (route: string): string =>
  RESOURCES.find((resource) => `${route}/`.startsWith(`${SCIM_BASE_PATH}/${resource}/`)) ?? "other";
