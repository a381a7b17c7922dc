// Spans while the collector accepts them, is slow, is down, or rejects them.
import { expect, test } from "bun:test";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { collector, RESPONSE_BYTES_MAX } from "../../../src/platform/tracing/collector.ts";
import {
  BATCH_SPANS_MAX,
  type Delivered,
  SPANS_WAITING_MAX,
  SpanQueue,
} from "../../../src/platform/tracing/span-queue.ts";
import { Tracer } from "../../../src/platform/tracing/tracer.ts";
import { createTraceCollector, type TraceCollector } from "../../support/network/trace-collector.ts";

const TAKEN = { taken: true, refused: 0 } satisfies Delivered;
const DOWN = { taken: false, isFinal: false, error: "down" } satisfies Delivered;

/** @param send accepts everything by default */
function createQueue(send: (spans: readonly ReadableSpan[]) => Promise<Delivered> = async () => TAKEN) {
  const queue = new SpanQueue({ send, nowMs: () => 1_000 });
  const shared = { trustsCallers: false, resource: { "service.name": "quartermaster" }, version: "1" };
  const tracer = new Tracer({ ...shared, sampleRatio: 1, processor: queue });
  const end = (count: number) => {
    for (let at = 0; at < count; at += 1) tracer.begin({ headers: new Headers() }, () => "GET")?.end();
  };
  return { queue, end };
}

test("TRC-4 spans are sent in batches", async () => {
  const sizes: number[] = [];
  const { queue, end } = createQueue(async ({ length }) => {
    sizes.push(length);
    return TAKEN;
  });
  end(BATCH_SPANS_MAX + 1);
  await queue.forceFlush();
  expect(sizes).toEqual([BATCH_SPANS_MAX, 1]);
  end(BATCH_SPANS_MAX);
  await queue.forceFlush();
  expect(sizes).toEqual([BATCH_SPANS_MAX, 1, BATCH_SPANS_MAX]);
  expect(queue.figures).toMatchObject({ waiting: 0, sent: 2 * BATCH_SPANS_MAX + 1, lastDroppedMs: null });
  await queue.shutdown();
});

test("TRC-4 spans queue up to the limit while the collector is down, later ones are dropped and counted, and the queue is sent when it is back", async () => {
  let response: Delivered = DOWN;
  const { queue, end } = createQueue(async () => response);
  end(SPANS_WAITING_MAX);
  await queue.forceFlush();
  expect(queue.figures).toMatchObject({ waiting: SPANS_WAITING_MAX, error: "down", failingSinceMs: 1_000 });
  expect(queue.figures.dropped.queue_full).toBe(0);
  end(1);
  expect(queue.figures).toMatchObject({ waiting: SPANS_WAITING_MAX, lastDroppedMs: 1_000 });
  expect(queue.figures.dropped.queue_full).toBe(1);
  response = TAKEN;
  await queue.forceFlush();
  expect(queue.figures).toMatchObject({ waiting: 0, sent: SPANS_WAITING_MAX, error: null });
  await queue.shutdown();
});

test("TRC-4 a slow collector gets one request at a time, and no request waits for it", async () => {
  const { promise, resolve } = Promise.withResolvers<Delivered>();
  const started = Promise.withResolvers<void>();
  let [open, openMost] = [0, 0];
  const { queue, end } = createQueue(async () => {
    openMost = Math.max(openMost, ++open);
    started.resolve();
    const delivered = await promise;
    open -= 1;
    return delivered;
  });
  end(1);
  const flushes = [queue.forceFlush(), queue.forceFlush()];
  await started.promise;
  end(SPANS_WAITING_MAX);
  expect(queue.figures.dropped.queue_full).toBe(1); // a span keeps its place in the queue while it is sent
  resolve(TAKEN);
  await Promise.all(flushes);
  expect(openMost).toBe(1);
  expect(queue.figures).toMatchObject({ waiting: 0, sent: SPANS_WAITING_MAX });
  await queue.shutdown();
});

test("TRC-4 shutdown tries once to send the queue, then drops it", async () => {
  const { queue, end } = createQueue(async () => DOWN);
  end(2);
  await queue.shutdown();
  end(1);
  expect(queue.figures.dropped.stopped).toBe(3);
});

async function delivered(end: TraceCollector, response: () => Response, spans = 3) {
  end.answer = response;
  const { url } = end;
  const outbound = createOutbound({ allowed: [{ name: "trace-collector", origin: url, why: "test" }] });
  const send = collector({
    outbound,
    destination: "trace-collector",
    path: "/v1/traces",
    authorization: new Secret("Bearer token-of-the-collector"),
    tls: () => ({ ca: undefined }),
  });
  const { queue, end: endSpans } = createQueue(send);
  endSpans(spans);
  await queue.forceFlush();
  const { figures } = queue;
  await queue.shutdown();
  return figures;
}

test("TRC-5 the collector gets the JSON form of OTLP with the header Authorization", async () => {
  using end = createTraceCollector();
  expect(await delivered(end, () => Response.json({}))).toMatchObject({ sent: 3, waiting: 0 });
  expect(end.spans.map(({ name, kind }) => [name, kind])).toEqual(Array(3).fill(["GET", 2]));
  expect(end.resource).toEqual({ "service.name": "quartermaster" });
  expect(end.headers.get("authorization")).toBe("Bearer token-of-the-collector");
  expect(end.headers.get("content-type")).toBe("application/json");
});

test.each([
  [200, { partialSuccess: { rejectedSpans: "2" } }, { sent: 1, waiting: 0, error: null }, 2],
  [200, { partialSuccess: { rejectedSpans: "99" } }, { sent: 0, waiting: 0, error: null }, 3],
  [200, "not what it should be", { sent: 3, waiting: 0, error: null }, 0],
  [200, "x".repeat(RESPONSE_BYTES_MAX), { sent: 3, waiting: 0, error: null }, 0],
  [400, {}, { sent: 0, waiting: 0, error: "the collector answered 400" }, 3],
  [401, {}, { sent: 0, waiting: 0, error: "the collector answered 401" }, 3],
  [503, {}, { sent: 0, waiting: 3, error: "the collector answered 503" }, 0],
  [429, {}, { sent: 0, waiting: 3, error: "the collector answered 429" }, 0],
])(
  "TRC-5 the response %d %j decides what is sent, kept or dropped",
  async (status, body, figures, refused) => {
    using end = createTraceCollector();
    const found = await delivered(end, () => Response.json(body, { status }));
    expect(found).toMatchObject(figures);
    expect(found.dropped.refused).toBe(refused);
  },
);

test("TRC-5 an unreachable collector is reported with the reason and without its address", async () => {
  const end = createTraceCollector();
  end[Symbol.dispose]();
  const { waiting, error } = await delivered(end, () => Response.json({}));
  expect([waiting, error]).toEqual([3, "trace-collector did not answer (ECONNREFUSED)"]);
});
