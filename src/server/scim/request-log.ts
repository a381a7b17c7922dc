// Records SCIM requests, so that operators can investigate errors of their provider: a log line per request, and the
// reason in the SCIM status if content was refused. Never records a token, body or query.
import type { Refusals } from "../../domain/scim/status/refusals.ts";
import type { Log } from "../../platform/observe/log.ts";
import { type Exchange, traceIdOf, UNMATCHED } from "../http/exchange.ts";

/** Provider names in User-Agent headers. The result is a guess, for display only. */
const PROVIDER =
  /okta|entra|azure|microsoft|authentik|google|onelogin|jumpcloud|keycloak|ping|sailpoint|rippling|cyberark|midpoint/i;
const OTHER_NAMES = new Map([
  ["azure", "entra"],
  ["microsoft", "entra"],
]);

/** @returns the provider that a User-Agent names; undefined for others */
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

/** Logs an answered request that reached the SCIM routes. refusal-log.ts limits the lines about unauthenticated callers. */
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

/** Records a content refusal of an authenticated provider. */
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
