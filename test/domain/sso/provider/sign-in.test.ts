// Sign-in at an honest and at a lying provider: the link, the callback, and every check of the response and of the ID token. One
// provider serves all tests of the file; each test gives it other faults.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash, generateKeyPairSync } from "node:crypto";
import { exportJWK, exportPKCS8, generateKeyPair } from "jose";
import { LOGIN_HINT_LENGTH_MAX } from "../../../../src/domain/sso/provider/client/authorization.ts";
import { CODE_LENGTH_MAX } from "../../../../src/domain/sso/provider/client/callback.ts";
import { Provider } from "../../../../src/domain/sso/provider/provider.ts";
import type { ProviderRequest } from "../../../../src/domain/sso/provider/provider-requests.ts";
import { verifyIdToken } from "../../../../src/domain/sso/provider/tokens/id-token.ts";
import { KEYS_MAX } from "../../../../src/domain/sso/provider/tokens/provider-keys.ts";
import type { SsoSettings } from "../../../../src/domain/sso/settings.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import type { Faults } from "../../../support/provider/faults.ts";
import {
  ADA,
  CLIENT_ID,
  CLIENT_SECRET,
  createLyingProvider,
} from "../../../support/provider/lying-provider.ts";
import { REDIRECT_URI, refusalOf, relyingPartyOf } from "../../../support/provider/relying-party.ts";
import { createWorld } from "../../../support/world.ts";

const world = await createWorld();
const idp = await createLyingProvider({ nowMs: world.clock.nowMs });
afterAll(async () => {
  await idp[Symbol.asyncDispose]();
  await world.dispose();
});
beforeEach(() => {
  idp.faults = {};
  idp.claims = { ...ADA };
  idp.userinfo = {};
  idp.requests.length = 0;
});

const relyingParty = (members: Partial<SsoSettings> = {}) => relyingPartyOf(idp, world, members);

async function signIn(provider = relyingParty()) {
  const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
  const query = await idp.authorize(url);
  return await provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
}

test("signs a person in", async () => {
  expect(await signIn()).toMatchObject({ ...ADA, iss: idp.issuer });
});

describe("SSO-22 an ID token is for this client", () => {
  const AUDIENCES: Record<string, NonNullable<Faults["idToken"]>> = {
    "in a list of one": { aud: ["quartermaster"] },
    "alone, with azp": { azp: "quartermaster" },
    "and others, with azp": { aud: ["another", "quartermaster"], azp: "quartermaster" },
  };

  test.each(Object.entries(AUDIENCES))("%s", async (_, idToken) => {
    idp.faults = { idToken };
    expect(await signIn()).toMatchObject(ADA);
  });
});

