// Tests inference tokens over HTTP: claims, audience, the response to the inference proxy, and everything that revokes
// them immediately.
import { beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { gatewayKeys } from "../../../../src/domain/gateway/tables.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import {
  createGatewayServer,
  type GatewayServer,
  PROXY_TOKEN,
  PROXY_URL,
  sharedGatewayServer,
} from "../../../support/gateway/gateway-server.ts";
import { BASE_URL, type Caller, type Sent } from "../../../support/server.ts";

const sameSite = sharedGatewayServer();
let site: GatewayServer;
let ana: Caller;
beforeEach(async () => {
  site = await sameSite();
  ana = await site.signedIn("member", { email: "ana@example.com" });
});

const bearer = (caller: Caller): Sent => ({ token: caller.accessToken });
const mint = (caller = ana, server = site) => server.request("POST", "/gateway/token", bearer(caller));
const revoke = (caller = ana) => site.request("POST", "/gateway/session/revoke", bearer(caller));
const ensure = (caller = ana) => site.request("POST", "/gateway/key/ensure", bearer(caller));

async function tokenOf(caller = ana): Promise<string> {
  const response = await mint(caller);
  expect(response.status).toBe(200);
  return (await response.json()).token;
}

/** Sends the request of the inference proxy after it has verified a token. */
function resolve(token: string, told: object = {}): Promise<Response> {
  const { sub: user_id, gateway_session_id } = decodeJwt(token);
  const body = { user_id, gateway_session_id, ...told };
  return site.request("POST", "/internal/gateway/resolve", { token: PROXY_TOKEN, body });
}

/** @returns the status and, for a refusal, its reason */
async function outcome(pending: Promise<Response>): Promise<[number, string | undefined]> {
  const response = await pending;
  return [response.status, (await response.json()).reason];
}

describe("an inference token", () => {
  test("verifies with the published keys and has the claims that the proxy needs", async () => {
    const response = await mint();
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { token, expires_at, proxy_url } = await response.json();
    expect(proxy_url).toBe(PROXY_URL);
    const jwks = await (await site.request("GET", "/gateway/jwks")).json();
    const currentDate = new Date(site.world.clock.nowMs());
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks), {
      algorithms: ["RS256"],
      issuer: BASE_URL,
      audience: "blue-inference-proxy",
      currentDate,
    });
    expect(protectedHeader).toEqual({ alg: "RS256", kid: jwks.keys[0].kid, typ: "JWT" });
    const issued = site.world.clock.nowMs() / SECOND_MS;
    expect(payload).toEqual({
      iss: BASE_URL,
      aud: "blue-inference-proxy",
      sub: ana.user.id,
      iat: issued,
      exp: issued + 43_200,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      blue_oauth_session_id: ana.loginSessionId,
      gateway_session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      scope: "gateway:infer",
    });
    expect(expires_at).toBe(new Date((issued + 43_200) * SECOND_MS).toISOString());
  });

  test("expires with the login session at the latest", async () => {
    site.world.clock.advance(11 * HOUR_MS);
    const { accessToken } = await refreshed(ana);
    const response = await site.request("POST", "/gateway/token", { token: accessToken });
    expect((await response.json()).expires_at).toBe("2026-01-01T12:00:00.000Z");
  });

  test("is refused after the login session expires, even if the workstation's own login is valid", async () => {
    site.world.clock.advance(12 * HOUR_MS);
    const { accessToken } = await refreshed(ana);
    expect((await site.request("GET", "/auth/me", { token: accessToken })).status).toBe(200);
    const response = site.request("POST", "/gateway/token", { token: accessToken });
    expect(await outcome(response)).toEqual([401, "gateway.login_ended"]);
  });

  test("has the configured lifetime and audience", async () => {
    const inferenceJwt = { issuer: "https://i", audience: "a", tokenTtlSeconds: 60, rotationDays: 30 };
    await using server = await createGatewayServer({ gateway: { inferenceJwt } });
    const { token } = await (await mint(await server.signedIn("member"), server)).json();
    const { iss, aud, iat = 0, exp } = decodeJwt(token);
    expect({ iss, aud, exp }).toEqual({ iss: "https://i", aud: "a", exp: iat + 60 });
  });

  test("is new for each call, and the previous one stays valid", async () => {
    await ensure();
    const tokens = [await tokenOf(), await tokenOf()];
    expect(decodeJwt(tokens[0] ?? "").jti).not.toBe(decodeJwt(tokens[1] ?? "").jti);
    for (const token of tokens) expect((await resolve(token)).status).toBe(200);
  });

  test("is issued to workstations and refused to browsers", async () => {
    const response = site.request("POST", "/gateway/token", { cookie: ana.cookie });
    expect(await outcome(response)).toEqual([401, "access.token_missing"]);
  });
});

