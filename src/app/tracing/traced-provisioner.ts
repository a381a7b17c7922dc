// Spans of provisioner calls, which the domain reports after they end.
import type { ProvisionerCall } from "../../domain/gateway/service.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";

type Observe = (call: ProvisionerCall) => void;

/** @returns the same observer, which also records a span while tracing is on */
export const tracedProvisioner = (observe: Observe, tracer: Tracer | undefined): Observe =>
  tracer
    ? (call) => {
        observe(call);
        const { operation, outcome, durationMs } = call;
        tracer.record(`provisioner ${operation}`, {
          kind: "client",
          durationMs,
          facts: { "quartermaster.outcome": outcome },
          failure: outcome === "succeeded" ? undefined : outcome,
        });
      }
    : observe;
