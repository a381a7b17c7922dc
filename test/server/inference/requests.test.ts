// Requests to the upstream: the client's request, byte for byte, with one credential of the service, and nothing that identifies
// its sender or origin.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CLIENT_SILENCE_MS } from "../../../src/server/inference/forwarding/request-body.ts";
import { CREDENTIAL_CARRIERS } from "../../../src/server/inference/forwarding/request-headers.ts";
import { CALLER, createForwardingSite, MANAGED_KEY } from "../../support/inference/forwarding.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { CHAT, MESSAGES } from "../../support/inference/recordings.ts";
import type { Script, UpstreamExchange } from "../../support/inference/upstream.ts";

const BUFFER_BYTES = 20_000;
const MAX_BYTES = 60_000;
const site = await createForwardingSite({
  base: "/gateway/base",
  settings: { bufferBytes: BUFFER_BYTES, maxBodyBytes: MAX_BYTES, bufferTotalBytes: 2 * BUFFER_BYTES },
});
const { upstream } = site;
const ANSWER: Script = async (exchange) => {
  await exchange.body();
  await exchange.answer(200, "{}");
};
afterEach(() => {
  site.forget();
  upstream.script = ANSWER;
});
afterAll(() => site[Symbol.asyncDispose]());
upstream.script = ANSWER;

/** Waits for a condition that no event announces. */
async function waitFor(isMet: () => boolean): Promise<void> {
  while (!isMet()) await Bun.sleep(1);
}

/** Sends raw header lines. @returns what the upstream and the client received */
async function send(
  headers: string,
  path: string = CHAT.path,
): Promise<{ exchange: UpstreamExchange; client: RawClient }> {
  const client = RawClient.post(site.port, path, "{}", { headers });
  await client.until(({ isWhole }) => isWhole);
  client.leave();
  const exchange = upstream.exchanges.at(-1);
  if (!exchange) throw new Error(`nothing arrived: ${client.text}`);
  return { exchange, client };
}

const CANARY = "canary-4e1f";
/** Headers that never reach the upstream as the client sent them (Connection is set by the service). */
const REFUSED_NAMES = [
  ...CREDENTIAL_CARRIERS,
  ...[
    "cookie",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "keep-alive",
    "upgrade",
    "expect",
  ],
  ...["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-anything"],
  ...["x-real-ip", "via", "accept-encoding", "x-listed"],
  ...["x-harness-agent", "x-harness-repo", "x-harness-future", "x-blue-run", "traceparent"],
] as const;

