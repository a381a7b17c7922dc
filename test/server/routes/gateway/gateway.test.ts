// Tests the caller's gateway key over HTTP with a real gateway: bodies, statuses and error texts.
import { beforeEach, describe, expect, test } from "bun:test";
import {
  createProxyHealth,
  PROXY_DESTINATION,
  UPSTREAM_DESTINATION,
} from "../../../../src/domain/gateway/inference/proxy-health.ts";
import type { GatewaySettings } from "../../../../src/domain/gateway/settings.ts";
import { MINUTE_MS } from "../../../../src/platform/clock.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import {
  createGatewayServer,
  type GatewayServer,
  PROXY_URL,
  sharedGatewayServer,
} from "../../../support/gateway/gateway-server.ts";
import { ADMIN_KEY } from "../../../support/gateway/litellm-gateway.ts";
import { type Caller, createTestServer, type Sent, type TestServer } from "../../../support/server.ts";
import { heldClock } from "../../../support/world.ts";

const ENSURE = "/gateway/key/ensure";
const VALIDATE = "/gateway/key/validate";
const ROTATE = "/gateway/key/rotate";
const REVOKE = "/gateway/key/revoke";

const sameSite = sharedGatewayServer();
let site: GatewayServer;
let ana: Caller;
beforeEach(async () => {
  site = await sameSite();
  ana = await site.signedIn("member", { email: "ana@example.com" });
});

const bearer = (caller: Caller): Sent => ({ token: caller.accessToken });
const post = (path: string, sent: Sent = {}) => site.request("POST", path, { ...bearer(ana), ...sent });
const stored = async () => await (await site.request("GET", "/gateway/key", bearer(ana))).json();
const broken = () => site.upstream.fail("*", { kind: "hang-up" });

const MEMBERS = [
  "enabled",
  "email",
  "status",
  "alias",
  "external_id",
  "expires_at",
  "last_reconciled_at",
  "error",
  "invalidated_at",
  "invalidation_reason",
  "next_retry_at",
];

describe("a user's key", () => {
  test("is created by the first ensure, unchanged afterwards, and always has all members", async () => {
    expect(await stored()).toMatchObject({ enabled: true, status: "missing", alias: null });
    const made = await post(ENSURE, { body: {} });
    expect([made.status, made.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const body = await made.json();
    expect(Object.keys(body)).toEqual(MEMBERS);
    expect(body).toMatchObject({
      enabled: true,
      email: "ana@example.com",
      status: "ready",
      alias: "quartermaster:ana@example.com",
      error: null,
    });
    expect(await stored()).toEqual(body);
    const calls = site.upstream.calls.length;
    expect(await (await post(ENSURE, { body: { manual: true } })).json()).toEqual(body);
    expect(site.upstream.calls).toHaveLength(calls);
  });

  test("never appears in a response or in the log", async () => {
    const response = await (await post(ENSURE)).text();
    const shown = [response, JSON.stringify(await stored()), JSON.stringify(site.logged)].join();
    expect(shown).not.toContain("sk-");
    expect(site.upstream.keys).toHaveLength(1);
  });

  test("can be requested from a browser", async () => {
    const response = await site.request("POST", ENSURE, { cookie: ana.cookie });
    expect(await response.json()).toMatchObject({ status: "ready" });
  });

  test("is created once for concurrent requests", async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => post(ENSURE)));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(site.upstream.calls.filter((call) => call === "POST /key/generate")).toHaveLength(1);
  });

  test("differs between users", async () => {
    await post(ENSURE);
    const bob = await site.signedIn("member");
    const response = await site.request("GET", "/gateway/key", bearer(bob));
    expect(await response.json()).toMatchObject({ email: bob.user.email, status: "missing" });
  });

  test("is replaced when its user rotates it, and kept if the gateway fails", async () => {
    const first = await (await post(ENSURE)).json();
    const rotated = await (await post(ROTATE)).json();
    expect(rotated).toMatchObject({
      status: "ready",
      external_id: expect.not.stringMatching(first.external_id),
    });
    expect(await stored()).toEqual(rotated);
    broken();
    expect(await (await post(ROTATE)).json()).toMatchObject({
      status: "ready",
      external_id: rotated.external_id,
      error: expect.stringContaining("unavailable"),
    });
  });

  test("is deleted as soon as its user revokes it, even if the gateway fails, and is created again on request", async () => {
    await post(ENSURE);
    broken();
    const revoked = await post(REVOKE);
    expect([revoked.status, await revoked.json()]).toMatchObject([
      200,
      { status: "missing", external_id: null },
    ]);
    expect((await post(REVOKE)).status).toBe(200);
    site.upstream.heal();
    expect(await (await post(ENSURE)).json()).toMatchObject({ status: "ready" });
  });
});