describe("SSO-22 an invalid ID token is refused", () => {
  const now = Math.floor(world.clock.nowMs() / 1000);
  const FAULTS: Record<string, [Faults, string]> = {
    "signed by a foreign key": [{ signature: "foreign" }, "sso.token_invalid"],
    unsigned: [{ signature: "none" }, "sso.token_invalid"],
    "signed with the client secret": [{ signature: "hs256" }, "sso.token_invalid"],
    "signed with the public key as secret": [{ signature: "public_key_as_secret" }, "sso.token_invalid"],
    "with another nonce": [{ idToken: { nonce: "another" } }, "sso.token_invalid"],
    "without nonce": [{ idToken: { nonce: undefined } }, "sso.token_invalid"],
    "of another issuer": [{ idToken: { iss: "https://other.example" } }, "sso.token_issuer"],
    "of an issuer with a slash more": [{ idToken: { iss: `${idp.issuer}/` } }, "sso.token_issuer"],
    "of no issuer": [{ idToken: { iss: undefined } }, "sso.token_issuer"],
    "for another client": [{ idToken: { aud: "another" } }, "sso.token_invalid"],
    "for others too, without azp": [{ idToken: { aud: ["quartermaster", "another"] } }, "sso.token_invalid"],
    "for nobody": [{ idToken: { aud: [] } }, "sso.token_invalid"],
    "issued to another client": [{ idToken: { azp: "another" } }, "sso.token_invalid"],
    "without subject": [{ idToken: { sub: undefined } }, "sso.token_invalid"],
    "with an empty subject": [{ idToken: { sub: "" } }, "sso.token_invalid"],
    "with a number as subject": [{ idToken: { sub: 1 } }, "sso.token_invalid"],
    "without end": [{ idToken: { exp: undefined } }, "sso.token_invalid"],
    "without time of issue": [{ idToken: { iat: undefined } }, "sso.token_invalid"],
    "with a text as time of issue": [{ idToken: { iat: String(now) } }, "sso.token_invalid"],
    "with a critical extension": [
      { header: { crit: ["example-extension"], "example-extension": 1 } },
      "sso.token_invalid",
    ],
    expired: [{ idToken: { exp: now - 61 } }, "sso.clock"],
    "issued in the future": [{ idToken: { iat: now + 61 } }, "sso.clock"],
    "valid in the future": [{ idToken: { nbf: now + 61 } }, "sso.clock"],
    "of a log-on before 1970": [{ idToken: { auth_time: -1 } }, "sso.token_invalid"],
    "of a log-on in the future": [{ idToken: { auth_time: now + 61 } }, "sso.token_invalid"],
  };

  test.each(Object.entries(FAULTS))("%s", async (_, [faults, reason]) => {
    const provider = relyingParty();
    await provider.begin({ redirectUri: REDIRECT_URI });
    idp.faults = faults;
    expect(await refusalOf(signIn(provider))).toBe(`upstream ${reason}`);
  });

  test.each(Object.entries(FAULTS))("%s, after a sound one", async (_, [faults, reason]) => {
    const provider = relyingParty();
    await signIn(provider);
    await signIn(provider);
    idp.faults = faults;
    expect(await refusalOf(signIn(provider))).toBe(`upstream ${reason}`);
  });
});

describe("SSO-22 a token with a valid signature is refused unless it is an ID token for this sign-in", () => {
  const FAULTS: Record<string, [claims: Record<string, unknown>, cause: string]> = {
    "without end": [{ exp: undefined }, "exp is missing"],
    "without nonce": [{ nonce: undefined }, "nonce is missing or another"],
    "with another nonce": [{ nonce: "another" }, "nonce is missing or another"],
    "without subject": [{ sub: undefined }, "sub is missing"],
    "with an empty subject": [{ sub: "" }, "sub is missing"],
    "with a number as subject": [{ sub: 1 }, "sub is missing"],
  };

  test.each(Object.entries(FAULTS))("%s", async (_, [claims, cause]) => {
    const { settings, keys } = relyingParty().connection();
    const checks = { settings, keys, nowMs: world.clock.nowMs(), clockOffsetMs: undefined };
    const sound = { nonce: "ours", ...ADA };
    const tokenWith = (members: object) => idp.logoutToken({ ...sound, ...members }, { typ: "JWT" });
    expect(await verifyIdToken(await tokenWith({}), { nonce: "ours" }, checks)).toMatchObject(sound);
    const error = await verifyIdToken(await tokenWith(claims), { nonce: "ours" }, checks).catch(
      (thrown) => thrown,
    );
    expect([error.reason, error.cause]).toEqual(["sso.token_invalid", cause]);
  });
});

test("SSO-44 a log-on in the future is not blamed on the clocks, and a token from the future is", async () => {
  const now = Math.floor(world.clock.nowMs() / 1000);
  const causeWith = async (idToken: NonNullable<Faults["idToken"]>) => {
    idp.faults = { idToken };
    return await signIn().catch(({ reason, cause }) => `${reason}: ${cause}`);
  };
  expect(await causeWith({ auth_time: now + 61 })).toBe(
    "sso.token_invalid: auth_time is in the future, although iat is not",
  );
  expect(await causeWith({ auth_time: now + 61, iat: now + 61 })).toBe(
    "sso.clock: iat is in the future; by the header Date the provider's clock is 0 s ahead of ours",
  );
});

