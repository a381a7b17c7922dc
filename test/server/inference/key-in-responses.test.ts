// Some gateways repeat the managed key in their responses. Such a response is not passed on, as far as it can be searched; every other
// response passes unchanged.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../src/platform/secret.ts";
import { ERROR_BYTES_MAX } from "../../../src/server/inference/forwarding/error-response.ts";
import { createForwardingSite, MANAGED_KEY, SETTINGS } from "../../support/inference/forwarding.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { bytesOf, CHAT } from "../../support/inference/recordings.ts";
import { EVENT_STREAM, type Header } from "../../support/inference/upstream.ts";

const site = await createForwardingSite();
const { upstream } = site;
afterEach(() => site.forget());
afterAll(() => site[Symbol.asyncDispose]());

const ERRORS = [400, 401, 403, 404, 429, 500, 503, 529, 599] as const;
const TOLD = JSON.stringify({ error: { message: `Received API Key = ${MANAGED_KEY}` } });
const NOT_TOLD = JSON.stringify({ error: { message: "Received API Key = sk-...0001", param: null } });
const CHUNKED: Header = ["transfer-encoding", "chunked"];

const post = () =>
  fetch(site.origin + CHAT.path, { method: "POST", body: CHAT.request, decompress: false } as RequestInit);

/** Sends the pieces as chunks. */
function sendChunks(
  status: number,
  pieces: readonly (string | Uint8Array)[],
  headers: readonly Header[] = [],
): void {
  upstream.script = async (exchange) => {
    await exchange.body();
    await exchange.head(status, [CHUNKED, ...headers]);
    for (const piece of pieces) await exchange.chunk(piece);
    await exchange.lastChunk();
  };
}

function sendWhole(status: number, body: string | Uint8Array, headers: readonly Header[] = []): void {
  upstream.script = async (exchange) => {
    await exchange.body();
    await exchange.answer(status, body, headers);
  };
}

async function expectRefusal(): Promise<void> {
  const response = await post();
  const text = await response.text();
  expect([response.status, JSON.parse(text).reason]).toEqual([502, "inference.upstream_bad_head"]);
  expect(text + JSON.stringify([...response.headers])).not.toContain(MANAGED_KEY);
  expect(await site.row()).toMatchObject({
    outcome: "refused",
    httpStatus: 502,
    refusal: "inference.upstream_bad_head",
  });
  expect([site.held, site.rejected]).toEqual([0, []]);
}

/** @returns the key at the end of so many bytes */
const endingAt = (bytes: number): string => "x".repeat(bytes - MANAGED_KEY.length) + MANAGED_KEY;

describe("INF-17 an error that repeats the key does not reach the workstation", () => {
  describe.each(ERRORS)("%i", (status) => {
    test("has a length", async () => {
      sendWhole(status, TOLD);
      await expectRefusal();
    });

    test("has chunks that split the key", async () => {
      const half = TOLD.indexOf(MANAGED_KEY) + 5;
      sendChunks(status, [TOLD.slice(0, half), TOLD.slice(half)]);
      await expectRefusal();
    });

    test("has the key at the end of the largest body that is searched whole", async () => {
      sendWhole(status, endingAt(ERROR_BYTES_MAX));
      await expectRefusal();
    });

    test("has the key at the end of a body one byte longer, whose excess is read too", async () => {
      sendWhole(status, endingAt(ERROR_BYTES_MAX + 1));
      await expectRefusal();
    });

    test("has the key at the beginning of a body that is too long to be read whole", async () => {
      sendWhole(status, TOLD + "x".repeat(ERROR_BYTES_MAX));
      await expectRefusal();
    });

    test("has the key in a header", async () => {
      sendWhole(status, "{}", [["www-authenticate", `Bearer error="unknown key ${MANAGED_KEY}"`]]);
      await expectRefusal();
    });
  });

  test.each([
    [500, "", `{"detail":"sk-managed-0002"}`],
    [200, "sk-managed-0002", "{}"],
  ])(
    "a %i to the new key does not pass either, after the former one was rejected",
    async (status, echo, body) => {
      site.replacement = { credential: new Secret("sk-managed-0002"), credentialVersion: "version-2" };
      upstream.script = async (exchange) => {
        await exchange.body();
        const isSecond = exchange.header("authorization") === "Bearer sk-managed-0002";
        if (isSecond) await exchange.answer(status, body, [["x-echo", echo]]);
        else await exchange.answer(401, '{"error":{"type":"token_not_found_in_db"}}');
      };
      const response = await post();
      const text = await response.text();
      expect([response.status, JSON.parse(text).reason]).toEqual([502, "inference.upstream_bad_head"]);
      expect(text + JSON.stringify([...response.headers])).not.toContain("sk-managed-0002");
      expect(upstream.exchanges).toHaveLength(2);
    },
  );
});

