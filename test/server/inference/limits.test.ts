// How much one caller, one user and all of them together may send, and the refusals: buckets by token, workstation and address,
// requests in progress, declared lengths, and the error formats.
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { Permits } from "../../../src/domain/inference/admission/permits.ts";
import { HOUR_MS, SECOND_MS } from "../../../src/platform/clock.ts";
import { REFUSAL_REASONS, refusal, statusOf } from "../../../src/server/inference/refusals.ts";
import { chat, createProxyServer, type ProxyServer } from "../../support/inference/proxy-server.ts";

const path = "/v1/chat/completions";
const outcome = async (answer: Promise<Response>) => {
  const { status, headers } = await answer;
  return [status, headers.get("retry-after")];
};

/** Sends the bytes and no more. @returns what came back, up to the end of the searched text */
async function respondTo(origin: string, bytes: string, until: RegExp): Promise<string> {
  const { hostname: host, port } = new URL(origin);
  const socket = connect({ host, port: Number(port) });
  socket.write(bytes);
  let text = "";
  for await (const piece of socket) {
    text += String(piece);
    if (until.test(text)) break; // destroys the socket
  }
  return text;
}

/** Makes the upstream respond as soon as the test says so. */
function hold({ models }: ProxyServer): () => void {
  const gate = Promise.withResolvers<void>();
  models.script = async (exchange) => {
    await gate.promise;
    await exchange.answer(200, "{}");
  };
  return gate.resolve;
}

const send = async (site: ProxyServer, token: string): Promise<(string | number | null)[]> => {
  const answer = await site.send(path, chat(token));
  const { reason = null } = await answer.json();
  return [answer.status, reason, answer.headers.get("retry-after")];
};

test("a token may send a burst, then as many per second as the settings say", async () => {
  await using site = await createProxyServer({ proxy: { tokenRate: 2, tokenBurst: 3 } });
  const token = await site.tokenOf(await site.signedIn("member"));
  const codes = async () => (await send(site, token))[0];
  expect([await codes(), await codes(), await codes()]).toEqual([200, 200, 200]);
  expect(await send(site, token)).toEqual([429, "inference.too_many", "1"]);
  site.world.clock.advance(SECOND_MS);
  expect([await codes(), await codes(), await codes()]).toEqual([200, 200, 429]);
  expect(site.models.exchanges).toHaveLength(5);
});

test("INF-14 several tokens of one workstation share its bucket, and another workstation has its own", async () => {
  await using site = await createProxyServer({ proxy: { tokenRate: 1, tokenBurst: 2 } });
  const ana = await site.signedIn("member");
  const tokens = [await site.tokenOf(ana), await site.tokenOf(ana), await site.tokenOf(ana)];
  const codes = [];
  for (const token of tokens) codes.push((await send(site, token))[0]);
  expect(codes).toEqual([200, 200, 429]);
  const other = await site.tokenOf(await site.signInAgain(ana.user));
  expect((await send(site, other))[0]).toBe(200);
});

describe("INF-14 refused tokens are counted by address,", () => {
  const bad = (site: ProxyServer, address: string) =>
    outcome(site.send(path, chat("not.a.token", { "x-forwarded-for": address })));

  test("counts by the address that a trusted proxy forwards, and by the network of an IPv6 address", async () => {
    const trustedProxies = [{ address: "127.0.0.0", prefix: 8, family: "ipv4" }] as const;
    await using site = await createProxyServer({
      proxy: { failuresPerAddress: 2 },
      listen: { trustedProxies },
    });
    const request = [
      "192.0.2.1",
      "192.0.2.1",
      "192.0.2.1",
      "192.0.2.2",
      "2001:db8::1",
      "2001:db8::2",
      "2001:db8::3",
    ];
    const codes = [];
    for (const address of request) codes.push((await bad(site, address))[0]);
    expect(codes).toEqual([401, 401, 429, 401, 401, 401, 429]);
    site.world.clock.advance(SECOND_MS);
    expect(await bad(site, "192.0.2.1")).toEqual([401, null]);
  });

  test("never limits a valid token", async () => {
    await using site = await createProxyServer({ proxy: { failuresPerAddress: 1 } });
    const token = await site.tokenOf(await site.signedIn("member"));
    expect([await bad(site, "192.0.2.9"), await bad(site, "192.0.2.9")]).toEqual([
      [401, null],
      [429, "1"],
    ]);
    expect((await send(site, token))[0]).toBe(200);
  });
});