describe("the body of ensure", () => {
  test.each<[string, Sent]>([
    ["may be absent", {}],
    ["may be empty", { body: "" }],
    ["may be an empty object", { body: {} }],
    ["may say whether a person asks", { body: { manual: true } }],
    ["may say null for no", { body: { manual: null } }],
    ["may have members that a newer client sends", { body: { force: true } }],
    ["may be absent with a media type", { headers: { "content-type": "text/plain" } }],
  ])("%s", async (_name, sent) => {
    expect((await post(ENSURE, sent)).status).toBe(200);
  });

  test.each<[string, Sent, number]>([
    ["cannot be malformed", { body: "{" }, 400],
    ["cannot be blank", { body: " " }, 400],
    ["cannot be a list", { body: [] }, 422],
    ["must be yes or no", { body: { manual: "yes" } }, 422],
    ["cannot be of another type", { body: "{}", headers: { "content-type": "text/plain" } }, 415],
  ])("%s", async (_name, sent, status) => {
    expect((await post(ENSURE, sent)).status).toBe(status);
    expect(site.upstream.calls).toEqual([]);
  });
});

describe("a failure", () => {
  test("answers a failure of the gateway with 502 and the text that clients expect, and stores it", async () => {
    broken();
    const response = await post(ENSURE);
    expect(response.status).toBe(502);
    const { error, reason } = await response.json();
    expect(error).toContain("gateway is unavailable");
    expect(reason).toBe("gateway.unavailable");
    const retryAfter = Number(response.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThanOrEqual(24);
    expect(retryAfter).toBeLessThanOrEqual(36);
    expect(await stored()).toMatchObject({ status: "error", error, next_retry_at: expect.any(String) });
  });

  test("is not retried before its retry time unless a user asks", async () => {
    broken();
    await post(ENSURE);
    site.upstream.heal();
    const waiting = await post(ENSURE);
    expect([waiting.status, (await waiting.json()).status]).toEqual([200, "error"]);
    expect(waiting.headers.get("retry-after")).not.toBeNull();
    expect(await (await post(ENSURE, { body: { manual: true } })).json()).toMatchObject({
      status: "ready",
      error: null,
    });
  });

  test.each<[string, () => void, number, string]>([
    ["an account that is missing", () => site.upstream.users.splice(0), 403, "gateway.account_missing"],
    [
      "two accounts of one address",
      () => void site.upstream.addUser("ana@example.com"),
      409,
      "gateway.conflict",
    ],
    [
      "a refusal",
      () => site.upstream.fail("POST /key/generate", { kind: "status", status: 400 }),
      502,
      "gateway.rejected",
    ],
  ])("caused by %s has its own status", async (_name, spoil, status, reason) => {
    spoil();
    const response = await post(ENSURE);
    expect(response.status).toBe(status);
    expect((await response.json()).reason).toBe(reason);
  });

  test("hides the gateway's message, which is logged", async () => {
    const body = { error: { message: `no: ${ADMIN_KEY} at 10.1.2.3` } };
    site.upstream.fail("POST /key/generate", { kind: "status", status: 500, body });
    const response = await (await post(ENSURE)).text();
    expect(response).not.toContain("10.1.2.3");
    const { request_id: requestId } = JSON.parse(response);
    const [call] = site.provisionerCalls;
    expect(call).toMatchObject({
      operation: "provision",
      outcome: "unavailable",
      userId: ana.user.id,
      requestId,
    });
    expect(call?.diagnosis).toContain("10.1.2.3");
    expect(call?.diagnosis).not.toContain(ADMIN_KEY);
  });

  test("does not block the use of a valid key", async () => {
    await post(ENSURE);
    site.world.clock.advance(2 * MINUTE_MS);
    broken();
    const response = await post(VALIDATE);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: "ready",
      alias: "quartermaster:ana@example.com",
      error: expect.stringContaining("gateway is unavailable"),
    });
  });
});

