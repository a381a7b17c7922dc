// `sso verify` and `doctor`: each problem of a provider has its own finding with a remedy, and nothing is reported twice.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { verifyProvider } from "../../../../src/domain/sso/provider/verification.ts";
import type { SsoSettings } from "../../../../src/domain/sso/settings.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { type CertificateOptions, certify } from "../../../support/network/private-ca.ts";
import type { Faults } from "../../../support/provider/faults.ts";
import { createLyingProvider } from "../../../support/provider/lying-provider.ts";
import { REDIRECT_URI, relyingPartyOf } from "../../../support/provider/relying-party.ts";
import { createWorld } from "../../../support/world.ts";

const world = await createWorld();
let offsetMs = 0;
const idp = await createLyingProvider({ nowMs: () => world.clock.nowMs() + offsetMs });
afterAll(async () => {
  await idp[Symbol.asyncDispose]();
  await world.dispose();
});
beforeEach(() => {
  idp.faults = {};
  offsetMs = 0;
});

const PARTS = { redirectUri: REDIRECT_URI, formerRedirectUri: undefined };

const findingsOf = (members: Partial<SsoSettings> = {}, parts = {}) =>
  verifyProvider(relyingPartyOf(idp, world, members).connection(), { ...PARTS, ...parts });

/** @returns the checks that are not ok */
async function problemsOf(members: Partial<SsoSettings> = {}, parts = {}): Promise<string[]> {
  const findings = await findingsOf(members, parts);
  for (const { result, remedy } of findings)
    expect(remedy === null).toBe(result === "ok" || result === "skipped");
  return findings.filter(({ result }) => result !== "ok").map(({ check, result }) => `${check} ${result}`);
}

test("SSO-33 an honest provider passes every check, and no one is signed in", async () => {
  idp.requests.length = 0;
  const findings = await findingsOf();
  expect(findings.map(({ check, result }) => `${check} ${result}`)).toEqual([
    "discovery ok",
    "endpoints ok",
    "algorithms ok",
    "pkce ok",
    "log_on ok",
    "keys ok",
    "clock ok",
    "client ok",
    "redirect_uri ok",
  ]);
  expect(idp.requests).toEqual(["GET /.well-known/openid-configuration", "GET /jwks", "POST /token"]);
});

const DISCOVERY_FAILED = [
  "discovery failed",
  ...["endpoints", "algorithms", "pkce", "log_on", "keys", "clock", "client"].map(
    (check) => `${check} skipped`,
  ),
];

const FAULTS: Record<string, [Faults, string[]]> = {
  "is down": [{ discovery: "down" }, DISCOVERY_FAILED],
  "answers with HTML": [{ discovery: "html" }, DISCOVERY_FAILED],
  "is another issuer": [{ metadata: { issuer: "https://other.example" } }, DISCOVERY_FAILED],
  "has an endpoint on http": [{ metadata: { token_endpoint: "http://idp.example/token" } }, DISCOVERY_FAILED],
  "signs with unknown algorithms": [
    { metadata: { id_token_signing_alg_values_supported: ["HS256", "none"] } },
    ["algorithms failed"],
  ],
  "does not announce PKCE": [{ metadata: { code_challenge_methods_supported: undefined } }, ["pkce warning"]],
  "supports plain PKCE only": [
    { metadata: { code_challenge_methods_supported: ["plain"] } },
    ["pkce warning"],
  ],
  "does not report when people log on": [{ metadata: { claims_supported: ["sub"] } }, ["log_on warning"]],
  "does not list its claims": [{ metadata: { claims_supported: undefined } }, ["log_on skipped"]],
  "has no keys to fetch": [{ keys: "missing" }, ["keys failed"]],
  "identifies clients in another way": [
    { metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] } },
    ["client failed"],
  ],
  "does not announce what it supports": [
    {
      metadata: {
        id_token_signing_alg_values_supported: undefined,
        token_endpoint_auth_methods_supported: undefined,
      },
    },
    [],
  ],
  "refuses the code for another reason": [{ tokenError: "unsupported_grant_type" }, ["client warning"]],
  "does not say what time it is": [{ hidesTime: true }, ["clock skipped"]],
  "has a token endpoint that is down": [{ token: "down" }, ["client warning"]],
};

test("SSO-33 a provider that names no algorithms uses the standard's default", async () => {
  idp.faults = { metadata: { id_token_signing_alg_values_supported: undefined } };
  const found = (await findingsOf()).find(({ check }) => check === "algorithms");
  expect(found?.detail).toBe("ID tokens are signed with RS256");
});

test.each(Object.entries(FAULTS))("SSO-33 a provider that %s is reported", async (_, [faults, problems]) => {
  idp.faults = faults;
  expect(await problemsOf()).toEqual(problems);
});

