// The scripted upstream itself: it sends and records exact bytes, because every test of the proxy relies on that.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { connect } from "node:net";
import { CHAT } from "../../support/inference/recordings.ts";
import { ScriptedUpstream } from "../../support/inference/upstream.ts";

const upstream = await ScriptedUpstream.start();
beforeEach(() => upstream.forget());
afterAll(() => upstream[Symbol.asyncDispose]());

test("records the head and the body of a request as they arrived", async () => {
  upstream.script = async (exchange) => {
    await exchange.body();
    await exchange.answer(201, "made");
  };
  const response = await fetch(`${upstream.origin}/v1/x?q=%2F`, {
    method: "POST",
    headers: { "X-Mixed": "One" },
    body: "sent",
  });
  expect([response.status, await response.text()]).toEqual([201, "made"]);
  const exchange = await upstream.exchange();
  expect([exchange.method, exchange.target, exchange.header("x-mixed")]).toEqual([
    "POST",
    "/v1/x?q=%2F",
    "One",
  ]);
  expect(String(await exchange.body())).toBe("sent");
});

test("reads a chunked body", async () => {
  const socket = connect(Number(new URL(upstream.origin).port), "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  const exchange = await upstream.exchange();
  socket.write("2\r\nde\r\n0\r\n\r\n");
  expect(String(await exchange.body())).toBe("abcde");
  socket.destroy();
  await exchange.closed;
});

test("serves several requests on one connection", async () => {
  upstream.script = (exchange) => exchange.answer(200, "ok");
  const before = upstream.connections;
  for (let round = 0; round < 3; round += 1) await (await fetch(upstream.origin)).text();
  expect([upstream.exchanges.length, upstream.connections - before]).toEqual([3, 1]);
});

test("sends an event stream piece by piece", async () => {
  upstream.script = (exchange) => exchange.stream(CHAT.events);
  expect(await (await fetch(upstream.origin)).text()).toBe(CHAT.events.join(""));
});

test("resets a connection in the middle of a response", async () => {
  upstream.script = async (exchange) => {
    await exchange.head(200, [["content-length", "10"]]);
    await exchange.write("half");
    exchange.reset();
  };
  const outcome = fetch(upstream.origin).then((response) => response.text());
  expect(
    await outcome.then(
      () => "complete",
      () => "failed",
    ),
  ).toBe("failed");
});

test("counts open connections and notices that a client leaves", async () => {
  upstream.script = () => {};
  const controller = new AbortController();
  const request = fetch(upstream.origin, { signal: controller.signal }).catch(() => "left");
  const exchange = await upstream.exchange();
  expect(upstream.open).toBe(1);
  controller.abort();
  expect(await request).toBe("left");
  await exchange.closed;
  expect([upstream.open, exchange.isOpen]).toEqual([0, false]);
});