describe("validate", () => {
  test("asks the gateway at most once a minute", async () => {
    await post(ENSURE);
    const before = site.upstream.calls.length;
    await post(VALIDATE, { body: "whatever" });
    expect(site.upstream.calls).toHaveLength(before);
    site.world.clock.advance(MINUTE_MS);
    expect(await (await post(VALIDATE)).json()).toMatchObject({ status: "ready" });
    expect(site.upstream.calls.length).toBeGreaterThan(before);
  });

  test("detects a blocked key and leaves its replacement to ensure", async () => {
    await post(ENSURE);
    for (const key of site.upstream.keys) key.blocked = true;
    site.world.clock.advance(MINUTE_MS);
    const found = await post(VALIDATE);
    expect(found.status).toBe(200);
    expect(await found.json()).toMatchObject({
      status: "invalid",
      alias: null,
      invalidated_at: expect.any(String),
      invalidation_reason: expect.any(String),
    });
    expect(await (await post(ENSURE, { body: { manual: true } })).json()).toMatchObject({
      status: "ready",
      invalidation_reason: null,
    });
  });

  test("does not contact the gateway without a key", async () => {
    expect(await (await post(VALIDATE)).json()).toMatchObject({ status: "missing" });
    expect(site.upstream.calls).toEqual([]);
  });
});

