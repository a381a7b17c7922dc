import { expect, test } from "bun:test";
import { compareAlternating, median } from "./compare.ts";
import { readResponse, runLoad } from "./load.ts";

const bytes = (text: string): Buffer => Buffer.from(text.replaceAll("\n", "\r\n"));

test.each([
  ["a declared length", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"],
  ["chunks", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\nA;x=y\n0123456789\n0\n\n"],
  ["no body by its status", "HTTP/1.1 304 Not Modified\n\n"],
])("a response with %s is complete at its last byte", (_, text) => {
  const whole = bytes(text);
  for (let length = 0; length < whole.length; length++) {
    expect(readResponse(whole.subarray(0, length), false)).toBeUndefined();
  }
  expect(readResponse(Buffer.concat([whole, bytes("HTTP")]), false)?.length).toBe(whole.length);
});

test("the response to HEAD has no body, regardless of its declared length", () => {
  const head = bytes("HTTP/1.1 200 OK\nContent-Length: 5\n\n");
  expect(readResponse(head, true)).toEqual({ status: 200, length: head.length });
});

test.each([
  "SSH-2.0-x\n\n",
  "HTTP/1.1 200 OK\n\nuntil the end",
  "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nzz\n",
])("a response that cannot be measured is refused: %j", (text) => {
  expect(() => readResponse(bytes(text), false)).toThrow();
});

test("a run counts responses by status", async () => {
  let answered = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      answered += 1;
      return answered % 2 === 0 ? new Response("x") : new Response(null, { status: 204 });
    },
  });
  const requests = [{ method: "GET", path: "/" }];
  const result = await runLoad({ port: server.port ?? 0, connections: 2, seconds: 0.05, requests });
  await server.stop(true);
  expect(result.errors).toBe(0);
  expect(Object.keys(result.statuses).sort()).toEqual(["200", "204"]);
  expect(answered - result.requests).toBeLessThanOrEqual(2);
});

test("subjects alternate, and each is compared with the first of its round", async () => {
  const order: string[] = [];
  const subject = (name: string, figure: number) => async () => {
    order.push(name);
    return figure;
  };
  const rows = await compareAlternating({
    rounds: 2,
    subjects: { a: subject("a", 100), b: subject("b", 300) },
  });
  expect(order).toEqual(["a", "b", "b", "a"]);
  expect(rows).toEqual([
    { name: "a", median: 100, min: 100, max: 100, ratio: 1 },
    { name: "b", median: 300, min: 300, max: 300, ratio: 3 },
  ]);
});

test("the median is the middle, or the mean of the two in the middle", () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([])]).toEqual([2, 2.5, Number.NaN]);
});
