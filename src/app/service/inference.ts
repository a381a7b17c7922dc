// Starts the part of the service that forwards inference requests, and ends it before its dependencies.
import type { Registry } from "prom-client";
import type { Domain } from "../../domain/domain.ts";
import { UPSTREAM_DESTINATION } from "../../domain/gateway/inference/proxy-health.ts";
import { rejectionReasonIn } from "../../domain/gateway/service.ts";
import type { ProxyFigures } from "../../domain/gateway/status.ts";
import type { RequestLog } from "../../domain/inference/log/record.ts";
import type { QueueFigures } from "../../domain/inference/log/writing/request-log-queue.ts";
import type { ProxySettings } from "../../domain/inference/settings.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { Upstream } from "../../platform/outbound/upstream.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import { createForwarding, type Forwarding } from "../../server/inference/forwarding/forwarding.ts";
import { InferenceHandler, type ObservedRefusal } from "../../server/inference/handler.ts";
import { createInferenceMetrics, type InferenceMetrics } from "../../server/inference/inference-metrics.ts";
import { refusedRow } from "../../server/inference/refused-row.ts";
import { OpenRequestSpans } from "../../server/tracing/open-request-spans.ts";
import { PROXY_PREFIX } from "../installation/proxy-settings.ts";

export interface InferenceParts {
  /** undefined unless this service forwards inference requests */
  settings: ProxySettings | undefined;
  domain: Pick<Domain, "admission" | "identity" | "inference" | "usage" | "allowedModels">;
  outbound: Pick<Outbound, "upstream">;
  requestLog: RequestLog;
  metrics: Registry;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** only while tracing is on */
  tracing?: { tracer: Tracer } | undefined;
}

export interface RunningInference {
  handler: InferenceHandler;
  forwarding: Forwarding;
  figures(log: QueueFigures): ProxyFigures;
  /**
   * Lets running requests finish, and ends those that take too long. Called after `handler.stop`.
   * @param limitMs instead of the time that the settings give
   */
  drain(limitMs?: number): Promise<void>;
}

/** @returns undefined unless this service forwards inference requests */
export function startInference(parts: InferenceParts): RunningInference | undefined {
  const { settings, domain, metrics, clock, ids, log, tracing } = parts;
  const { admission } = domain;
  if (!settings || !admission) return undefined;
  const counters = createInferenceMetrics(metrics, admission.permits);
  const report = (error: unknown, requestId?: string) =>
    log.error("inference.failed", { error, request_id: requestId });
  const upstream = parts.outbound.upstream(UPSTREAM_DESTINATION, settings);
  const spans = tracing && new OpenRequestSpans(tracing.tracer);
  const forwarding = forwardingOf(parts, { settings, upstream, counters, report, spans });
  const forward = spans ? spans.forward(forwarding.forward) : forwarding.forward;
  const handler = new InferenceHandler({
    admission,
    clock,
    ids,
    report,
    forward,
    extraPaths: settings.extraPaths,
    prefix: settings.listen ? "" : PROXY_PREFIX,
    observe(refused) {
      counters.refused(refused.reason);
      if (refused.entry) {
        const { route } = refused.entry;
        counters.finished({ route, status: refused.status, outcome: "refused" });
      }
      record(refused, parts);
    },
  });
  const { permits } = admission;
  return {
    handler,
    forwarding,
    figures: ({ rows: logQueue, dropped }) => ({
      inFlight: permits.inFlight,
      capacity: permits.capacity,
      isUpstreamUp: upstream.isUp,
      logQueue,
      logDropped: Object.values(dropped).reduce((sum, count) => sum + count, 0),
    }),
    drain: forwarding.drain,
  };
}

interface Observers {
  settings: ProxySettings;
  upstream: Upstream;
  counters: InferenceMetrics;
  report(error: unknown, requestId?: string): void;
  spans: OpenRequestSpans | undefined;
}

function forwardingOf(
  { domain, requestLog, metrics, clock }: InferenceParts,
  { settings, upstream, counters, report, spans }: Observers,
): Forwarding {
  const { inference, usage, allowedModels } = domain;
  const { replaceKey, sessionWatch } = inference;
  return createForwarding({
    settings,
    upstream,
    usage,
    allowedModels,
    metrics,
    clock,
    report,
    log: requestLog,
    replaceKey: replaceKey,
    watch: sessionWatch,
    classify: rejectionReasonIn,
    finished(request) {
      counters.finished(request);
      spans?.finished(request);
    },
    refused: counters.refused,
  });
}

function record(refused: ObservedRefusal, { domain, clock, requestLog }: InferenceParts): void {
  const organizationId = domain.identity.organization()?.id ?? "";
  const row = refusedRow(refused, { organizationId, nowMs: clock.nowMs() });
  if (!row) return;
  requestLog.add(row);
  domain.usage.count(row);
}