describe("the status of gateway mode", () => {
  const statusFor = async (server: TestServer, caller: Caller) =>
    await (await server.request("GET", "/gateway/status", bearer(caller))).json();

  test("is 404 before a policy is published", async () => {
    const response = await site.request("GET", "/gateway/status", bearer(ana));
    expect([response.status, (await response.json()).reason]).toEqual([404, "governance.no_policy"]);
  });

  test("is brief for members and complete without secrets for administrators", async () => {
    await publishFirst(site, { allowed_harnesses: ["claude"] });
    expect(await statusFor(site, ana)).toEqual({ enabled: true, runtime_configured: true });
    const status = await statusFor(site, await site.signedIn("admin"));
    expect(status).toEqual({
      enabled: true,
      runtime_configured: true,
      inference_proxy_url: PROXY_URL,
      upstream_gateway_url: site.upstream.origin,
      provisioner_type: "builtin-litellm",
      harnesses: [{ name: "claude", gateway_type: "litellm" }],
      runtime_checks: {
        gateway_policy: true,
        gateway_url: true,
        inference_proxy_url: true,
        provisioner: true,
        secret_encryption: true,
        internal_auth: true,
        inference_jwt_signing: true,
      },
      proxy: {
        mode: "external",
        in_flight: null,
        capacity: null,
        upstream_up: null,
        log_queue: null,
        log_dropped: null,
      },
    });
  });

  test("INF-58 shows the activity of the proxy in this process, which needs no token", async () => {
    const figures = { inFlight: 3, capacity: 2000, isUpstreamUp: false, logQueue: 4, logDropped: 5 };
    const gateway = { proxyMode: "in-process", proxyToken: undefined } as const;
    await using server = await createGatewayServer({ gateway, proxyFigures: () => figures });
    await publishFirst(server);
    const status = await statusFor(server, await server.signedIn("admin"));
    expect(status).toMatchObject({ runtime_configured: true, runtime_checks: { internal_auth: true } });
    expect(status.proxy).toEqual({
      mode: "in-process",
      in_flight: 3,
      capacity: 2000,
      upstream_up: false,
      log_queue: 4,
      log_dropped: 5,
    });
    expect(await statusFor(server, await server.signedIn("member"))).toEqual({
      enabled: true,
      runtime_configured: true,
    });
    await using starting = await createGatewayServer({ gateway });
    await publishFirst(starting);
    expect(await statusFor(starting, await starting.signedIn("member"))).toMatchObject({
      runtime_configured: false,
    });
  });

  test("shows that the inference proxy has no configured token", async () => {
    await using server = await createGatewayServer({ gateway: { proxyToken: undefined } });
    await publishFirst(server);
    const status = await statusFor(server, await server.signedIn("admin"));
    expect(status).toMatchObject({ enabled: true, runtime_configured: false });
    expect(status.runtime_checks).toMatchObject({ internal_auth: false, inference_jwt_signing: true });
  });

  test("reports a policy that needs the gateway while the mode is off", async () => {
    await using on = await createGatewayServer();
    await publishFirst(on);
    await using off = await createTestServer({ world: on.world });
    expect(await statusFor(off, await off.signedIn("member"))).toEqual({
      enabled: true,
      runtime_configured: false,
    });
    const { runtime_checks } = await statusFor(off, await off.signedIn("admin"));
    expect(runtime_checks).toMatchObject({ gateway_policy: true, gateway_url: false, provisioner: false });
  });

  test("reports a policy without a gateway while the mode is on", async () => {
    await using on = await createGatewayServer();
    await using off = await createTestServer({ world: on.world });
    await publishFirst(off);
    expect(await statusFor(on, await on.signedIn("member"))).toEqual({
      enabled: false,
      runtime_configured: false,
    });
    const status = await statusFor(on, await on.signedIn("admin"));
    expect(status).toMatchObject({ harnesses: [], runtime_checks: { gateway_policy: false } });
  });
});

describe("the health of the inference proxy", () => {
  async function healthAt(proxyOrigin: string) {
    await using server = await createGatewayServer({ proxyOrigin });
    const admin = await server.signedIn("admin");
    const response = await server.request("POST", "/gateway/proxy/health", bearer(admin));
    expect(response.status).toBe(200);
    return await response.json();
  }

  test("is the response of its /health", async () => {
    const requests: string[] = [];
    await using proxy = Bun.serve({
      port: 0,
      fetch(request) {
        requests.push(`${request.method} ${new URL(request.url).pathname}`);
        return new Response("fine");
      },
    });
    const health = await healthAt(`http://127.0.0.1:${proxy.port}`);
    expect(health).toEqual({
      status: "healthy",
      checked_at: "2026-01-01T00:00:00.000Z",
      latency_ms: expect.any(Number),
      http_status: 200,
    });
    expect(requests).toEqual(["GET /health"]);
  });

  test("INF-59 includes the gateway's health on request, and uses paths below the configured URLs", async () => {
    const requests: string[] = [];
    await using peer = Bun.serve({
      port: 0,
      fetch(request) {
        requests.push(`${new URL(request.url).pathname} ${request.headers.get("authorization")}`);
        return new Response("", { status: requests.length === 1 ? 200 : 401 });
      },
    });
    const origin = `http://127.0.0.1:${peer.port}`;
    const clock = heldClock();
    const allowed = [
      { name: PROXY_DESTINATION, origin, base: "/inference", why: "health" },
      { name: UPSTREAM_DESTINATION, origin, base: "/gw", why: "inference" },
    ];
    const both = createProxyHealth({ clock, outbound: createOutbound({ allowed }) });
    expect(await both({ withUpstream: true })).toMatchObject({
      status: "healthy",
      upstream: { status: "unhealthy", http_status: 401, error: "it answered 401" },
    });
    expect(requests).toEqual(["/inference/health null", "/gw/health/liveliness null"]);
    const admin = await site.signedIn("admin");
    const refused = await site.request("POST", "/gateway/proxy/health?upstream=1", bearer(admin));
    expect([refused.status, (await refused.json()).reason]).toEqual([400, "gateway.not_forwarding"]);
  });

  test.each(["upstream=0", "upstream=true", "upstream=", "upstream=1&upstream=1", "upstreams=1"])(
    "INF-59 is refused with %s, and the parameter is named",
    async (query) => {
      const admin = await site.signedIn("admin");
      const refused = await site.request("POST", `/gateway/proxy/health?${query}`, bearer(admin));
      const { reason, errors } = await refused.json();
      expect([refused.status, reason]).toEqual([400, "request.invalid"]);
      expect(errors).toMatchObject([{ pointer: `/${query.split("=")[0]}` }]);
    },
  );

  test("is reported when the proxy is unhealthy or does not answer", async () => {
    await using proxy = Bun.serve({ port: 0, fetch: () => new Response("", { status: 503 }) });
    const origin = `http://127.0.0.1:${proxy.port}`;
    expect(await healthAt(origin)).toMatchObject({ status: "unhealthy", http_status: 503 });
    await proxy.stop(true);
    const silent = await healthAt(origin);
    expect(silent).toMatchObject({
      status: "unhealthy",
      error: expect.stringMatching(/^the proxy did not answer/),
    });
    expect(silent).not.toHaveProperty("http_status");
  });
});

