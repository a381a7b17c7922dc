// Responses: status, headers and every byte of the upstream's response, chunk by chunk, and no end that looks complete if the
// upstream has died.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createForwardingSite } from "../../support/inference/forwarding.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { bytesOf, CHAT, MESSAGES, RECORDINGS } from "../../support/inference/recordings.ts";
import { EVENT_STREAM } from "../../support/inference/upstream.ts";

const site = await createForwardingSite();
const { upstream } = site;
afterEach(() => site.forget());
afterAll(() => site[Symbol.asyncDispose]());

/** Waits for a condition that no event announces. */
async function waitFor(isMet: () => boolean): Promise<void> {
  while (!isMet()) await Bun.sleep(1);
}

const post = (path: string, body: string, init: RequestInit = {}) =>
  fetch(site.origin + path, { method: "POST", body, ...init });

describe("a response is the upstream's, byte for byte (INF-1)", () => {
  test.each(RECORDINGS.map((recording) => [recording.name, recording] as const))(
    "forwards a stream of %s unchanged, with its usage and one row",
    async (_, recording) => {
      upstream.script = (exchange) => exchange.stream(recording.events);
      const response = await post(recording.path, recording.request);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(recording.events.join(""));
      expect(await site.row()).toMatchObject({
        path: recording.path,
        model: "willow-2",
        httpStatus: 200,
        stream: true,
        outcome: "complete",
        requestBytes: recording.request.length,
        responseBytes: bytesOf(recording).length,
        inputTokens: recording.usage.input,
        outputTokens: recording.usage.output,
        usageSource: "reported",
      });
      expect([site.held, site.counted.length, site.finished.length]).toEqual([0, 1, 1]);
    },
  );
});

describe("pieces are never changed, joined or held back (INF-1, INF-21)", () => {
  const streamOf = (recording: (typeof RECORDINGS)[number], pieces: readonly Uint8Array[]) => {
    upstream.script = (exchange) => exchange.stream(pieces);
    return post(recording.path, recording.request).then((response) => response.bytes());
  };

  test.each(RECORDINGS.map((recording) => [recording.name, recording] as const))(
    "forwards %s unchanged, whether byte by byte, in random pieces, or with other line ends",
    async (_, recording) => {
      const text = recording.events.join("");
      const single = [...bytesOf(recording)].map((byte) => Uint8Array.of(byte));
      expect(await streamOf(recording, single)).toEqual(new Uint8Array(bytesOf(recording)));
      const variants = [
        `\uFEFF${text}`,
        text.replaceAll("\n", "\r\n"),
        text.replaceAll("\n", "\r"),
        `: a comment\n\nid: 7\nretry: 10\ndata: one\ndata: two\n\n${text}data: no blank line at the end`,
      ].map((variant) => Buffer.from(variant));
      for (const variant of variants) {
        const cuts = fc.sample(fc.uniqueArray(fc.nat(variant.length), { maxLength: 12 }), 1)[0] ?? [];
        const places = [0, ...cuts.sort((one, other) => one - other), variant.length];
        const pieces = places.slice(1).map((end, at) => variant.subarray(places[at], end));
        const sent = pieces.filter(({ length }) => length > 0);
        expect(await streamOf(recording, sent)).toEqual(new Uint8Array(variant));
      }
    },
  );

  test("compressed and malformed answers pass, without usage", async () => {
    const zipped = Bun.gzipSync(CHAT.json);
    upstream.script = (exchange) => exchange.answer(200, zipped, [["content-encoding", "gzip"]]);
    const response = await post(CHAT.path, CHAT.request, { decompress: false } as RequestInit);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(await response.bytes()).toEqual(new Uint8Array(zipped));
    expect(await site.row()).toMatchObject({ usageSource: "none", responseBytes: zipped.length });
    upstream.script = (exchange) => exchange.answer(200, '{"usage":{');
    expect(await (await post(CHAT.path, CHAT.request)).text()).toBe('{"usage":{');
    expect(await site.row(1)).toMatchObject({ usageSource: "none" });
  });

  test("each piece arrives before the next one is sent", async () => {
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    upstream.script = async (exchange) => {
      await exchange.head(200, EVENT_STREAM);
      await exchange.chunk("data: 1\n\n");
      await next[0].promise;
      await exchange.chunk("data: 2");
      await next[1].promise;
      await exchange.chunk("\n\n");
      await exchange.lastChunk();
    };
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    await client.until(({ body }) => String(body) === "data: 1\n\n");
    next[0].resolve();
    await client.until(({ body }) => String(body) === "data: 1\n\ndata: 2");
    next[1].resolve();
    await client.until(({ isWhole }) => isWhole);
    expect(String(client.body)).toBe("data: 1\n\ndata: 2\n\n");
    client.leave();
  });
});