test("SSO-22 times are compared with the skew of the settings", async () => {
  const now = Math.floor(world.clock.nowMs() / 1000);
  idp.faults = { idToken: { iat: now + 60, nbf: now + 60, exp: now - 59, auth_time: now + 60 } };
  expect(await signIn()).toMatchObject(ADA);
  idp.faults = { idToken: { iat: now + 1 } };
  expect(await refusalOf(signIn(relyingParty({ clockSkewSeconds: 0 })))).toBe("upstream sso.clock");
});

test("SSO-22 a log-on older than max_age is refused", async () => {
  const now = Math.floor(world.clock.nowMs() / 1000);
  const provider = relyingParty({ maxAgeSeconds: 600 });
  idp.faults = { idToken: { auth_time: now - 660 } };
  expect(await signIn(provider)).toMatchObject(ADA);
  idp.faults = { idToken: { auth_time: now - 661 } };
  expect(await refusalOf(signIn(provider))).toBe("forbidden sso.log_on_too_old");
  idp.faults = { idToken: { auth_time: undefined } };
  expect(await refusalOf(signIn(provider))).toBe("forbidden sso.log_on_unknown");
  idp.faults = { idToken: { auth_time: "now" } };
  expect(await refusalOf(signIn(provider))).toBe("upstream sso.token_invalid");
});

describe("SSO-22 a forced log-on", () => {
  const forced = async (authTime: number | undefined, provider = relyingParty()) => {
    const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI, isForced: true });
    idp.faults = { idToken: { auth_time: authTime } };
    const stripped = new URL(url);
    for (const name of ["prompt", "max_age"]) stripped.searchParams.delete(name);
    world.clock.advance(5_000);
    const query = await idp.authorize(stripped.href);
    return await provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
  };
  const now = () => Math.floor(world.clock.nowMs() / 1000);

  test("must have happened after the browser left, within the clock skew", async () => {
    expect(await forced(now() - 60)).toMatchObject(ADA);
    expect(await refusalOf(forced(now() - 61))).toBe("forbidden sso.log_on_too_old");
    world.clock.advance(999); // auth_time has whole seconds
    const exact = relyingParty({ clockSkewSeconds: 0 });
    expect(await forced(now(), exact)).toMatchObject(ADA);
    expect(await refusalOf(forced(now() - 1, exact))).toBe("forbidden sso.log_on_too_old");
  });

  test("is refused if the provider does not say when it was, because the browser can change the link", async () => {
    for (const maxAgeSeconds of [undefined, 600])
      expect(await refusalOf(forced(undefined, relyingParty({ maxAgeSeconds })))).toBe(
        "forbidden sso.log_on_unknown",
      );
  });

  test("is not satisfied by a log-on within max_age", async () => {
    const provider = relyingParty({ maxAgeSeconds: 600 });
    expect(await refusalOf(forced(now() - 61, provider))).toBe("forbidden sso.log_on_too_old");
  });
});

test("SSO-25 a refusal names `sso verify` only if that command finds the problem", async () => {
  idp.faults = { idToken: { nonce: "another" } };
  expect(await signIn().catch((error) => error)).toMatchObject({
    reason: "sso.token_invalid",
    hint: "ask an administrator: the log of the service names the problem",
  });
});

test.each(["RS256", "PS256", "EdDSA"] as const)("SSO-22 accepts the algorithm %s", async (algorithm) => {
  await using other = await createLyingProvider({ nowMs: world.clock.nowMs, algorithm });
  const provider = relyingPartyOf(other, world);
  const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
  const query = await other.authorize(url);
  expect(await provider.complete({ redirectUri: REDIRECT_URI, query, attempt })).toMatchObject(ADA);
});

test.each(["RS256", "ES256", "EdDSA"] as const)(
  "SSO-22 accepts a key that names no algorithm: %s",
  async (algorithm) => {
    await using other = await createLyingProvider({ nowMs: world.clock.nowMs, algorithm });
    const { keys } = await other.keys.published();
    other.faults = { keySet: { keys: keys.map(({ alg: _, ...key }) => key) } };
    const provider = relyingPartyOf(other, world);
    const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
    const query = await other.authorize(url);
    expect(await provider.complete({ redirectUri: REDIRECT_URI, query, attempt })).toMatchObject(ADA);
  },
);