describe("gateway mode off", () => {
  test("the key is missing without an error", async () => {
    await using server = await createTestServer();
    await publishFirst(server);
    const caller = await server.signedIn("member");
    const ask = async (method: string, path: string) => {
      const response = await server.request(method, path, bearer(caller));
      return [response.status, await response.json()];
    };
    const off = { ...Object.fromEntries(MEMBERS.map((name) => [name, null])), enabled: false };
    const body = { ...off, email: caller.user.email, status: "missing" };
    expect(await ask("GET", "/gateway/key")).toEqual([200, body]);
    expect(await ask("POST", ENSURE)).toEqual([200, body]);
    expect(await ask("POST", VALIDATE)).toEqual([200, body]);
    expect(await ask("GET", "/gateway/status")).toEqual([200, { enabled: false, runtime_configured: false }]);
  });

  test("verification keys, tokens and the proxy are absent", async () => {
    await using server = await createTestServer();
    const admin = bearer(await server.signedIn("admin"));
    const outcome = async (method: string, path: string) => {
      const response = await server.request(method, path, admin);
      return [response.status, (await response.json()).reason];
    };
    expect(await outcome("GET", "/gateway/jwks")).toEqual([404, "gateway.off"]);
    expect(await outcome("POST", "/gateway/token")).toEqual([409, "gateway.off"]);
    expect(await outcome("POST", "/gateway/proxy/health")).toEqual([400, "gateway.no_proxy"]);
    expect(await outcome("POST", "/internal/gateway/resolve")).toEqual([404, "request.unknown_path"]);
  });

  test("a workstation signs out successfully", async () => {
    await using server = await createTestServer();
    const caller = await server.signedIn("member");
    for (const _ of [1, 2]) {
      const response = await server.request("POST", "/gateway/session/revoke", bearer(caller));
      expect([response.status, await response.text()]).toEqual([204, ""]);
    }
  });
});

test("a new key gets the configured policy", async () => {
  const base = site.domain.gateway.mode?.settings.provisioner;
  if (!base) throw new Error("gateway mode is on");
  const policy = { ...base.policy, models: ["model-a"], duration: "30d" };
  const gateway: Partial<GatewaySettings> = { provisioner: { ...base, policy } };
  await using server = await createGatewayServer({ gateway });
  const caller = await server.signedIn("member");
  const response = await server.request("POST", ENSURE, bearer(caller));
  expect(await response.json()).toMatchObject({ status: "ready", expires_at: "2026-01-31T00:00:00.000Z" });
  expect(server.upstream.keys[0]).toMatchObject({ models: ["model-a"] });
});
