// The socket: who the caller is behind proxies, what a stop lets end, and that hostile HTTP is answered and survived.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { INSPECTION_TIMEOUT_MS } from "../../src/domain/catalog/package-sources.ts";
import { IDLE_TIMEOUT_SECONDS, type Listener, listen } from "../../src/server/listen.ts";
import type { Server } from "../../src/server/server.ts";

const range = (address: string, prefix: number) => ({ address, prefix, family: "ipv4" }) as const;
const LOOPBACK = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;

const report = (error: unknown) => expect(error).toBeUndefined();

/** Answers with what it takes the caller's address for. */
const echoAddress: Server["handle"] = (request, addressOf) => new Response(String(addressOf?.(request)));

describe("the caller's address", () => {
  let direct: Listener;
  let proxied: Listener;
  beforeAll(() => {
    direct = listen(echoAddress, { listen: LOOPBACK, trustedProxies: [], report });
    const trustedProxies = [range("127.0.0.1", 32), range("10.0.0.0", 8)];
    proxied = listen(echoAddress, { listen: LOOPBACK, trustedProxies, report });
  });
  afterAll(() => Promise.all([direct.stop(), proxied.stop()]));

  const ask = async (listener: Listener, forwarded?: string): Promise<string> =>
    (
      await fetch(listener.address, {
        headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
      })
    ).text();

  test("is the peer's, whatever it claims, when no proxy is trusted", async () => {
    expect(await ask(direct)).toBe("127.0.0.1");
    expect(await ask(direct, "203.0.113.7")).toBe("127.0.0.1");
  });

  test("is the last one that no trusted proxy added for another", async () => {
    expect(await ask(proxied, "203.0.113.7")).toBe("203.0.113.7");
    expect(await ask(proxied, "198.51.100.1, 203.0.113.7, 10.1.2.3")).toBe("203.0.113.7");
    expect(await ask(proxied, "203.0.113.7, ::ffff:10.1.2.3")).toBe("203.0.113.7");
  });

  test("is the peer's when a trusted proxy says nothing readable", async () => {
    expect(await ask(proxied)).toBe("127.0.0.1");
    expect(await ask(proxied, "unknown, <script>")).toBe("127.0.0.1");
  });
});

test("a connection outlives the slowest answer by some time to check what was fetched", () => {
  expect(IDLE_TIMEOUT_SECONDS * 1_000).toBeGreaterThanOrEqual(INSPECTION_TIMEOUT_MS + 30_000);
});

describe("a stop", () => {
  test("takes no new request and lets the running one end", async () => {
    const entered = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const listener = listen(
      async () => {
        entered.resolve();
        await goOn.promise;
        return new Response("done");
      },
      { listen: LOOPBACK, trustedProxies: [], report },
    );
    const running = fetch(listener.address);
    await entered.promise;
    const stopped = listener.stop();
    await expect(fetch(listener.address, { keepalive: false })).rejects.toThrow();
    goOn.resolve();
    expect(await (await running).text()).toBe("done");
    await stopped;
    await listener.stop(); // again: nothing happens
  });
});

describe("hostile HTTP", () => {
  let listener: Listener;
  beforeAll(() => {
    listener = listen(() => new Response("fine"), { listen: LOOPBACK, trustedProxies: [], report });
  });
  afterAll(() => listener.stop());

  /** @returns what comes back on a raw connection until the server closes it */
  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(listener.address).port), "127.0.0.1", () => socket.write(bytes));
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk;
        if (received.includes("fine")) socket.end();
      });
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });

  const cases: [string, string][] = [
    ["no HTTP at all", "\0\x01\x02 nonsense\r\n\r\n"],
    ["a header without a colon", "GET / HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n"],
    [
      "two lengths that differ",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
    ],
    [
      "a length beside chunks",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a negative length", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"],
    ["100 KB of headers", `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(100_000)}\r\n\r\n`],
  ];
  for (const [name, bytes] of cases) {
    test(`is refused and the next caller served: ${name}`, async () => {
      expect(await raw(bytes)).not.toContain("fine");
      expect(await (await fetch(listener.address)).text()).toBe("fine");
    });
  }
});
