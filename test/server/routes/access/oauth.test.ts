// The OAuth endpoints over HTTP: every response, including refusals, is OAuth JSON that no cache stores.
// test/domain/access tests the rules, test/contracts an ordinary client.
import { describe, expect, test } from "bun:test";
import { FORM_FIELDS_MAX, UNAUTHENTICATED_BODY_BYTES_MAX } from "../../../../src/server/http/bodies/body.ts";
import { BASE_URL, type Caller, createTestServer, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const DEVICE_CODE = "/api/auth/device/code";
const TOKEN = "/api/auth/oauth2/token";
const REVOKE = "/api/auth/oauth2/revoke";
const ENDPOINTS = [DEVICE_CODE, TOKEN, REVOKE];
const CLIENT = { client_id: "blue-cli" };
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const FORM = { "content-type": "application/x-www-form-urlencoded" };

const post = (
  server: TestServer,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) =>
  server.request("POST", path, {
    body: new URLSearchParams(fields).toString(),
    headers: { ...FORM, ...headers },
  });

/** Checks that an OAuth client can read a refusal. @returns its status and code */
async function refusalOf(response: Response): Promise<[status: number, code: string]> {
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("pragma")).toBe("no-cache");
  const body = await response.json();
  expect(Object.keys(body)).toEqual(["error", "error_description"]);
  expect(body.error_description).toBeString();
  return [response.status, body.error];
}

async function begin(server: TestServer): Promise<{ device_code: string; user_code: string; link: string }> {
  const response = await post(server, DEVICE_CODE, { ...CLIENT, scope: "governance:read offline_access" });
  const { device_code, user_code, verification_uri_complete } = await response.json();
  return { device_code, user_code, link: verification_uri_complete.split("/").at(-1) };
}

const poll = (server: TestServer, device_code: string) =>
  post(server, TOKEN, { ...CLIENT, grant_type: DEVICE_GRANT, device_code });

const decide = (server: TestServer, caller: Caller, { link, action }: { link: string; action: string }) =>
  server.request("POST", `/api/device/${link}`, { cookie: caller.cookie, body: { action } });

/** A signed-in member, and a device login that this member has opened. */
async function opened(server: TestServer) {
  const caller = await server.signedIn("member");
  const login = await begin(server);
  await server.request("GET", `/api/device/${login.link}`, { cookie: caller.cookie });
  return { caller, ...login };
}

describe("a device login request", () => {
  test("returns exactly the fields of RFC 8628, whole numbers, and a link without the code", async () => {
    const server = await sameServer();
    const response = await post(server, DEVICE_CODE, CLIENT);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("pragma")).toBe("no-cache");
    const body = await response.json();
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[0-9a-f-]{36}\.[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{8}$/),
      verification_uri: `${BASE_URL}/device`,
      verification_uri_complete: expect.stringMatching(
        /^https:\/\/control\.example\.com\/device\/[\w-]{43}$/,
      ),
      expires_in: 600,
      interval: 5,
    });
    expect(body.verification_uri_complete).not.toContain(body.user_code);
  });

  test.each([
    ["client_id is missing", {}, 400, "invalid_request"],
    ["client_id is empty", { client_id: "" }, 400, "invalid_request"],
    ["the client is unknown", { client_id: "other" }, 400, "invalid_client"],
    ["the resource is another", { ...CLIENT, resource: "https://else.example" }, 400, "invalid_target"],
    ["the resource has a slash more", { ...CLIENT, resource: `${BASE_URL}/` }, 400, "invalid_target"],
    ["a scope is unknown", { ...CLIENT, scope: "root" }, 400, "invalid_scope"],
  ])("is refused when %s", async (_, fields: Record<string, string>, status, code) => {
    const server = await sameServer();
    expect(await refusalOf(await post(server, DEVICE_CODE, fields))).toEqual([status, code]);
  });

  test("API-3 is refused with a time to wait when an address sends too many", async () => {
    await using server = await createTestServer({ limits: { deviceCodesPerAddress: 1 } });
    expect((await post(server, DEVICE_CODE, CLIENT)).status).toBe(200);
    const response = await post(server, DEVICE_CODE, CLIENT);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(response.headers.get("ratelimit-policy")).toBe('"device_code.address";q=1;w=900');
    expect(response.headers.get("ratelimit")).toBe('"device_code.address";r=0;t=900');
    expect(await refusalOf(response)).toEqual([429, "temporarily_unavailable"]);
  });
});