const NEXT_STEPS: Record<string, [Faults, string]> = {
  "names another issuer": [
    { metadata: { issuer: "https://other.example" } },
    "set identity.oidc.issuer to the issuer that",
  ],
  "answers with HTML": [{ discovery: "html" }, "a page instead of JSON"],
  "responds with truncated JSON": [{ discovery: "garbage" }, "a page instead of JSON"],
  "responds with a redirect": [{ discovery: "redirect" }, "see where it leads"],
  "has no document there": [{ discovery: "missing" }, "correct the path in identity.oidc.issuer"],
  "answers with 10 MB": [{ discovery: "huge" }, "it must be the discovery document"],
  "is down": [{ discovery: "down" }, "repair the provider"],
  "breaks off": [{ discovery: "reset" }, "HTTPS_PROXY"],
  "announces http": [{ metadata: { token_endpoint: "http://idp.example/token" } }, "must announce https"],
  "lacks an endpoint": [{ metadata: { token_endpoint: undefined } }, "must announce https"],
};

test.each(Object.entries(NEXT_STEPS))(
  "SSO-33 a provider that %s: the next step",
  async (_, [faults, remedy]) => {
    idp.faults = faults;
    const [discovery] = await findingsOf();
    expect(discovery).toMatchObject({ check: "discovery", remedy: expect.stringContaining(remedy) });
  },
);

test.each([
  ["of an unknown authority", {}, "identity.oidc.ca_file"],
  ["for another name", { name: "other.example", isTrusted: true }, "host name in the provider's certificate"],
  ["that has expired", { expiresAtMs: Date.now() - 1_000, isTrusted: true }, "renewed"],
] as [string, CertificateOptions & { isTrusted?: boolean }, string][])(
  "SSO-33 a certificate %s: the next step",
  async (_, { isTrusted = false, ...options }, remedy) => {
    const { cert, key, ca } = await certify(options);
    const fetch = () => Response.json({});
    await using server = Bun.serve({ hostname: "127.0.0.1", port: 0, tls: { cert, key }, fetch });
    const issuer = `https://localhost:${server.port}`;
    const [discovery] = await findingsOf({ issuer, ...(isTrusted && { ca }) });
    expect(discovery).toMatchObject({ result: "failed", remedy: expect.stringContaining(remedy) });
  },
);

const KEYS: Record<string, [Faults, string]> = {
  "cannot be fetched": [{ keys: "down" }, "the status is 503"],
  "are no list": [{ keySet: { keys: {} } }, "not a list"],
  "are none": [{ keySet: { keys: [] } }, "publishes no key"],
};

test.each(Object.entries(KEYS))("SSO-33 keys that %s are reported as such", async (_, [faults, detail]) => {
  idp.faults = faults;
  const found = (await findingsOf()).find(({ check }) => check === "keys");
  expect([found?.result, found?.detail]).toEqual(["failed", expect.stringContaining(detail)]);
});

test("SSO-33 a wrong secret is reported, and a mention of another issuer", async () => {
  const secret = new Secret("wrong");
  expect(await problemsOf({ credential: { method: "client_secret_basic", secret } })).toEqual([
    "client failed",
  ]);
  const client = (await findingsOf({ credential: { method: "client_secret_basic", secret } })).find(
    ({ check }) => check === "client",
  );
  expect(client?.detail).toContain("invalid_client");
  idp.faults = { metadata: { issuer: `${idp.issuer}/` } };
  const [discovery] = await findingsOf();
  expect(discovery?.detail).toContain(`the issuer is ${idp.issuer}/, not ${idp.issuer}`);
  expect(discovery?.remedy).toContain("identity.oidc.issuer");
});

test.each([
  [60_000, []],
  [-60_000, []],
  [61_000, ["clock failed"]],
  [-600_000, ["clock failed"]],
])("SSO-44 a clock that differs by %i ms", async (difference, problems) => {
  offsetMs = difference;
  expect(await problemsOf()).toEqual(problems as string[]);
});

test.each([
  [-61_000, "61 s behind ours"],
  [0, "0 s ahead of ours"],
  [61_000, "61 s ahead of ours"],
])("SSO-44 a clock that differs by %i ms is %s", async (difference, words) => {
  offsetMs = difference;
  const clock = (await findingsOf()).find(({ check }) => check === "clock");
  expect(clock?.detail).toStartWith(`the provider's clock is ${words}`);
});

test("SSO-44 the refusal of a sign-in contains the offset of a wrong clock", async () => {
  offsetMs = 600_000;
  const provider = relyingPartyOf(idp, world);
  const { url, attempt } = await provider.begin({ redirectUri: REDIRECT_URI });
  const query = await idp.authorize(url);
  const error = await provider
    .complete({ redirectUri: REDIRECT_URI, query, attempt })
    .catch((thrown) => thrown);
  expect([error.kind, error.reason]).toEqual(["upstream", "sso.clock"]);
  expect(error.cause).toContain("600 s ahead of ours");
});

test("SSO-44 a changed redirect URI is reported with what to register", async () => {
  const formerRedirectUri = "https://old.example.com/api/auth/callback/oidc";
  expect(await problemsOf({}, { formerRedirectUri })).toEqual(["redirect_uri warning"]);
  expect(await problemsOf({}, { formerRedirectUri: REDIRECT_URI })).toEqual([]);
  expect(await problemsOf({}, { redirectUri: undefined })).toEqual(["redirect_uri warning"]);
});

test("SSO-26 a provider without an endpoint for logout is reported if logout continues there", async () => {
  idp.faults = { metadata: { end_session_endpoint: undefined } };
  expect(await problemsOf()).toEqual([]);
  expect(await problemsOf({ logout: "idp" })).toEqual(["logout warning"]);
});
