// The streaming client of the inference gateway: when the gateway counts as unreachable, and how it becomes reachable again.
import { afterAll, describe, expect, test } from "bun:test";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import {
  CONNECTION_FAILURE_PAUSE_MS,
  type Reach,
  Upstream,
  UpstreamError,
} from "../../../src/platform/outbound/upstream.ts";
import { createFullBacklog } from "../../support/inference/full-backlog.ts";
import { ScriptedUpstream } from "../../support/inference/upstream.ts";
import { withVariables } from "../../support/network/environment.ts";
import { freePort } from "../../support/network/free-port.ts";
import { certify } from "../../support/network/private-ca.ts";

const server = await ScriptedUpstream.start();
afterAll(() => server[Symbol.asyncDispose]());

interface Peer {
  upstream: Upstream;
  /** moves the monotonic clock on */
  pass(ms: number): void;
}

function peerAt(url: string): Peer {
  let nowMs = 0;
  const upstream = new Upstream({ url, connectTimeoutMs: 200, monotonicMs: () => nowMs });
  return {
    upstream,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

/** @returns the status, or the error */
async function ask({ upstream }: Peer): Promise<number | string> {
  const { signal } = new AbortController();
  try {
    const response = await upstream.send("/v1/models", {
      method: "GET",
      headers: {},
      body: undefined,
      signal,
    });
    await response.bytes();
    return response.status;
  } catch (error) {
    if (error instanceof UpstreamError) return error.fault;
    throw error;
  }
}

describe("an upstream that accepts no connection (INF-32)", () => {
  test("is down briefly, is then tried once, and works again", async () => {
    const port = freePort();
    const peer = peerAt(`http://127.0.0.1:${port}`);
    expect([await ask(peer), peer.upstream.isUp]).toEqual(["unreachable", false]);
    const listener = Bun.serve({ hostname: "127.0.0.1", port, fetch: () => new Response("ok") });
    peer.pass(CONNECTION_FAILURE_PAUSE_MS - 1);
    expect(await ask(peer)).toBe("unreachable");
    peer.pass(1);
    // The first request tries to connect; the others do not wait for it.
    expect(await Promise.all([ask(peer), ask(peer), ask(peer)])).toEqual([200, "unreachable", "unreachable"]);
    expect([await ask(peer), peer.upstream.isUp]).toEqual([200, true]);
    await listener.stop(true);
  });

  test("stays down after a failed trial", async () => {
    const peer = peerAt(`http://127.0.0.1:${freePort()}`);
    await ask(peer);
    peer.pass(CONNECTION_FAILURE_PAUSE_MS);
    expect(await ask(peer)).toBe("unreachable");
    peer.pass(CONNECTION_FAILURE_PAUSE_MS - 1);
    expect([await ask(peer), peer.upstream.isUp]).toEqual(["unreachable", false]);
  });

  test("may have an unresolvable name, no TLS, or an unknown certificate", async () => {
    const { cert, key } = await certify();
    const tls = Bun.serve({ port: 0, tls: { cert, key }, fetch: () => new Response("ok") });
    const plain = Bun.serve({ port: 0, fetch: () => new Response("ok") });
    const places = [
      "http://gateway.invalid",
      plain.url.origin.replace("http", "https"),
      `https://localhost:${tls.port}`,
    ];
    expect(await Promise.all(places.map((url) => ask(peerAt(url))))).toEqual(places.map(() => "unreachable"));
    await Promise.all([tls.stop(true), plain.stop(true)]);
  });
});

describe("an upstream that accepts a connection is up", () => {
  test.each([
    ["resets it", "reset", (exchange: { reset(): void }) => exchange.reset()],
    ["ends it", "reset", (exchange: { close(): void }) => exchange.close()],
  ])("although it %s", async (_, fault, script) => {
    const peer = peerAt(server.origin);
    server.script = script;
    expect([await ask(peer), peer.upstream.isUp]).toEqual([fault, true]);
  });

  test("although it uses another protocol", async () => {
    const peer = peerAt(server.origin);
    server.script = (exchange) => exchange.write("220 mail.example.com ESMTP\r\n\r\n");
    expect([await ask(peer), peer.upstream.isUp]).toEqual(["bad_head", true]);
  });
});

test("a trial connection distinguishes acceptance, refusal and silence", async () => {
  await using silent = await createFullBacklog();
  const places = [server.origin, `http://127.0.0.1:${freePort()}`, silent.origin];
  const reached = places.map((url) => peerAt(url).upstream.reach(100));
  expect(await Promise.all(reached)).toEqual(["accepts", "refuses", "silent"]);
});

test.each<[string, string, Reach]>([
  ["HTTP_PROXY", "", "accepts"],
  ["HTTP_PROXY", "127.0.0.1", "refuses"],
  ["HTTPS_PROXY", "", "refuses"],
])("a trial connection to a closed port with %s and NO_PROXY=%p %s", async (name, NO_PROXY, reach) => {
  using _ = withVariables({ [name]: "http://proxy.example:3128", NO_PROXY });
  expect(await peerAt(`http://127.0.0.1:${freePort()}`).upstream.reach(100)).toBe(reach);
});

test("only destinations of the configuration have a streaming client", () => {
  const outbound = createOutbound({ allowed: [{ name: "gateway", origin: server.origin, why: "test" }] });
  expect(outbound.upstream("gateway", { connectTimeoutMs: 1 }).isUp).toBeUndefined();
  expect(() => outbound.upstream("other", { connectTimeoutMs: 1 })).toThrow(
    "no outgoing connection to other",
  );
});
