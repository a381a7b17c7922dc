// Counts inference requests and refusals. No label comes from a request: a route is an entry of the list, never the path itself.
import { Counter, Gauge, type Registry } from "prom-client";
import type { Permits } from "../../domain/inference/admission/permits.ts";
import type { Outcome } from "../../domain/inference/log/record.ts";
import { REFUSAL_REASONS, type RefusalReason } from "./refusals.ts";
import { Tally } from "./tally.ts";

interface FinishedRequest {
  /** label of an entry */
  route: string;
  /** status that the client received; null without a head */
  status: number | null;
  outcome: Outcome;
}

export interface InferenceMetrics {
  finished(request: FinishedRequest): void;
  refused(reason: RefusalReason): void;
}

/** Registers its metrics, so call it once per service. */
export function createInferenceMetrics(
  metrics: Registry,
  permits: Pick<Permits, "inFlight">,
): InferenceMetrics {
  const registers = [metrics];
  const requests = new Tally(
    { name: "quartermaster_inference_requests_total", help: "Finished inference requests" },
    ["route", "status", "outcome"],
    metrics,
  );
  const refusals = new Counter({
    name: "quartermaster_inference_refused_total",
    help: "Inference requests that this service refused",
    labelNames: ["reason"],
    registers,
  });
  for (const reason of REFUSAL_REASONS) refusals.inc({ reason }, 0);
  new Gauge({
    name: "quartermaster_inference_in_flight",
    help: "Inference requests in progress",
    registers,
    collect() {
      this.set(permits.inFlight);
    },
  });
  return {
    finished: ({ route, status, outcome }) => requests.add(`${route}\t${status ?? "none"}\t${outcome}`),
    refused: (reason) => refusals.inc({ reason }),
  };
}