test("all requests in progress are bounded, and a permit comes back with the end of a response", async () => {
  await using site = await createProxyServer({ proxy: { maxInFlight: 2 } });
  const open = hold(site);
  const tokens = await Promise.all([0, 1, 2].map(async () => site.tokenOf(await site.signedIn("member"))));
  const running = tokens.slice(0, 2).map((token) => send(site, token));
  await site.models.exchange(1);
  expect(await send(site, tokens[2] ?? "")).toEqual([503, "inference.busy", "1"]);
  expect(await site.metrics.metrics()).toContain("quartermaster_inference_in_flight 2\n");
  open();
  expect((await Promise.all(running)).map(([status]) => status)).toEqual([200, 200]);
  expect((await send(site, tokens[2] ?? ""))[0]).toBe(200);
  expect(await site.metrics.metrics()).toContain("quartermaster_inference_in_flight 0\n");
});

test("INF-57 the requests of one user in progress are bounded, whatever the workstation", async () => {
  await using site = await createProxyServer({ proxy: { parallelPerUser: 2 } });
  const open = hold(site);
  const ana = await site.signedIn("member");
  const tokens = [await site.tokenOf(ana), await site.tokenOf(await site.signInAgain(ana.user))];
  const running = tokens.map((token) => send(site, token));
  await site.models.exchange(1);
  expect(await send(site, tokens[0] ?? "")).toEqual([429, "inference.user_parallel", "1"]);
  const eve = send(site, await site.tokenOf(await site.signedIn("member")));
  await site.models.exchange(2);
  open();
  expect((await Promise.all([...running, eve])).map(([status]) => status)).toEqual([200, 200, 200]);
  expect((await send(site, tokens[0] ?? ""))[0]).toBe(200);
});

test("INF-57 a user whose budget of the day is used up is refused until midnight UTC", async () => {
  await using site = await createProxyServer({ budgets: { requestsPerDay: 2, tokensPerDay: 0 } });
  const token = await site.tokenOf(await site.signedIn("member"));
  expect([(await send(site, token))[0], (await send(site, token))[0]]).toEqual([200, 200]);
  while (site.rows.length < 2) await Bun.sleep(1); // a request counts once it has ended
  site.world.clock.advance(HOUR_MS);
  const refused = await site.send(path, chat(token));
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([
    429,
    String((23 * HOUR_MS) / SECOND_MS),
  ]);
  expect(await refused.json()).toMatchObject({
    reason: "inference.budget",
    error: { type: "insufficient_quota", code: "insufficient_quota" },
  });
  expect((await send(site, await site.tokenOf(await site.signedIn("member"))))[0]).toBe(200);
});

test("permits of users without requests are forgotten", () => {
  const permits = new Permits({ inFlightMax: 1, perUserMax: 0 });
  for (let count = 0; count < 3; count += 1) expect(permits.takeForUser("ana")).toBe(true);
  for (let count = 0; count < 3; count += 1) permits.releaseForUser("ana");
  expect([permits.take(), permits.take(), permits.inFlight, permits.capacity]).toEqual([true, false, 1, 1]);
});

