// One line in the log for each SCIM request (scim.md SCIM-10): what an operator needs when a provider reports an error.
// Never a token, a body or a query, which may name people.
import type { Log } from "../../platform/log.ts";
import type { Exchange } from "../exchange.ts";

/** How providers call themselves in User-Agent; a guess, and nothing depends on it. */
const PROVIDER =
  /okta|entra|azure|microsoft|authentik|google|onelogin|jumpcloud|keycloak|ping|sailpoint|rippling|cyberark|midpoint/i;
const OTHER_NAMES = new Map([
  ["azure", "entra"],
  ["microsoft", "entra"],
]);

/** @returns the provider that a User-Agent names, undefined for others */
export function providerIn(userAgent: string | null): string | undefined {
  const name = PROVIDER.exec(userAgent ?? "")?.[0].toLowerCase();
  return name && (OTHER_NAMES.get(name) ?? name);
}

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