describe("headers on their way up (INF-15)", () => {
  test("those of the connection, the origin and every credential are removed, in any spelling and number", async () => {
    const spelling = fc.constantFrom<(name: string) => string>(
      (name) => name,
      (name) => name.toUpperCase(),
      (name) => name.replace(/(^|-)./g, (start) => start.toUpperCase()),
    );
    const header = fc.record({ name: fc.constantFrom(...REFUSED_NAMES), spelling });
    await fc.assert(
      fc.asyncProperty(fc.array(header, { maxLength: 12 }), async (headers) => {
        const lines = headers
          .filter(({ name }) => name !== "upgrade" && name !== "expect")
          .map(({ name, spelling }) => `${spelling(name)}: ${isClaim(name) ? "claim" : CANARY}\r\n`);
        const { exchange, client } = await send(`Connection: keep-alive, X-Listed\r\n${lines.join("")}`);
        const names = exchange.headers.map(([name]) => name.toLowerCase());
        expect(names.filter((name) => name !== "authorization" && isRefused(name))).toEqual([]);
        expect(names.filter((name) => name === "authorization")).toHaveLength(1);
        expect(JSON.stringify([exchange.headers, exchange.target, client.text])).not.toContain(CANARY);
        expect(exchange.header("authorization")).toBe(`Bearer ${MANAGED_KEY}`);
      }),
      { numRuns: 60 },
    );
    const written = JSON.stringify([site.rows, site.counted, site.finished, await site.metrics.metrics()]);
    expect([written.includes(CANARY), written.includes(MANAGED_KEY)]).toEqual([false, false]);
  });

  test("all others pass byte for byte", async () => {
    const kept = {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "a-2025-01-01,b-2025-02-02",
      "openai-organization": "org-1",
      "x-stainless-lang": "js",
      "x-claude-code-session": "7",
      "user-agent": "claude-cli/2.1.0 (external, cli)",
      "content-type": "application/json; charset=utf-8",
      "x-request-id": "r-1",
      "idempotency-key": "i-1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "x-any": 'a "quoted", value;  q=1',
    };
    const lines = Object.entries(kept).map(([name, value]) => `${name}: ${value}\r\n`);
    const { exchange } = await send(lines.join(""));
    expect(Object.fromEntries(Object.keys(kept).map((name) => [name, exchange.header(name)]))).toEqual(kept);
  });

  test.each([
    ["in Latin-1", "caf\xe9 \x80\xff"],
    ["in UTF-8", Buffer.from("café 💡").toString("latin1")],
    ["that are tabs", "a\tb"],
  ])("bytes %s pass as they came", async (_, value) => {
    const client = new RawClient(site.port);
    const head = `POST ${CHAT.path} HTTP/1.1\r\nHost: proxy\r\nX-Any: ${value}\r\nUser-Agent: ${value}\r\n`;
    client.write(Buffer.from(`${head}Content-Length: 2\r\n\r\n{}`, "latin1"));
    const exchange = await upstream.exchange();
    await client.until(({ isWhole }) => isWhole);
    client.leave();
    expect([exchange.header("x-any"), exchange.header("user-agent")]).toEqual([value, value]);
  });

  test("asks for no compression, and the runtime does not name itself", async () => {
    const { exchange } = await send("Accept-Encoding: gzip, br\r\n");
    expect(exchange.header("accept-encoding")).toBeUndefined();
    expect(exchange.header("user-agent")).toBe("quartermaster");
  });
});

/** Attribution is recorded, as unverified. */
const isClaim = (name: string): boolean => /^x-(?:harness|blue)-/.test(name);

const isRefused = (name: string): boolean => REFUSED_NAMES.some((refused) => refused === name);

describe("what is added (INF-16, INF-17)", () => {
  test("the managed key in the configured header, and trusted facts in theirs only", async () => {
    await using other = await createForwardingSite({
      settings: {
        credentialHeader: "x-api-key",
        identityHeaders: new Map([
          ["user_id", "x-user-id"],
          ["profile_name", "x-profile"],
        ]),
      },
    });
    other.upstream.script = ANSWER;
    const client = RawClient.post(other.port, MESSAGES.path, "{}", {
      headers: `X-User-Id: ${CANARY}\r\nAuthorization: Bearer ${CANARY}\r\nX-Api-Key: ${CANARY}\r\n`,
    });
    await client.until(({ isWhole }) => isWhole);
    client.leave();
    const exchange = await other.upstream.exchange();
    expect(exchange.header("x-api-key")).toBe(MANAGED_KEY);
    expect(exchange.header("x-user-id")).toBe(CALLER.userId);
    expect(exchange.header("x-profile")).toBe(CALLER.profileName);
    expect(exchange.header("authorization")).toBeUndefined();
    expect(JSON.stringify(exchange.headers)).not.toContain(CANARY);
  });
});

describe("the address (INF-18)", () => {
  test("is the gateway's URL with its path, the path of the entry, and the query as it was sent", async () => {
    const { exchange } = await send("", "/v1/messages?beta=true&x=%2F..%2f&y=a+b");
    expect(exchange.target).toBe("/gateway/base/v1/messages?beta=true&x=%2F..%2f&y=a+b");
    expect((await site.row()).path).toBe("/v1/messages");
    expect(JSON.stringify(site.rows)).not.toContain("beta");
  });
});

test.each(["?a=%ff%FE&b=%c3&c=%ED%A0%80", "?a=%zz&b=%", "?%ff=%00%0a&&=&=%EF%BF%BD", "?", "?a=?b=%3f"])(
  "INF-18 a query passes as it was sent, also where its percent sequences are not UTF-8: %s",
  async (query) => {
    const { exchange } = await send("", CHAT.path + query);
    expect(exchange.target).toBe(`/gateway/base${CHAT.path}${query}`);
  },
);

