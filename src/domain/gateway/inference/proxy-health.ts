// Checks from this machine whether the inference proxy is healthy, when an administrator asks. Failures are returned, not
// thrown: an unhealthy proxy is a valid result.

import { type Static, Type } from "@sinclair/typebox";
import { type Clock, SECOND_MS, toRfc3339 } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import { discardBody } from "../../../platform/outbound/discard-body.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";

/** Name of the proxy in the list of outbound destinations. */
export const PROXY_DESTINATION = "inference-proxy";
/** Name of the inference gateway in the list, for inference. */
export const UPSTREAM_DESTINATION = "inference-upstream";
/** Names of the destinations for messages. */
const SUBJECTS: Readonly<Record<string, string>> = {
  [PROXY_DESTINATION]: "the proxy",
  [UPSTREAM_DESTINATION]: "the gateway",
};
const HEALTH_TIMEOUT_MS = 3 * SECOND_MS;

const found = {
  status: Type.Union([Type.Literal("healthy"), Type.Literal("unhealthy")]),
  latency_ms: Type.Integer({ minimum: 0 }),
  http_status: Type.Optional(Type.Integer({ description: "absent if no response arrived" })),
  error: Type.Optional(Type.String({ description: "absent when healthy" })),
};
const Found = Type.Object(found, {
  description: "health of the gateway; absent if it was not checked",
});

export const ProxyHealth = Type.Object({
  ...found,
  checked_at: Type.String({ format: "date-time" }),
  upstream: Type.Optional(Found),
});
export type ProxyHealth = Static<typeof ProxyHealth>;

/** @returns the check; it waits at most HEALTH_TIMEOUT_MS */
export const createProxyHealth =
  ({ clock, outbound }: { clock: Clock; outbound: Pick<Outbound, "fetch" | "list"> }) =>
  async ({ withUpstream } = { withUpstream: false }): Promise<ProxyHealth> => {
    const checkedAtMs = clock.nowMs();
    if (withUpstream && !outbound.list().some(({ name }) => name === UPSTREAM_DESTINATION))
      throw notForwarding();
    const [proxy, upstream] = await Promise.all([
      probe(outbound, PROXY_DESTINATION, "/health"),
      withUpstream ? probe(outbound, UPSTREAM_DESTINATION, "/health/liveliness") : undefined,
    ]);
    return { ...proxy, checked_at: toRfc3339(checkedAtMs), ...(upstream && { upstream }) };
  };

const notForwarding = () =>
  new DomainError("invalid", "gateway.not_forwarding", "this service does not forward inference requests", {
    hint: "ask without upstream=1",
  });

async function probe(
  outbound: Pick<Outbound, "fetch">,
  destination: string,
  path: string,
): Promise<Static<typeof Found>> {
  const startedMs = performance.now();
  const response = await ask(outbound, destination, path);
  const latency_ms = Math.round(performance.now() - startedMs);
  return { status: "error" in response ? "unhealthy" : "healthy", latency_ms, ...response };
}

async function ask(
  outbound: Pick<Outbound, "fetch">,
  destination: string,
  path: string,
): Promise<{ http_status?: number; error?: string }> {
  try {
    const response = await outbound.fetch(destination, path, { timeoutMs: HEALTH_TIMEOUT_MS });
    await discardBody(response);
    const { status: http_status } = response;
    return response.ok ? { http_status } : { http_status, error: `it answered ${http_status}` };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { error: error.message.replace(destination, SUBJECTS[destination] ?? destination) };
  }
}