describe("the token endpoint", () => {
  test("returns the fields of RFC 6749 for a redeemed device login and forbids caching", async () => {
    const server = await sameServer();
    const { caller, link, device_code } = await opened(server);
    expect((await decide(server, caller, { link, action: "approve" })).status).toBe(200);
    const response = await poll(server, device_code);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("pragma")).toBe("no-cache");
    expect(await response.json()).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: "Bearer",
      expires_in: 900,
      expires_at: Math.floor(server.world.clock.nowMs() / 1_000) + 900,
      refresh_token: expect.stringMatching(/^[\w-]{22}\.[\w-]{43}$/),
      scope: "governance:read",
    });
  });

  test("API-1 tells a polling workstation to wait, to slow down, or that its login was denied or has expired", async () => {
    const server = await sameServer();
    const { clock } = server.world;
    const { caller, link, device_code } = await opened(server);
    expect(await refusalOf(await poll(server, device_code))).toEqual([400, "authorization_pending"]);
    expect(await refusalOf(await poll(server, device_code))).toEqual([400, "slow_down"]);
    clock.advance(5_000);
    expect(await refusalOf(await poll(server, device_code))).toEqual([400, "authorization_pending"]);
    await decide(server, caller, { link, action: "deny" });
    clock.advance(5_000);
    expect(await refusalOf(await poll(server, device_code))).toEqual([400, "access_denied"]);
    const late = await begin(server);
    clock.advance(600_000);
    expect(await refusalOf(await poll(server, late.device_code))).toEqual([400, "expired_token"]);
  });

  test.each([
    ["grant_type is missing", {}, "invalid_request"],
    ["grant_type is empty", { grant_type: "" }, "invalid_request"],
    ["the grant is not offered", { grant_type: "password" }, "unsupported_grant_type"],
    ["device_code is missing", { grant_type: DEVICE_GRANT }, "invalid_request"],
    ["the device code is unknown", { grant_type: DEVICE_GRANT, device_code: "x" }, "invalid_grant"],
    ["refresh_token is missing", { grant_type: "refresh_token" }, "invalid_request"],
    ["the refresh token is unknown", { grant_type: "refresh_token", refresh_token: "x" }, "invalid_grant"],
  ])("refuses when %s", async (_, fields: Record<string, string>, code) => {
    const server = await sameServer();
    expect(await refusalOf(await post(server, TOKEN, { ...CLIENT, ...fields }))).toEqual([400, code]);
  });

  test("names the scheme to an unknown client with an Authorization header", async () => {
    const server = await sameServer();
    const fields = { grant_type: "refresh_token", refresh_token: "x", client_id: "other" };
    const headers = { authorization: "Basic b3RoZXI6" };
    expect(await refusalOf(await post(server, TOKEN, fields))).toEqual([400, "invalid_client"]);
    const response = await post(server, TOKEN, fields, headers);
    expect(response.headers.get("www-authenticate")).toStartWith("Basic ");
    expect(await refusalOf(response)).toEqual([401, "invalid_client"]);
  });

  test("never exchanges a device code for a browser session", async () => {
    const server = await sameServer();
    const { device_code } = await begin(server);
    const response = await post(server, "/api/auth/device/token", { ...CLIENT, device_code });
    expect(await refusalOf(response)).toEqual([400, "invalid_grant"]);
  });
});

describe("revocation", () => {
  test("answers a valid, an unknown and a revoked token alike, and ends its dependents", async () => {
    const server = await sameServer();
    const { refreshToken, accessToken } = await server.signedIn("member");
    const bodies = [];
    for (const token of [refreshToken, refreshToken, "unknown"]) {
      const response = await post(server, REVOKE, { ...CLIENT, token, token_type_hint: "refresh_token" });
      expect(response.status).toBe(200);
      bodies.push(await response.text());
    }
    expect(new Set(bodies).size).toBe(1);
    const fields = { ...CLIENT, grant_type: "refresh_token", refresh_token: refreshToken };
    expect(await refusalOf(await post(server, TOKEN, fields))).toEqual([400, "invalid_grant"]);
    expect((await server.request("GET", "/auth/me", { token: accessToken })).status).toBe(401);
  });

  test("refuses an access token, a missing token, and a caller without a client id", async () => {
    const server = await sameServer();
    const { accessToken } = await server.signedIn("member");
    const refused = async (fields: Record<string, string>) => refusalOf(await post(server, REVOKE, fields));
    expect(await refused({ ...CLIENT, token: accessToken })).toEqual([400, "unsupported_token_type"]);
    expect(await refused(CLIENT)).toEqual([400, "invalid_request"]);
    expect(await refused({ token: "x" })).toEqual([401, "invalid_client"]);
    expect(await refused({ token: "x", client_id: "other" })).toEqual([401, "invalid_client"]);
  });
});