describe("a declared length", () => {
  test("may be as large as the settings say", async () => {
    await using site = await createProxyServer({ proxy: { maxBodyBytes: 1024 } });
    const token = await site.tokenOf(await site.signedIn("member"));
    const codes = [];
    for (const length of [1023, 1024, 1025])
      codes.push((await site.send(path, { ...chat(token), body: "a".repeat(length) })).status);
    expect(codes).toEqual([200, 200, 413]);
    expect(site.models.exchanges).toHaveLength(2);
  });

  test.each([
    ["once", 1],
    ["twice", 2],
  ])(
    "refuses a declared length that is too large (%s) before the body arrives, and closes the connection",
    async (_, times) => {
      await using site = await createProxyServer();
      const token = await site.tokenOf(await site.signedIn("member"));
      const head = [
        "POST /inference/v1/messages HTTP/1.1",
        `Host: ${new URL(site.origin).host}`,
        `Authorization: Bearer ${token}`,
        ...Array<string>(times).fill("Content-Length: 33554433"),
      ];
      const text = await respondTo(site.origin, `${head.join("\r\n")}\r\n\r\n{`, /request_id":"[^"]+"}/);
      expect(text).toStartWith("HTTP/1.1 413");
      expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
      expect(text).toContain('"type":"request_too_large"');
      expect(site.rows.map(({ refusal: reason, profileName }) => [reason, profileName])).toEqual([
        ["inference.too_large", expect.stringMatching(/^quartermaster:/)],
      ]);
    },
  );
});

test("a service that stops refuses new requests, and its health says so", async () => {
  await using site = await createProxyServer();
  const token = await site.tokenOf(await site.signedIn("member"));
  const healthy = await site.send("/health");
  expect([healthy.status, await healthy.text()]).toEqual([200, "ok\n"]);
  site.stop();
  const refused = await site.send("/v1/messages", chat(token));
  expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual([
    503,
    "5",
    "close",
  ]);
  expect(await refused.json()).toMatchObject({
    reason: "service.stopping",
    error: { type: "overloaded_error" },
  });
  expect((await site.send("/health")).status).toBe(503);
});

describe("a refusal", () => {
  const body = async (reason: (typeof REFUSAL_REASONS)[number], dialect: "chat" | "responses" | "messages") =>
    await refusal(reason, dialect, "request-1").json();

  test.each(REFUSAL_REASONS)("INF-33 has the form of the API that was called: %s", async (reason) => {
    const answer = refusal(reason, "chat", "request-1");
    expect(answer.status).toBe(statusOf(reason));
    expect(answer.headers.get("content-type")).toBe("application/json");
    const shared = { reason, request_id: "request-1" };
    const message = expect.stringMatching(/^\S.*\.$/);
    const openai = { message, type: expect.any(String), param: null, code: expect.any(String) };
    expect(await answer.json()).toEqual({ error: openai, ...shared });
    expect(await body(reason, "responses")).toEqual({ error: openai, ...shared });
    const anthropic = { type: "error", error: { type: expect.stringMatching(/_error$|_large$/), message } };
    expect(await body(reason, "messages")).toEqual({ ...anthropic, ...shared });
  });

  test("INF-34 says what to do in one sentence, and reveals nothing about the user of a refused token", async () => {
    for (const reason of REFUSAL_REASONS) {
      const { error } = await body(reason, "chat");
      expect(error.message.match(/\. /g)).toBeNull();
    }
    const { error } = await body("inference.bad_token", "chat");
    expect(error.message).not.toMatch(/user|account|exist/);
  });

  test("INF-33 models are refused in the form of the API whose version is named", async () => {
    await using site = await createProxyServer();
    const named = await site.send("/v1/models", { headers: { "anthropic-version": "2023-06-01" } });
    expect(await named.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
    const other = await site.send("/v1/models");
    expect(await other.json()).toMatchObject({ error: { code: "invalid_api_key" } });
  });

  test("INF-60 is counted by its reason and by the listed path", async () => {
    await using site = await createProxyServer();
    await site.send("/v1/key/list", chat("x"));
    await site.send("/responses/resp_1/cancel", chat("x"));
    const text = await site.metrics.metrics();
    expect(text).toContain('quartermaster_inference_refused_total{reason="inference.no_such_path"} 1');
    expect(text).toContain('quartermaster_inference_refused_total{reason="inference.bad_token"} 1');
    expect(text).toContain(
      'quartermaster_inference_requests_total{route="/v1/responses/{id}/cancel",status="401",outcome="refused"} 1',
    );
    expect(text).not.toContain("key/list");
  });
});
