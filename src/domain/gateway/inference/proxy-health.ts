// Checks from this machine whether the inference proxy is healthy, when an administrator asks. Failures are returned, not
// thrown: an unhealthy proxy is a valid result.
import { type Static, Type } from "@sinclair/typebox";
import { type Clock, SECOND_MS, toRfc3339 } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";

/** Name of the proxy in the list of outbound destinations. */
export const PROXY_DESTINATION = "inference-proxy";
export const HEALTH_TIMEOUT_MS = 3 * SECOND_MS;

export const ProxyHealth = Type.Object({
  status: Type.Union([Type.Literal("healthy"), Type.Literal("unhealthy")]),
  checked_at: Type.String({ format: "date-time" }),
  latency_ms: Type.Integer({ minimum: 0 }),
  http_status: Type.Optional(Type.Integer({ description: "absent when no answer arrived" })),
  error: Type.Optional(Type.String({ description: "absent when healthy" })),
});
export type ProxyHealth = Static<typeof ProxyHealth>;

/** @returns the check; it waits at most HEALTH_TIMEOUT_MS */
export const createProxyHealth =
  ({ clock, outbound }: { clock: Clock; outbound: Pick<Outbound, "fetch"> }) =>
  async (): Promise<ProxyHealth> => {
    const checkedAtMs = clock.nowMs();
    const startedMs = performance.now();
    const outcome = await probe(outbound);
    const latencyMs = Math.round(performance.now() - startedMs);
    return {
      status: "error" in outcome ? "unhealthy" : "healthy",
      checked_at: toRfc3339(checkedAtMs),
      latency_ms: latencyMs,
      ...outcome,
    };
  };

async function probe(outbound: Pick<Outbound, "fetch">): Promise<{ http_status?: number; error?: string }> {
  try {
    const response = await outbound.fetch(PROXY_DESTINATION, "/health", { timeoutMs: HEALTH_TIMEOUT_MS });
    await response.body?.cancel();
    const { status: http_status } = response;
    return response.ok ? { http_status } : { http_status, error: `the proxy answered ${http_status}` };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { error: error.message };
  }
}
