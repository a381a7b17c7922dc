// A door for outgoing connections whose requests are spans of the request that waits for them. A span names the destination, never
// an address, a path or a query.
import { createOutbound, type Outbound, type OutboundOptions } from "../outbound/outbound.ts";
import { Upstream, type UpstreamOptions, type UpstreamRequest } from "../outbound/upstream.ts";
import { traceparentOf } from "./trace-context.ts";
import { reasonOf } from "./traced-database.ts";
import type { Tracer } from "./tracer.ts";

export interface UpstreamTracing {
  tracer: Tracer;
  /** whether the upstream is told the trace; otherwise it gets the caller's header as it came */
  propagates: boolean;
}

/**
 * @param tracing undefined while tracing is off
 * @returns a door; `download` and `deliver` have no spans, because no request waits for them
 * @throws like `createOutbound`
 */
export function openOutbound(options: OutboundOptions, tracing: UpstreamTracing | undefined): Outbound {
  if (!tracing) return createOutbound(options);
  const openUpstream = (upstream: UpstreamOptions) => new TracedUpstream(upstream, tracing);
  return withSpans(createOutbound({ ...options, openUpstream }), tracing.tracer);
}

function withSpans(outbound: Outbound, tracer: Tracer): Outbound {
  return {
    ...outbound,
    fetch: async (destinationName, pathOrUrl, request) => {
      const method = request.method ?? "GET";
      const span = tracer.active()?.child(`${method} ${destinationName}`, "client");
      if (!span) return await outbound.fetch(destinationName, pathOrUrl, request);
      span.set({ "http.request.method": method, "quartermaster.destination": destinationName });
      return await endingWith(span, outbound.fetch(destinationName, pathOrUrl, request));
    },
  };
}

/** An upstream whose requests are spans, up to the head of the answer. */
export class TracedUpstream extends Upstream {
  constructor(
    options: UpstreamOptions,
    private readonly tracing: UpstreamTracing,
  ) {
    super(options);
  }

  override async send(target: string, request: UpstreamRequest): Promise<Response> {
    const { tracer, propagates } = this.tracing;
    const span = tracer.active()?.child(`${request.method} upstream`, "client");
    if (!span) return await super.send(target, request);
    span.set({ "http.request.method": request.method, "quartermaster.destination": "upstream" });
    const headers = propagates
      ? { ...request.headers, traceparent: traceparentOf(span.context) }
      : request.headers;
    return await endingWith(span, super.send(target, { ...request, headers }));
  }
}

type EndedSpan = Pick<NonNullable<ReturnType<Tracer["active"]>>, "set" | "end">;
const FIRST_FAILURE = 400;

async function endingWith(span: EndedSpan, answered: Promise<Response>): Promise<Response> {
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
