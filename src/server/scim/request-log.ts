// One line in the log for each SCIM request (scim.md SCIM-10): what an operator needs when a provider reports an error.
// Never a token, a body or a query, which may name people.
import type { Log } from "../../platform/log.ts";
import type { Exchange } from "../exchange.ts";

/** How providers call themselves in User-Agent; a guess, and nothing depends on it. */
const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/azure|microsoft|entra/i, "entra"],
  [/okta/i, "okta"],
  [/authentik/i, "authentik"],
  [/google/i, "google"],
  [/onelogin/i, "onelogin"],
  [/jumpcloud/i, "jumpcloud"],
  [/keycloak/i, "keycloak"],
  [/ping/i, "ping"],
  [/sailpoint/i, "sailpoint"],
  [/rippling/i, "rippling"],
  [/cyberark|idaptive/i, "cyberark"],
  [/midpoint/i, "midpoint"],
];

/** @returns the provider that a User-Agent names, undefined for others */
export const providerIn = (userAgent: string | null): string | undefined =>
  PROVIDERS.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];

interface Answered {
  request: Request;
  exchange: Exchange;
  status: number;
  durationMs: number;
}

/** Writes the line of an answered request that reached the SCIM routes. */
export function logScimRequest(log: Log, { request, exchange, status, durationMs }: Answered): void {
  const { scim, requestId, route } = exchange;
  if (!scim) return;
  log.info("scim.answered", {
    request_id: requestId,
    method: request.method,
    route,
    status,
    scim_type: scim.scimType,
    duration_ms: durationMs,
    token: scim.caller?.actor.label,
    provider: providerIn(request.headers.get("user-agent")),
    resource_id: scim.resourceId,
  });
}
