// Malformed HTTP over raw sockets to the real server: each request is refused with a 4xx or a closed connection, none causes a
// server error, nothing is logged, and the next caller is served. test/torture tests requests that take long to time out.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import fc from "fast-check";
import { createListeningServer, type ListeningServer } from "../support/network/listening-server.ts";

const HOST = "Host: localhost\r\nConnection: close\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
/** ends this side of the connection */
const HANG_UP = Symbol("hang up");
const SPOILED_REQUESTS = 200;
const SIGN_IN = "POST /api/auth/sign-in/email HTTP/1.1\r\n";

let server: ListeningServer;
beforeAll(async () => {
  server = await createListeningServer({ bodyTimes: { unauthenticatedMs: 500, graceMs: 20, silentMs: 500 } });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Sends each part as one packet. @returns the bytes received until the connection is closed */
async function exchange(...parts: readonly (string | Uint8Array | typeof HANG_UP)[]): Promise<string> {
  const socket = connect(Number(new URL(server.origin).port), "127.0.0.1");
  const closed = Promise.withResolvers<void>();
  let received = "";
  socket.setNoDelay(true);
  socket.on("data", (bytes) => {
    received += bytes.toString("latin1");
  });
  socket.on("error", () => {}); // reset while the test still sends: it is closed, too
  socket.on("close", closed.resolve);
  for (const part of parts) {
    if (part === HANG_UP) socket.end();
    else await new Promise((sent) => socket.write(part, sent));
  }
  await closed.promise;
  return received;
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const statusesIn = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

const errorsLogged = (): unknown[] => server.logged.filter(({ level }) => level === "error");

const GOOD: readonly Uint8Array[] = [
  `GET /health?a=b HTTP/1.1\r\n${HOST}Accept: */*\r\n\r\n`,
  `GET /scim/v2/Users?filter=userName%20eq%20%22a%22 HTTP/1.1\r\n${HOST}Authorization: Bearer abc\r\n\r\n`,
  `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: 13\r\n\r\n{"email":"a"}`,
  `${SIGN_IN}${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nd\r\n{"email":"a"}\r\n0\r\n\r\n`,
].map((text) => Buffer.from(text));

/** Replaces bytes; positions are thousandths of the whole. */
function spoil(
  whole: Uint8Array,
  { place, length, bytes }: { place: number; length: number; bytes: Uint8Array },
) {
  const at = Math.floor((whole.length * place) / 1_000);
  return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at + length)]);
}

