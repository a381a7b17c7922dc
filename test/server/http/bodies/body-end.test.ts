// Request bodies that are chunked, late or unread, on real sockets: what the caller receives, and when the connection ends.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generate } from "selfsigned";
import { SCIM_BASE_PATH } from "../../../../src/domain/scim/wire.ts";
import {
  BODY_TIMES,
  CHUNK_BYTES_MIN,
  keepStreamReadable,
  SMALL_CHUNKS_MAX,
} from "../../../../src/server/http/bodies/body-end.ts";
import { type Listener, listen } from "../../../../src/server/listener/listen.ts";
import { NO_PROXIES, raise } from "../../../support/network/listening-server.ts";
import { converse, type Step } from "../../../support/network/raw-socket.ts";
import { createTestServer, SCIM_TOKEN, type TestServer } from "../../../support/server.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const KINDS = ["tcp", "tls", "unix"] as const;
/** Short, so that both time limits pass during a test. */
const TIMES = { unauthenticatedMs: 250, graceMs: 60, silentMs: 250 };
/** For a body that arrives in time even if the machine is busy. */
const LONG_TIMES = { unauthenticatedMs: 20_000, graceMs: 10_000, silentMs: 20_000 };

const directory = temporaryDirectory();
type Kind = (typeof KINDS)[number];
type Places = Map<Kind, { testServer: TestServer; listener: Listener }>;
/** Each kind has its own server, so that all are tested at once: most of the time is spent waiting. */
const places: Places = new Map();
const patientPlaces: Places = new Map();

beforeAll(async () => {
  const pair = await generate([{ name: "commonName", value: "localhost" }], { keyType: "ec" });
  const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") };
  writeFileSync(files.cert, pair.cert);
  writeFileSync(files.key, pair.private, { mode: 0o600 });
  const shared = { ...NO_PROXIES, report: raise };
  const tcp = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;
  for (const [opened, bodyTimes, name] of [
    [places, TIMES, "socket"],
    [patientPlaces, LONG_TIMES, "patient"],
  ] as const) {
    const unix = { kind: "unix", path: join(directory, name) } as const;
    const options = { tcp: { listen: tcp }, tls: { listen: tcp, tls: files }, unix: { listen: unix } };
    for (const kind of KINDS) {
      const testServer = await createTestServer({ bodyTimes });
      opened.set(kind, {
        testServer,
        listener: listen(testServer.server.handle, { ...shared, ...options[kind] }),
      });
    }
  }
});
afterAll(async () => {
  for (const { testServer, listener } of [...places.values(), ...patientPlaces.values()]) {
    await listener.stop();
    await testServer[Symbol.asyncDispose]();
  }
  rmSync(directory, { recursive: true });
});

const fail = (kind: Kind): never => {
  throw new Error(`nothing listens on ${kind}`);
};

