// Who may send requests: every credential that is not a valid inference token of this installation, and every operation that ends
// access. The scripted upstream counts the requests that reach it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { SESSION_CLAIM } from "../../../src/domain/gateway/wire.ts";
import { CORE_USER } from "../../../src/domain/scim/wire.ts";
import { DAY_MS, SECOND_MS } from "../../../src/platform/clock.ts";
import { CLOCK_TOLERANCE_SECONDS, TOKEN_LENGTH_MAX } from "../../../src/platform/crypto/signing.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { runCli } from "../../support/cli/cli.ts";
import { chat, createProxyServer, type ProxyServer } from "../../support/inference/proxy-server.ts";
import { type Caller, PASSWORD, SCIM_TOKEN } from "../../support/server.ts";

let site: ProxyServer;
let ana: Caller;
let token: string;
beforeAll(async () => {
  site = await createProxyServer({ proxy: { failuresPerAddress: 1_000 } });
  ana = await site.signedIn("member", { email: "ana@example.com" });
  token = await site.tokenOf(ana);
});
afterAll(() => site[Symbol.asyncDispose]());
beforeEach(() => {
  site.models.forget();
  site.rows.length = 0;
});

const UNKNOWN_ID = "01940000-0000-7000-8000-000000000000";

type Claims = Record<string, unknown>;

const keys = () => {
  const { signingKeys } = site.domain.inference;
  if (!signingKeys) throw new Error("gateway mode is on");
  return signingKeys;
};
/** @returns a token signed with the service's key, with other claims than a valid one */
const signed = (change: Claims): string =>
  keys()
    .signer()
    .sign({ ...decodeJwt(token), ...change });
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const nowSeconds = (): number => Math.floor(site.world.clock.nowMs() / SECOND_MS);

/** @returns a token with another header, and with the signature of that algorithm */
function withHeader(header: object): string {
  const input = `${part({ ...decodeProtectedHeader(token), ...header })}.${part(decodeJwt(token))}`;
  const secret = JSON.stringify(keys().jwks().keys[0]);
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}

const outcome = async (headers: Record<string, string>): Promise<[number, unknown]> => {
  const answer = await site.send("/v1/chat/completions", { method: "POST", headers, body: "{}" });
  return [answer.status, (await answer.json()).reason];
};

const NO_TOKEN = [401, "inference.no_token"] as const;
const BAD_TOKEN = [401, "inference.bad_token"] as const;

describe("a request without an inference token is refused before the upstream gets it:", () => {
  test.each([
    ["no credential", () => ({}), NO_TOKEN],
    ["an empty bearer token", () => ({ authorization: "Bearer " }), NO_TOKEN],
    ["a token without a scheme", () => ({ authorization: token }), NO_TOKEN],
    ["Basic", () => ({ authorization: `Basic ${btoa(`ana:${token}`)}` }), NO_TOKEN],
    ["the cookie of a browser", () => ({ cookie: ana.cookie }), NO_TOKEN],
    ["a garbled token", () => ({ authorization: `Bearer ${token.replace(".", ",")}` }), BAD_TOKEN],
    [
      "a changed claim",
      () => ({ authorization: `Bearer ${token.slice(0, -700)}AA${token.slice(-698)}` }),
      BAD_TOKEN,
    ],
    ["half a token", () => ({ authorization: `Bearer ${token.slice(0, token.length / 2)}` }), BAD_TOKEN],
    ["two bearer tokens", () => ({ authorization: `Bearer ${token}, Bearer ${token}` }), BAD_TOKEN],
    ["a long text", () => ({ authorization: `Bearer ${"a".repeat(TOKEN_LENGTH_MAX + 1)}` }), BAD_TOKEN],
    ["an access token", () => ({ authorization: `Bearer ${ana.accessToken}` }), BAD_TOKEN],
    ["a refresh token", () => ({ authorization: `Bearer ${ana.refreshToken}` }), BAD_TOKEN],
    ["the token of the identity provider", () => ({ authorization: `Bearer ${SCIM_TOKEN}` }), BAD_TOKEN],
    ["an expired token", () => bearer({ exp: nowSeconds() - CLOCK_TOLERANCE_SECONDS }), BAD_TOKEN],
    ["a token of the future", () => bearer({ iat: nowSeconds() + CLOCK_TOLERANCE_SECONDS + 1 }), BAD_TOKEN],
    ["a token without an end", () => bearer({ exp: undefined }), BAD_TOKEN],
    ["another audience", () => bearer({ aud: "somebody-else" }), BAD_TOKEN],
    ["another issuer", () => bearer({ iss: "https://other.example.org" }), BAD_TOKEN],
    ["another scope", () => bearer({ scope: "gateway:infers governance:read" }), BAD_TOKEN],
    ["a subject that is no id", () => bearer({ sub: "ana@example.com" }), BAD_TOKEN],
    ["no login session", () => bearer({ [SESSION_CLAIM]: "" }), BAD_TOKEN],
    ["a gateway session that is no id", () => bearer({ gateway_session_id: "../x" }), BAD_TOKEN],
    [
      "algorithm HS256 with our public key",
      () => ({ authorization: `Bearer ${withHeader({ alg: "HS256" })}` }),
      BAD_TOKEN,
    ],
    [
      "algorithm none",
      () => ({ authorization: `Bearer ${withHeader({ alg: "none" }).replace(/[^.]*$/, "")}` }),
      BAD_TOKEN,
    ],
    ["an unknown key", () => ({ authorization: `Bearer ${withHeader({ kid: "unknown" })}` }), BAD_TOKEN],
    [
      "a session that does not exist",
      () => bearer({ gateway_session_id: UNKNOWN_ID }),
      [401, "inference.session_revoked"],
    ],
    ["the session of somebody else", () => bearer({ sub: UNKNOWN_ID }), [401, "inference.session_revoked"]],
  ] as const)("INF-10 %s", async (_name, headers, expected) => {
    expect(await outcome(headers())).toEqual([...expected]);
    expect(site.models.exchanges).toHaveLength(0);
  });

  const bearer = (change: Claims) => ({ authorization: `Bearer ${signed(change)}` });
});

