// Metrics about sign-in at the identity provider, and a log line for each request to it that failed. No label names a person.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import {
  PROVIDER_ENDPOINTS,
  REQUEST_OUTCOMES,
  SSO_REASONS,
  type Sso,
  type SsoObserver,
} from "../../../domain/sso/service.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";

const REQUEST_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers its metrics, so call it once per service. @returns the observer of company sign-in */
export function watchSso({ metrics, log }: { metrics: Registry; log: Log }): SsoObserver {
  const registers = [metrics];
  const signIns = new Counter({
    name: "quartermaster_sso_sign_ins_total",
    help: "Sign-ins at the identity provider by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const requests = new Counter({
    name: "quartermaster_sso_idp_requests_total",
    help: "Requests to the identity provider by endpoint and outcome",
    labelNames: ["endpoint", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "quartermaster_sso_idp_request_duration_seconds",
    help: "Duration of requests to the identity provider",
    labelNames: ["endpoint"],
    buckets: REQUEST_SECONDS,
    registers,
  });
  for (const outcome of ["signed_in", ...SSO_REASONS]) signIns.inc({ outcome }, 0);
  for (const endpoint of PROVIDER_ENDPOINTS) {
    durations.zero({ endpoint });
    for (const outcome of REQUEST_OUTCOMES) requests.inc({ endpoint, outcome }, 0);
  }
  return {
    ended: (outcome) => signIns.inc({ outcome }),
    requested({ endpoint, outcome, durationMs }) {
      requests.inc({ endpoint, outcome });
      durations.observe({ endpoint }, durationMs / SECOND_MS);
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