describe("statuses and heads (INF-20, INF-25)", () => {
  test.each([200, 201, 204, 304, 400, 403, 404, 413, 429, 500, 503, 529, 599])(
    "%i passes",
    async (status) => {
      const isBodiless = status === 204 || status === 304;
      upstream.script = (exchange) =>
        isBodiless
          ? exchange.head(status, [["retry-after", "7"]])
          : exchange.answer(status, "{}", [["retry-after", "7"]]);
      const response = await post(CHAT.path, CHAT.request);
      expect([response.status, response.headers.get("retry-after")]).toEqual([status, "7"]);
      expect(await response.text()).toBe(isBodiless ? "" : "{}");
      expect(await site.row()).toMatchObject({ httpStatus: status, outcome: "complete" });
    },
  );

  test("an informational head of the upstream is not passed on", async () => {
    upstream.script = async (exchange) => {
      await exchange.head(103, [["link", "</x>"]]);
      await exchange.answer(200, "{}");
    };
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    await client.until(({ isWhole }) => isWhole);
    expect(client.text).toStartWith("HTTP/1.1 200 ");
    client.leave();
  });

  test.each([301, 302, 303, 307, 308])(
    "INF-18 a redirect with %i is a 502, is not followed, and names no address",
    async (status) => {
      upstream.script = (exchange) =>
        exchange.answer(status, "", [["location", "http://169.254.169.254/latest/meta-data"]]);
      const response = await post(CHAT.path, CHAT.request);
      const text = await response.text();
      expect(response.status).toBe(502);
      expect(response.headers.has("location")).toBe(false);
      expect(text).toContain("inference.upstream_redirect");
      expect(text).not.toContain("169.254");
      expect(upstream.exchanges).toHaveLength(1);
      expect(await site.row()).toMatchObject({
        httpStatus: 502,
        outcome: "refused",
        refusal: "inference.upstream_redirect",
      });
    },
  );

  test.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxy"],
    ["a header without a colon", "HTTP/1.1 200 OK\r\nbroken\r\n\r\n"],
    ["an unknown class", "HTTP/1.1 999 X\r\ncontent-length: 1\r\n\r\nx"],
    ["a switch of protocols", "HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
  ])("INF-30 a bad head (%s) is a 502 in our words", async (_, head) => {
    upstream.script = (exchange) => exchange.write(head);
    const response = await post(MESSAGES.path, MESSAGES.request);
    expect(response.status).toBe(502);
    const { type, error, reason } = await response.json();
    expect([type, error.type, reason]).toEqual(["error", "api_error", "inference.upstream_bad_head"]);
    expect(error.message).toStartWith("upstream request failed");
  });

  test("a head that never ends is aborted before it fills the memory", async () => {
    let sent = 0;
    upstream.script = async (exchange) => {
      await exchange.write("HTTP/1.1 200 OK\r\n");
      const line = `x-filler: ${"a".repeat(60_000)}\r\n`;
      while (exchange.isOpen && sent < 100_000_000) {
        await exchange.write(line);
        sent += line.length;
      }
    };
    const response = await post(CHAT.path, CHAT.request);
    expect(response.status).toBe(502);
    await (await upstream.exchange()).closed;
    expect(sent).toBeLessThan(50_000_000);
  });
});

