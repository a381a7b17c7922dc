// Metrics about sign-in at the identity provider, and a log line for each request to it that failed. No label names a person.
import { Gauge, type Registry } from "prom-client";
import {
  PROVIDER_ENDPOINTS,
  REQUEST_OUTCOMES,
  SSO_REASONS,
  type Sso,
  type SsoObserver,
} from "../../../domain/sso/service.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import { BufferedCounter, BufferedHistogram } from "../../../platform/observe/buffered-metrics.ts";
import type { Log } from "../../../platform/observe/log.ts";

const REQUEST_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers its metrics, so call it once per service. @returns the observer of company sign-in */
export function watchSso({ metrics, log }: { metrics: Registry; log: Log }): SsoObserver {
  const signIns = new BufferedCounter(
    { name: "quartermaster_sso_sign_ins_total", help: "Sign-ins at the identity provider by outcome" },
    ["outcome"],
    metrics,
  );
  const requests = new BufferedCounter(
    {
      name: "quartermaster_sso_idp_requests_total",
      help: "Requests to the identity provider by endpoint and outcome",
    },
    ["endpoint", "outcome"],
    metrics,
  );
  const durations = new BufferedHistogram(
    {
      name: "quartermaster_sso_idp_request_duration_seconds",
      help: "Duration of requests to the identity provider",
    },
    "endpoint",
    { buckets: REQUEST_SECONDS, metrics },
  );
  for (const outcome of ["signed_in", ...SSO_REASONS]) signIns.add(outcome, 0);
  for (const endpoint of PROVIDER_ENDPOINTS) {
    durations.zero(endpoint);
    for (const outcome of REQUEST_OUTCOMES) requests.add(`${endpoint}\t${outcome}`, 0);
  }
  return {
    ended: (outcome) => signIns.add(outcome),
    requested({ endpoint, outcome, durationMs }) {
      requests.add(`${endpoint}\t${outcome}`);
      durations.add(endpoint, durationMs / SECOND_MS);
      if (outcome !== "answered")
        log.warning("sso.request_failed", { endpoint, outcome, duration_ms: Math.round(durationMs) });
    },
  };
}

/** Adds the age of the provider's keys. */
export function watchProviderKeys(metrics: Registry, { provider }: Pick<Sso, "provider">): void {
  new Gauge({
    name: "quartermaster_sso_jwks_age_seconds",
    help: "Time since the keys of the identity provider were fetched; 0 before that",
    registers: [metrics],
    collect() {
      this.set((provider.keysAgeMs ?? 0) / SECOND_MS);
    },
  });
}
