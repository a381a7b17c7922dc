// Information for a caller without a credential about its own connection: the address that the service sees, and two
// events.
import { describe, expect, test } from "bun:test";
import { type ListenOptions, listen } from "../../../src/server/listener/listen.ts";
import {
  CONNECTION_STREAMS_MAX,
  CONNECTION_STREAMS_PER_ADDRESS_MAX,
} from "../../../src/server/routes/connection.ts";
import { NO_PROXIES, raise } from "../../support/network/listening-server.ts";
import { createTestServer } from "../../support/server.ts";

const LOOPBACK = { address: "127.0.0.0", prefix: 8, family: "ipv4" } as const;
const TRUSTING = { trustedProxies: [LOOPBACK], forwardedHeader: "x-forwarded-for" } as const;
const SENT = { "x-forwarded-for": "203.0.113.7" };

async function seen(
  trust: Pick<ListenOptions, "trustedProxies" | "forwardedHeader">,
  headers: Record<string, string> = {},
): Promise<unknown> {
  await using testServer = await createTestServer();
  const place = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;
  const listener = listen(testServer.server.handle, { listen: place, ...trust, report: raise });
  const response = await fetch(`${listener.address}/connection`, { headers });
  const document: unknown = await response.json();
  await listener.stop();
  return document;
}

describe("the connection", () => {
  test("has the address of a direct caller", async () => {
    expect(await seen(NO_PROXIES)).toEqual({ address: "127.0.0.1", forwarding: "none" });
  });

  test.each([
    ["alone", SENT],
    ["behind an unreadable one of the caller", { "x-forwarded-for": "unknown, 203.0.113.7" }],
  ])("takes the address that a trusted proxy forwards %s", async (_where, headers) => {
    expect(await seen(TRUSTING, headers)).toEqual({ address: "203.0.113.7", forwarding: "trusted" });
  });

  test.each([
    ["missing", "a trusted proxy forwards none", TRUSTING, {}],
    ["missing", "a trusted proxy forwards an unreadable one", TRUSTING, { "x-forwarded-for": "unknown" }],
    ["missing", "a trusted proxy sends another header", TRUSTING, { forwarded: "for=203.0.113.7" }],
    ["untrusted", "the proxy is not trusted", NO_PROXIES, SENT],
  ])("has no address and is %s where %s", async (forwarding, _, trust, headers) => {
    expect(await seen(trust, headers)).toEqual({ address: null, forwarding });
  });
});

describe("the event stream", () => {
  const open = async (testServer: Awaited<ReturnType<typeof createTestServer>>, address: string) => {
    const response = await testServer.request("GET", "/connection/events", { address });
    return { answer: response, reader: response.body?.getReader() };
  };

  test("sends one event immediately, a second one later, and ends", async () => {
    await using testServer = await createTestServer();
    const { answer, reader } = await open(testServer, "192.0.2.1");
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    const parts = [await reader?.read(), await reader?.read(), await reader?.read()];
    const texts = parts.map((part) => part?.value && Buffer.from(part.value).toString());
    expect(texts).toEqual([
      'event: connection\ndata: {"part":1}\n\n',
      'event: connection\ndata: {"part":2}\n\n',
      undefined,
    ]);
  });

  test("is refused to an address with too many open streams until one ends", async () => {
    await using testServer = await createTestServer();
    const opened = [];
    for (let count = 0; count < CONNECTION_STREAMS_PER_ADDRESS_MAX; count++)
      opened.push(await open(testServer, "192.0.2.1"));
    expect(opened.map(({ answer }) => answer.status)).toEqual(opened.map(() => 200));
    const response = await testServer.request("GET", "/connection/events", { address: "192.0.2.1" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await response.json()).toMatchObject({ reason: "connection.too_many_streams" });
    await opened[0]?.reader?.cancel();
    expect((await open(testServer, "192.0.2.1")).answer.status).toBe(200);
  });

  test("is refused to every caller when too many are open", async () => {
    await using testServer = await createTestServer({ isOwn: true });
    const statuses = [];
    for (let count = 0; count <= CONNECTION_STREAMS_MAX; count++)
      statuses.push((await open(testServer, `192.0.2.${count}`)).answer.status);
    expect(statuses.slice(0, -1).every((status) => status === 200)).toBe(true);
    expect(statuses.at(-1)).toBe(503);
  });
});
