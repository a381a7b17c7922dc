// Receivers of the audit log over real connections: JSON lines over HTTPS, and syslog over TLS.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type TLSSocket } from "node:tls";
import type { AuditRow } from "../../../../src/domain/audit/chain.ts";
import {
  httpsReceiver,
  RECEIVER_DESTINATION,
} from "../../../../src/domain/audit/forwarding/https-receiver.ts";
import { messageOf, syslogReceiver } from "../../../../src/domain/audit/forwarding/syslog-receiver.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { type Certified, certify } from "../../../support/network/private-ca.ts";
import { START_MS } from "../../../support/world.ts";

const signal = new AbortController().signal;

const entryOf = (id: number, after = "{}"): AuditRow => ({
  id,
  atMs: START_MS,
  organizationId: "organization",
  actorKind: "user",
  actorId: null,
  actorLabel: "jörg@example.org",
  address: null,
  requestId: null,
  action: "user.update",
  target: "target",
  before: null,
  after,
  previousDigest: "",
  digest: "d".repeat(64),
  credential: null,
  redactedBy: null,
});

let tls: Certified;
let client: Certified;
beforeAll(async () => {
  [tls, client] = await Promise.all([certify(), certify({ name: "quartermaster" })]);
});

const doorTo = (origin: string) =>
  createOutbound({ allowed: [{ name: RECEIVER_DESTINATION, origin, why: "test" }] });

let seen: { headers: Headers; body: string }[] = [];
let status = 204;
let https: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  https = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: tls.cert, key: tls.key },
    async fetch(request) {
      seen.push({ headers: request.headers, body: await request.text() });
      return new Response(null, { status, headers: { location: "https://elsewhere.example/" } });
    },
  });
});
afterAll(() => https.stop(true));

const sendByHttps = (entries: readonly AuditRow[], ca: string | undefined = tls.ca) => {
  const outbound = doorTo(`https://localhost:${https.port}`);
  const authorization = new Secret("Splunk 123");
  seen = [];
  return httpsReceiver({ outbound, path: "/logs", authorization, tls: () => ({ ca }) }).send(entries, signal);
};

test("FWD-4 an https receiver gets one JSON object per line, with the header of the operator", async () => {
  status = 204;
  await sendByHttps([entryOf(1), entryOf(2)]);
  const [request] = seen;
  expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
    "content-type": "application/x-ndjson",
    authorization: "Splunk 123",
  });
  const lines = request?.body
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { id: 1, action: "user.update", actor: { label: "jörg@example.org" }, outcome: "succeeded" },
    { id: 2 },
  ]);
});

test.each([302, 400, 413, 429, 503])("FWD-4 the response %d confirms nothing", async (code) => {
  status = code;
  expect(sendByHttps([entryOf(1)])).rejects.toMatchObject({ kind: "unavailable" });
});

test("FWD-4 an https receiver with an unknown certificate gets nothing", async () => {
  const other = await certify();
  expect(sendByHttps([entryOf(1)], other.ca)).rejects.toMatchObject({ reason: "outbound.failed" });
  expect(seen).toEqual([]);
});

interface Peer extends AsyncDisposable {
  origin: string;
  /** resolves with all bytes of one connection */
  received: Promise<string>;
}

