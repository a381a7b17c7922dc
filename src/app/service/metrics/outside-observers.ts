// The observers of all external services that the domain contacts.

import { Counter, Histogram, type Registry } from "prom-client";
import { SECOND_MS } from "../../../platform/clock.ts";
import { STORE_OPERATIONS, STORE_OUTCOMES, type StoreCall } from "../../../platform/object-store/requests.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Tracer } from "../../../platform/tracing/tracer.ts";
import type { InstallationOptions } from "../../installation/installation.ts";
import { tracedProvisioner } from "../../tracing/traced-provisioner.ts";
import { watchProvisioner } from "./gateway-metrics.ts";
import { watchSources } from "./source-metrics.ts";
import { watchSso } from "./sso-metrics.ts";

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * No label names an object. Registers its metrics, so call it once per service. @returns the observer of requests
 */
export function watchObjectStore({
  metrics,
  log,
}: {
  metrics: Registry;
  log: Log;
}): (call: StoreCall) => void {
  const requests = new Counter({
    name: "quartermaster_object_store_requests_total",
    help: "Requests to the object store by operation and outcome",
    labelNames: ["operation", "outcome"],
    registers: [metrics],
  });
  const durations = new Histogram({
    name: "quartermaster_object_store_request_duration_seconds",
    help: "Time until the object store began to answer",
    labelNames: ["operation"],
    buckets: REQUEST_SECONDS,
    registers: [metrics],
  });
  for (const operation of STORE_OPERATIONS) {
    durations.zero({ operation });
    for (const outcome of STORE_OUTCOMES) requests.inc({ operation, outcome }, 0);
  }
  return ({ operation, outcome, durationMs, failure }) => {
    requests.inc({ operation, outcome });
    durations.observe({ operation }, durationMs / SECOND_MS);
    if (failure === undefined) return;
    const duration_ms = Math.round(durationMs);
    log.warning("object_store.request_failed", { operation, outcome, duration_ms, failure });
  };
}

/** Registers their metrics, so call it once per service. */
export const outsideObservers = (parts: Parameters<typeof watchSso>[0] & { tracer?: Tracer | undefined }) =>
  ({
    observeProvisioner: tracedProvisioner(watchProvisioner(parts), parts.tracer),
    observeSso: watchSso(parts),
    observeObjectStore: watchObjectStore(parts),
    observeSource: watchSources(parts),
  }) satisfies Partial<InstallationOptions>;