test("SSO-17 the link asks for a code with PKCE, state and nonce", async () => {
  const { url, attempt } = await relyingParty({
    extraScopes: ["groups", "email"],
    maxAgeSeconds: 600,
    requireAcr: ["strong", "stronger"],
  }).begin({ redirectUri: REDIRECT_URI, loginHint: "ada@example.com" });
  expect(url.startsWith(`${idp.issuer}/authorize?`)).toBe(true);
  expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
    response_type: "code",
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    scope: "openid profile email groups",
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: createHash("sha256").update(attempt.verifier).digest("base64url"),
    code_challenge_method: "S256",
    login_hint: "ada@example.com",
    max_age: "600",
    acr_values: "strong stronger",
  });
  expect(new Set([attempt.state, attempt.nonce, attempt.verifier]).size).toBe(3);
});

test.each([600, undefined])(
  "SSO-17 a forced log-on must say when it happened, max_age %p",
  async (maxAgeSeconds) => {
    const { url, attempt } = await relyingParty({ maxAgeSeconds }).begin({
      redirectUri: REDIRECT_URI,
      isForced: true,
    });
    const { prompt, max_age } = Object.fromEntries(new URL(url).searchParams);
    expect([prompt, max_age, attempt.forcedAtMs]).toEqual(["login", "0", world.clock.nowMs()]);
  },
);

test("SSO-17 the link has nothing that was not set", async () => {
  const { url } = await relyingParty().begin({ redirectUri: REDIRECT_URI });
  expect([...new URL(url).searchParams.keys()].sort()).toEqual([
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "nonce",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
  ]);
});

test("SSO-17 the link has a single required authentication context", async () => {
  const { url } = await relyingParty({ requireAcr: ["strong"] }).begin({ redirectUri: REDIRECT_URI });
  expect(new URL(url).searchParams.get("acr_values")).toBe("strong");
});

test.each([-1, 0])("SSO-17 a hint of the maximum length %d is passed on", async (more) => {
  const loginHint = "x".repeat(LOGIN_HINT_LENGTH_MAX + more);
  const { url } = await relyingParty().begin({ redirectUri: REDIRECT_URI, loginHint });
  expect(new URL(url).searchParams.get("login_hint")).toBe(loginHint);
});

const UNUSABLE = ["", "a\nb", "x".repeat(LOGIN_HINT_LENGTH_MAX + 1)];
test.each(UNUSABLE)("SSO-17 an unusable hint %j is not passed on", async (loginHint) => {
  const { url } = await relyingParty().begin({ redirectUri: REDIRECT_URI, loginHint });
  expect(new URL(url).searchParams.has("login_hint")).toBe(false);
});

test("SSO-17 the request is pushed where the provider requires it", async () => {
  await using other = await createLyingProvider({ nowMs: world.clock.nowMs });
  other.requiresPushed = true;
  const provider = relyingPartyOf(other, world);
  const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI, loginHint: "ada@example.com" });
  expect([...new URL(url).searchParams.keys()]).toEqual(["request_uri", "client_id"]);
  expect(other.requests).toContain("POST /par");
  const query = await other.authorize(url);
  expect(await provider.complete({ redirectUri: REDIRECT_URI, query, attempt })).toMatchObject(ADA);
});

test.each([
  ["few", { userinfo_endpoint: undefined }, ["discovery", "token", "keys"]],
  ["many", {}, ["discovery", "pushed_request", "token", "keys", "userinfo"]],
])("SSO-34 requests are counted under the endpoint, of %s", async (much, metadata, endpoints) => {
  const { nowMs } = world.clock;
  await using other = await createLyingProvider({ nowMs, claims: { sub: ADA.sub }, faults: { metadata } });
  other.requiresPushed = much === "many";
  const counted: string[] = [];
  const observeSso = { requested: ({ endpoint }: ProviderRequest) => counted.push(endpoint), ended() {} };
  const outbound = createOutbound({ allowed: [], found: () => provider.destinations() });
  const provider = new Provider({ ...world, outbound, settings: () => other.settings(), observeSso });
  const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
  const query = await other.authorize(url);
  await provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
  expect(counted).toEqual(endpoints);
});

