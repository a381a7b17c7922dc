// Builds the configuration of the gateway area from the settings. platform/config/rules.ts has already checked that they are
// complete.

import type { GatewaySettings, ProvisionerSettings } from "../../domain/gateway/settings.ts";
import { DEFAULT_AUDIENCE } from "../../domain/gateway/wire.ts";
import type { Config } from "../../platform/config/config.ts";
import { proxyModeOf } from "../../platform/config/proxy-rules.ts";
import { needed } from "./needed-setting.ts";
import { PROXY_PREFIX } from "./proxy-settings.ts";

/** @returns undefined if gateway mode is off */
export function gatewaySettingsOf(config: Config, baseUrl: () => string): GatewaySettings | undefined {
  const type = config.get("gateway.type");
  if (type === undefined) return undefined;
  const inferenceProxyUrl = proxyUrlOf(config, baseUrl);
  return {
    type,
    url: needed(config, "gateway.url"),
    inferenceProxyUrl,
    inferenceProxyHealthUrl: config.get("gateway.inference_proxy_health_url") ?? inferenceProxyUrl,
    proxyMode: proxyModeOf(config),
    proxyToken: config.get("gateway.proxy_token"),
    inferenceJwt: {
      issuer: config.get("gateway.inference_jwt.issuer") ?? baseUrl(),
      audience: config.get("gateway.inference_jwt.audience") ?? DEFAULT_AUDIENCE,
      tokenTtlSeconds: config.get("gateway.inference_jwt.token_ttl_seconds"),
      rotationDays: config.get("gateway.inference_jwt.rotation_days"),
    },
    provisioner: provisionerSettingsOf(config),
  };
}

/** @returns the address of the inference proxy for workstations; by default a path of this service */
export const proxyUrlOf = (config: Config, baseUrl: () => string): string =>
  config.get("gateway.inference_proxy_url") ?? `${baseUrl()}${PROXY_PREFIX}`;

/** @returns the settings of the provisioner; requires that gateway mode is on */
export const provisionerSettingsOf = (config: Config): ProvisionerSettings => ({
  type: needed(config, "gateway.provisioner.type"),
  reconcileTtlSeconds: config.get("gateway.provisioner.reconcile_ttl_seconds"),
  timeoutSeconds: config.get("gateway.provisioner.timeout_seconds"),
  modelCatalogRefreshSeconds: config.get("gateway.provisioner.model_catalog_refresh_seconds"),
  maxConcurrency: config.get("gateway.provisioner.max_concurrency"),
  executable: executableOf(config),
  policyRevision: config.get("gateway.provisioner.policy_revision"),
  adminKey: config.get("gateway.provisioner.admin_key"),
  policy: {
    models: config.get("gateway.provisioner.policy.models"),
    maxBudget: config.get("gateway.provisioner.policy.max_budget"),
    budgetDuration: config.get("gateway.provisioner.policy.budget_duration"),
    rpmLimit: config.get("gateway.provisioner.policy.rpm_limit"),
    tpmLimit: config.get("gateway.provisioner.policy.tpm_limit"),
    maxParallelRequests: config.get("gateway.provisioner.policy.max_parallel_requests"),
    duration: config.get("gateway.provisioner.policy.duration"),
    teamScoped: config.get("gateway.provisioner.policy.team_scoped"),
  },
});

function executableOf(config: Config): ProvisionerSettings["executable"] {
  const path = config.get("gateway.provisioner.executable_path");
  if (path === undefined) return undefined;
  const names = config.get("gateway.provisioner.executable_environment");
  return {
    path,
    sha256: needed(config, "gateway.provisioner.executable_sha256"),
    environment: Object.fromEntries(names.map((name) => [name, config.variable(name) ?? ""])),
  };
}
