// Outgoing connections that record each request as a span of the request that waits for it. A span names the destination, never
// an address, a path or a query.
import { createOutbound, type Outbound, type OutboundOptions } from "../outbound/outbound.ts";
import { Upstream, type UpstreamOptions, type UpstreamRequest } from "../outbound/upstream.ts";
import { traceparentOf } from "./trace-context.ts";
import { reasonOf } from "./traced-database.ts";
import type { Span, Tracer } from "./tracer.ts";

export interface UpstreamTracing {
  tracer: Tracer;
  /** whether the upstream receives the trace; otherwise it receives the header of the caller unchanged */
  propagates: boolean;
}

/**
 * @param tracing undefined while tracing is off
 * @returns outgoing connections; `download` and `deliver` have no spans, because no request waits for them
 * @throws like `createOutbound`
 */
export function openOutbound(options: OutboundOptions, tracing: UpstreamTracing | undefined): Outbound {
  if (!tracing) return createOutbound(options);
  const openUpstream = (upstream: UpstreamOptions, destinationName: string) =>
    new TracedUpstream(upstream, { ...tracing, destinationName });
  return withSpans(createOutbound({ ...options, openUpstream }), tracing.tracer);
}

function withSpans(outbound: Outbound, tracer: Tracer): Outbound {
  return {
    ...outbound,
    fetch: async (destinationName, pathOrUrl, request) => {
      const span = clientSpan(tracer, request.method ?? "GET", destinationName);
      const answered = outbound.fetch(destinationName, pathOrUrl, request);
      return await (span ? endingWith(span, answered) : answered);
    },
  };
}

/** @returns a span of an outgoing request; undefined if the current work is not traced */
function clientSpan(tracer: Tracer, method: string, destinationName: string): Span | undefined {
  const span = tracer.active()?.child(`${method} ${destinationName}`, "client");
  span?.set({ "http.request.method": method, "quartermaster.destination": destinationName });
  return span;
}

/** An upstream that records its requests as spans, up to the headers of the response. */
class TracedUpstream extends Upstream {
  constructor(
    options: UpstreamOptions,
    private readonly tracing: UpstreamTracing & { destinationName: string },
  ) {
    super(options);
  }

  override async send(target: string, request: UpstreamRequest): Promise<Response> {
    const { tracer, propagates, destinationName } = this.tracing;
    const span = clientSpan(tracer, request.method, destinationName);
    if (!span) return await super.send(target, request);
    const headers = propagates
      ? { ...request.headers, traceparent: traceparentOf(span.context) }
      : request.headers;
    return await endingWith(span, super.send(target, { ...request, headers }));
  }
}

const FIRST_FAILURE = 400;

async function endingWith(span: Span, answered: Promise<Response>): Promise<Response> {
  try {
    const response = await answered;
    const { status } = response;
    span.set({ "http.response.status_code": status });
    span.end(status >= FIRST_FAILURE ? String(status) : undefined);
    return response;
  } catch (error) {
    span.end(faultOf(error));
    throw error;
  }
}

const faultOf = (error: unknown): string =>
  error instanceof Error && "fault" in error && typeof error.fault === "string"
    ? error.fault
    : reasonOf(error);