describe("SSO-20 an invalid callback is refused", () => {
  const CALLBACKS: Record<string, [NonNullable<Faults["callback"]>, string]> = {
    "of another attempt": [{ state: "another" }, "invalid sso.state"],
    "without state": [{ state: undefined }, "invalid sso.state"],
    "from another issuer": [{ iss: "https://other.example" }, "upstream sso.callback_issuer"],
    "without the issuer that was promised": [{ iss: undefined }, "upstream sso.callback_issuer"],
    "without code": [{ code: undefined }, "invalid sso.state"],
    "with a made-up code": [{ code: "made-up" }, "invalid sso.code_rejected"],
    "that was canceled": [{ code: undefined, error: "access_denied" }, "forbidden sso.cancelled"],
    "that wants a log-on": [{ error: "login_required" }, "forbidden sso.interaction_required"],
    "that wants consent": [{ error: "interaction_required" }, "forbidden sso.interaction_required"],
    "with a text that is not a code": [{ code: "made\nup" }, "invalid sso.code_rejected"],
    "with a longer code than any": [{ code: "x".repeat(CODE_LENGTH_MAX + 1) }, "invalid sso.code_rejected"],
    "with another error": [{ error: "server_error" }, "upstream sso.callback_error"],
    "with an error named like a member of objects": [{ error: "constructor" }, "upstream sso.callback_error"],
  };

  test.each(Object.entries(CALLBACKS))("%s", async (_, [callback, refusal]) => {
    idp.faults = { callback };
    const found = await refusalOf(signIn());
    expect(found).toBe(refusal);
    const parameters = idp.requests.filter((request) => request === "POST /token").length;
    expect(parameters).toBe(callback.code === "made-up" ? 1 : 0);
  });

  test("refuses a callback with a repeated parameter", async () => {
    const provider = relyingParty();
    const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
    const query = await idp.authorize(url);
    query.append("iss", "https://other.example");
    const work = provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
    expect(await refusalOf(work)).toBe("invalid sso.state");
  });

  test("refuses a callback that was used before", async () => {
    const provider = relyingParty();
    const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
    const response = { redirectUri: REDIRECT_URI, query: await idp.authorize(url), attempt };
    await provider.complete(response);
    expect(await refusalOf(provider.complete(response))).toBe("invalid sso.code_rejected");
  });

  test("refuses a callback with the code of another browser", async () => {
    const provider = relyingParty();
    const { url } = await provider.begin({ redirectUri: REDIRECT_URI });
    const stolen = await idp.authorize(url);
    const { attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
    stolen.set("state", attempt.state);
    const work = provider.complete({ redirectUri: REDIRECT_URI, query: stolen, attempt });
    expect(await refusalOf(work)).toBe("invalid sso.code_rejected");
  });

  test("keeps the provider's description only in the cause, shortened and escaped", async () => {
    const description = `<script>\u0000\u202e${"x".repeat(300)}`;
    idp.faults = { callback: { error: "server_error", error_description: description } };
    const error = await signIn().catch((thrown: unknown) => thrown);
    if (!(error instanceof DomainError)) throw error;
    const { message, hint, cause } = error;
    expect(`${message} ${hint}`).not.toContain("script");
    expect(cause).toStartWith("server_error: <script>\\u0000\\u202exxx");
    expect(String(cause).length).toBe(201);
  });
});

describe("SSO-21 the token request", () => {
  test("identifies the client by a secret in the body", async () => {
    const secret = new Secret(CLIENT_SECRET);
    const provider = relyingParty({ credential: { method: "client_secret_post", secret } });
    expect(await signIn(provider)).toMatchObject(ADA);
  });

  test.each(["ES256", "EdDSA", "RS256"] as const)("identifies the client by a key: %s", async (algorithm) => {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
    await using other = await createLyingProvider({ nowMs: world.clock.nowMs, clientKey: publicKey });
    const key = new Secret(await exportPKCS8(privateKey));
    const provider = relyingPartyOf(other, world, { credential: { method: "private_key_jwt", key } });
    const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
    const query = await other.authorize(url);
    expect(await provider.complete({ redirectUri: REDIRECT_URI, query, attempt })).toMatchObject(ADA);
  });

  test("distinguishes a wrong client secret from a wrong code", async () => {
    const secret = new Secret("another secret");
    const provider = relyingParty({ credential: { method: "client_secret_basic", secret } });
    expect(await refusalOf(signIn(provider))).toBe("upstream sso.client_rejected");
    expect(provider.record()?.lastErrorReason).toBe("sso.client_rejected");
  });

  const ANSWERS: Record<string, [Faults, string]> = {
    "an unknown error": [{ tokenError: "unsupported_grant_type" }, "upstream sso.provider_error"],
    "an error about the request": [{ tokenError: "invalid_request" }, "upstream sso.callback_error"],
    "an error named like a member of objects": [{ tokenError: "constructor" }, "upstream sso.provider_error"],
    HTML: [{ token: "html" }, "upstream sso.provider_invalid"],
    "half a document": [{ token: "garbage" }, "upstream sso.provider_invalid"],
    "a list": [{ token: "list" }, "upstream sso.provider_invalid"],
    "10 MB": [{ token: "huge" }, "upstream sso.provider_invalid"],
    "a redirect": [{ token: "redirect" }, "upstream sso.provider_invalid"],
    "no response, because the connection ends": [{ token: "reset" }, "unavailable sso.provider_unreachable"],
    "the status 503": [{ token: "down" }, "unavailable sso.provider_unreachable"],
    "no ID token": [{ tokenResponse: { id_token: undefined } }, "upstream sso.token_invalid"],
    "no access token": [{ tokenResponse: { access_token: undefined } }, "upstream sso.provider_invalid"],
    "a token of another type": [{ tokenResponse: { token_type: "DPoP" } }, "upstream sso.provider_invalid"],
    "no type of the token": [{ tokenResponse: { token_type: undefined } }, "upstream sso.provider_invalid"],
    "the status 404": [{ token: "missing" }, "upstream sso.provider_invalid"],
    "the status 401 without JSON": [{ token: "unauthorized" }, "upstream sso.client_rejected"],
    "a text that is not a token": [{ tokenResponse: { id_token: "a.b.c" } }, "upstream sso.token_invalid"],
    "an encrypted token": [{ tokenResponse: { id_token: "a.b.c.d.e" } }, "upstream sso.token_invalid"],
  };

  test.each(Object.entries(ANSWERS))("is answered by %s", async (_, [faults, refusal]) => {
    idp.faults = faults;
    expect(await refusalOf(signIn())).toBe(refusal);
    expect(idp.requests.filter((request) => request === "POST /token")).toHaveLength(1);
  });
});

describe("SSO-23 keys", () => {
  test("accepts new keys in the first sign-in after the rotation", async () => {
    const provider = relyingParty();
    await signIn(provider);
    idp.keys.rotate();
    expect(await signIn(provider)).toMatchObject(ADA);
  });

  test("fetches new keys once for sign-ins at the same time", async () => {
    const provider = relyingParty();
    await signIn(provider);
    idp.keys.rotate();
    idp.requests.length = 0;
    await Promise.all([signIn(provider), signIn(provider), signIn(provider)]);
    expect(idp.requests.filter((request) => request === "GET /jwks")).toHaveLength(1);
  });

  test("fetches keys for an unknown key id at most once in ten seconds", async () => {
    const provider = relyingParty();
    await signIn(provider);
    idp.faults = { header: { kid: "unknown" } };
    const fetched = () => idp.requests.filter((request) => request === "GET /jwks").length;
    const refused = () => refusalOf(signIn(provider));
    expect([await refused(), fetched()]).toEqual(["upstream sso.token_invalid", 2]);
    expect([await refused(), fetched()]).toEqual(["upstream sso.token_invalid", 2]);
    world.clock.advance(9_999);
    expect([await refused(), fetched()]).toEqual(["upstream sso.token_invalid", 2]);
    world.clock.advance(1);
    expect([await refused(), fetched()]).toEqual(["upstream sso.token_invalid", 3]);
  });

  test("keeps keys for an hour and does not use a key that vanished after that", async () => {
    const provider = relyingParty();
    await signIn(provider);
    world.clock.advance(3_600_000);
    await signIn(provider);
    expect(idp.requests.filter((request) => request === "GET /jwks")).toHaveLength(1);
    const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
    const query = await idp.authorize(url);
    idp.faults = { keys: "list" };
    world.clock.advance(1);
    const work = provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
    expect(await refusalOf(work)).toBe("upstream sso.provider_invalid");
  });

  test("asks again for keys ten seconds after a failed fetch", async () => {
    const provider = relyingParty();
    idp.faults = { keys: "down" };
    expect(await refusalOf(signIn(provider))).toBe("unavailable sso.provider_unreachable");
    idp.faults = {};
    expect(await refusalOf(signIn(provider))).toBe("unavailable sso.provider_unreachable");
    world.clock.advance(10_000);
    expect(await signIn(provider)).toMatchObject(ADA);
  });

  const KEY = { kty: "EC", crv: "P-256", x: "x", y: "y" };
  const DOCUMENTS: Record<string, unknown> = {
    "no list": { 0: KEY },
    missing: undefined,
    "a list of texts": ["key"],
    "a list of objects that are not keys": [{ kid: "1" }],
    "a list of too many keys": Array.from({ length: KEYS_MAX + 1 }, () => KEY),
  };
  test.each(Object.entries(DOCUMENTS))("refuses a key set whose keys are %s", async (_, keys) => {
    idp.faults = { keySet: { keys } };
    expect(await refusalOf(signIn())).toBe("upstream sso.provider_invalid");
  });

  test.each([-1, 0])("ignores foreign keys next to the right one, up to the limit %d", async (more) => {
    const { keys } = await idp.keys.published();
    const others = Array.from({ length: KEYS_MAX + more - keys.length }, () => KEY);
    idp.faults = { keySet: { keys: [...others, ...keys] } };
    expect(await signIn()).toMatchObject(ADA);
  });

  const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
  const OUR_ID = { kid: "ours", alg: "ES256" };
  const FAULTY: Record<string, object> = {
    "without coordinates": { kty: "EC", crv: "P-256", ...OUR_ID },
    "with a point that is not on the curve": { ...KEY, x: "AAAA", y: "AAAA", ...OUR_ID },
    "with unknown uses": { ...KEY, key_ops: ["verify", "junk"], ...OUR_ID },
    "that is private": {
      ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
      ...OUR_ID,
    },
    "that is secret": { kty: "oct", k: "AAAA", ...OUR_ID },
    "that is for encryption": { ...RSA, kid: "ours", alg: "RSA-OAEP-256" },
    "of an unknown kind": { kty: "XY", kid: "ours" },
  };
  test.each(Object.entries(FAULTY))("%s are as good as unknown", async (_, key) => {
    idp.keys.rotate("ours");
    idp.faults = { keySet: { keys: [key] } };
    expect(await refusalOf(signIn())).toBe("upstream sso.token_invalid");
    expect(await relyingParty().connection().keys.reload()).toBe(0);
  });

  test("requires 2048 bits of an RSA key", async () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    idp.faults = { keySet: { keys: [await exportJWK(publicKey)] } };
    expect(await relyingParty().connection().keys.reload()).toBe(0);
  });

  test("tries keys without ids one after the other", async () => {
    idp.keys.namesKeys = false;
    try {
      const provider = relyingParty();
      expect(await signIn(provider)).toMatchObject(ADA);
      idp.keys.rotate();
      expect(await signIn(provider)).toMatchObject(ADA);
      const { keys } = await idp.keys.published();
      const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const other = { ...publicKey.export({ format: "jwk" }), alg: "ES256" };
      idp.faults = { keySet: { keys: [other, ...keys, other] } };
      expect(await signIn()).toMatchObject(ADA);
      idp.faults = { keySet: { keys: [other, other] } };
      expect(await refusalOf(signIn())).toBe("upstream sso.token_invalid");
    } finally {
      idp.keys.namesKeys = true;
    }
  });
});

