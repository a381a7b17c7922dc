// Tests GET /governance-config in gateway mode: the proxy and token for the caller, cache headers, and refusals.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { decodeJwt } from "jose";
import { HOUR_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import {
  createGatewayServer,
  type GatewayServer,
  PROXY_URL,
} from "../../../support/gateway/gateway-server.ts";
import { type Caller, createTestServer, METRICS_TOKEN } from "../../../support/server.ts";

const PATH = "/governance-config";
const CAPABLE = {
  "x-blue-contract-version": "3",
  "x-blue-capabilities":
    "adapter_intervals,compiled_harness_registry,transactional_reconcile,versioned_state,gateway_inference_jwt,tenant_client_version_pin",
};

let site: GatewayServer;
let ana: Caller;
let revision: string;
beforeEach(async () => {
  site = await createGatewayServer();
  ana = await site.signedIn("member", { email: "ana@example.com" });
  revision = await publishFirst(site, { required_client_version: "1.2.3" });
});
afterEach(() => site[Symbol.asyncDispose]());

const get = (caller = ana, headers: Record<string, string> = {}) =>
  site.request("GET", PATH, { token: caller.accessToken, headers: { ...CAPABLE, ...headers } });
const gatewayOf = async (caller = ana) => (await (await get(caller)).json()).gateway;
const outcome = async (pending: Promise<Response>): Promise<[number, string]> => {
  const response = await pending;
  return [response.status, (await response.json()).reason];
};

describe("a workstation", () => {
  test("gets the whole document with only the proxy and a token bound to its login", async () => {
    const response = await get();
    expect(response.headers.get("x-blue-required-client-version")).toBe("1.2.3");
    const { gateway, ...document } = await response.json();
    expect(document).toMatchObject({ revision, required_client_version: "1.2.3", packages: [] });
    expect(gateway).toEqual({
      type: "litellm",
      proxy_url: PROXY_URL,
      token: expect.any(String),
      auth_style: "bearer",
    });
    const { sub, exp = 0, blue_oauth_session_id } = decodeJwt(gateway.token);
    expect([sub, blue_oauth_session_id]).toEqual([ana.user.id, ana.loginSessionId]);
    expect(exp * SECOND_MS).toBeGreaterThan(site.world.clock.nowMs());
  });

  test("gets a new key on the first fetch and the same key afterwards", async () => {
    expect(site.upstream.keys).toHaveLength(0);
    await get();
    await get();
    expect(site.upstream.keys).toHaveLength(1);
  });

  test("gets a response that must not be stored, shared or compared", async () => {
    const [one, other] = [await gatewayOf(), await gatewayOf()];
    expect(one.token).not.toBe(other.token);
    const response = await get(ana, { "if-none-match": "*" });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("etag")).toBeNull();
  });

  test("gets a different token than other workstations, in any order of requests", async () => {
    const ben = await site.signedIn("member", { email: "ben@example.com" });
    const responses = await Promise.all([gatewayOf(ana), gatewayOf(ben), gatewayOf(ana)]);
    const subjects = responses.map(({ token }) => decodeJwt(token).sub);
    expect(subjects).toEqual([ana.user.id, ben.user.id, ana.user.id]);
  });

  test("leaves no token in the database or the log", async () => {
    const { token } = await gatewayOf();
    expect(site.domain.governance.revisions.inForce(site.world.organizationId).document.gateway).toEqual({
      type: "litellm",
      auth_style: "bearer",
    });
    expect(JSON.stringify(site.logged)).not.toContain(token);
  });
});

describe("a policy fetch in gateway mode", () => {
  test("is refused to a browser, which needs a workstation's token", async () => {
    const pending = site.request("GET", PATH, { cookie: ana.cookie, headers: CAPABLE });
    expect(await outcome(pending)).toEqual([401, "access.token_missing"]);
  });

  test("is refused after the browser sign-in ends, even with a valid access token", async () => {
    site.world.clock.advance(12 * HOUR_MS);
    const { refreshToken } = ana;
    const tokens = await site.domain.access.grants.refresh({ refreshToken, clientId: "blue-cli" });
    const pending = get({ ...ana, accessToken: tokens.access_token });
    expect(await outcome(pending)).toEqual([401, "gateway.login_ended"]);
  });

  test("is refused to a workstation that has signed out", async () => {
    await get();
    await site.request("POST", "/gateway/session/revoke", { token: ana.accessToken });
    expect(await outcome(get())).toEqual([401, "gateway.session_revoked"]);
  });

  test("is refused to an outdated client before any work", async () => {
    const headers = { ...CAPABLE, "x-blue-capabilities": "adapter_intervals" };
    const pending = site.request("GET", PATH, { token: ana.accessToken, headers });
    expect(await outcome(pending)).toEqual([426, "governance.client_too_old"]);
    const browsers = site.request("GET", PATH, { cookie: ana.cookie });
    expect(await outcome(browsers)).toEqual([426, "governance.client_too_old"]);
    expect(site.upstream.keys).toHaveLength(0);
  });

  test("is 502 while the gateway is down, and 409 with a remedy while a key is pending", async () => {
    await site.upstream.stop();
    expect((await get()).status).toBe(502);
    const response = await get();
    const { reason, error } = await response.json();
    expect([response.status, reason]).toEqual([409, "gateway.key_needed"]);
    expect(error).toBe(
      "you have no usable gateway key (it is error); run the client's gateway command to see why and to get one",
    );
  });

  test("is 403 for an address without an account at the gateway", async () => {
    site.upstream.users.length = 0;
    expect((await get()).status).toBe(403);
  });

  test("is counted", async () => {
    await site.request("GET", PATH, { cookie: ana.cookie, headers: CAPABLE });
    await get();
    await site.upstream.stop();
    const ben = await site.signedIn("member", { email: "ben@example.com" });
    await get(ben);
    await get(ben);
    const page = await (await site.request("GET", "/metrics", { token: METRICS_TOKEN })).text();
    for (const result of ["sent", "refused", "failed", "key_needed"])
      expect(page).toContain(`quartermaster_policy_fetches_total{result="${result}"} 1\n`);
  });

  test("is 503 while the mode is off, until a start publishes another policy", async () => {
    const { world } = site;
    await using off = await createTestServer({ world });
    const input = () => off.request("GET", PATH, { token: ana.accessToken, headers: CAPABLE });
    expect(await outcome(input())).toEqual([503, "governance.gateway_off"]);
    await off.domain.governance.deployments.apply(world.system, undefined);
    expect((await input()).status).toBe(200);
  });
});
