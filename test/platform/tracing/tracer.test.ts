// Which requests become traces, and the spans of their parts.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { traceContextIn, traceparentOf } from "../../../src/platform/tracing/trace-context.ts";
import { tracedDatabase } from "../../../src/platform/tracing/traced-database.ts";
import { openOutbound } from "../../../src/platform/tracing/traced-outbound.ts";
import { Tracer, type TracerOptions } from "../../../src/platform/tracing/tracer.ts";
import { temporaryDirectory } from "../../support/world.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const sampled = new Headers({ traceparent: `00-${TRACE}-${CALLER}-01` });
const unsampled = new Headers({ traceparent: `00-${TRACE}-${CALLER}-00` });

function createTracer(options: Partial<TracerOptions> = {}) {
  const ended: ReadableSpan[] = [];
  const processor = {
    accepts: () => true,
    onStart() {},
    onEnd: (span: ReadableSpan) => void ended.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const tracer = new Tracer({
    sampleRatio: 1,
    trustsCallers: false,
    processor,
    resource: {},
    version: "1",
    ...options,
  });
  return { tracer, ended };
}

test.each([
  [0.01, 0.009, true],
  [0.01, 0.01, false],
  [0, 0, false],
  [1, 0.999, true],
])("TRC-1 a ratio of %d traces a request that draws %d: %p", (sampleRatio, drawn, isTraced) => {
  const { tracer } = createTracer({ sampleRatio, random: () => drawn });
  expect(tracer.begin({ headers: new Headers() }, () => "GET") !== undefined).toBe(isTraced);
});

test("TRC-1 a request that is not traced is not inspected", () => {
  const { tracer } = createTracer({ sampleRatio: 0.5, random: () => 0.5 });
  const request = {
    get headers(): Headers {
      throw new Error("read");
    },
  };
  expect(tracer.begin(request, () => request.headers.get("name") ?? "")).toBeUndefined();
});

test("TRC-4 a request that is sampled while the queue is full does not become a span", () => {
  for (const trustsCallers of [false, true]) {
    const spans: ReadableSpan[] = [];
    const { tracer } = createTracer({
      trustsCallers,
      processor: {
        accepts: () => false,
        onStart() {},
        onEnd: (span) => void spans.push(span),
        async forceFlush() {},
        async shutdown() {},
      },
    });
    expect(tracer.begin({ headers: sampled }, () => "GET")).toBeUndefined();
    tracer.record("tick", { kind: "internal", durationMs: 1, facts: {} });
    expect(spans).toEqual([]);
  }
});

test("TRC-2 an untrusted caller does not choose the trace or the sampling; its own trace is linked", () => {
  const { tracer, ended } = createTracer();
  tracer.begin({ headers: sampled }, () => "GET")?.end();
  const [span] = ended;
  expect(span?.spanContext().traceId).not.toBe(TRACE);
  expect(span?.parentSpanContext).toBeUndefined();
  expect(span?.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([[TRACE, CALLER]]);
  expect(createTracer({ sampleRatio: 0 }).tracer.begin({ headers: sampled }, () => "GET")).toBeUndefined();
});

test("TRC-2 a trusted caller's trace is continued, and its flag decides about sampling", () => {
  const { tracer, ended } = createTracer({ trustsCallers: true, sampleRatio: 0 });
  expect(tracer.begin({ headers: unsampled }, () => "GET")).toBeUndefined();
  expect(tracer.begin({ headers: new Headers() }, () => "GET")).toBeUndefined();
  tracer.begin({ headers: sampled }, () => "GET")?.end();
  expect(ended.map((span) => [span.spanContext().traceId, span.parentSpanContext?.spanId])).toEqual([
    [TRACE, CALLER],
  ]);
  const always = createTracer({ trustsCallers: true });
  expect(always.tracer.begin({ headers: unsampled }, () => "GET")).toBeUndefined();
});

test.each([
  `00-${"0".repeat(32)}-${CALLER}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `ff-${TRACE}-${CALLER}-01`,
  `00-${TRACE.toUpperCase()}-${CALLER}-01`,
  "nonsense",
])("TRC-2 the header %s is ignored", (traceparent) => {
  expect(traceContextIn(new Headers({ traceparent }))).toBeUndefined();
});

test("TRC-2 a written traceparent is read back unchanged", () => {
  const context = { traceId: TRACE, spanId: CALLER, isSampled: true };
  expect(traceContextIn(new Headers({ traceparent: traceparentOf(context) }))).toEqual(context);
});

test("TRC-3 each kind of write is a span with its waiting time; a failure has its stable reason and no message", async () => {
  const { tracer, ended } = createTracer();
  const folder = temporaryDirectory();
  const db = tracedDatabase(openDatabase(join(folder, "one.db")), tracer);
  await db.write(() => 1);
  expect(ended).toEqual([]);
  const request = tracer.begin({ headers: new Headers() }, () => "POST");
  const result = await tracer.within(request, async () => {
    await db.writeInSteps(function* () {
      yield;
    });
    await db.writeInBackground(() => 1);
    const failing = db.writeGrouped(() => {
      throw new DomainError("conflict", "some.reason", "a message with a secret");
    });
    await failing.catch(() => {});
    return await db.write(() => 2);
  });
  await db.close();
  rmSync(folder, { recursive: true });
  expect(result).toBe(2);
  const kinds = ended.map(({ attributes }) => attributes["quartermaster.write.kind"]);
  expect(kinds).toEqual(["steps", "background", "grouped", "once"]);
  for (const { name, attributes, parentSpanContext } of ended) {
    expect([name, parentSpanContext?.spanId]).toEqual(["database write", request?.context.spanId ?? ""]);
    expect(attributes["quartermaster.write.waited_ms"]).toBeGreaterThanOrEqual(0);
  }
  expect(ended[2]?.attributes["error.type"]).toBe("some.reason");
  expect(JSON.stringify(ended.map(({ attributes, status }) => ({ attributes, status })))).not.toContain(
    "secret",
  );
});

test("TRC-3 a span of an outgoing request names only its destination, and the upstream receives the trace only if the setting allows it", async () => {
  const seen: (string | null)[] = [];
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ headers }) {
      seen.push(headers.get("traceparent"));
      return new Response(null, { status: 404 });
    },
  });
  const { tracer, ended } = createTracer();
  const { origin } = server.url;
  const allowed = [
    { name: "gateway", origin, why: "test" },
    { name: "nowhere", origin: "http://127.0.0.1:1", why: "test" },
  ];
  const outboundWith = (propagates: boolean) => openOutbound({ allowed }, { tracer, propagates });
  const upstreamOf = (name: string, propagates: boolean) =>
    outboundWith(propagates).upstream(name, { connectTimeoutMs: 1_000 });
  const message = {
    method: "POST",
    headers: { traceparent: "theirs" },
    body: undefined,
    signal: AbortSignal.timeout(5_000),
  };
  const request = tracer.begin({ headers: new Headers() }, () => "POST");
  await tracer.within(request, async () => {
    await outboundWith(false).fetch("gateway", "/key/info?key=secret", { timeoutMs: 5_000 });
    for (const propagates of [false, true])
      await upstreamOf("gateway", propagates).send("/v1/chat?key=secret", message);
    await upstreamOf("nowhere", true)
      .send("/", message)
      .catch(() => {});
  });
  const [first, , last, failed] = ended;
  expect(ended.map(({ name }) => name)).toEqual([
    "GET gateway",
    "POST gateway",
    "POST gateway",
    "POST nowhere",
  ]);
  expect(first?.attributes).toEqual({
    "http.request.method": "GET",
    "quartermaster.destination": "gateway",
    "http.response.status_code": 404,
    "error.type": "404",
  });
  expect(failed?.attributes["error.type"]).toBe("unreachable");
  const own = last && traceparentOf({ ...last.spanContext(), isSampled: true });
  expect(seen).toEqual([null, "theirs", own ?? ""]);
});

test("TRC-3 finished work is recorded in the active trace, or in a separate sampled trace", () => {
  const past = { kind: "client", durationMs: 250, facts: {} } as const;
  const { tracer, ended } = createTracer();
  const request = tracer.begin({ headers: new Headers() }, () => "POST");
  tracer.within(request, () => tracer.record("inside", past));
  tracer.record("alone", { ...past, failure: "timeout" });
  createTracer({ sampleRatio: 0 }).tracer.record("never", past);
  expect(ended.map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId])).toEqual([
    ["inside", request?.context.spanId],
    ["alone", undefined],
  ]);
  expect(ended.map(({ duration: [seconds, nanoseconds] }) => seconds + nanoseconds / 1e9 >= 0.24)).toEqual([
    true,
    true,
  ]);
});