describe("userinfo", () => {
  test("is asked only for claims that the rules need", async () => {
    await signIn();
    expect(idp.requests).not.toContain("GET /userinfo");
    idp.claims = { sub: ADA.sub };
    idp.userinfo = { email: ADA.email, email_verified: true, acr: "strong", groups: ["engineers"] };
    const claims = await signIn();
    expect(claims).toMatchObject({ email: ADA.email, email_verified: true, groups: ["engineers"] });
    expect(claims.acr).toBeUndefined();
  });

  test("is not asked for groups that did not fit into the token", async () => {
    const provider = relyingParty({ allowedGroups: ["engineers"] });
    await signIn(provider);
    expect(idp.requests.filter((request) => request === "GET /userinfo")).toHaveLength(1);
    for (const overage of [{ hasgroups: true }, { _claim_names: { groups: "src1" } }]) {
      idp.claims = { ...ADA, ...overage };
      expect(await signIn(provider)).toMatchObject(overage);
    }
    expect(idp.requests.filter((request) => request === "GET /userinfo")).toHaveLength(1);
  });

  const NEEDING: Record<string, Partial<SsoSettings>> = {
    "an external id": { externalIdClaim: "oid" },
    "a required claim": { requiredClaims: new Map([["tid", "1"]]) },
    "groups for roles": { groupRoleMappings: new Map([["engineers", "member"]]) },
    "groups below another claim": { groupsClaim: "realm_access.roles", allowedGroups: ["engineers"] },
  };
  test.each(Object.entries(NEEDING))("is asked for %s", async (_, settings) => {
    await signIn(relyingParty(settings));
    expect(idp.requests).toContain("GET /userinfo");
  });

  const GROUPS = ["engineers"];
  const NAMED: Record<string, [groupsClaim: string, claims: Record<string, unknown>]> = {
    "below another claim": ["realm_access.roles", { realm_access: { roles: GROUPS } }],
    "of a name with dots": ["https://example.com/groups", { "https://example.com/groups": GROUPS }],
  };
  test.each(Object.entries(NAMED))("is not needed for a claim %s", async (_, [groupsClaim, claims]) => {
    idp.claims = { ...ADA, ...claims };
    await signIn(relyingParty({ groupsClaim, allowedGroups: GROUPS }));
    expect(idp.requests).not.toContain("GET /userinfo");
  });

  test("is not needed for a verified address if the operator trusts addresses", async () => {
    idp.claims = { sub: ADA.sub, email: ADA.email };
    await signIn(relyingParty({ trustEmail: true }));
    expect(idp.requests).not.toContain("GET /userinfo");
  });

  test("fails the sign-in if userinfo fails", async () => {
    idp.claims = { sub: ADA.sub };
    idp.faults = { userinfo: "down" };
    expect(await refusalOf(signIn())).toBe("unavailable sso.provider_unreachable");
    idp.faults = { userinfo: "html" };
    expect(await refusalOf(signIn())).toBe("upstream sso.provider_invalid");
  });

  test("SSO-37 refuses the userinfo of another person", async () => {
    idp.claims = { sub: ADA.sub };
    idp.userinfo = { sub: "eve", email: ADA.email, email_verified: true };
    expect(await refusalOf(signIn())).toBe("upstream sso.token_invalid");
  });

  test("SSO-37 does not verify an address that only the token has", async () => {
    idp.claims = { sub: ADA.sub, email: "root@example.com" };
    idp.userinfo = { email: ADA.email, email_verified: true };
    const claims = await signIn();
    expect(claims.email).toBe("root@example.com");
    expect(claims.email_verified).toBeUndefined();
  });
});
