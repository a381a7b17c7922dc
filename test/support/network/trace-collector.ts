// A collector of traces that decodes the JSON form of OTLP, with configurable responses.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const AnyValue = Type.Union([
  Type.Object({ stringValue: Type.String() }),
  Type.Object({ boolValue: Type.Boolean() }),
  Type.Object({ intValue: Type.Union([Type.Integer(), Type.String()]) }),
  Type.Object({ doubleValue: Type.Number() }),
]);
const KeyValues = Type.Array(Type.Object({ key: Type.String(), value: AnyValue }));
const TraceId = Type.RegExp(/^[0-9a-f]{32}$/);
const SpanId = Type.RegExp(/^[0-9a-f]{16}$/);
const Nanoseconds = Type.RegExp(/^\d{19}$/);

const SpanOnWire = Type.Object({
  traceId: TraceId,
  spanId: SpanId,
  parentSpanId: Type.Optional(SpanId),
  name: Type.String({ minLength: 1 }),
  kind: Type.Integer({ minimum: 1, maximum: 5 }),
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: KeyValues,
  status: Type.Object({ code: Type.Integer({ minimum: 0, maximum: 2 }) }),
  links: Type.Optional(Type.Array(Type.Object({ traceId: TraceId, spanId: SpanId }))),
});

/** ExportTraceServiceRequest (opentelemetry-proto 1.9, OTLP/HTTP with JSON) */
const ExportRequest = Type.Object({
  resourceSpans: Type.Array(
    Type.Object({
      resource: Type.Object({ attributes: KeyValues }),
      scopeSpans: Type.Array(
        Type.Object({ scope: Type.Object({ name: Type.String() }), spans: Type.Array(SpanOnWire) }),
      ),
    }),
    { minItems: 1 },
  ),
});

type Values = Static<typeof KeyValues>;
const factsOf = (values: Values): Record<string, unknown> =>
  Object.fromEntries(values.map(({ key, value }) => [key, Object.values(value)[0]]));

/** A span as it arrived, with its attributes by name. */
export type ReceivedSpan = Omit<Static<typeof SpanOnWire>, "attributes"> & { facts: Record<string, unknown> };

export interface TraceCollector extends Disposable {
  url: string;
  /** all accepted spans */
  spans: ReceivedSpan[];
  resource: Record<string, unknown>;
  /** of the last request */
  headers: Headers;
  requests: number;
  /** status of its responses; a span is accepted only with 200 */
  answer: () => Response;
  /** Resolves once a span with that name has arrived. */
  received(name: string): Promise<ReceivedSpan>;
}

/** Listens on a free port of 127.0.0.1. @param tls a certificate for localhost; plain HTTP without it */
export function createTraceCollector(tls?: Bun.TLSOptions): TraceCollector {
  const waiting: (() => void)[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls && { tls }),
    async fetch(request) {
      collector.requests += 1;
      collector.headers = request.headers;
      const body: unknown = await request.json();
      const response = collector.answer();
      if (response.status === 200) take(body);
      return response;
    },
  });
  const take = (body: unknown): void => {
    for (const { resource, scopeSpans } of Value.Decode(ExportRequest, body).resourceSpans) {
      collector.resource = factsOf(resource.attributes);
      for (const { attributes, ...span } of scopeSpans.flatMap(({ spans }) => spans))
        collector.spans.push({ ...span, facts: factsOf(attributes) });
    }
    for (const wake of waiting.splice(0)) wake();
  };
  const collector: TraceCollector = {
    url: tls ? `https://localhost:${server.port}` : server.url.origin,
    spans: [],
    resource: {},
    headers: new Headers(),
    requests: 0,
    answer: () => Response.json({}),
    async received(name) {
      for (;;) {
        const found = collector.spans.find((span) => span.name === name);
        if (found) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
  return collector;
}