describe("INF-17 a response with the key in a header does not reach the workstation", () => {
  test.each([200, 201, 204, 302, 304])("%i", async (status) => {
    upstream.script = (exchange) =>
      exchange.head(status, [
        ["x-echo", `Bearer ${MANAGED_KEY}`],
        ["content-length", "0"],
      ]);
    await expectRefusal();
  });

  test("an event stream", async () => {
    upstream.script = (exchange) => exchange.stream(CHAT.events, [["x-echo", MANAGED_KEY]]);
    await expectRefusal();
  });

  test("a header that is not passed on does not count", async () => {
    upstream.script = (exchange) => exchange.stream(CHAT.events, [["set-cookie", `key=${MANAGED_KEY}`]]);
    const response = await post();
    expect([response.status, await response.text()]).toEqual([200, CHAT.events.join("")]);
    expect(JSON.stringify([...response.headers])).not.toContain(MANAGED_KEY);
  });
});

describe("errors without the key pass unchanged (INF-1, INF-20)", () => {
  const HEADERS: readonly Header[] = [
    ["content-type", "application/problem+json; charset=utf-8"],
    ["retry-after", "7"],
    ["x-request-id", "request-1"],
    ["anthropic-ratelimit-requests-remaining", "0"],
  ];
  const BODIES: [string, string | Uint8Array][] = [
    ["short", NOT_TOLD],
    ["empty", ""],
    ["not UTF-8", Uint8Array.from({ length: 2_560 }, (_, at) => at % 256)],
    ["as long as the limit", "x".repeat(ERROR_BYTES_MAX)],
    ["one byte longer than the limit", "x".repeat(ERROR_BYTES_MAX + 1)],
    ["much longer than the limit", "x".repeat(5 * ERROR_BYTES_MAX)],
  ];

  describe.each(ERRORS)("%i", (status) => {
    test.each(BODIES)("%s", async (_, given) => {
      const body = new Uint8Array(Buffer.from(given));
      const pieces = [body.subarray(0, 7), body.subarray(7, 40_000), body.subarray(40_000)].filter(
        ({ length }) => length > 0,
      );
      for (const send of [
        () => sendWhole(status, body, HEADERS),
        () => sendChunks(status, pieces, HEADERS),
      ]) {
        send();
        const response = await post();
        expect([response.status, await response.bytes()]).toEqual([status, body]);
        const values = HEADERS.map(([name]) => response.headers.get(name)?.replace("application/json, ", ""));
        expect(values).toEqual(HEADERS.map(([, value]) => value));
      }
      const rows = await Promise.all([site.row(0), site.row(1)]);
      const expected = { outcome: "complete", httpStatus: status, responseBytes: body.length };
      expect(rows).toMatchObject([expected, expected]);
    });
  });

  test("the body of a request is released before a late end of the error", async () => {
    const end = Promise.withResolvers<void>();
    upstream.script = async (exchange) => {
      await exchange.body();
      await exchange.head(500, [CHUNKED]);
      await exchange.chunk("{");
      await end.promise;
      await exchange.chunk("}");
      await exchange.lastChunk();
    };
    const response = post();
    await (await upstream.exchange()).body();
    while (!(await site.metrics.metrics()).includes("inference_buffered_bytes 0")) await Bun.sleep(1);
    end.resolve();
    expect(await (await response).text()).toBe("{}");
  });

  test("pieces that come slowly are not a silence", async () => {
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    upstream.script = async (exchange) => {
      await exchange.body();
      await exchange.head(500, [CHUNKED]);
      await exchange.chunk("{");
      await next[0].promise;
      await exchange.chunk('"a":');
      await next[1].promise;
      await exchange.chunk("1}");
      await exchange.lastChunk();
    };
    const response = post();
    const { idleTimeoutMs } = SETTINGS;
    for (const { resolve } of next) {
      for (let turn = 0; turn < 10; turn += 1) await Bun.sleep(3); // the last piece arrives in this time
      site.pass(idleTimeoutMs * 0.75);
      resolve();
    }
    expect([(await response).status, await (await response).text()]).toEqual([500, '{"a":1}']);
  });

  test("an invalid status is refused before its body", async () => {
    upstream.script = async (exchange) => {
      await exchange.head(999, [["content-length", "100"]]);
      await exchange.closed;
    };
    expect([(await post()).status, upstream.exchanges.length]).toEqual([502, 1]);
  });

  test("one that the upstream breaks off is a 502", async () => {
    upstream.script = async (exchange) => {
      await exchange.body();
      await exchange.head(500, [["content-length", "100"]]);
      await exchange.write("{");
      await Bun.sleep(20);
      exchange.reset();
    };
    const response = await post();
    expect([response.status, (await response.json()).reason]).toEqual([502, "inference.upstream_reset"]);
    expect(await site.row()).toMatchObject({ outcome: "upstream_closed" });
  });
});

