// What is kept of a SCIM request for an operator whose provider reports an error: a line in the log (scim.md SCIM-10) and,
// where its content was refused, the reason in the status (SCIM-33). Never a token, a body or a query.
import type { Refusals } from "../../domain/scim/status/refusals.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Exchange } from "../http/exchange.ts";
import { traceIdOf } from "../http/trace.ts";
import { UNMATCHED } from "../metrics/http-metrics.ts";

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

/** Writes the line of an answered request that reached the SCIM routes; a flood of strangers' is for refusal-log.ts. */
export function logScimRequest(log: Log, { request, exchange, status, durationMs }: Answered): void {
  const { scim, requestId, route } = exchange;
  if (!scim) return;
  log.info("scim.answered", {
    request_id: requestId,
    trace_id: traceIdOf(request),
    method: request.method,
    route,
    status,
    scim_type: scim.refusal?.scimType,
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    token: scim.caller?.actor.label,
    provider: providerIn(request.headers.get("user-agent")),
    resource_id: scim.resourceId,
    ignored_attributes: scim.ignored || undefined,
  });
}

/** Keeps the refusal of a known provider's request that says what is wrong with its content. */
export function recordScimRefusal(refusals: Refusals, { request, exchange, status }: Answered): void {
  const { scim, requestId, route = UNMATCHED } = exchange;
  const { caller, refusal } = scim ?? {};
  if (!caller || !refusal?.scimType) return;
  const { organizationId, label } = caller.actor;
  const { scimType, detail } = refusal;
  refusals.keep(organizationId, {
    requestId,
    actor: label,
    method: request.method,
    route,
    status,
    scimType,
    detail,
  });
}
