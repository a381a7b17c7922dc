// Metrics of every kind of key and token that the service keeps for others.
import type { Registry } from "prom-client";
import type { Installation } from "../../installation/installation.ts";
import { watchKeys } from "./gateway-metrics.ts";
import { watchSourceTokens } from "./source-metrics.ts";
import { watchProviderKeys } from "./sso-metrics.ts";

/** Adds them once per service. */
export function watchAllKeys(metrics: Registry, { domain }: Pick<Installation, "domain">): void {
  watchKeys(metrics, domain.gateway);
  watchProviderKeys(metrics, domain.sso);
  watchSourceTokens(metrics, domain.packageSources);
}