async function refreshed({ refreshToken }: Caller): Promise<{ accessToken: string }> {
  const tokens = await site.domain.access.grants.refresh({ refreshToken, clientId: "blue-cli" });
  return { accessToken: tokens.access_token };
}

describe("the published keys", () => {
  test("contain no private parts, may be cached, and are not sent again unchanged", async () => {
    const response = await site.request("GET", "/gateway/jwks");
    expect(response.headers.get("cache-control")).toBe("public, max-age=60, stale-if-error=86400");
    const { keys } = await response.json();
    expect(keys.map((key: object) => Object.keys(key).sort())).toEqual([
      ["alg", "e", "kid", "kty", "n", "use"],
    ]);
    expect(keys[0]).toMatchObject({ kty: "RSA", alg: "RS256", use: "sig" });
    const etag = response.headers.get("etag") ?? "";
    const again = await site.request("GET", "/gateway/jwks", { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
  });

  test("overlap: a replaced key verifies until the last token it signed expires", async () => {
    const { signingKeys } = site.domain.inference;
    if (!signingKeys) throw new Error("gateway mode is on");
    const kids = async () =>
      (await (await site.request("GET", "/gateway/jwks")).json()).keys.map(({ kid }: { kid: string }) => kid);
    const [first] = await kids();
    site.world.clock.advance(30 * DAY_MS - 1);
    expect(await signingKeys.rotateIfDue(site.world.system)).toBeUndefined();
    const token = await tokenOf(await site.signInAgain(ana.user));
    site.world.clock.advance(1);
    const second = (await signingKeys.rotateIfDue(site.world.system))?.kid;
    expect(decodeProtectedHeader(token).kid).toBe(first);
    expect(await kids()).toEqual([second, first]);
    expect(decodeProtectedHeader(await tokenOf(await site.signInAgain(ana.user))).kid).toBe(second);
    site.world.clock.advance(43_260 * SECOND_MS - 1);
    expect(await kids()).toEqual([second, first]);
    site.world.clock.advance(1);
    expect(await kids()).toEqual([second]);
    expect(await signingKeys.dropDead()).toBe(1);
  });
});

describe("the inference proxy", () => {
  test("gets the key for a token and the time of the next lookup", async () => {
    await ensure();
    const response = await resolve(await tokenOf());
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { credential, ...rest } = await response.json();
    expect(site.upstream.accepts(credential)).toBe(true);
    expect(rest).toEqual({
      credential_version: expect.stringMatching(/^[0-9a-f-]{36}$/),
      credential_expires_at: null,
      external_id: site.upstream.keys[0]?.token,
      alias: "quartermaster:ana@example.com",
      user_id: ana.user.id,
      email: "ana@example.com",
      organization_id: site.world.organizationId,
      session_expires_at: "2026-01-01T12:00:00.000Z",
    });
    expect(JSON.stringify(site.logged)).not.toContain(credential);
  });

  test("accepts the scheme of the proxy's token in any case", async () => {
    const body = { user_id: ana.user.id, gateway_session_id: ana.user.id };
    const headers = { authorization: `bearer ${PROXY_TOKEN}` };
    const response = site.request("POST", "/internal/gateway/resolve", { headers, body });
    expect(await outcome(response)).not.toContain("access.proxy_token_invalid");
  });

  test("refuses callers other than the proxy", async () => {
    const body = { user_id: ana.user.id, gateway_session_id: ana.user.id };
    for (const token of [ana.accessToken, `${PROXY_TOKEN}x`, ""]) {
      const response = site.request("POST", "/internal/gateway/resolve", { token, body });
      expect(await outcome(response)).toEqual([401, "access.proxy_token_invalid"]);
    }
  });

  test("gets 404 until a proxy token is configured", async () => {
    await using server = await createGatewayServer({ gateway: { proxyToken: undefined } });
    for (const path of ["resolve", "credential-invalid"]) {
      const response = server.request("POST", `/internal/gateway/${path}`, { token: PROXY_TOKEN, body: {} });
      expect(await outcome(response)).toEqual([404, "request.unknown_path"]);
    }
  });

  test("gets a separate reason for each kind of missing key", async () => {
    const token = await tokenOf();
    expect(await outcome(resolve(token))).toEqual([409, "gateway.key_missing"]);
    const strange = { gateway_session_id: crypto.randomUUID() };
    expect(await outcome(resolve(token, strange))).toEqual([401, "gateway.session_unknown"]);
    const other = { user_id: (await site.signedIn("member")).user.id };
    expect(await outcome(resolve(token, other))).toEqual([401, "gateway.session_unknown"]);
  });

  test("does not get an expired key", async () => {
    await ensure();
    const token = await tokenOf();
    const expiresAtMs = site.world.clock.nowMs() + HOUR_MS;
    await changeRow({ expiresAtMs });
    site.world.clock.advance(HOUR_MS - 1);
    expect((await resolve(token)).status).toBe(200);
    site.world.clock.advance(1);
    expect(await outcome(resolve(token))).toEqual([409, "gateway.key_expired"]);
  });

  test("must retry while a stored key that cannot be decrypted is replaced", async () => {
    await ensure();
    const token = await tokenOf();
    const { credential: before } = await (await resolve(token)).json();
    await changeRow({ credentialVersion: crypto.randomUUID() }); // an envelope of another version
    const response = await resolve(token);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await outcome(Promise.resolve(response))).toEqual([503, "gateway.key_unreadable"]);
    await site.domain.gateway.keys.attempts?.drain();
    const { credential: after } = await (await resolve(token)).json();
    expect(after).not.toBe(before);
    expect(site.upstream.accepts(after)).toBe(true);
  });

  test("reports a key that the gateway refuses, and the key is replaced immediately", async () => {
    await ensure();
    const token = await tokenOf();
    const { credential: before, credential_version } = await (await resolve(token)).json();
    const report = () =>
      site.request("POST", "/internal/gateway/credential-invalid", {
        token: PROXY_TOKEN,
        body: { user_id: ana.user.id, credential_version, reason: "blocked" },
      });
    const first = await report();
    expect([first.status, await first.json()]).toEqual([202, { invalidated: true }]);
    await site.domain.gateway.keys.attempts?.drain();
    const { credential: after } = await (await resolve(token)).json();
    expect(after).not.toBe(before);
    const late = await report();
    expect([late.status, await late.json()]).toEqual([202, { invalidated: false }]);
    expect((await (await resolve(token)).json()).credential).toBe(after);
  });

  test("may report only known reasons", async () => {
    const body = { user_id: ana.user.id, credential_version: "v", reason: "tired" };
    const sent = { token: PROXY_TOKEN, body };
    expect((await site.request("POST", "/internal/gateway/credential-invalid", sent)).status).toBe(422);
  });
});

const changeRow = (changes: Partial<typeof gatewayKeys.$inferInsert>) =>
  site.world.db.write((tx) => {
    tx.update(gatewayKeys).set(changes).where(eq(gatewayKeys.userId, ana.user.id)).run();
  });

describe("tokens are rejected immediately", () => {
  let token: string;
  beforeEach(async () => {
    await ensure();
    token = await tokenOf();
    expect((await resolve(token)).status).toBe(200);
  });
  const reasonNow = async () => (await outcome(resolve(token)))[1];

  test("rejects tokens after the browser signs out", async () => {
    await site.domain.access.sessions.end(ana.sessionToken, ana.actor);
    expect(await reasonNow()).toBe("gateway.login_ended");
    expect(await outcome(mint())).toEqual([401, "gateway.login_ended"]);
  });

  test("rejects tokens after the workstation's own login ends", async () => {
    const { refreshToken } = ana;
    await site.domain.access.grants.revoke({ token: refreshToken, clientId: "blue-cli" });
    expect(await reasonNow()).toBe("gateway.login_ended");
  });

  test("rejects tokens after a suspension, and still when the user is resumed", async () => {
    const { users } = site.domain.identity;
    await users.setStatus(site.world.system, ana.user.id, "suspended");
    expect(await reasonNow()).toBe("gateway.user_inactive");
    await users.setStatus(site.world.system, ana.user.id, "active");
    expect(await reasonNow()).toBe("gateway.login_ended");
  });

  test("rejects tokens after a removal", async () => {
    await site.domain.identity.users.remove(site.world.system, ana.user.id);
    expect(await reasonNow()).toBe("gateway.user_inactive");
  });

  test("rejects tokens after all logins are ended", async () => {
    await site.domain.identity.users.revokeLogins(site.world.system, ana.user.id);
    expect(await reasonNow()).toBe("gateway.login_ended");
  });

  test("rejects tokens after the login session expires", async () => {
    site.world.clock.advance(12 * HOUR_MS);
    expect(await reasonNow()).toBe("gateway.login_ended");
  });

  test("rejects tokens after the workstation signs out, and gives it no new one", async () => {
    for (const _ of [1, 2]) expect((await revoke()).status).toBe(204);
    expect(await reasonNow()).toBe("gateway.session_revoked");
    expect(await outcome(mint())).toEqual([401, "gateway.session_revoked"]);
  });

  test("rejects tokens after a sign-out, while a new login of the same browser works at the same moment", async () => {
    await revoke();
    const again = await sameBrowser(ana);
    expect((await resolve(await tokenOf(again))).status).toBe(200);
    expect(await reasonNow()).toBe("gateway.session_revoked");
  });

  test("rejects tokens of every workstation of the browser, and the other workstations may request new ones", async () => {
    const other = await sameBrowser(ana);
    const others = await tokenOf(other);
    await revoke();
    expect(await outcome(resolve(others))).toEqual([401, "gateway.session_unknown"]);
    expect((await resolve(await tokenOf(other))).status).toBe(200);
  });

  test("keeps the tokens of callers that signed in separately", async () => {
    const other = await site.signInAgain(ana.user);
    const others = await tokenOf(other);
    await revoke();
    expect((await resolve(others)).status).toBe(200);
  });

  test("rejects tokens of a workstation that signs out before it has one", async () => {
    const other = await site.signInAgain(ana.user);
    expect((await revoke(other)).status).toBe(204);
    expect(await outcome(mint(other))).toEqual([401, "gateway.session_revoked"]);
  });
});

/** Another device login, approved in the same browser. */
async function sameBrowser({ actor, loginSessionId, user }: Caller): Promise<Caller> {
  const { deviceLogins, grants } = site.domain.access;
  const client = { clientId: "blue-cli", scope: "offline_access governance:read" };
  const { linkToken, deviceCode } = await deviceLogins.request({ ...client, address: null });
  await deviceLogins.claim(actor, linkToken);
  await deviceLogins.decide(actor, { linkToken, loginSessionId, decision: "approve" });
  const tokens = await grants.redeem({ ...client, deviceCode });
  return { ...ana, user, accessToken: tokens.access_token };
}