test("INF-10 a token is taken as a bearer token in any case, or as an API key", async () => {
  for (const headers of [
    { authorization: `Bearer ${token}` },
    { authorization: `bEARER   ${token}` },
    { "x-api-key": token },
    { "x-api-key": token, authorization: "Basic YTpi" },
  ])
    expect(await outcome(headers)).toEqual([200, undefined]);
  const query = await site.send(`/v1/messages?api_key=${token}&token=${token}`, {
    method: "POST",
    body: "{}",
  });
  expect(query.status).toBe(401);
  expect(query.headers.get("www-authenticate")).toBe("Bearer");
});

test("INF-11 a token of a key that was removed is refused immediately, although it was accepted before", async () => {
  await using apart = await createProxyServer();
  const { signingKeys } = apart.domain.inference;
  const held = await apart.tokenOf(await apart.signedIn("member"));
  expect((await apart.send("/v1/messages", chat(held))).status).toBe(200);
  await signingKeys?.rotate(apart.world.system);
  expect((await apart.send("/v1/messages", chat(held))).status).toBe(200);
  apart.world.clock.advance(DAY_MS);
  expect(await signingKeys?.dropDead()).toBe(1);
  expect((await apart.send("/v1/messages", chat(held))).status).toBe(401);
});

const scim = async (method: string, path: string, body?: object) => {
  const answer = await site.request(method, `/scim/v2${path}`, { token: SCIM_TOKEN, body });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : await answer.json();
};
const scimUser = ({ user }: Caller, more: object = {}) => ({
  schemas: [CORE_USER],
  userName: user.email,
  ...more,
});

const own = (method: string, path: string) => async (caller: Caller) => {
  const answer = await site.request(method, path, { token: caller.accessToken });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
};
/** Another process on the data directory. */
const command = (line: (caller: Caller) => string) => async (caller: Caller) => {
  const { exitCode, stderr } = await runCli([...line(caller).split(" "), "--data-dir", site.world.directory]);
  if (exitCode !== 0) throw new Error(stderr);
};

interface Act {
  perform(caller: Caller): Promise<unknown>;
  reasons: readonly string[];
  /** the identity provider manages the user */
  isProvisioned?: true;
}

const ACTS: Readonly<Record<string, Act>> = {
  "the workstation revokes its gateway session": {
    perform: own("POST", "/gateway/session/revoke"),
    reasons: ["inference.session_revoked"],
  },
  "the browser signs out": {
    perform: ({ cookie }) => site.request("POST", "/api/auth/sign-out", { cookie, body: {} }),
    reasons: ["inference.login_ended"],
  },
  "the workstation revokes its refresh token": {
    perform: ({ refreshToken }) =>
      site.domain.access.grants.revoke({ token: refreshToken, clientId: "blue-cli" }),
    reasons: ["inference.login_ended", "inference.session_revoked"],
  },
  "an administrator revokes the login": {
    perform: ({ loginSessionId }) => site.domain.access.logins.revoke(site.world.system, loginSessionId),
    reasons: ["inference.login_ended"],
  },
  "an administrator suspends the user": {
    perform: ({ user }) => site.domain.identity.users.setStatus(site.world.system, user.id, "suspended"),
    reasons: ["inference.user_inactive"],
  },
  "an administrator removes the user": {
    perform: ({ user }) => site.domain.identity.users.remove(site.world.system, user.id),
    reasons: ["inference.user_inactive"],
  },
  "a password is reset": {
    perform: ({ user }) => site.domain.identity.users.resetPassword(site.world.system, user.id),
    reasons: ["inference.login_ended"],
  },
  "SCIM sets active to false": {
    perform: ({ user }) =>
      scim("PATCH", `/Users/${user.id}`, {
        schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        Operations: [{ op: "replace", path: "active", value: false }],
      }),
    reasons: ["inference.user_inactive"],
    isProvisioned: true,
  },
  "SCIM deletes the user": {
    perform: ({ user }) => scim("DELETE", `/Users/${user.id}`),
    reasons: ["inference.user_inactive"],
    isProvisioned: true,
  },
  "a command suspends the user": {
    perform: command(({ user }) => `users suspend ${user.email} --yes`),
    reasons: ["inference.user_inactive"],
  },
  "a command removes the user": {
    perform: command(({ user }) => `users remove ${user.email} --yes`),
    reasons: ["inference.user_inactive"],
  },
  "a command revokes the login": {
    perform: command(({ loginSessionId }) => `logins revoke ${loginSessionId} --yes`),
    reasons: ["inference.login_ended"],
  },
};