/** Checks all kinds at once. */
async function onEachListener(check: (kind: Kind) => Promise<void>): Promise<void> {
  const checks = KINDS.map((kind) =>
    check(kind).catch((cause: unknown) => {
      throw new Error(`on the ${kind} listener`, { cause });
    }),
  );
  const failed = (await Promise.allSettled(checks)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** For a server that should close the connection, and may be busy with other tests. */
const CLOSING_MS = 10_000;
/** For a server that should keep it open. */
const OPEN_MS = 400;

/** @returns the response, and the requests that the server received: `METHOD status` */
async function talk(kind: Kind, steps: readonly Step[], waitMaxMs = CLOSING_MS, at = places) {
  const { testServer, listener } = at.get(kind) ?? fail(kind);
  testServer.logged.length = 0;
  const conversation = await converse(listener, steps, waitMaxMs);
  const answered = testServer.logged.filter(({ event }) => event === "http.answered");
  return { ...conversation, answered: answered.map(({ method, status }) => `${method} ${status}`) };
}

const BODY = '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"NAME@example.org"}';
const NEXT = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
const users = `${SCIM_BASE_PATH}/Users`;
const CHUNKED = "Transfer-Encoding: chunked";

const headOf = (path: string, lines: readonly string[], method = "POST"): string =>
  [`${method} ${path} HTTP/1.1`, "Host: localhost", ...lines, "", ""].join("\r\n");

const freshBody = (): string => BODY.replace("NAME", `user-${crypto.randomUUID()}`);
const chunksOf = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;

const SCIM = [`Authorization: Bearer ${SCIM_TOKEN}`, "Content-Type: application/scim+json"];
const REFUSED = ["Authorization: Bearer unknown", "Content-Type: application/scim+json"];

/** The head of a chunked request, and the status of its response. */
const CHUNKED_REQUESTS: [string, string, number][] = [
  ["with a good credential", headOf(users, [...SCIM, CHUNKED]), 201],
  ["with a refused credential", headOf(users, [...REFUSED, CHUNKED]), 401],
  ["to a public route", headOf("/api/auth/sign-in/email", [CHUNKED]), 415],
  ["to no route", headOf("/nothing-here", [CHUNKED]), 404],
  ["with a method that has no body here", headOf("/health", [CHUNKED], "GET"), 200],
];

describe("a body of small chunks on every listener", () => {
  const TINY = "1\r\n{\r\n";
  /** This many chunks of one byte are allowed, because their framing counts as well. */
  const TINY_CHUNKS = Math.floor((SMALL_CHUNKS_MAX * CHUNK_BYTES_MIN) / (CHUNK_BYTES_MIN - 1));
  const LARGE = `200\r\n${"x".repeat(2 * CHUNK_BYTES_MIN)}\r\n`;

  test.each<[string, string, number]>([
    ["to a public route", headOf("/api/login-method", ["Content-Type: application/json", CHUNKED]), 400],
    ["with a good credential", headOf(users, [...SCIM, CHUNKED]), 400],
    ["with a refused credential", headOf(users, [...REFUSED, CHUNKED]), 401],
    ["to no route", headOf("/nothing-here", [CHUNKED]), 404],
  ])("%s is not read beyond SMALL_CHUNKS_MAX", (_name, head, status) =>
    onEachListener(async (kind) => {
      const whole = `${head}${TINY.repeat(SMALL_CHUNKS_MAX * 16)}0\r\n\r\n`;
      const { text, isClosed } = await talk(kind, [whole], CLOSING_MS, patientPlaces);
      if (text !== "") expect(text).toStartWith(`HTTP/1.1 ${status} `);
      expect(isClosed).toBe(true);
    }),
  );

  test.each<[string, string, string]>([
    ["one less than the limit", TINY.repeat(TINY_CHUNKS - 1), "request.malformed"],
    ["the limit", TINY.repeat(TINY_CHUNKS), "request.malformed"],
    ["one more than the limit", TINY.repeat(TINY_CHUNKS + 1), "request.tiny_chunks"],
    [
      "one more, with a large one between",
      TINY.repeat(9) + LARGE + TINY.repeat(TINY_CHUNKS - 8),
      "request.malformed",
    ],
    [
      "one more, after many large ones",
      LARGE.repeat(50) + TINY.repeat(TINY_CHUNKS + 1),
      "request.tiny_chunks",
    ],
  ])("%s", async (_name, chunks, reason) => {
    const head = headOf("/api/login-method", ["Content-Type: application/json", CHUNKED]);
    const { text } = await talk("tcp", [`${head}${chunks}0\r\n\r\n`], CLOSING_MS, patientPlaces);
    expect(text).toContain(reason);
  });
});

describe("a chunked request on every listener", () => {
  test.each(CHUNKED_REQUESTS)("%s, the connection is closed with the response", (_, head, status) =>
    onEachListener(async (kind) => {
      const whole = await talk(kind, [`${head}${chunksOf(freshBody())}\r\n`]);
      expect(whole.text).toStartWith(`HTTP/1.1 ${status} `);
      expect(whole.text.toLowerCase()).toContain("\r\nconnection: close\r\n");
      expect(whole.isClosed).toBe(true);
    }),
  );

  test.each(CHUNKED_REQUESTS)("%s, no further request on the connection is answered", (_, head, status) =>
    onEachListener(async (kind) => {
      const chunks = `${chunksOf(freshBody())}\r\n`;
      const { text, isClosed, answered } = await talk(kind, [head, 10, chunks, 20, NEXT]);
      const responses = text.match(/HTTP\/1\.1 /g) ?? []; // the one response may be lost because of a write after the close
      expect([responses.length > 1, isClosed]).toEqual([false, true]);
      expect(answered).toEqual([expect.stringMatching(new RegExp(` ${status}$`))]);
    }),
  );

  test.each(CHUNKED_REQUESTS)("%s, trailer lines are not treated as a request", (_, head) =>
    onEachListener(async (kind) => {
      for (const gap of [0, 10]) {
        const trailers = "X-Checksum: 1\r\n\r\n";
        const { text, isClosed, answered } = await talk(kind, [
          head + chunksOf(freshBody()),
          gap,
          trailers + NEXT,
        ]);
        const [first = ""] = text.split("\r\n\r\n");
        // A response may be lost if a socket is closed before the caller's last bytes were read.
        if (text !== "") expect(first.toLowerCase()).toContain("\r\nconnection: close");
        expect([isClosed, answered]).toEqual([true, [expect.any(String)]]);
      }
    }),
  );
});

describe("a slow body on every listener", () => {
  const drip = (piece: string, count: number): Step[] =>
    Array.from({ length: count }, () => [piece, 20]).flat();
  /** for longer than an unauthenticated caller may send */
  const slowly = (piece: string) => drip(piece, 10);

  test("ends the slow body of an unauthenticated caller with 408 and closes the connection", () =>
    onEachListener(async (kind) => {
      const json = "Content-Type: application/json";
      const form = "Content-Type: application/x-www-form-urlencoded";
      for (const [path, type, length, piece, name] of [
        ["/api/auth/sign-in/email", json, "Content-Length: 5000", "a", "request.too_slow"],
        ["/api/auth/oauth2/token", form, CHUNKED, "1\r\na\r\n", "did not arrive within 0.25 seconds"],
        ["/login", form, "Content-Length: 5000", "a", "did not arrive within 0.25 seconds"],
      ] as const) {
        const head = headOf(path, [type, length]);
        const { text, isClosed } = await talk(kind, [head, piece]);
        expect(text).toStartWith("HTTP/1.1 408 ");
        expect(text).toContain(name);
        expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
        expect(isClosed).toBe(true);
        const dripping = await talk(kind, [head, ...slowly(piece)]); // the response may be lost because of a write after the close
        expect([dripping.isClosed, dripping.answered]).toEqual([true, ["POST 408"]]);
      }
    }));

  test.each([
    ["declared", (body: string) => [`Content-Length: ${body.length}`, body] as const],
    ["chunked", (body: string) => [CHUNKED, `${chunksOf(body)}\r\n`] as const],
  ])("waits for the body of a caller with a good credential, %s", (_, sentAs) =>
    onEachListener(async (kind) => {
      const [line, body] = sentAs(freshBody());
      const half = body.length >> 1;
      const head = headOf(users, [...SCIM, line]);
      const { text } = await talk(
        kind,
        [head, body.slice(0, half), 2 * TIMES.unauthenticatedMs, body.slice(half)],
        OPEN_MS,
      );
      expect(text).toStartWith("HTTP/1.1 201 ");
    }),
  );

  test.each([
    ["a refused credential", headOf(users, [...REFUSED, "Content-Length: 5000"]), 401],
    ["a refused credential, with trailers to come", headOf(users, [...REFUSED, CHUNKED]), 401],
    ["no route", headOf("/nothing-here", ["Content-Length: 5000"]), 404],
    ["a declared size that is too large", headOf(users, [...REFUSED, "Content-Length: 500000000"]), 401],
  ])("answers a request with %s at once and closes the connection", (_, head, status) =>
    onEachListener(async (kind) => {
      const early = await talk(kind, [head, 60]);
      expect(early.text).toStartWith(`HTTP/1.1 ${status} `);
      const late = await talk(kind, [head, ...slowly(head.includes("chunked") ? "1\r\na\r\n" : "a")]);
      expect(late.text.toLowerCase()).toContain("\r\nconnection: close\r\n");
      expect([late.isClosed, late.answered]).toEqual([true, [`POST ${status}`]]);
    }),
  );

  test("closes the connection after the body of a GET because the runtime does not read it", () =>
    onEachListener(async (kind) => {
      const { text, isClosed } = await talk(kind, [headOf("/health", ["Content-Length: 5000"], "GET"), "a"]);
      expect(text).toStartWith("HTTP/1.1 200 ");
      expect(isClosed).toBe(true);
    }));

  test("reads the body of an authenticated caller to the end", () =>
    onEachListener(async (kind) => {
      const body = freshBody();
      const head = headOf(users, [...SCIM, `Content-Length: ${body.length}`]);
      const [first = "", ...rest] = body.match(/.{1,12}/g) ?? [];
      const steps = rest.flatMap((piece): Step[] => [20, piece]);
      const { text, isClosed } = await talk(kind, [head + first, ...steps], OPEN_MS);
      expect(text).toStartWith("HTTP/1.1 201 ");
      expect(isClosed).toBe(false);
    }));

  test("keeps the connection open if the body completes soon after the head is refused", () =>
    onEachListener(async (kind) => {
      const head = headOf(users, [...REFUSED, "Content-Length: 5"]);
      const { isClosed, answered } = await talk(kind, [head, 5, "abcde", 30, NEXT], OPEN_MS, patientPlaces);
      expect([isClosed, answered]).toEqual([false, ["POST 401", "GET 200"]]);
    }));
});

test("an unauthenticated caller has less than 30 seconds to send a body", () => {
  expect(BODY_TIMES.unauthenticatedMs + BODY_TIMES.graceMs).toBeLessThan(30_000);
});

describe("the framework does not see the stream of a body", () => {
  const requestWith = (headers: Record<string, string>, method = "POST") =>
    new Request("http://localhost/", { method, headers, ...(method === "POST" && { body: "abcde" }) });

  test("keeps a stream of known length readable", async () => {
    const request = requestWith({ "content-length": "5" });
    keepStreamReadable(request);
    expect([request.body, request.bodyUsed, await request.text()]).toEqual([null, false, "abcde"]);
  });

  test.each([
    ["of unknown length: it has no other", requestWith({ "transfer-encoding": "chunked" })],
    ["of a GET: there is none", requestWith({ "content-length": "5" }, "GET")],
  ])("except %s", (_what, request) => {
    keepStreamReadable(request);
    expect(Object.hasOwn(request, "body")).toBe(false);
  });
});
