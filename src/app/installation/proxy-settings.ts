// Builds the configuration of the inference proxy from the settings. platform/config/proxy-rules.ts has already checked it.
import type { IdentityFact, ProxySettings } from "../../domain/inference/settings.ts";
import { SECOND_MS } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { proxyModeOf } from "../../platform/config/proxy-rules.ts";
import { IDENTITY_FACTS } from "../../platform/config/settings/inference.ts";
import { needed } from "./needed-setting.ts";

/** Path of the proxy on the main listener. */
export const PROXY_PREFIX = "/inference";

/** @returns whether this service forwards inference requests itself */
export const isProxyInProcess = (config: Config): boolean =>
  config.has("gateway.type") && proxyModeOf(config) === "in-process";

/** @returns undefined unless this service forwards inference requests itself */
export function proxySettingsOf(config: Config): ProxySettings | undefined {
  if (!isProxyInProcess(config)) return undefined;
  return {
    listen: config.get("gateway.proxy.listen"),
    upstreamUrl: needed(config, "gateway.url"),
    maxInFlight: config.get("gateway.proxy.max_in_flight"),
    maxBodyBytes: config.get("gateway.proxy.max_body_bytes"),
    bufferBytes: config.get("gateway.proxy.buffer_bytes"),
    bufferTotalBytes: config.get("gateway.proxy.buffer_total_bytes"),
    parallelPerUser: config.get("gateway.proxy.budgets.parallel_requests"),
    tokenRate: config.get("gateway.proxy.token_rps"),
    tokenBurst: config.get("gateway.proxy.token_burst"),
    failuresPerAddress: config.get("gateway.proxy.failures_per_address"),
    connectTimeoutMs: config.get("gateway.proxy.connect_timeout_seconds") * SECOND_MS,
    headersTimeoutMs: config.get("gateway.proxy.headers_timeout_seconds") * SECOND_MS,
    idleTimeoutMs: config.get("gateway.proxy.idle_timeout_seconds") * SECOND_MS,
    streamMaxMs: config.get("gateway.proxy.stream_seconds_max") * SECOND_MS,
    drainMs: config.get("gateway.proxy.drain_seconds") * SECOND_MS,
    cutStreams: config.get("gateway.proxy.cut_streams"),
    credentialHeader: config.get("gateway.proxy.credential_header"),
    identityHeaders: identityHeadersIn(config.get("gateway.proxy.identity_headers")),
    extraPaths: config.get("gateway.proxy.extra_paths"),
    modelPolicy: config.get("gateway.proxy.model_policy"),
  };
}

const identityHeadersIn = (given: ReadonlyMap<string, string>): ReadonlyMap<IdentityFact, string> =>
  new Map(
    IDENTITY_FACTS.flatMap((fact) => {
      const header = given.get(fact);
      return header === undefined ? [] : [[fact, header] as const];
    }),
  );