/** `[]`: closed without a response */
const cases: readonly (readonly [name: string, bytes: string, statuses: readonly number[]])[] = [
  ["no HTTP at all", "\0\x01\x02 nonsense\r\n\r\n", [400]],
  ["the start of TLS", `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${"a".repeat(500)}`, [400]],
  ["HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]],
  ["HTTP/0.9", "GET /health\r\n\r\n", [505]],
  ["a version that there is not", `GET /health HTTP/3.0\r\n${HOST}\r\n`, [505]],
  ["only line ends", "\r\n".repeat(5_000), [400]],
  ["a method with a bracket", `GE(T /health HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ["a method of 5,000 letters", `${"A".repeat(5_000)} /health HTTP/1.1\r\n${HOST}\r\n`, []],
  ["a path without its slash", `GET health HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ["a path with a zero byte", `GET /hea\0lth HTTP/1.1\r\n${HOST}\r\n`, [505]],
  ["a path of bytes that are not text", `GET /h\xe9\xff HTTP/1.1\r\n${HOST}\r\n`, [404]],
  ["a path with invalid escapes", `GET /%zz%ff/%c0%ae HTTP/1.1\r\n${HOST}\r\n`, [404]],
  ["a query with invalid escapes", `GET /health?%ff%zz&__proto__[x]=1 HTTP/1.1\r\n${HOST}\r\n`, [200]],
  ["a path of 100 KB", `GET /${"a".repeat(100_000)} HTTP/1.1\r\n${HOST}\r\n`, [431]],
  ["a tunnel", `CONNECT example.org:443 HTTP/1.1\r\n${HOST}\r\n`, [404]],
  ["no host", "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n", [400]],
  ["a host with spaces", "GET /health HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", [400]],
  ["a host with a path", "GET /health HTTP/1.1\r\nHost: a/b#c\r\nConnection: close\r\n\r\n", [400]],
  ["half an address for a host", "GET /health HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n", [400]],
  [
    "a port that there is not",
    "GET /governance-config HTTP/1.1\r\nHost: localhost:99999\r\nConnection: close\r\n\r\n",
    [400],
  ],
  ["two hosts", `GET /health HTTP/1.1\r\nHost: other\r\n${HOST}\r\n`, [400]],
  ["a header without a colon", `GET /health HTTP/1.1\r\n${HOST}broken\r\n\r\n`, [400]],
  ["a space before the colon", `GET /health HTTP/1.1\r\n${HOST}X : a\r\n\r\n`, [400]],
  ["a zero byte in a header", `GET /health HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, [400]],
  ["a header over two lines", `GET /health HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`, [400]],
  ["100 KB of headers", `GET /health HTTP/1.1\r\n${HOST}X: ${"a".repeat(100_000)}\r\n\r\n`, [431]],
  ["500 headers", `GET /health HTTP/1.1\r\n${HOST}${"X: a\r\n".repeat(500)}\r\n`, [431]],
  [
    "a cookie of bytes that are not text",
    `GET /governance-config HTTP/1.1\r\n${HOST}Cookie: \xff=\xfe;;=\r\n\r\n`,
    [401],
  ],
  [
    "a token of bytes that are not text",
    `GET /governance-config HTTP/1.1\r\n${HOST}Authorization: Bearer \xff\r\n\r\n`,
    [401],
  ],
  ["an invalid media type", `${SIGN_IN}${HOST}Content-Type: \xff;;=\r\nContent-Length: 2\r\n\r\n{}`, [415]],
  ["a length that is not a number", `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: abc\r\n\r\n{}`, [400]],
  ["a length with a sign", `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: +2\r\n\r\n{}`, [400]],
  ["a negative length", `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: -1\r\n\r\n`, [400]],
  [
    "a length of 23 digits",
    `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: ${"9".repeat(23)}\r\n\r\n{}`,
    [400],
  ],
  ["a length of ten gigabytes", `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: 9999999999\r\n\r\n{}`, [413]],
  [
    "two lengths that differ",
    `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: 1\r\nContent-Length: 2\r\n\r\na`,
    [400],
  ],
  [
    "a length beside chunks",
    `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX`,
    [400],
  ],
  [
    "a transfer coding that there is not",
    `${SIGN_IN}${HOST}${JSON_TYPE}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    "a chunk whose size is no number",
    `${SIGN_IN}${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
    [400],
  ],
  [
    "a chunk of a size beyond all numbers",
    `${SIGN_IN}${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n${"f".repeat(18)}\r\n{}\r\n`,
    [400],
  ],
  [
    "a chunk with 100 KB of remarks",
    `${SIGN_IN}${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n2;${"x".repeat(100_000)}\r\n{}\r\n`,
    [413],
  ],
  [
    "a body full of open brackets",
    `${SIGN_IN}${HOST}${JSON_TYPE}Content-Length: 60000\r\n\r\n${"[".repeat(60_000)}`,
    [400],
  ],
  ["good HTTP and then none", "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGARBAGE\r\n\r\n", [200, 400]],
];

describe("the server survives", () => {
  test.each(cases)("%s", async (_, bytes, statuses) => {
    expect(statusesIn(await exchange(latin1(bytes)))).toEqual([...statuses]);
    expect(errorsLogged()).toEqual([]);
    expect((await fetch(`${server.origin}/health`)).status).toBe(200);
  });

  test("good requests with bytes changed, removed or duplicated", async () => {
    const place = fc.nat({ max: 999 });
    const change = fc.record({ place, length: fc.nat({ max: 8 }), bytes: fc.uint8Array({ maxLength: 8 }) });
    const request = fc.constantFrom(...GOOD);
    await fc.assert(
      fc.asyncProperty(request, fc.array(change, { minLength: 1, maxLength: 4 }), async (good, changes) => {
        const received = await exchange(changes.reduce(spoil, good), HANG_UP);
        expect(statusesIn(received).filter((status) => status >= 500 && status !== 505)).toEqual([]);
        expect(errorsLogged()).toEqual([]);
      }),
      { numRuns: SPOILED_REQUESTS },
    );
    expect((await fetch(`${server.origin}/health`)).status).toBe(200);
  });
});

describe("the server accepts", () => {
  test("HTTP/1.0 without a host, as proxies send it in health checks", async () => {
    expect(statusesIn(await exchange("GET /health HTTP/1.0\r\n\r\n"))).toEqual([200]);
  });

  test("fifty requests in one packet and answers them in order", async () => {
    const requests = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? "/health" : `/nothing/${at}`)).map(
      (path, at) => `GET ${path} HTTP/1.1\r\n${at === 49 ? HOST : "Host: localhost\r\n"}\r\n`,
    );
    const statuses = statusesIn(await exchange(requests.join("")));
    expect(statuses).toEqual(Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? 200 : 404)));
  });
});

test.each([
  ["of a declared length", "Content-Length: 100\r\n\r\n{"],
  ["in chunks", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
])("a caller that disconnects in the middle of a body %s causes no internal error", async (_, rest) => {
  const failures = () => server.logged.filter(({ event }) => event === "http.failed").length;
  const before = server.logged.length;
  await exchange(`${SIGN_IN}${HOST}${JSON_TYPE}${rest}`, HANG_UP);
  while (server.logged.length === before) await Bun.sleep(1);
  expect(failures()).toBe(0);
});
