// Records each response: counts it, logs it at debug level, logs refused callers, and keeps refused SCIM content for operators.
import { Counter, type Registry } from "prom-client";
import type { Domain } from "../domain/domain.ts";
import { SCIM_BASE_PATH } from "../domain/scim/wire.ts";
import type { Log } from "../platform/observe/log.ts";
import { type Exchange, traceIdOf, UNMATCHED } from "./http/exchange.ts";
import type { RefusalLog, Refused } from "./http/problems/refusal-log.ts";
import { createResponseMetrics } from "./metrics/response-metrics.ts";
import type { DocumentedRoute } from "./openapi.ts";
import { logScimRequest, recordScimRefusal } from "./scim/request-log.ts";

export interface ResponseRecorderOptions {
  domain: Pick<Domain, "scim">;
  log: Log;
  metrics: Registry;
  refusals: RefusalLog;
}

const REFUSALS = new Set([401, 403, 429]);

interface ResponseRecord {
  request: Request;
  exchange: Exchange;
  response: Response;
  durationMs: number;
}

/** Counts each response, logs it at debug level, logs refusals, and records refused SCIM content for the status. */
export function createResponseRecorder(
  { domain, log, metrics, refusals }: ResponseRecorderOptions,
  routes: () => readonly DocumentedRoute[],
): (settled: ResponseRecord) => void {
  const countResponse = createResponseMetrics(metrics, routes);
  const countScim = createScimMetrics(metrics);
  return ({ request, exchange, response, durationMs }) => {
    const { route = UNMATCHED, requestId, principal } = exchange;
    const { status } = response;
    countResponse({ route, method: request.method, status, seconds: durationMs / 1_000 });
    log.debug("http.answered", () => ({
      request_id: requestId,
      trace_id: traceIdOf(request),
      actor_id: principal?.userId,
      organization_id: principal?.organizationId,
      method: request.method,
      route,
      status,
      duration_ms: Math.round(durationMs * 1_000) / 1_000,
    }));
    if (exchange.warning !== undefined)
      log.warning(exchange.warning, { request_id: requestId, address: exchange.address, route });
    const hasLine = !REFUSALS.has(status) || refusals.note(refusedIn({ request, exchange, status, route }));
    if (!exchange.scim) return;
    const answered = { request, exchange, status, durationMs };
    countScim({ route, status });
    if (hasLine || exchange.scim.caller) logScimRequest(log, answered);
    recordScimRefusal(domain.scim.refusals, answered);
  };
}

function refusedIn({
  request,
  exchange,
  status,
  route,
}: Pick<ResponseRecord, "request" | "exchange"> & { status: number; route: string }): Refused {
  const { address, requestId, refusal, principal } = exchange;
  return {
    address,
    status,
    reason: refusal?.reason,
    method: request.method,
    route,
    requestId,
    traceId: traceIdOf(request),
    userId: refusal?.account?.userId ?? principal?.userId,
    account: refusal?.account?.hash,
  };
}

/** Resources that providers change; their usual series start at zero. */
const CHANGED = ["Users", "Groups", "Bulk"];
const RESOURCES = [...CHANGED, "Schemas", "ResourceTypes", "ServiceProviderConfig", ".search"];
const STATUSES = ["200", "201", "204", "400", "404", "409", "500"];

function createScimMetrics(metrics: Registry): (answer: { route: string; status: number }) => void {
  const requests = new Counter({
    name: "quartermaster_scim_requests_total",
    help: "Answers to identity providers by resource and status",
    labelNames: ["resource", "status"],
    registers: [metrics],
  });
  for (const resource of CHANGED) for (const status of STATUSES) requests.inc({ resource, status }, 0);
  return ({ route, status }) => requests.inc({ resource: resourceOf(route), status });
}

/** @returns the resource of a SCIM route; `other` for an unknown path */
function resourceOf(route: string): string {
  const [resource = ""] = route.slice(SCIM_BASE_PATH.length + 1).split("/", 1);
  return RESOURCES.includes(resource) ? resource : "other";
}
