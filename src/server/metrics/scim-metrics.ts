// Counts SCIM responses by resource and status. http-metrics.ts has the durations.
import { SCIM_BASE_PATH } from "../../domain/scim/wire.ts";
import type { CounterHandle, Metrics } from "../../platform/observe/metrics.ts";

/** Resources that providers change; their usual series start at zero. */
const CHANGED = ["Users", "Groups", "Bulk"];
const RESOURCES = [...CHANGED, "Schemas", "ResourceTypes", "ServiceProviderConfig", ".search"];
const STATUSES = ["200", "201", "204", "400", "404", "409", "500"];

/** @returns the counting function; create it once */
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

/** @returns the resource of a SCIM route; `other` for an unknown path */
const resourceOf = (route: string): string =>
  RESOURCES.find((resource) => `${route}/`.startsWith(`${SCIM_BASE_PATH}/${resource}/`)) ?? "other";
