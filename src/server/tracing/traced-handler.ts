// The span of a request: it begins before the request is handled, gets the name of its route once that is known, and ends with the
// head of the response. Without tracing, no handler is wrapped.
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Handler } from "../listener/listen.ts";

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const FIRST_FAILURE = 500;

/** Replaces a method that is not listed, because callers choose its text (OpenTelemetry, "HTTP spans"). */
const OTHER = { inName: "HTTP", asFact: "_OTHER" };

const namedMethod = ({ method }: Pick<Request, "method">): string =>
  METHODS.has(method) ? method : OTHER.inName;

/** @returns the same handler with a span for each sampled request */
export const tracedHandler =
  (handler: Handler, tracer: Tracer): Handler =>
  (request, addressOf, forwardingOf, socket) => {
    const span = tracer.begin(request, namedMethod);
    if (!span) return handler(request, addressOf, forwardingOf, socket);
    const { method } = request;
    span.set({ "http.request.method": METHODS.has(method) ? method : OTHER.asFact });
    return tracer.within(span, async () => {
      const response = await handler(request, addressOf, forwardingOf, socket);
      const { status } = response;
      span.set({ "http.response.status_code": status });
      if (!span.isHeld) span.end(status >= FIRST_FAILURE ? String(status) : undefined);
      return response;
    });
  };

interface Answered {
  request: Pick<Request, "method">;
  exchange: Pick<Exchange, "route" | "requestId">;
}

/** @returns a function that names the active span by the route of its request; undefined while tracing is off */
export const responseObserver = (tracer: Tracer | undefined) =>
  tracer && ((answered: Answered): void => nameSpan(tracer, answered));

function nameSpan(tracer: Tracer, { request, exchange }: Answered): void {
  const span = tracer.active();
  if (!span) return;
  const { route, requestId } = exchange;
  if (route !== undefined) span.rename(`${namedMethod(request)} ${route}`);
  span.set({
    ...(route !== undefined && { "http.route": route }),
    "quartermaster.request_id": requestId,
  });
}
