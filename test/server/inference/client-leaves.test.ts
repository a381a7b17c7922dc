// A client that disconnects cancels the request to the upstream, in every phase; permits, connections and memory are released.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { createForwardingSite, SETTINGS } from "../../support/inference/forwarding.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { CHAT, MESSAGES } from "../../support/inference/recordings.ts";
import { EVENT_STREAM } from "../../support/inference/upstream.ts";

const site = await createForwardingSite({ settings: { bufferBytes: 20_000 } });
const { upstream } = site;
afterEach(() => site.forget());
afterAll(() => site[Symbol.asyncDispose]());

const HOW = ["fin", "rst"] as const;
const LARGE = "x".repeat(50_000);

describe.each(HOW)("a client that leaves by %s aborts the upstream (INF-27)", (how) => {
  test("aborts while the upstream works on its head", async () => {
    upstream.script = () => {};
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    const exchange = await upstream.exchange();
    await exchange.body();
    client.leave(how);
    await exchange.closed;
    expect(await site.row()).toMatchObject({ outcome: "client_closed", httpStatus: null, stream: null });
    expect(site.held).toBe(0);
  });

  test("aborts while a stream passes, or is quiet", async () => {
    upstream.script = async (exchange) => {
      await exchange.head(200, EVENT_STREAM);
      await exchange.chunk(MESSAGES.events[0] ?? "");
    };
    const client = RawClient.post(site.port, MESSAGES.path, MESSAGES.request);
    await client.until(({ body }) => body.length > 0);
    client.leave(how);
    await (await upstream.exchange()).closed;
    expect(await site.row()).toMatchObject({
      outcome: "client_closed",
      httpStatus: 200,
      usageSource: "partial",
      inputTokens: 23,
    });
    expect(site.held).toBe(0);
  });

  test("aborts before the first byte of a response that is not a stream", async () => {
    upstream.script = (exchange) => exchange.head(200, [["content-length", "5"]]);
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    const exchange = await upstream.exchange();
    await waitFor(() => site.forwarding.calls.size === 1);
    client.leave(how);
    await exchange.closed;
    expect(await site.row()).toMatchObject({ outcome: "client_closed" });
  });

  test("aborts while a buffered body arrives: the upstream gets no request", async () => {
    const client = RawClient.post(site.port, CHAT.path, "{", { length: 1_000 });
    await waitFor(() => site.forwarding.calls.size === 1);
    client.leave(how);
    expect(await site.row()).toMatchObject({ outcome: "client_closed" });
    expect([upstream.exchanges.length, site.held]).toEqual([0, 0]);
  });

  test("aborts while a streamed body arrives: the upstream's connection ends", async () => {
    upstream.script = () => {};
    const client = RawClient.post(site.port, CHAT.path, LARGE, { length: 2 * LARGE.length });
    const exchange = await upstream.exchange();
    await waitFor(() => exchange.bytesArrived === LARGE.length);
    client.leave(how);
    await exchange.closed;
    expect(await site.row()).toMatchObject({ outcome: "client_closed" });
    expect(site.held).toBe(0);
  });
});

/** Waits for a condition that no event announces. */
async function waitFor(isMet: () => boolean): Promise<void> {
  while (!isMet()) await Bun.sleep(1);
}

/** connections that clients have open */
function connections(): number {
  const local = `:${site.port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return rows.filter((row) => {
    const [, from, , state] = row.trim().split(/\s+/);
    return from?.endsWith(local) && state === ESTABLISHED;
  }).length;
}
/** in /proc/net/tcp */
const ESTABLISHED = "01";

test("a client that does not read the end of its response does not hold the connection forever", async () => {
  upstream.script = async (exchange) => {
    await exchange.head(200, EVENT_STREAM);
    while (exchange.isOpen) await exchange.chunk("x".repeat(60_000));
  };
  const client = RawClient.post(site.port, CHAT.path, CHAT.request);
  client.socket.pause();
  await upstream.exchange();
  await waitFor(() => connections() === 1);
  site.pass(SETTINGS.streamMaxMs);
  expect(await site.row()).toMatchObject({ outcome: "timeout" });
  await waitFor(() => connections() === 0);
  client.leave();
});

const descriptors = (): number => readdirSync("/proc/self/fd").length;

test("hundreds of clients that leave hold no permit, connection or file descriptor", async () => {
  const rounds = 300;
  upstream.script = async (exchange) => {
    if (exchange.header("x-phase") === "head") return;
    await exchange.head(200, EVENT_STREAM);
    await exchange.chunk("data: 1\n\n");
  };
  const round = async (index: number) => {
    const phase = index % 2 === 0 ? "head" : "answer";
    const client = RawClient.post(site.port, CHAT.path, CHAT.request, { headers: `X-Phase: ${phase}\r\n` });
    if (phase === "answer") await client.until(({ body }) => body.length > 0);
    else await upstream.exchange(index);
    client.leave(index % 3 === 0 ? "rst" : "fin");
    await site.row(index);
  };
  await round(0);
  const before = descriptors();
  for (let index = 1; index < rounds; index += 1) await round(index);
  await waitFor(() => upstream.open === 0);
  expect(site.rows.filter(({ outcome }) => outcome === "client_closed")).toHaveLength(rounds);
  expect([site.held, site.forwarding.calls.size, site.reported.length]).toEqual([0, 0, 0]);
  expect(descriptors()).toBeLessThan(before + 20);
});