/** A receiver of syslog. @param onConnection default: reads everything, then ends */
async function createPeer(onConnection?: (socket: TLSSocket) => void): Promise<Peer> {
  const received = Promise.withResolvers<string>();
  const options = {
    cert: tls.cert,
    key: tls.key,
    requestCert: true,
    ca: client.ca,
    rejectUnauthorized: true,
  };
  const server = createServer(options, (socket) => {
    const parts: Buffer[] = [];
    socket.on("error", () => {});
    if (onConnection) return onConnection(socket);
    socket.on("data", (part) => void parts.push(Buffer.from(part)));
    socket.on("end", () => received.resolve(Buffer.concat(parts).toString()));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const stop = async () => void server.close();
  return { origin: `tls://localhost:${port}`, received: received.promise, [Symbol.asyncDispose]: stop };
}

const sendBySyslog = (origin: string, entries: readonly AuditRow[], ca: string | undefined = tls.ca) =>
  syslogReceiver({
    outbound: doorTo(origin),
    hostname: "control.example.org",
    tls: () => ({ ca, client: { cert: client.cert, key: client.key } }),
  }).send(entries, signal);

test("FWD-3 a syslog receiver gets messages of RFC 5424, each with its length in octets", async () => {
  await using peer = await createPeer();
  await sendBySyslog(peer.origin, [entryOf(1), entryOf(2)]);
  const messages = [
    messageOf(entryOf(1), "control.example.org"),
    messageOf(entryOf(2), "control.example.org"),
  ];
  expect(await peer.received).toBe(messages.map((text) => `${Buffer.byteLength(text)} ${text}`).join(""));
  const head = "<109>1 2026-01-01T00:00:00.000Z control.example.org quartermaster - user.update";
  expect(messages[1]).toStartWith(`${head} [meta sequenceId="2"] {"id":2,`);
});

test.each([
  ["a name with other characters", "kü pe\n", "kpe"],
  ["no name", " ", "-"],
  ["a long name", "h".repeat(256), "h".repeat(255)],
])("FWD-3 %s stays one field of the header", (_, hostname, field) => {
  expect(messageOf(entryOf(1), hostname).split(" ")[2]).toBe(field);
});

test.each([
  [2_147_483_647, 2_147_483_647],
  [2_147_483_648, 1],
])("FWD-3 entry %d has the sequence id %d", (id, sequence) => {
  expect(messageOf(entryOf(id), "host")).toContain(`[meta sequenceId="${sequence}"]`);
});

test("FWD-3 a long action is cut to the length of a message id", () => {
  const actionOf = (length: number) =>
    messageOf({ ...entryOf(1), action: "a".repeat(length) }, "host").split(" ")[5]?.length;
  expect([31, 32, 33].map(actionOf)).toEqual([31, 32, 32]);
});

test("FWD-3 a receiver that stops reading in the middle of a batch has not confirmed it", async () => {
  await using peer = await createPeer((socket) => socket.once("data", () => socket.destroy()));
  const large = entryOf(1, JSON.stringify("x".repeat(8_000_000)));
  expect(sendBySyslog(peer.origin, [large])).rejects.toMatchObject({ reason: "outbound.failed" });
});

test("FWD-3 a receiver that ends the connection without reading has not confirmed the batch", async () => {
  await using peer = await createPeer((socket) => socket.pause().end()); // like a proxy whose server is down
  expect(sendBySyslog(peer.origin, [entryOf(1)])).rejects.toMatchObject({ reason: "outbound.failed" });
});

test("FWD-3 a receiver with an unknown certificate gets nothing", async () => {
  const other = await certify();
  let connections = 0;
  await using peer = await createPeer(() => {
    connections += 1;
  });
  expect(sendBySyslog(peer.origin, [entryOf(1)], other.ca)).rejects.toMatchObject({
    reason: "outbound.failed",
  });
  expect(connections).toBe(0);
});

test("neither kind of destination can be used as the other", async () => {
  const notAllowed = { kind: "forbidden", reason: "outbound.not_allowed" };
  const tlsOnly = doorTo("tls://localhost:6514");
  const httpsOnly = doorTo("https://localhost:1");
  const delivery = { timeoutMs: 1000, tls: { ca: undefined } };
  expect(tlsOnly.fetch(RECEIVER_DESTINATION, "/", { timeoutMs: 1000 })).rejects.toMatchObject(notAllowed);
  expect(() => tlsOnly.upstream(RECEIVER_DESTINATION, { connectTimeoutMs: 1 })).toThrow();
  expect(httpsOnly.deliver(RECEIVER_DESTINATION, new Uint8Array(), delivery)).rejects.toMatchObject(
    notAllowed,
  );
});
