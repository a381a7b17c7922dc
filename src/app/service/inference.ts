// Starts the part of the service that forwards inference requests, and ends it before anything that it needs.
import type { Registry } from "prom-client";
import type { Domain } from "../../domain/domain.ts";
import type { RequestLog } from "../../domain/inference/log/record.ts";
import type { ProxySettings } from "../../domain/inference/settings.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Forward } from "../../server/inference/call.ts";
import { InferenceHandler, type ObservedRefusal } from "../../server/inference/handler.ts";
import { createInferenceMetrics } from "../../server/inference/inference-metrics.ts";
import { refusal } from "../../server/inference/refusals.ts";
import { refusedRow } from "../../server/inference/refused-row.ts";
import { PROXY_PREFIX } from "../installation/proxy-settings.ts";

export interface InferenceParts {
  /** undefined unless this service forwards inference requests */
  settings: ProxySettings | undefined;
  domain: Pick<Domain, "admission" | "identity" | "usage">;
  forward: Forward;
  requestLog: RequestLog;
  metrics: Registry;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export interface RunningInference {
  handler: InferenceHandler;
  /** Lets running requests finish, and ends those that take too long. Called after `handler.stop`. */
  drain(): Promise<void>;
}

/** @returns undefined unless this service forwards inference requests */
export function startInference(parts: InferenceParts): RunningInference | undefined {
  const { settings, domain, forward, metrics, clock, ids, log } = parts;
  const { admission } = domain;
  if (!settings || !admission) return undefined;
  const counters = createInferenceMetrics(metrics, admission.permits);
  const handler = new InferenceHandler({
    ...{ admission, forward, clock, ids, extraPaths: settings.extraPaths },
    prefix: settings.listen ? "" : PROXY_PREFIX,
    observe(refused) {
      counters.refused(refused.reason);
      if (refused.entry) {
        const { route } = refused.entry;
        counters.finished({ route, status: refused.status, outcome: "refused" });
      }
      record(refused, parts);
    },
    report: (error, requestId) => log.error("inference.failed", { error, request_id: requestId }),
  });
  return { handler, drain: async () => {} };
}

/** Stands in until forwarding is joined here. */
export const NOT_YET: Pick<InferenceParts, "forward"> = {
  forward: async ({ admitted, entry, requestId }) => {
    admitted.release();
    return refusal("inference.upstream_unreachable", entry.dialect, requestId);
  },
};

function record(refused: ObservedRefusal, { domain, clock, requestLog }: InferenceParts): void {
  const organizationId = domain.identity.organization()?.id ?? "";
  const row = refusedRow(refused, { organizationId, nowMs: clock.nowMs() });
  if (!row) return;
  requestLog.hand(row);
  domain.usage.count(row);
}
