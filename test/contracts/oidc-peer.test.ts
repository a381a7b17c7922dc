// Company sign-in with oidc-provider, an independent, certified provider: with each client authentication method, with pushed
// requests, with its refusals, and with its logout.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { exportPKCS8, generateKeyPair } from "jose";
import { publicClientKey } from "../../src/domain/sso/service.ts";
import { Secret } from "../../src/platform/secret.ts";
import { withClientKey } from "../support/provider/lying-provider.ts";
import { OidcPeer, PEER_PERSON, PEER_SUBJECT } from "../support/provider/oidc-peer.ts";
import { createRelyingParty, REDIRECT_URI, refusalOf } from "../support/provider/relying-party.ts";
import { createWorld, type World } from "../support/world.ts";

let world: World;
let peer: OidcPeer;
beforeAll(async () => {
  world = await createWorld({ startMs: Date.now() });
  peer = await OidcPeer.start({ redirectUri: REDIRECT_URI });
});
afterAll(async () => {
  await peer[Symbol.asyncDispose]();
  await world.dispose();
});

async function signIn(at: OidcPeer, { settings = at.settings(), isForced = false } = {}) {
  const provider = createRelyingParty(world, () => settings);
  const { url, attempt } = await provider.begin({
    redirectUri: REDIRECT_URI,
    loginHint: PEER_PERSON.email,
    isForced,
  });
  const query = await at.authorize(url, REDIRECT_URI);
  const response = { redirectUri: REDIRECT_URI, query, attempt };
  return { provider, answer: response, claims: await provider.complete(response) };
}

test("SSO-20 signs a person in with a verified address, and accepts each code once", async () => {
  const { provider, answer, claims } = await signIn(peer);
  expect(claims).toMatchObject({ iss: peer.issuer, sub: PEER_SUBJECT, ...PEER_PERSON });
  expect(await refusalOf(provider.complete(answer))).toBe("invalid sso.code_rejected");
});

test("SSO-17 states the time of the log-on only if the log-on was forced", async () => {
  expect((await signIn(peer)).claims.auth_time).toBeUndefined();
  const { claims } = await signIn(peer, { isForced: true });
  expect(claims.auth_time).toBeNumber();
});

test("SSO-21 a wrong client secret has its own error", async () => {
  const credential = { method: "client_secret_basic" as const, secret: new Secret("wrong") };
  expect(await refusalOf(signIn(peer, { settings: peer.settings({ credential }) }))).toBe(
    "upstream sso.client_rejected",
  );
});

test("SSO-21 and SSO-17: a signed assertion and a pushed request", async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const pem = await exportPKCS8(privateKey);
  const client = {
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "ES256",
    client_secret: undefined,
    jwks: { keys: [await publicClientKey(new Secret(pem))] }, // as `sso show` prints it
  };
  const features = {
    pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
  };
  await using pushed = await OidcPeer.start({ redirectUri: REDIRECT_URI, client, features });
  const settings = withClientKey(pushed.settings(), pem);
  expect((await signIn(pushed, { settings })).claims).toMatchObject({ sub: PEER_SUBJECT });
});

test("SSO-27 the announced logout names the person and the session", async () => {
  const announced = Promise.withResolvers<string>();
  await using listener = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      announced.resolve(String(new URLSearchParams(await request.text()).get("logout_token")));
      return new Response();
    },
  });
  const client = { backchannel_logout_session_required: true };
  const backchannelLogoutUri = `${listener.url.origin}/logout`;
  await using other = await OidcPeer.start({ redirectUri: REDIRECT_URI, client, backchannelLogoutUri });
  const { provider, claims } = await signIn(other);
  await other.signOut();
  expect(claims.sid).toBeString();
  expect(await provider.readLogoutToken(await announced.promise)).toMatchObject({
    issuer: other.issuer,
    subject: PEER_SUBJECT,
    providerSessionId: claims.sid,
  });
});
