// How a call ends before its response does: time limits, access that ends, and a service that stops. The request to the upstream is
// canceled, and a stream gets a last event in the format of its API where possible.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import type { EndedBy } from "../../../src/domain/gateway/service.ts";
import { isBetweenEvents } from "../../../src/server/inference/forwarding/last-event.ts";
import { COLLECT_AFTER_CALLS } from "../../../src/server/inference/forwarding/timers.ts";
import { CALLER, createForwardingSite } from "../../support/inference/forwarding.ts";
import { createFullBacklog } from "../../support/inference/full-backlog.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { CHAT, RECORDINGS, type Recording } from "../../support/inference/recordings.ts";
import { EVENT_STREAM } from "../../support/inference/upstream.ts";

const site = await createForwardingSite({ settings: { drainMs: 50 } });
const { upstream } = site;
afterEach(() => site.forget());
afterAll(() => site[Symbol.asyncDispose]());

/** @returns a client that has received this much of a stream, which is then idle */
async function streaming(recording: Recording, text: string): Promise<RawClient> {
  upstream.script = async (exchange) => {
    await exchange.head(200, EVENT_STREAM);
    await exchange.chunk(text);
  };
  const client = RawClient.post(site.port, recording.path, recording.request);
  await client.until(({ body }) => body.length === Buffer.byteLength(text));
  return client;
}

/** @returns a client of a stream of which only the head has arrived at the service */
async function awaitingFirstEvent(recording: Recording): Promise<RawClient> {
  upstream.script = (exchange) => exchange.head(200, EVENT_STREAM);
  const client = RawClient.post(site.port, recording.path, recording.request);
  await waitFor(() => site.forwarding.calls.streams === 1);
  return client;
}

/** Waits for a condition that no event announces. */
async function waitFor(isMet: () => boolean): Promise<void> {
  while (!isMet()) await Bun.sleep(1);
}

/** Ends the caller's access, and lets the service detect it. */
function end(by: EndedBy): void {
  site.ended = new Map([[CALLER.gatewaySessionId, by]]);
  site.revision += 1;
  site.pass(0);
}

