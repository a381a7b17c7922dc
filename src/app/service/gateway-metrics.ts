// Metrics about gateway keys, and a log line for each failed call of the provisioner. Users at workstations see less detail
// (gateway/provisioners/provisioner.ts).
import { KEY_STATES } from "../../domain/gateway/model.ts";
import { PROVISIONER_CODES } from "../../domain/gateway/provisioners/provisioner.ts";
import type { Gateway, GatewayFigures, ProvisionerCall } from "../../domain/gateway/service.ts";
import { SECOND_MS } from "../../platform/clock.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";
import { runInTurns } from "../../platform/steps.ts";

const OPERATIONS: readonly ProvisionerCall["operation"][] = ["provision", "revoke"];
const CALL_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/**
 * Registers its metrics, so call it once per service.
 * @returns the observer of provisioner calls
 */
export function watchProvisioner({
  metrics,
  log,
}: {
  metrics: Metrics;
  log: Log;
}): (call: ProvisionerCall) => void {
  const calls = metrics.counter("provisioner_calls_total", "Calls of the provisioner of gateway keys", {
    labels: { operation: OPERATIONS, outcome: ["succeeded", ...PROVISIONER_CODES] },
  });
  const durations = metrics.histogram("provisioner_call_duration_seconds", "How long such a call took", {
    labels: { operation: OPERATIONS },
    buckets: CALL_SECONDS,
  });
  return ({ operation, outcome, durationMs, userId, requestId, diagnosis }) => {
    calls.labels(operation, outcome).inc();
    durations.labels(operation).observe(durationMs / SECOND_MS);
    if (outcome === "succeeded") return;
    const told = { operation, outcome, user_id: userId, duration_ms: durationMs, diagnosis };
    const asked = requestId === undefined ? {} : { request_id: requestId };
    log.warning("gateway.call_failed", { ...told, ...asked });
  };
}

/** Adds metrics that are counted on each scrape, once for all of them. */
export function watchKeys(metrics: Metrics, gateway: Pick<Gateway, "figuresInSteps">): void {
  let figures: GatewayFigures | undefined;
  metrics.beforeRender(async () => {
    figures = await runInTurns(gateway.figuresInSteps());
  });
  metrics.gauge("gateway_keys", "Gateway keys in each state", {
    labels: { state: KEY_STATES.filter((state) => state !== "missing") },
    read: (set) => {
      for (const { state, total } of figures?.keys ?? []) set(total, state);
    },
  });
  metrics.gauge("gateway_keys_due", "Gateway keys that are to be looked after now", {
    read: (set) => set(figures?.due ?? 0),
  });
  metrics.gauge("gateway_keys_with_problem", "Gateway keys whose last attempt failed, usable or not", {
    read: (set) => set(figures?.problems ?? 0),
  });
  metrics.gauge("gateway_revocations_pending", "Keys that are yet to be revoked at the gateway", {
    read: (set) => set(figures?.revocationsPending ?? 0),
  });
}
