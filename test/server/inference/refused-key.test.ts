// A 401 of the upstream: either it rejects the gateway key, which is then reported and replaced, or it has another cause.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { rejectionReasonIn } from "../../../src/domain/gateway/service.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { ERROR_BYTES_MAX } from "../../../src/server/inference/forwarding/error-response.ts";
import { createForwardingSite, MANAGED_KEY } from "../../support/inference/forwarding.ts";
import { CHAT, MESSAGES } from "../../support/inference/recordings.ts";
import type { Script } from "../../support/inference/upstream.ts";

const site = await createForwardingSite({ settings: { bufferBytes: 1_000 } });
const { upstream } = site;
afterEach(() => site.forget());
afterAll(() => site[Symbol.asyncDispose]());

const GONE = JSON.stringify({
  error: { message: "Invalid proxy server token passed.", type: "token_not_found_in_db", code: "401" },
});
const NEW_KEY = { credential: new Secret("sk-managed-0002"), credentialVersion: "version-2" };
const post = (body: string) => fetch(site.origin + CHAT.path, { method: "POST", body });
const keysUsed = () => upstream.exchanges.map((exchange) => exchange.header("authorization"));

/** @returns the refusal of a deleted key, with this many bytes */
const paddedTo = (bytes: number): string => {
  const padded = (filler: string) => JSON.stringify({ filler, ...JSON.parse(GONE) });
  return padded("x".repeat(bytes - padded("").length));
};

/** Refuses every key but these. */
const accepting =
  (...keys: string[]): Script =>
  async (exchange) => {
    await exchange.body();
    if (keys.some((key) => exchange.header("authorization") === `Bearer ${key}`))
      await exchange.stream(CHAT.events);
    else await exchange.answer(401, GONE);
  };

describe("a key that the upstream rejected (INF-29, INF-31)", () => {
  test("is replaced, and the user sees one response", async () => {
    upstream.script = accepting("sk-managed-0002");
    site.replacement = NEW_KEY;
    const response = await post(CHAT.request);
    expect([response.status, await response.text()]).toEqual([200, CHAT.events.join("")]);
    expect(site.rejected).toEqual([{ credentialVersion: "version-1", reason: "not_found" }]);
    expect(keysUsed()).toEqual([`Bearer ${MANAGED_KEY}`, "Bearer sk-managed-0002"]);
    const [first, second] = await Promise.all(upstream.exchanges.map((exchange) => exchange.body()));
    expect(second).toEqual(first);
    expect(await site.row()).toMatchObject({
      outcome: "complete",
      httpStatus: 200,
      inputTokens: CHAT.usage.input,
    });
    expect(await site.metrics.metrics()).toContain("inference_replays_total 1");
  });

  test.each([-1, 0])("is detected in a response of %i bytes more than the limit", async (step) => {
    upstream.script = async (exchange) => {
      await exchange.body();
      if (exchange.header("authorization") === "Bearer sk-managed-0002") await exchange.stream(CHAT.events);
      else await exchange.answer(401, paddedTo(ERROR_BYTES_MAX + step));
    };
    site.replacement = NEW_KEY;
    expect((await post(CHAT.request)).status).toBe(200);
  });

  test("gets a 503 while there is no other key", async () => {
    upstream.script = accepting();
    const response = await post(CHAT.request);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect((await response.json()).reason).toBe("inference.key_recovering");
    expect(upstream.exchanges).toHaveLength(1);
    expect(await site.row()).toMatchObject({
      outcome: "refused",
      httpStatus: 503,
      refusal: "inference.key_recovering",
    });
  });

  test("gets a 503 after the second key was refused too", async () => {
    upstream.script = accepting();
    site.replacement = NEW_KEY;
    expect((await post(CHAT.request)).status).toBe(503);
    expect(keysUsed()).toHaveLength(2);
    expect(site.rejected.map(({ credentialVersion }) => credentialVersion)).toEqual([
      "version-1",
      "version-2",
    ]);
  });

  test("gets a 503 if the body was streamed, so that it cannot be sent again", async () => {
    upstream.script = accepting("sk-managed-0002");
    site.replacement = NEW_KEY;
    expect((await post(JSON.stringify({ input: "x".repeat(2_000) }))).status).toBe(503);
    expect(keysUsed()).toHaveLength(1);
  });
});

test.each([400, 403, 500])(
  "a %i with the text of a deleted key does not concern the key (INF-31)",
  async (status) => {
    site.replacement = NEW_KEY;
    upstream.script = async (exchange) => {
      await exchange.body();
      await exchange.answer(status, GONE);
    };
    const response = await post(CHAT.request);
    expect([response.status, await response.text()]).toEqual([status, GONE]);
    expect([site.rejected, upstream.exchanges.length]).toEqual([[], 1]);
  },
);

describe("any other 401 passes unchanged (INF-31)", () => {
  test.each([
    ["of another reason", '{"error":{"message":"Authentication Error","type":"auth_error"}}'],
    ["that is empty", ""],
    ["that is no JSON", "key is gone"],
    ["that is too long to be about the key", paddedTo(ERROR_BYTES_MAX + 1)],
  ])("%s", async (_, body) => {
    site.replacement = NEW_KEY;
    for (const isChunked of [false, true]) {
      upstream.script = async (exchange) => {
        await exchange.body();
        if (!isChunked) return await exchange.answer(401, body);
        await exchange.head(401, [["transfer-encoding", "chunked"]]);
        if (body !== "") await exchange.chunk(body);
        await exchange.lastChunk();
      };
      const response = await post(CHAT.request);
      expect([response.status, await response.text()]).toEqual([401, body]);
    }
    expect([site.rejected, upstream.exchanges.length]).toEqual([[], 2]);
  });

  test("streams an endless response without a length", async () => {
    upstream.script = async (exchange) => {
      await exchange.head(401, [
        ["content-type", "text/event-stream"],
        ["transfer-encoding", "chunked"],
      ]);
      for (let sent = 0; sent < 5; sent += 1) await exchange.chunk(Buffer.alloc(20_000, "x"));
    };
    const response = await fetch(site.origin + MESSAGES.path, { method: "POST", body: "{}" });
    const reader = response.body?.getReader();
    let length = 0;
    while (length < 100_000) length += (await reader?.read())?.value?.length ?? 0;
    expect([response.status, length]).toEqual([401, 100_000]);
    await reader?.cancel();
    await site.row();
  });
});

const CLASSIFIED: [string, "not_found" | "blocked" | undefined][] = [
  [GONE, "not_found"],
  [JSON.stringify({ detail: JSON.parse(GONE) }), "not_found"],
  [
    '{"error":{"message":"Authentication Error, Key is blocked. Update via `/key/unblock`","type":"auth_error"}}',
    "blocked",
  ],
  ['{"detail":{"error":{"message":"KEY IS BLOCKED"}}}', "blocked"],
  ['{"detail":"key is blocked"}', "blocked"],
  ['{"error":{"message":"budget exceeded"}}', undefined],
  ['{"error":"token_not_found_in_db"}', undefined],
  ["[]", undefined],
  ["null", undefined],
  ["no json", undefined],
];
test.each(CLASSIFIED)("the body %s of a 401 is classified as %p", (body, reason) => {
  expect(rejectionReasonIn(body)).toBe(reason);
});
