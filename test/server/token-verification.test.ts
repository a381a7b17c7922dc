// Access tokens at the guard: which tokens are verified, how often, and the effect of forged tokens on other callers.
import { expect, test } from "bun:test";
import { OAUTH_CLIENT_ID } from "../../src/domain/access/wire.ts";
import { REFUSED_TOKENS } from "../../src/server/auth/token-verification-limit.ts";
import { createTestServer, METRICS_TOKEN, type TestServer } from "../support/server.ts";

const FAR = "198.51.100.9";

const ask = (site: TestServer, token: string, address?: string) =>
  site.request("GET", "/auth/me", { token, ...(address && { address }) });

async function verifications(site: TestServer, result: "accepted" | "refused"): Promise<number> {
  const text = await (await site.request("GET", "/metrics", { token: METRICS_TOKEN })).text();
  const line = new RegExp(`^quartermaster_token_verifications_total\\{result="${result}"\\} (\\d+)$`, "m");
  return Number(line.exec(text)?.[1]);
}

/** The same data with a service that has just started. */
const restarted = (site: TestServer) => createTestServer({ world: site.world });

/** @returns tokens with the service's header and payload, and random signatures */
const forgeries = (token: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => {
    const signature = Buffer.alloc(64);
    signature.writeUInt32BE(at + 1);
    return `${token.slice(0, token.lastIndexOf("."))}.${signature.toString("base64url")}`;
  });

test("a token is verified once for any number of requests, and not at all by the service that signed it", async () => {
  await using site = await createTestServer();
  const { accessToken } = await site.signedIn("member");
  expect((await ask(site, accessToken)).status).toBe(200);
  expect(await verifications(site, "accepted")).toBe(0);
  const other = await restarted(site);
  const responses = await Promise.all(Array.from({ length: 20 }, () => ask(other, accessToken)));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(await verifications(other, "accepted")).toBe(1);
});

/** These use up the time of the turn, so that callers after them wait. */
const BUSY = 1_000;

test("callers that wait with the same new token need only one verification", async () => {
  await using site = await createTestServer();
  const { accessToken } = await site.signedIn("member");
  const other = await restarted(site);
  const busy = forgeries(accessToken, BUSY).map((token) => ask(other, token, FAR));
  const responses = await Promise.all(Array.from({ length: 20 }, () => ask(other, accessToken)));
  await Promise.all(busy);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(await verifications(other, "accepted")).toBe(1);
});

test("a refreshed token is not verified again", async () => {
  await using site = await createTestServer();
  const { refreshToken } = await site.signedIn("member");
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: OAUTH_CLIENT_ID,
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const response = await site.request("POST", "/api/auth/oauth2/token", { body: `${body}`, headers });
  const { access_token: token } = await response.json();
  expect((await ask(site, token)).status).toBe(200);
  expect(await verifications(site, "accepted")).toBe(0);
});

test("each of many tokens that the service signed is remembered until it expires", async () => {
  await using site = await createTestServer();
  const { user, accessToken } = await site.signedIn("member");
  const { tokens, authenticator } = site.domain.access;
  const { claims } = tokens.read(accessToken);
  const grant = { id: claims.grant_id, clientId: claims.client_id, resource: claims.aud };
  const request = { user, grant, scope: claims.scope, sid: claims.sid, issuedAtMs: site.world.clock.nowMs() };
  const minted = Array.from({ length: 400 }, () => tokens.mint(request).accessToken);
  expect(minted.filter((token) => authenticator.known(token))).toHaveLength(minted.length);
});

test("an address that floods the service with forged tokens is refused before verification, and others are not", async () => {
  await using site = await createTestServer();
  const { accessToken } = await site.signedIn("member");
  const other = await restarted(site);
  const flood = forgeries(accessToken, REFUSED_TOKENS.burst + 50);
  for (const token of flood.slice(0, REFUSED_TOKENS.burst))
    expect((await ask(other, token)).status).toBe(401);
  for (const token of flood.slice(REFUSED_TOKENS.burst)) {
    const response = await ask(other, token);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await response.json()).reason).toBe("access.tokens_refused");
  }
  expect(await verifications(other, "refused")).toBe(REFUSED_TOKENS.burst);
  expect((await ask(other, accessToken, FAR)).status).toBe(200); // new, and from another address
  expect((await ask(other, accessToken)).status).toBe(200); // known by now, from any address
});

test("admits more new tokens than one turn can verify", async () => {
  await using site = await createTestServer();
  const { user, accessToken } = await site.signedIn("member");
  const { claims } = site.domain.access.tokens.read(accessToken);
  const grant = { id: claims.grant_id, clientId: OAUTH_CLIENT_ID, resource: claims.aud };
  const request = { user, grant, scope: claims.scope, sid: claims.sid, issuedAtMs: site.world.clock.nowMs() };
  const tokens = Array.from({ length: 500 }, () => site.domain.access.tokens.mint(request).accessToken);
  const other = await restarted(site);
  const responses = await Promise.all(tokens.map((token) => ask(other, token)));
  expect(responses.map(({ status }) => status)).toEqual(tokens.map(() => 200));
  expect(await verifications(other, "accepted")).toBe(tokens.length);
});