describe("the body (INF-19)", () => {
  const bodyOf = (length: number) => JSON.stringify({ model: "willow-2", input: "x".repeat(length - 31) });

  test.each([31, 1_000, 16_384, 16_385, BUFFER_BYTES, BUFFER_BYTES + 1, MAX_BYTES])(
    "forwards a body of %i declared bytes whole, with its length",
    async (length) => {
      const body = bodyOf(length);
      expect(body).toHaveLength(length);
      const response = await fetch(site.origin + CHAT.path, { method: "POST", body });
      expect(response.status).toBe(200);
      const exchange = await upstream.exchange();
      expect(String(await exchange.body())).toBe(body);
      expect([exchange.header("content-length"), exchange.header("transfer-encoding")]).toEqual([
        String(length),
        undefined,
      ]);
      expect(await site.row()).toMatchObject({ requestBytes: length, model: "willow-2" });
    },
  );

  test("forwards a body of unknown length in chunks while it arrives", async () => {
    const client = new RawClient(site.port);
    client.write(
      `POST ${CHAT.path} HTTP/1.1\r\nHost: proxy\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n`,
    );
    const exchange = await upstream.exchange();
    await waitFor(() => exchange.bytesArrived === 5);
    client.write("6\r\nsecond\r\n0\r\n\r\n");
    expect(String(await exchange.body())).toBe("first" + "second");
    await client.until(({ isWhole }) => isWhole);
    client.leave();
    expect([exchange.header("transfer-encoding"), exchange.header("content-length")]).toEqual([
      "chunked",
      undefined,
    ]);
  });

  test("is streamed if all buffers are full, and their memory is released", async () => {
    upstream.script = () => {};
    const body = bodyOf(BUFFER_BYTES);
    const clients = [0, 1, 2].map(() => RawClient.post(site.port, CHAT.path, body));
    const exchanges = await Promise.all([0, 1, 2].map((index) => upstream.exchange(index)));
    await Promise.all(exchanges.map((exchange) => exchange.body()));
    expect(await site.metrics.metrics()).toContain(`buffered_bytes ${2 * BUFFER_BYTES}\n`);
    for (const client of clients) client.leave();
    await site.row(2);
    expect(await site.metrics.metrics()).toContain("buffered_bytes 0\n");
  });

  test("past the limit is a 413 that the client can read, and the upstream's work ends", async () => {
    upstream.script = () => {};
    const client = new RawClient(site.port);
    client.write(`POST ${MESSAGES.path} HTTP/1.1\r\nHost: proxy\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const piece = "x".repeat(20_000);
    for (let sent = 0; sent < 3; sent += 1) client.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    const exchange = await upstream.exchange();
    await waitFor(() => exchange.bytesArrived === MAX_BYTES);
    client.write("1\r\nx\r\n");
    await client.until(({ isWhole }) => isWhole);
    expect(client.status).toBe(413);
    expect(JSON.parse(String(client.body))).toMatchObject({
      type: "error",
      error: { type: "request_too_large" },
      reason: "inference.too_large",
    });
    await exchange.closed;
    expect(await client.ended).toBe("closed");
    expect(await site.row()).toMatchObject({
      outcome: "refused",
      refusal: "inference.too_large",
      httpStatus: 413,
    });
    expect(site.held).toBe(0);
  });

  test.each([
    ["buffered", BUFFER_BYTES],
    ["streamed", BUFFER_BYTES + 1],
  ])(
    "forwards a body whose length is declared twice alike (%s) whole, with one length",
    async (_, length) => {
      const headers = `Content-Length: ${length}\r\n`;
      const client = RawClient.post(site.port, CHAT.path, "x".repeat(length), { headers });
      await client.until(({ isWhole }) => isWhole);
      const exchange = await upstream.exchange();
      expect(await exchange.body()).toHaveLength(length);
      expect(exchange.header("content-length")).toBe(`${length}`);
      client.leave();
    },
  );

  /** Advances the time until the client gets a response; the idle time starts when the service waits for the next part. */
  const silence = (client: RawClient) =>
    waitFor(() => {
      site.pass(1_000);
      return client.isWhole;
    });

  test.each([
    ["buffered", 1_000, 0],
    ["buffered in several pieces", BUFFER_BYTES, 0],
    ["streamed", MAX_BYTES, 1],
  ])("answers 408 if the body stops arriving (%s)", async (_, length, requests) => {
    const client = RawClient.post(site.port, CHAT.path, "x", { length });
    await waitFor(() => site.forwarding.calls.size === 1 && upstream.exchanges.length === requests);
    site.pass(CLIENT_SILENCE_MS - 1_000);
    expect(client.text).toBe("");
    await silence(client);
    expect(client.status).toBe(408);
    expect(await site.row()).toMatchObject({
      outcome: "refused",
      refusal: "inference.slow_body",
      httpStatus: 408,
    });
    expect(await client.ended).toBe("closed");
    expect(site.held).toBe(0);
  });

  test("answers 408 to a body of one byte a minute after the first silence, and holds nothing", async () => {
    const client = RawClient.post(site.port, CHAT.path, "x", { length: MAX_BYTES });
    const exchange = await upstream.exchange();
    await waitFor(() => exchange.bytesArrived === 1);
    site.pass(20_000);
    client.write("x");
    await waitFor(() => exchange.bytesArrived === 2);
    site.pass(20_000);
    expect(client.text).toBe("");
    await silence(client);
    expect(client.status).toBe(408);
    await exchange.closed;
    expect(site.held).toBe(0);
  });
});

describe("the time for the upstream's head", () => {
  const headersTimeoutMs = 10_000;
  const settings = { headersTimeoutMs, bufferBytes: BUFFER_BYTES };

  /** One by one: after a part has arrived, the service needs a moment until it waits for the next one. */
  const passSeconds = async ({ pass }: Pick<typeof site, "pass">, seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) {
      pass(1_000);
      await Bun.sleep(1);
    }
  };

  test("begins after a streamed body: a slow client is answered 408, not 504 in the upstream's name", async () => {
    const script = () => {};
    await using impatient = await createForwardingSite({ settings, script });
    const client = RawClient.post(impatient.port, CHAT.path, "x", { length: MAX_BYTES });
    const exchange = await impatient.upstream.exchange();
    await waitFor(() => exchange.bytesArrived === 1);
    await passSeconds(impatient, headersTimeoutMs / 1_000 + 1);
    client.write("x");
    await waitFor(() => exchange.bytesArrived === 2);
    await passSeconds(impatient, headersTimeoutMs / 1_000 + 1);
    expect(client.text).toBe("");
    impatient.pass(CLIENT_SILENCE_MS);
    await client.until(({ isWhole }) => isWhole);
    expect(client.status).toBe(408);
    expect(await impatient.row()).toMatchObject({ outcome: "refused", refusal: "inference.slow_body" });
  });

  test("ends with 504 once the body has been sent", async () => {
    const script = () => {};
    await using impatient = await createForwardingSite({ settings, script });
    const client = RawClient.post(impatient.port, CHAT.path, "x", { length: BUFFER_BYTES + 1 });
    const exchange = await impatient.upstream.exchange();
    await waitFor(() => exchange.bytesArrived === 1);
    impatient.pass(headersTimeoutMs - 1_000);
    client.write("x".repeat(BUFFER_BYTES));
    await exchange.body();
    await waitFor(() => {
      impatient.pass(1_000);
      return client.isWhole;
    });
    expect(client.status).toBe(504);
    expect(await impatient.row()).toMatchObject({ outcome: "timeout", requestBytes: BUFFER_BYTES + 1 });
  });

  test("a client that sends a piece before each silence ends gets 408 when its whole request takes too long", async () => {
    const script = () => {};
    const limited = { ...settings, streamMaxMs: 40_000 };
    await using impatient = await createForwardingSite({ settings: limited, script });
    const client = RawClient.post(impatient.port, CHAT.path, "x", { length: MAX_BYTES });
    const exchange = await impatient.upstream.exchange();
    await waitFor(() => exchange.bytesArrived === 1);
    await passSeconds(impatient, 25);
    client.write("x");
    await waitFor(() => exchange.bytesArrived === 2);
    await passSeconds(impatient, 15);
    await client.until(({ isWhole }) => isWhole);
    expect(client.status).toBe(408);
  });
});

describe("models (INF-55)", () => {
  const ask = (policy: { model?: unknown }, init: RequestInit = {}) =>
    fetch(refusing.origin + CHAT.path, {
      method: "POST",
      body: JSON.stringify({ input: "x", ...policy }),
      ...init,
    });
  let refusing: Awaited<ReturnType<typeof createForwardingSite>>;

  test("refuses models that are not allowed, and answers 400 to a body that names none", async () => {
    refusing = await createForwardingSite({
      settings: { modelPolicy: "refuse", bufferBytes: 100 },
      script: ANSWER,
    });
    await using _ = refusing;
    refusing.allowedModels = new Set(["willow-2"]);
    const long = { input: "x".repeat(300) };
    const twice = `{"model":"willow-2","input":"${"x".repeat(70_000)}","model":"oak-9"}`;
    const outcomes = [
      await ask({ model: "willow-2" }),
      await ask({ model: "willow-2", ...long }),
      await ask({ model: "oak-9" }),
      await ask({ model: "oak-9", ...long }),
      await ask({}),
      await ask({ model: 7 }),
      await ask({}, { body: twice }),
    ].map(({ status }) => status);
    expect(outcomes).toEqual([200, 200, 403, 403, 400, 400, 400]);
    expect(refusing.rows.map(({ refusal }) => refusal)).toEqual([
      null,
      null,
      "inference.model_not_allowed",
      "inference.model_not_allowed",
      "inference.model_unreadable",
      "inference.model_unreadable",
      "inference.model_unreadable",
    ]);
    refusing.allowedModels = undefined;
    expect((await ask({ model: "oak-9" })).status).toBe(200);
  });

  test.each([
    ["refuse", 400, "inference.model_unreadable"],
    ["log", 200, "would_refuse"],
  ] as const)(
    "finds models that a fallback names with the policy %s, also late in a streamed body",
    async (modelPolicy, status, refusal) => {
      refusing = await createForwardingSite({ settings: { modelPolicy, bufferBytes: 100 }, script: ANSWER });
      await using _ = refusing;
      refusing.allowedModels = new Set(["willow-2"]);
      const inputs = ["x", "x".repeat(80_000)];
      for (const input of inputs) {
        const response = await ask(
          {},
          { body: JSON.stringify({ model: "willow-2", input, fallbacks: ["oak-9"] }) },
        );
        expect(response.status).toBe(status);
        await response.text();
      }
      expect(refusing.rows.map((row) => row.refusal)).toEqual(inputs.map(() => refusal));
      expect((await ask({ model: "willow-2" })).status).toBe(200);
    },
  );

  test("refuses models that the query or a form names beside the body, because the upstream would take those", async () => {
    refusing = await createForwardingSite({ settings: { modelPolicy: "refuse" }, script: ANSWER });
    await using _ = refusing;
    refusing.allowedModels = new Set(["willow-2"]);
    const body = JSON.stringify({ model: "willow-2", input: "&model=oak-9&" });
    const post = async (query: string, type = "application/json") =>
      (
        await fetch(`${refusing.origin}${CHAT.path}${query}`, {
          method: "POST",
          headers: { "content-type": type },
          body,
        })
      ).status;
    expect([await post("?model=oak-9"), await post("?beta=true&mode%6c=oak-9")]).toEqual([400, 400]);
    for (const type of ["application/x-www-form-urlencoded", "Multipart/Form-Data; boundary=x"])
      expect([type, await post("", type)]).toEqual([type, 400]);
    expect(refusing.upstream.exchanges).toHaveLength(0);
    expect([await post(""), await post("?beta=true")]).toEqual([200, 200]);
  });

  test("notes models where the policy only logs them", async () => {
    refusing = await createForwardingSite({ settings: { modelPolicy: "log" }, script: ANSWER });
    await using _ = refusing;
    refusing.allowedModels = new Set(["willow-2"]);
    expect([(await ask({ model: "oak-9" })).status, (await ask({ model: "willow-2" })).status]).toEqual([
      200, 200,
    ]);
    expect(refusing.rows.map(({ refusal }) => refusal)).toEqual(["would_refuse", null]);
  });
});