describe("what is not searched passes unchanged, as the handbook says", () => {
  test("the rest of an error after the limit, piece by piece", async () => {
    const rest = Promise.withResolvers<void>();
    const begin = "x".repeat(ERROR_BYTES_MAX + 1);
    upstream.script = async (exchange) => {
      await exchange.body();
      await exchange.head(500, [CHUNKED]);
      await exchange.chunk(begin);
      await rest.promise;
      await exchange.chunk(MANAGED_KEY);
      await exchange.lastChunk();
    };
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    await client.until(({ body }) => body.length === begin.length);
    rest.resolve();
    await client.until(({ isWhole }) => isWhole);
    expect(String(client.body)).toBe(begin + MANAGED_KEY);
    client.leave();
  });

  test.each([429, 500])("a compressed error of %i", async (status) => {
    const zipped = Bun.gzipSync(TOLD);
    sendWhole(status, zipped, [["content-encoding", "gzip"]]);
    const response = await post();
    expect([response.status, response.headers.get("content-encoding")]).toEqual([status, "gzip"]);
    expect(await response.bytes()).toEqual(new Uint8Array(zipped));
  });

  test("an event stream with the status of an error, which does not wait", async () => {
    const rest = Promise.withResolvers<void>();
    upstream.script = async (exchange) => {
      await exchange.body();
      await exchange.head(500, EVENT_STREAM);
      await exchange.chunk("data: 1\n\n");
      await rest.promise;
      await exchange.chunk("data: 2\n\n");
      await exchange.lastChunk();
    };
    const client = RawClient.post(site.port, CHAT.path, CHAT.request);
    await client.until(({ body }) => String(body) === "data: 1\n\n");
    rest.resolve();
    await client.until(({ isWhole }) => isWhole);
    client.leave();
  });

  test("the body of a success", async () => {
    sendWhole(200, TOLD);
    expect(await (await post()).text()).toBe(TOLD);
    upstream.script = (exchange) => exchange.stream(CHAT.events);
    expect(await (await post()).bytes()).toEqual(new Uint8Array(bytesOf(CHAT)));
  });
});