test.each(ENDPOINTS)("%s answers 401 to a client that names itself by Basic only", async (path) => {
  const server = await sameServer();
  const fields = { grant_type: "refresh_token", refresh_token: "x", token: "x" };
  const response = await post(server, path, fields, { authorization: `Basic ${btoa("blue-cli:")}` });
  expect(response.headers.get("www-authenticate")).toBe('Basic realm="oauth"');
  expect(await refusalOf(response)).toEqual([401, "invalid_client"]);
});

test("a resource parameter may be repeated if every value is the base URL", async () => {
  const server = await sameServer();
  const ask = async (...resources: string[]) => {
    const fields = { ...CLIENT, scope: "governance:read" };
    const pairs = [...Object.entries(fields), ...resources.map((value) => ["resource", value])];
    const body = new URLSearchParams(pairs).toString();
    const response = await server.request("POST", DEVICE_CODE, { body, headers: FORM });
    return (await response.json()).error;
  };
  expect(await ask(BASE_URL)).toBeUndefined();
  expect(await ask(BASE_URL, BASE_URL)).toBeUndefined();
  expect(await ask(BASE_URL, "https://other.example")).toBe("invalid_target");
  expect(await ask("https://other.example", "https://third.example")).toBe("invalid_target");
});

test("the authorization endpoint of the OpenID document refuses every response type", async () => {
  const server = await sameServer();
  const { authorization_endpoint } = await (
    await server.request("GET", "/api/auth/.well-known/openid-configuration")
  ).json();
  const { pathname } = new URL(authorization_endpoint);
  const response = await server.request("GET", `${pathname}?response_type=code&client_id=blue-cli`);
  expect(await refusalOf(response)).toEqual([400, "unsupported_response_type"]);
});

describe.each(ENDPOINTS)("a malformed request to %s", (path) => {
  test.each([
    ["JSON", { body: { client_id: "blue-cli" } }, 400],
    ["a body without a type", { body: "client_id=blue-cli", headers: { "content-type": "" } }, 400],
    [
      "another character set",
      { body: "a=b", headers: { "content-type": `${FORM["content-type"]}; charset=latin1` } },
      400,
    ],
    ["a compressed body", { body: "a=b", headers: { ...FORM, "content-encoding": "gzip" } }, 400],
    ["a field twice", { body: "client_id=blue-cli&client_id=blue-cli", headers: FORM }, 400],
    ["bytes that are not UTF-8", { body: new Uint8Array([0x61, 0x3d, 0xff]), headers: FORM }, 400],
    ["too many fields", { body: "a=&".repeat(FORM_FIELDS_MAX + 1), headers: FORM }, 400],
    ["too many bytes", { body: `a=${"b".repeat(UNAUTHENTICATED_BODY_BYTES_MAX - 1)}`, headers: FORM }, 413],
  ])("is refused in OAuth format: %s", async (_, sent, status) => {
    const server = await sameServer();
    const response = await server.request("POST", path, sent);
    expect(await refusalOf(response)).toEqual([status, "invalid_request"]);
  });

  test("is refused in OAuth format: another method", async () => {
    const server = await sameServer();
    const response = await server.request("GET", path);
    expect(response.headers.get("allow")).toBe("POST");
    expect(await refusalOf(response)).toEqual([405, "invalid_request"]);
  });

  test("is refused when a browser's cookie comes with a foreign origin", async () => {
    const server = await sameServer();
    const { cookie } = await server.signedIn("member");
    const fields = { ...CLIENT, grant_type: "refresh_token", refresh_token: "x", token: "x" };
    const from = async (headers: Record<string, string>) =>
      (await post(server, path, fields, headers)).status;
    const welcome = await from({});
    expect(await from({ cookie, origin: "https://evil.example" })).toBe(403);
    expect(await from({ cookie, origin: "null" })).toBe(403);
    expect(await from({ cookie, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await from({ cookie, origin: BASE_URL })).toBe(welcome);
    expect(await from({ cookie })).toBe(welcome);
    expect(await from({ origin: "https://evil.example" })).toBe(welcome);
  });
});
