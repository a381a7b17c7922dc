// Two independent OAuth clients, used as their documentation says, over a real socket. The only exception is plain http, which a
// loopback address needs.
import { describe, expect, test } from "bun:test";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { createListeningServer, type ListeningServer } from "../support/network/listening-server.ts";
import type { Caller } from "../support/server.ts";
import { createWorld } from "../support/world.ts";

const CLIENT: oauth.Client = { client_id: "blue-cli" };
const HTTP = { [oauth.allowInsecureRequests]: true };
const SCOPE = "openid offline_access governance:read";

/** Real clients use the real time, so the test world starts at it; from then on its clock stands still. */
async function start() {
  const world = await createWorld({ startMs: Date.now() });
  const server = await createListeningServer({
    hasConsole: false,
    world,
    access: { pollIntervalSeconds: 1 },
  });
  return Object.assign(server, { issuer: new URL(`${server.origin}/api/auth`) });
}

/** A person opens the link and decides. */
async function decide(
  server: ListeningServer,
  { cookie }: Caller,
  { link, action }: { link: string; action: string },
) {
  const path = new URL(link).pathname.replace("/device/", "/api/device/");
  expect((await server.request("GET", path, { cookie })).status).toBe(200);
  expect((await server.request("POST", path, { cookie, body: { action } })).status).toBe(200);
}

describe.each(["oauth2", "oidc"] as const)("oauth4webapi with %s discovery", (algorithm) => {
  async function connect() {
    const server = await start();
    const found = await oauth.discoveryRequest(server.issuer, { algorithm, ...HTTP });
    const as = await oauth.processDiscoveryResponse(server.issuer, found);
    const begin = async () => {
      const request = { scope: SCOPE, resource: server.origin };
      const response = await oauth.deviceAuthorizationRequest(as, CLIENT, oauth.None(), request, HTTP);
      return await oauth.processDeviceAuthorizationResponse(as, CLIENT, response);
    };
    const poll = async (deviceCode: string) => {
      const response = await oauth.deviceCodeGrantRequest(as, CLIENT, oauth.None(), deviceCode, HTTP);
      return await oauth.processDeviceCodeResponse(as, CLIENT, response);
    };
    const refusal = (work: Promise<unknown>) =>
      work.then(
        () => "no refusal",
        (error) => (error instanceof oauth.ResponseBodyError ? error.error : error),
      );
    return Object.assign(server, { as, begin, poll, refusal });
  }

  test("gets a token through the device grant that any resource server can validate, and refreshes it", async () => {
    await using server = await connect();
    const { as, begin, poll } = server;
    const caller = await server.signedIn("member");
    const { device_code, verification_uri_complete: link = "" } = await begin();
    await decide(server, caller, { link, action: "approve" });
    const tokens = await poll(device_code);
    expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 900, scope: "governance:read" });

    const validate = (token: string) => {
      const request = new Request(server.origin, { headers: { authorization: `Bearer ${token}` } });
      return oauth.validateJwtAccessToken(as, request, server.origin, HTTP);
    };
    const claims = await validate(tokens.access_token);
    expect(claims).toMatchObject({
      sub: caller.user.subject,
      client_id: "blue-cli",
      sid: caller.loginSessionId,
    });

    const response = await oauth.refreshTokenGrantRequest(
      as,
      CLIENT,
      oauth.None(),
      tokens.refresh_token ?? "",
      HTTP,
    );
    const fresh = await oauth.processRefreshTokenResponse(as, CLIENT, response);
    expect((await validate(fresh.access_token)).jti).not.toBe(claims.jti);
  });

  test("validates tokens of a rotated key and of the new one", async () => {
    await using server = await connect();
    const before = await server.signedIn("member");
    await server.domain.access.keys.rotate(server.world.system);
    const after = await server.signedIn("member");
    for (const { accessToken, user } of [before, after]) {
      const request = new Request(server.origin, { headers: { authorization: `Bearer ${accessToken}` } });
      const { sub } = await oauth.validateJwtAccessToken(server.as, request, server.origin, HTTP);
      expect(sub).toBe(user.subject);
    }
  });

  test("understands every refusal of the device grant", async () => {
    await using server = await connect();
    const { begin, poll, refusal, world } = server;
    const caller = await server.signedIn("member");
    const { device_code, interval = 0, verification_uri_complete: link = "" } = await begin();
    expect(await refusal(poll(device_code))).toBe("authorization_pending");
    expect(await refusal(poll(device_code))).toBe("slow_down");
    world.clock.advance(interval * 1_000);
    expect(await refusal(poll(device_code))).toBe("authorization_pending");
    await decide(server, caller, { link, action: "deny" });
    world.clock.advance(interval * 1_000);
    expect(await refusal(poll(device_code))).toBe("access_denied");
    const late = await begin();
    world.clock.advance(late.expires_in * 1_000);
    expect(await refusal(poll(late.device_code))).toBe("expired_token");
    expect(await refusal(poll("unknown"))).toBe("invalid_grant");
  });

  test("revokes a refresh token, including an unknown one, which then no longer works", async () => {
    await using server = await connect();
    const { as, refusal } = server;
    const { refreshToken } = await server.signedIn("member");
    for (const token of [refreshToken, refreshToken, "unknown"]) {
      const response = await oauth.revocationRequest(as, CLIENT, oauth.None(), token, HTTP);
      await oauth.processRevocationResponse(response);
    }
    const response = await oauth.refreshTokenGrantRequest(as, CLIENT, oauth.None(), refreshToken, HTTP);
    expect(await refusal(oauth.processRefreshTokenResponse(as, CLIENT, response))).toBe("invalid_grant");
  });
});

/** In parallel, because these clients wait at least a second of real time between polls. */
describe.each(["oauth2", "oidc"] as const)("openid-client with %s discovery", (algorithm) => {
  test.concurrent("polls automatically until login, refreshes and revokes", async () => {
    await using server = await start();
    const caller = await server.signedIn("member");
    const config = await openid.discovery(server.issuer, "blue-cli", undefined, openid.None(), {
      algorithm,
      execute: [openid.allowInsecureRequests],
    });
    const login = await openid.initiateDeviceAuthorization(config, { scope: SCOPE });
    await decide(server, caller, { link: login.verification_uri_complete ?? "", action: "approve" });
    const tokens = await openid.pollDeviceAuthorizationGrant(config, login);
    expect(tokens.expires_in).toBe(900);
    const me = await server.request("GET", "/auth/me", { token: tokens.access_token });
    expect((await me.json()).sub).toBe(caller.user.subject);

    const fresh = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "");
    expect(fresh.scope).toBe("governance:read");
    await openid.tokenRevocation(config, fresh.refresh_token ?? "");
    const dead = await server.request("GET", "/auth/me", { token: fresh.access_token });
    expect(dead.status).toBe(401);
  });

  test.concurrent("reports that a user denied the login", async () => {
    await using server = await start();
    const caller = await server.signedIn("member");
    const config = await openid.discovery(server.issuer, "blue-cli", undefined, openid.None(), {
      algorithm,
      execute: [openid.allowInsecureRequests],
    });
    const login = await openid.initiateDeviceAuthorization(config, { scope: SCOPE });
    await decide(server, caller, { link: login.verification_uri_complete ?? "", action: "deny" });
    const refused = openid.pollDeviceAuthorizationGrant(config, login);
    expect(await refused.catch(({ error }) => error)).toBe("access_denied");
  });
});