const LAST: Readonly<Record<Recording["name"], RegExp>> = {
  chat: /^data: \{"error":\{.*\}\n\n$/,
  messages: /^event: error\ndata: \{"type":"error","error":\{.*\}\n\n$/,
  responses: /^event: error\ndata: \{"type":"error".*"sequence_number":2.*\}\n\n$/,
};

describe.each(RECORDINGS.map((recording) => [recording.name, recording] as const))(
  "a stream of %s that we end (INF-35)",
  (name, recording) => {
    const start = recording.events.slice(0, 2).join("");

    test("ends between two events with a last event that does not mark it as complete", async () => {
      const client = await streaming(recording, start);
      end("session");
      await client.until(({ isWhole }) => isWhole);
      const last = String(client.body).slice(start.length);
      expect(last).toMatch(LAST[name]);
      expect(last).toContain("inference.session_revoked");
      expect(last).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
      await (await upstream.exchange()).closed;
      expect(await site.row()).toMatchObject({ outcome: "cut", httpStatus: 200 });
      expect(site.held).toBe(0);
      client.leave();
    });

    test("ends before its first event with the last event alone, behind the comment", async () => {
      const client = await awaitingFirstEvent(recording);
      site.pass(1_000);
      await client.until(({ body }) => String(body) === ":\n\n");
      end("login");
      await client.until(({ isWhole }) => isWhole);
      expect(String(client.body)).toMatch(/^:\n\n(?:event: error\n)?data: .*inference\.login_ended.*\n\n$/);
      client.leave();
    });

    test("gets the status that the next request would get if nothing has been sent", async () => {
      const client = await awaitingFirstEvent(recording);
      end("login");
      await client.until(({ isWhole }) => isWhole);
      expect(client.status).toBe(401);
      await (await upstream.exchange()).closed;
      expect(await site.row()).toMatchObject({ outcome: "cut", httpStatus: 401 });
      client.leave();
    });

    test("inside an event is reset", async () => {
      const client = await streaming(recording, start.slice(0, -1));
      end("user");
      expect(await client.ended).toBe("reset");
      expect(String(client.body)).toBe(start.slice(0, -1));
      expect(await site.row()).toMatchObject({ outcome: "cut" });
    });
  },
);

describe("access that ends (INF-13)", () => {
  test("ends a request that waits for its head with the status that the next request would get", async () => {
    upstream.script = () => {};
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    const exchange = await upstream.exchange();
    end("user");
    await client.until(({ isWhole }) => isWhole);
    expect(client.status).toBe(401);
    await exchange.closed;
    expect(await site.row()).toMatchObject({
      outcome: "cut",
      refusal: "inference.user_inactive",
      httpStatus: 401,
    });
    client.leave();
  });

  test("resets a response that is no stream", async () => {
    upstream.script = async (exchange) => {
      await exchange.head(200, [["content-length", "100"]]);
      await exchange.write("{");
    };
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    await client.until(({ body }) => body.length === 1);
    end("session");
    expect(await client.ended).toBe("reset");
  });

  test("affects no other callers, and is checked only when something changed", async () => {
    const client = await streaming(CHAT, CHAT.events[0] ?? "");
    let requests = 0;
    site.ended = new Proxy(new Map<string, EndedBy>(), {
      get(target, name) {
        if (name === "get") requests += 1;
        return Reflect.get(target, name).bind(target);
      },
    });
    site.pass(0);
    const before = requests;
    for (let beat = 0; beat < 5; beat += 1) site.pass(0);
    expect(requests).toBe(before);
    site.revision += 1;
    site.pass(0);
    expect(requests).toBe(before + 1);
    expect(site.forwarding.calls.size).toBe(1);
    client.leave();
    await site.row();
  });

  test("includes the end of the token's and the login's life", async () => {
    site.endsAtMs = Date.now() + 60_000;
    const client = await streaming(CHAT, CHAT.events[0] ?? "");
    site.pass(0);
    expect(site.forwarding.calls.size).toBe(1);
    client.leave();
    await site.row();
    site.endsAtMs = Date.now();
    const late = await awaitingFirstEvent(CHAT);
    site.pass(0);
    await late.until(({ isWhole }) => isWhole);
    expect(await site.row(1)).toMatchObject({ outcome: "cut" });
    late.leave();
  });

  test("ends nothing if the setting is off", async () => {
    await using other = await createForwardingSite({ settings: { cutStreams: false } });
    other.endsAtMs = 0;
    other.upstream.script = () => {};
    const client = RawClient.post(other.port, CHAT.path, CHAT.request);
    const exchange = await other.upstream.exchange();
    other.ended = new Map([[CALLER.gatewaySessionId, "user"]]);
    other.revision += 1;
    other.pass(0);
    await exchange.answer(200, "{}");
    await client.until(({ isWhole }) => isWhole);
    expect(client.status).toBe(200);
    client.leave();
  });
});

describe("limits of time (INF-26)", () => {
  test("answers 504 if no head arrives in time", async () => {
    upstream.script = () => {};
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    const exchange = await upstream.exchange();
    site.pass(599_000);
    expect(client.text).toBe("");
    site.pass(1_000);
    await client.until(({ isWhole }) => isWhole);
    expect([client.status, JSON.parse(String(client.body)).error.code]).toEqual([504, "upstream_timeout"]);
    await exchange.closed;
    expect(await site.row()).toMatchObject({ outcome: "timeout", httpStatus: 504 });
    client.leave();
  });

  test("an upstream that neither accepts nor refuses the connection is a 502", async () => {
    await using silent = await createFullBacklog();
    await using other = await createForwardingSite({
      upstreamOrigin: silent.origin,
      settings: { connectTimeoutMs: 100 },
    });
    const client = RawClient.post(other.port, CHAT.path, CHAT.request);
    await waitFor(() => other.forwarding.calls.size === 1);
    await waitFor(() => {
      other.pass(100);
      return other.forwarding.calls.size === 0;
    });
    await client.until(({ isWhole }) => isWhole);
    expect([client.status, JSON.parse(String(client.body)).reason]).toEqual([
      502,
      "inference.upstream_unreachable",
    ]);
    client.leave();
  });

  test("an upstream that answers 200 and then nothing ends with the idle limit", async () => {
    const client = await streaming(CHAT, CHAT.events[0] ?? "");
    site.pass(299_000);
    expect(site.forwarding.calls.size).toBe(1);
    site.pass(1_000);
    await client.until(({ isWhole }) => isWhole);
    expect(String(client.body)).toContain("inference.upstream_timeout");
    expect(await site.row()).toMatchObject({ outcome: "timeout", httpStatus: 200 });
    client.leave();
    upstream.script = (exchange) => exchange.head(200, [["content-length", "5"]]);
    const other = RawClient.post(site.port, CHAT.path, CHAT.request);
    await upstream.exchange(1);
    await waitFor(() => {
      site.pass(300_000);
      return site.forwarding.calls.size === 0;
    });
    await other.until(({ isWhole }) => isWhole);
    expect(other.status).toBe(504);
    other.leave();
  });

  test("a stream that never ends is ended", async () => {
    const client = await streaming(CHAT, CHAT.events[0] ?? "");
    const exchange = await upstream.exchange();
    for (let passed = 0; passed < 3_600_000; passed += 290_000) {
      site.pass(290_000);
      const length = client.body.length;
      if (site.forwarding.calls.size === 0) break;
      await exchange.chunk(CHAT.events[1] ?? "");
      await client.until(({ body }) => body.length > length);
    }
    await client.until(({ isWhole }) => isWhole);
    expect(await site.row()).toMatchObject({ outcome: "timeout" });
    client.leave();
  });

  test("a quiet stream outlives the runtime's own limit, and a connection without requests does not", async () => {
    upstream.script = (exchange) => exchange.answer(200, "{}");
    const idle = RawClient.post(site.port, CHAT.path, "{}");
    await idle.until(({ isWhole }) => isWhole);
    const client = await streaming(CHAT, CHAT.events[0] ?? "");
    expect(await idle.ended).toBe("closed"); // the listener of this test closes idle connections soon
    expect(client.socket.destroyed).toBe(false);
    const exchange = await upstream.exchange(1);
    await exchange.chunk(CHAT.events[1] ?? "");
    await exchange.lastChunk();
    await client.until(({ isWhole }) => isWhole);
    client.leave();
  });
});

test("each of several calls is ended, whatever their order (INF-13)", async () => {
  const clients: RawClient[] = [];
  for (let at = 0; at < 6; at += 1) clients.push(await streaming(CHAT, CHAT.events[0] ?? ""));
  for (const at of [0, 3, 5]) clients[at]?.socket.destroy();
  await waitFor(() => site.forwarding.calls.size === 3);
  end("session");
  for (const at of [1, 2, 4]) await clients[at]?.until(({ isWhole }) => isWhole);
  expect(site.forwarding.calls.size).toBe(0);
});

describe("memory is collected when the last of many calls has ended", () => {
  test.each([
    [COLLECT_AFTER_CALLS - 1, 0],
    [COLLECT_AFTER_CALLS, 1],
    [COLLECT_AFTER_CALLS + 1, 1],
  ])("%i calls at once: collected %i times", async (count, collected) => {
    await using own = await createForwardingSite({ script: (exchange) => exchange.head(200, EVENT_STREAM) });
    const clients = Array.from({ length: count }, () => RawClient.post(own.port, CHAT.path, CHAT.request));
    await waitFor(() => own.forwarding.calls.streams === count);
    own.pass(0);
    for (const client of clients) client.socket.destroy();
    await waitFor(() => own.forwarding.calls.size === 0);
    own.pass(0);
    own.pass(0);
    expect(own.collections).toBe(collected);
  });
});

test("a request that takes long has an early row, which is completed under the same id (INF-42)", async () => {
  const client = await streaming(CHAT, CHAT.events[0] ?? "");
  site.pass(59_000);
  expect(site.rows).toEqual([]);
  site.pass(1_000);
  site.pass(1_000);
  expect(site.rows.map(({ outcome, durationMs }) => [outcome, durationMs])).toEqual([[null, null]]);
  client.leave();
  const row = await site.row();
  expect(site.rows.map(({ id }) => id)).toEqual([row.id, row.id]);
  expect(site.counted).toEqual([row]);
});

describe("a service that stops (INF-36)", () => {
  test("lets short requests finish and ends long ones with a last event", async () => {
    const long = await streaming(CHAT, CHAT.events[0] ?? "");
    upstream.script = () => {};
    const short = RawClient.post(site.port, CHAT.path, CHAT.request);
    const exchange = await upstream.exchange(1);
    const drained = site.forwarding.drain();
    await exchange.answer(200, "{}");
    await short.until(({ isWhole }) => isWhole);
    expect(short.status).toBe(200);
    await drained;
    await long.until(({ isWhole }) => isWhole);
    expect(String(long.body)).toContain("service.stopping");
    expect(site.rows.map(({ outcome }) => outcome)).toEqual(["complete", "stopped"]);
    expect([site.held, site.forwarding.calls.size]).toEqual([0, 0]);
    long.leave();
    short.leave();
  });

  test("records the status of a request that was still being sent", async () => {
    const client = RawClient.post(site.port, CHAT.path, "{", { length: 100 });
    await waitFor(() => site.forwarding.calls.size === 1);
    await site.forwarding.drain();
    await client.until(({ isWhole }) => isWhole);
    expect(client.status).toBe(503);
    expect(await site.row()).toMatchObject({
      outcome: "stopped",
      refusal: "service.stopping",
      httpStatus: 503,
    });
    client.leave();
  });

  test("does not wait if no request runs", async () => {
    await site.forwarding.drain();
    expect(site.rows).toEqual([]);
  });
});

test.each([
  ["", true],
  ["data: 1\n\n", true],
  ["a\r\n\r\n", true],
  ["a\r\r", true],
  ["a\n\r\n", true],
  ["a\r\n\n", true],
  ["\n\n", true],
  ["data: 1\n", false],
  ["data: 1\r\n", false],
  ["data: 1\r", false],
  ["data: 1", false],
])("an event can follow %j: %p", (sent, expected) => {
  expect(isBetweenEvents(sent.slice(-4))).toBe(expected);
});
