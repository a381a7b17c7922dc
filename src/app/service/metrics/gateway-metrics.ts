// Metrics about gateway keys, and a log line for each failed call of the provisioner. Users at workstations see less detail
// (gateway/provisioners/provisioner.ts).
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { KEY_STATES } from "../../../domain/gateway/model.ts";
import { LISTING_CODES } from "../../../domain/gateway/provisioners/model-listing.ts";
import { PROVISIONER_CODES } from "../../../domain/gateway/provisioners/provisioner.ts";
import type { Gateway, GatewayFigures, ProvisionerCall } from "../../../domain/gateway/service.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import { runInTurns } from "../../../platform/steps.ts";

const KEY_CALLS = ["succeeded", ...PROVISIONER_CODES];
const LISTINGS = ["succeeded", ...LISTING_CODES];
const OUTCOMES: Readonly<Record<ProvisionerCall["operation"], readonly string[]>> = {
  provision: KEY_CALLS,
  revoke: KEY_CALLS,
  list_models: LISTINGS,
};
const CALL_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/**
 * Registers its metrics, so call it once per service.
 * @returns the observer of provisioner calls
 */
export function watchProvisioner({
  metrics,
  log,
}: {
  metrics: Registry;
  log: Log;
}): (call: ProvisionerCall) => void {
  const calls = new Counter({
    name: "quartermaster_provisioner_calls_total",
    help: "Calls of the provisioner of gateway keys",
    labelNames: ["operation", "outcome"],
    registers: [metrics],
  });
  const durations = new Histogram({
    name: "quartermaster_provisioner_call_duration_seconds",
    help: "Duration of such a call",
    labelNames: ["operation"],
    buckets: CALL_SECONDS,
    registers: [metrics],
  });
  for (const [operation, outcomes] of Object.entries(OUTCOMES)) {
    durations.zero({ operation });
    for (const outcome of outcomes) calls.inc({ operation, outcome }, 0);
  }
  const refreshes = new Counter({
    name: "quartermaster_inference_model_catalog_refresh_total",
    help: "Refreshes of the model catalog by result",
    labelNames: ["result"],
    registers: [metrics],
  });
  for (const result of LISTINGS) refreshes.inc({ result }, 0);
  return ({ operation, outcome, durationMs, userId, requestId, diagnosis }) => {
    calls.inc({ operation, outcome });
    durations.observe({ operation }, durationMs / SECOND_MS);
    if (operation === "list_models") refreshes.inc({ result: outcome });
    if (outcome === "succeeded") return;
    const whose = userId === undefined ? {} : { user_id: userId };
    const fields = { operation, outcome, ...whose, duration_ms: durationMs, diagnosis };
    const request = requestId === undefined ? {} : { request_id: requestId };
    log.warning("gateway.call_failed", { ...fields, ...request });
  };
}

/** Adds metrics that are counted on each scrape, once for all of them. */
export function watchKeys(metrics: Registry, gateway: Pick<Gateway, "figuresInSteps">): void {
  let counting: Promise<GatewayFigures> | undefined;
  const count = () => {
    counting ??= runInTurns(gateway.figuresInSteps()).finally(() => {
      counting = undefined;
    });
    return counting;
  };
  const gauge = (named: { name: string; help: string }, figureOf: (figures: GatewayFigures) => number) =>
    new Gauge({
      ...named,
      registers: [metrics],
      async collect() {
        this.set(figureOf(await count()));
      },
    });
  new Gauge({
    name: "quartermaster_gateway_keys",
    help: "Gateway keys in each state",
    labelNames: ["state"],
    registers: [metrics],
    async collect() {
      const { keys } = await count();
      for (const state of KEY_STATES) if (state !== "missing") this.set({ state }, 0);
      for (const { state, total } of keys) this.set({ state }, total);
    },
  });
  gauge({ name: "quartermaster_gateway_keys_due", help: "Gateway keys that are due" }, ({ due }) => due);
  gauge(
    {
      name: "quartermaster_gateway_keys_with_problem",
      help: "Gateway keys whose last attempt failed, usable or not",
    },
    ({ problems }) => problems,
  );
  gauge(
    {
      name: "quartermaster_gateway_revocations_pending",
      help: "Keys with a pending revocation at the gateway",
    },
    ({ revocationsPending }) => revocationsPending,
  );
}
