// The state of gateway mode in this process, and the health of the inference proxy: for the API and for the console.
import type { ProxyHealth } from "../../../domain/gateway/inference/proxy-health.ts";
import { type GatewayStatus, gatewayStatus } from "../../../domain/gateway/status.ts";
import type { GovernanceConfig } from "../../../domain/governance/service.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { RouteContext } from "../../router.ts";

type GatewayStatusSources = Pick<RouteContext, "domain" | "proxyFigures" | "isForwardedElsewhere">;

/**
 * @param policy the document in force
 * @returns the full status, for administrators; contacts nothing
 */
export const gatewayStatusOf = (
  { domain, proxyFigures, isForwardedElsewhere }: GatewayStatusSources,
  policy: Pick<GovernanceConfig, "gateway" | "allowed_harnesses">,
): GatewayStatus =>
  gatewayStatus({
    policy,
    mode: domain.gateway.mode,
    signingKeys: domain.inference.signingKeys,
    proxy: proxyFigures?.(),
    isForwardedElsewhere: isForwardedElsewhere?.() ?? false,
  });

/**
 * Asks the inference proxy, and on request the gateway too.
 * @throws DomainError `gateway.no_proxy`, `gateway.not_forwarding`
 */
export async function healthOf(
  { domain }: Pick<RouteContext, "domain">,
  options: { withUpstream: boolean },
): Promise<ProxyHealth> {
  const { proxyHealth } = domain.inference;
  if (proxyHealth) return await proxyHealth(options);
  throw new DomainError("invalid", "gateway.no_proxy", "no inference proxy is configured");
}
