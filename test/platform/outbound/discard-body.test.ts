// Peers that announce a longer body than they send, and close the connection: the status is used, and the broken transfer is
// ignored.
import { afterAll, expect, test } from "bun:test";
import { httpsReceiver, RECEIVER_DESTINATION } from "../../../src/domain/audit/forwarding/https-receiver.ts";
import { createProxyHealth, PROXY_DESTINATION } from "../../../src/domain/gateway/inference/proxy-health.ts";
import { discardBody } from "../../../src/platform/outbound/discard-body.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { collector } from "../../../src/platform/tracing/collector.ts";
import { bucketAt } from "../../support/object-store/test-bucket.ts";
import { readSources } from "../../support/source.ts";

/** Some requests end before the transfer breaks; one of so many does not. */
const REQUESTS = 12;

const peerWith = (status: string) =>
  Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 1000000\r\n\r\nab`) },
  });
const [willing, refusing] = [peerWith("200 OK"), peerWith("400 Bad Request")];
afterAll(() => [willing, refusing].forEach((peer) => void peer.stop(true)));

const originOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
const doorTo = (name: string, peer: { port: number }) =>
  createOutbound({ allowed: [{ name, origin: originOf(peer), why: "test" }] });

/** @returns each different outcome of many requests */
async function outcomesOf(ask: () => Promise<unknown>): Promise<unknown[]> {
  const seen = new Set<string>();
  for (let request = 0; request < REQUESTS; request += 1)
    seen.add(
      await ask().then(
        (response) => JSON.stringify(response ?? "done"),
        (error: unknown) => `threw ${error}`,
      ),
    );
  return [...seen];
}

test("a response that breaks is discarded", async () => {
  const discard = async () => await discardBody(await fetch(originOf(willing)));
  expect(await outcomesOf(discard)).toEqual(['"done"']);
  expect(await outcomesOf(() => discardBody(undefined))).toEqual(['"done"']);
});

test("a proxy that breaks its response is healthy by its status", async () => {
  const health = createProxyHealth({
    clock: { nowMs: Date.now },
    outbound: doorTo(PROXY_DESTINATION, willing),
  });
  expect(await outcomesOf(async () => (await health()).status)).toEqual(['"healthy"']);
});

test("a receiver of the audit log that breaks its response has taken the entries", async () => {
  const signal = new AbortController().signal;
  const outbound = doorTo(RECEIVER_DESTINATION, willing);
  const receiver = httpsReceiver({
    outbound,
    path: "/",
    authorization: undefined,
    tls: () => ({ ca: undefined }),
  });
  expect(await outcomesOf(() => receiver.send([], signal))).toEqual(['"done"']);
});

test("a collector of spans that breaks its refusal has refused them", async () => {
  const options = { outbound: doorTo("collector", refusing), destination: "collector", path: "/" };
  const deliver = collector({ ...options, authorization: undefined, tls: () => ({ ca: undefined }) });
  const refusal = { taken: false, isFinal: true, error: "the collector answered 400" };
  expect(await outcomesOf(() => deliver([]))).toEqual([JSON.stringify(refusal)]);
});

test("a store that breaks its response has removed the object", async () => {
  expect(await outcomesOf(() => bucketAt(originOf(willing)).remove("key"))).toEqual(["true"]);
});

test("a body is discarded only by the function that allows for a broken transfer", async () => {
  const careless = (await readSources(["src", "cli"])).filter(({ code }) =>
    /body\??\.cancel\(\);/.test(code),
  );
  expect(careless.map(({ path }) => path)).toEqual([]);
});