const PARALLEL = 20;
const burst = (held: string): Promise<Response[]> =>
  Promise.all(Array.from({ length: PARALLEL }, () => site.send("/v1/messages", chat(held))));

test.each(Object.entries(ACTS))(
  "INF-12 after %s no request reaches the upstream",
  async (_name, { perform, reasons, isProvisioned }) => {
    let caller = await site.signedIn("member");
    if (isProvisioned) {
      await scim("POST", "/Users", scimUser(caller));
      caller = await site.signInAgain(caller.user);
    }
    const held = await site.tokenOf(caller);
    expect((await site.send("/v1/messages", chat(held))).status).toBe(200);
    site.models.forget();
    site.rows.length = 0;
    await perform(caller);
    const answers = await burst(held);
    expect(site.models.exchanges).toHaveLength(0);
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(reasons).toContain((await answer.json()).reason);
    }
    expect(site.rows.map(({ outcome: ended, userId }) => [ended, userId])).toEqual(
      Array.from({ length: PARALLEL }, () => ["refused", caller.user.id]),
    );
  },
);

describe("INF-12 a removed key is not used again:", () => {
  test.each([
    ["its user revokes it", own("POST", "/gateway/key/revoke")],
    ["its user replaces it", own("POST", "/gateway/key/rotate")],
    ["a command revokes it", command(({ user }) => `keys revoke ${user.email} --yes`)],
  ] as const)("%s", async (_name, perform) => {
    const caller = await site.signedIn("member");
    const held = await site.tokenOf(caller);
    await site.send("/v1/messages", chat(held));
    const before = site.models.exchanges[0]?.header("authorization");
    expect(before).toStartWith("Bearer sk-");
    site.models.forget();
    await perform(caller);
    for (const answer of await burst(held)) expect([200, 503]).toContain(answer.status);
    expect(site.models.exchanges.map((exchange) => exchange.header("authorization"))).not.toContain(before);
    await site.domain.gateway.keys.attempts?.drain();
    expect((await site.send("/v1/messages", chat(held))).status).toBe(200);
  });
});

test("a user without a key gets a request to wait while one is made, and to ask for one if none can be made", async () => {
  const caller = await site.signedIn("member");
  const minted = await site.request("POST", "/gateway/token", { token: caller.accessToken });
  const { token: held } = await minted.json();
  const waiting = await site.send("/v1/chat/completions", chat(held));
  expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await waiting.json()).toMatchObject({
    reason: "inference.key_recovering",
    error: { type: "server_error", code: "overloaded" },
  });
  await site.domain.gateway.keys.attempts?.drain();
  expect((await site.send("/v1/chat/completions", chat(held))).status).toBe(200);

  const account = { email: "stranger@example.com", role: "member", password: new Secret(PASSWORD) } as const;
  const { user } = await site.domain.identity.users.create(site.world.system, account);
  const stranger = await site.signInAgain(user); // the gateway has no account for this address
  const other = await site.request("POST", "/gateway/token", { token: stranger.accessToken });
  const { token: useless } = await other.json();
  await site.send("/v1/chat/completions", chat(useless));
  await site.domain.gateway.keys.attempts?.drain();
  const refused = await site.send("/v1/chat/completions", chat(useless));
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    reason: "inference.key_missing",
    error: { code: "permission_denied", message: expect.stringContaining("gateway command") },
  });
});

test("INF-37 a refused request is logged with its claims, and without its token", async () => {
  const caller = await site.signedIn("member");
  const held = await site.tokenOf(caller);
  await site.domain.identity.users.setStatus(site.world.system, caller.user.id, "suspended");
  const headers = { "x-harness-agent": "claude", "x-harness-model": "m", "x-harness-run-id": "run-1" };
  const answer = await site.send("/v1/messages?beta=true", chat(held, headers));
  const { request_id } = await answer.json();
  expect(site.rows).toEqual([
    expect.objectContaining({
      id: request_id,
      requestId: request_id,
      userId: caller.user.id,
      organizationId: site.world.organizationId,
      path: "/v1/messages",
      method: "POST",
      httpStatus: 401,
      outcome: "refused",
      refusal: "inference.user_inactive",
      harness: "claude",
      model: "m",
      runId: "run-1",
      claimed: true,
      profileId: null,
    }),
  ]);
  expect(JSON.stringify(site.rows)).not.toContain(held);
});