describe("headers on their way down (INF-20)", () => {
  const CANARY = "canary-91c2";
  const REFUSED = [
    ...["keep-alive", "te", "trailer", "upgrade", "proxy-authenticate", "proxy-connection", "x-listed"],
    ...["set-cookie", "alt-svc", "server", "via", "x-powered-by", "strict-transport-security"],
    ...["x-litellm-model-api-base", "x-litellm-key-spend", "x-litellm-key-max-budget", "x-litellm-key-any"],
    ...["llm_provider-x-request-id", "llm_provider-server", "access-control-allow-origin"],
  ] as const;
  const kept = {
    "retry-after": "7",
    "request-id": "req_1",
    "x-request-id": "r-1",
    "anthropic-ratelimit-requests-remaining": "9",
    "openai-processing-ms": "12",
    "x-ratelimit-remaining-tokens": "100",
    "x-litellm-response-cost": "0.0125",
    "x-litellm-call-id": "c-1",
    "x-any": 'a "quoted", value',
  };

  test("all pass except those of the connection, cookies and those that describe internals", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...REFUSED), { maxLength: 10 }),
        fc.boolean(),
        async (names, upper) => {
          const refused = names.map((name) => [upper ? name.toUpperCase() : name, CANARY] as const);
          const headers = [
            ["connection", "keep-alive, X-Listed"] as const,
            ...refused,
            ...Object.entries(kept),
          ];
          upstream.script = (exchange) => exchange.answer(200, "{}", headers);
          const client = RawClient.post(site.port, CHAT.path, CHAT.request);
          await client.until(({ isWhole }) => isWhole);
          client.leave();
          expect(client.text).not.toContain(CANARY);
          const response = new Headers(headLines(client.text));
          expect(Object.keys(kept).map((name) => response.get(name))).toEqual(Object.values(kept));
          expect(response.get("x-quartermaster-request-id")).toMatch(/^00000000-/);
        },
      ),
      { numRuns: 40 },
    );
    expect((await site.row()).upstreamCost).toBe(0.0125);
  });

  test("event streams forbid caching and buffering unless the upstream says otherwise", async () => {
    upstream.script = (exchange) => exchange.stream(["data: 1\n\n"]);
    const plain = await post(CHAT.path, CHAT.request);
    upstream.script = (exchange) => exchange.stream(["data: 1\n\n"], [["cache-control", "no-store"]]);
    const own = await post(CHAT.path, CHAT.request);
    upstream.script = (exchange) => exchange.answer(200, "{}");
    const json = await post(CHAT.path, CHAT.request);
    const of = ({ headers }: Response) => [headers.get("cache-control"), headers.get("x-accel-buffering")];
    expect([of(plain), of(own), of(json)]).toEqual([
      ["no-cache", "no"],
      ["no-store", "no"],
      [null, null],
    ]);
  });

  const headLines = (text: string): [string, string][] =>
    text
      .slice(0, text.indexOf("\r\n\r\n"))
      .split("\r\n")
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
});

describe("the head of a quiet event stream (INF-24)", () => {
  test("is sent with a comment once a second has passed, and only then", async () => {
    const first = Promise.withResolvers<void>();
    upstream.script = async (exchange) => {
      await exchange.head(200, EVENT_STREAM);
      await first.promise;
      await exchange.chunk("data: 1\n\n");
      await exchange.lastChunk();
    };
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    await upstream.exchange();
    await waitFor(() => site.forwarding.calls.streams === 1);
    site.pass(900);
    expect(client.text).not.toContain("\r\n\r\n");
    site.pass(100);
    await client.until(({ body }) => String(body) === ":\n\n");
    site.pass(5_000);
    first.resolve();
    await client.until(({ isWhole }) => isWhole);
    expect(String(client.body)).toBe(":\n\ndata: 1\n\n");
    client.leave();
  });

  test("is never sent with a comment inside an event, nor before other responses", async () => {
    upstream.script = async (exchange) => {
      await exchange.head(200, EVENT_STREAM);
      await exchange.chunk("data: 1");
    };
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    await client.until(({ body }) => String(body) === "data: 1");
    site.pass(5_000);
    upstream.script = (exchange) => exchange.head(200, [["content-length", "2"]]);
    const other = RawClient.post(site.port, CHAT.path, CHAT.request);
    await upstream.exchange(1);
    site.pass(5_000);
    client.leave();
    other.leave();
    await Promise.all([site.row(0), site.row(1)]);
    expect(String(client.body) + String(other.body)).toBe("data: 1");
  });
});

test("INF-22 a client that stops reading stops the upstream", async () => {
  const piece = Buffer.alloc(64 * 1024, "x");
  let sent = 0;
  upstream.script = async (exchange) => {
    await exchange.head(200, EVENT_STREAM);
    while (exchange.isOpen && sent < 400_000_000) {
      await exchange.chunk(piece);
      sent += piece.length;
    }
  };
  const client = RawClient.post(site.port, CHAT.path, CHAT.request);
  await client.until(({ text }) => text.length > 1_000);
  client.socket.pause();
  for (let before = -1; before !== sent; ) {
    before = sent;
    await Bun.sleep(50); // until no bytes are in transit
  }
  expect(sent).toBeLessThan(100_000_000);
  client.leave();
  await (await upstream.exchange()).closed;
  expect(await site.row()).toMatchObject({ outcome: "client_closed" });
});
