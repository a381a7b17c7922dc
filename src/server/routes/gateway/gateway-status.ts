// The state of gateway mode in this process, and the health of the inference proxy: for the API and for the console.
import type { Principal } from "../../../domain/access/service.ts";
import type { ProxyHealth } from "../../../domain/gateway/inference/proxy-health.ts";
import { type GatewayStatus, gatewayStatus } from "../../../domain/gateway/status.ts";
import type { GovernanceConfig } from "../../../domain/governance/service.ts";
import type { Clock } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { RateLimit } from "../../../platform/rate-limit.ts";
import { createCallerBudget, type SpendRequest } from "../../http/caller-budget.ts";
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

/** Limit on checks of one user. A visible page of the console checks once a minute, and each check contacts other machines. */
export const HEALTH_CHECKS: RateLimit = { perSecond: 0.5, burst: 20 };

/** @returns a function that throws DomainError `gateway.too_many_checks` */
export const createHealthBudget = (clock: Clock): SpendRequest =>
  createCallerBudget(clock, {
    name: "gateway.health_check",
    limit: HEALTH_CHECKS,
    reason: "gateway.too_many_checks",
    nouns: "checks",
  });

/**
 * Checks the inference proxy, and on request also the gateway.
 * @throws DomainError `gateway.no_proxy`, `gateway.not_forwarding`, `gateway.too_many_checks`
 */
export async function healthOf(
  { domain, spendHealthCheck }: Pick<RouteContext, "domain" | "spendHealthCheck">,
  { caller, ...options }: { caller: Pick<Principal, "subject">; withUpstream: boolean },
): Promise<ProxyHealth> {
  spendHealthCheck(caller);
  const { proxyHealth } = domain.inference;
  if (proxyHealth) return await proxyHealth(options);
  throw new DomainError("invalid", "gateway.no_proxy", "no inference proxy is configured");
}
