// Counts SCIM responses by resource and status. http-metrics.ts has the durations.
import { Counter, type Registry } from "prom-client";
import { SCIM_BASE_PATH } from "../../domain/scim/wire.ts";

/** Resources that providers change; their usual series start at zero. */
const CHANGED = ["Users", "Groups", "Bulk"];
const RESOURCES = [...CHANGED, "Schemas", "ResourceTypes", "ServiceProviderConfig", ".search"];
const STATUSES = ["200", "201", "204", "400", "404", "409", "500"];

/** @returns the counting function; create it once */
export function createScimMetrics(metrics: Registry): (answer: { route: string; status: number }) => void {
  const requests = new Counter({
    name: "quartermaster_scim_requests_total",
    help: "Answers to identity providers by resource and status",
    labelNames: ["resource", "status"],
    registers: [metrics],
  });
  for (const resource of CHANGED) for (const status of STATUSES) requests.inc({ resource, status }, 0);
  return ({ route, status }) => requests.inc({ resource: resourceOf(route), status });
}

/** @returns the resource of a SCIM route; `other` for an unknown path */
const resourceOf = (route: string): string =>
  RESOURCES.find((resource) => `${route}/`.startsWith(`${SCIM_BASE_PATH}/${resource}/`)) ?? "other";
