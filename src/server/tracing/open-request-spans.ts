// Spans of inference requests, which end with the last byte of the response instead of its head.
import type { Span, Tracer } from "../../platform/tracing/tracer.ts";
import type { Call, Forward } from "../inference/call.ts";
import type { FinishedRequest } from "../inference/forwarding/open-calls.ts";

export class OpenRequestSpans {
  readonly #spans = new Map<string, Span>();

  constructor(private readonly tracer: Tracer) {}

  /** @returns a Forward that keeps the span of a traced request open until `finished` */
  forward(forward: Forward): Forward {
    return (call) => {
      const span = this.tracer.active();
      if (span) this.#hold(span, call);
      return forward(call);
    };
  }

  /** Ends the span of a finished request. */
  finished({ requestId, outcome, status }: FinishedRequest): void {
    const span = this.#spans.get(requestId);
    if (!span) return;
    this.#spans.delete(requestId);
    span.set({
      "quartermaster.outcome": outcome,
      ...(status !== null && { "http.response.status_code": status }),
    });
    span.end(outcome === "complete" ? undefined : outcome);
  }

  #hold(span: Span, { requestId, request, entry: { route } }: Call): void {
    span.isHeld = true;
    span.rename(`${request.method} ${route}`);
    span.set({ "http.route": route, "quartermaster.request_id": requestId });
    this.#spans.set(requestId, span);
  }
}
