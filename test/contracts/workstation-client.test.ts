// Acts as an unmodified workstation client over a real socket: sends exactly its requests, and checks the responses as strictly as
// it does (handbook: workstations).
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { readCatalogFile } from "../../src/app/files/catalog-file.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { Secret } from "../../src/platform/secret.ts";
import { packageOf } from "../domain/governance/governance-world.ts";
import { publishFirst, publishPackages } from "../support/content/policy.ts";
import { tarFile, tarGzOf } from "../support/content/tar.ts";
import { createListeningServer, type ListeningServer } from "../support/network/listening-server.ts";
import { PASSWORD } from "../support/server.ts";

const EMAIL = "ada@example.com";
const SCOPES = [
  "openid",
  "profile",
  "email",
  "offline_access",
  "governance:read",
  "session:write",
  "client-status:write",
];
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function start(): Promise<ListeningServer> {
  const server = await createListeningServer({ hasConsole: false });
  const { domain, world } = server;
  await domain.identity.users.create(world.system, {
    email: EMAIL,
    role: "admin",
    password: new Secret(PASSWORD),
  });
  return server;
}

/** A form as the client sends it: no Origin, no cookie, no Authorization. */
const post = (url: string, fields: Record<string, string>) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  });

async function discover(origin: string) {
  const response = await fetch(`${origin}/.well-known/metaharness`);
  expect(response.status).toBe(200);
  const document = await response.json();
  const { issuer, client_id } = document.oauth;
  const ends = {
    device: `${issuer}/device/code`,
    token: `${issuer}/oauth2/token`,
    revoke: `${issuer}/oauth2/revoke`,
  };
  return { document, resource: document.control_api_url, client_id, issuer, ...ends };
}

type Service = Awaited<ReturnType<typeof discover>>;

/** Signs the browser in. @returns the value of its header `Cookie` from then on */
async function signIn({ issuer }: Service, origin: string): Promise<string> {
  const response = await fetch(`${issuer}/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
  });
  expect(response.status).toBe(200);
  const [cookie = "", ...more] = response.headers.getSetCookie();
  expect(more).toEqual([]);
  const [pair = "", ...attributes] = cookie.split("; ");
  expect(new Set(attributes)).toEqual(new Set(["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=43200"]));
  expect(pair).toStartWith("better-auth.session_token=");
  return pair;
}

/** The client asks for a device login. */
async function begin({ device, client_id, resource }: Service) {
  const response = await post(device, { client_id, scope: SCOPES.join(" "), resource });
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toContain("no-store");
  return await response.json();
}

const poll = ({ token, client_id, resource }: Service, device_code: string) =>
  post(token, { grant_type: DEVICE_GRANT, device_code, client_id, resource });

/** Every refusal of the token endpoint must be OAuth JSON with a string `error`. */
async function errorOf(response: Response): Promise<[status: number, error: unknown]> {
  expect(response.headers.get("content-type")).toBe("application/json");
  const { error, error_description } = await response.json();
  expect(error_description).toBeString();
  return [response.status, error];
}

/** The whole login, until the client has its tokens. */
async function login(server: ListeningServer) {
  const service = await discover(server.origin);
  const cookie = await signIn(service, server.origin);
  const { device_code, verification_uri_complete: link } = await begin(service);
  const page = link.replace("/device/", "/api/device/");
  expect((await fetch(page, { headers: { cookie } })).status).toBe(200);
  const body = JSON.stringify({ action: "approve" });
  const headers = { cookie, "content-type": "application/json" };
  expect((await fetch(page, { method: "POST", headers, body })).status).toBe(200);
  const response = await poll(service, device_code);
  expect(response.status).toBe(200);
  return { service, cookie, device_code, tokens: await response.json() };
}

const refresh = ({ token, client_id, resource }: Service, refresh_token: string, more: object = {}) =>
  post(token, { grant_type: "refresh_token", refresh_token, client_id, resource, ...more });

const revoke = ({ revoke: url, client_id }: Service, token: string) =>
  post(url, { token, token_type_hint: "refresh_token", client_id });

describe("setting up", () => {
  test("discovery has exactly the members that the client decodes", async () => {
    await using server = await start();
    const { document } = await discover(server.origin);
    expect(Object.keys(document).sort()).toEqual(["control_api_url", "oauth", "version"]);
    expect(Object.keys(document.oauth).sort()).toEqual(["client_id", "issuer", "scopes"]);
    expect(document.version).toBe(1);
    expect(document.oauth.scopes).toEqual(SCOPES);
    expect(document.control_api_url).toBe(server.origin);
    const { origin } = new URL(document.control_api_url);
    expect(origin).toBe(document.control_api_url);
    expect(document.oauth.issuer).toBe(`${origin}/api/auth`);
  });
});

describe("logging in", () => {
  test("the client gets codes, whole numbers and a link that hides the code", async () => {
    await using server = await start();
    const service = await discover(server.origin);
    const login = await begin(service);
    expect(Object.keys(login).sort()).toEqual([
      "device_code",
      "expires_in",
      "interval",
      "user_code",
      "verification_uri",
      "verification_uri_complete",
    ]);
    expect([login.expires_in, login.interval]).toEqual([600, 5]);
    expect(login.verification_uri).toBe(`${server.origin}/device`);
    const link = new RegExp(`^${RegExp.escape(server.origin)}/device/[A-Za-z0-9_-]{43}$`);
    expect(login.verification_uri_complete).toMatch(link);
    expect(login.user_code).toMatch(/^[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}$/);
    expect(login.verification_uri_complete).not.toContain(login.user_code);
  });

  test("a client polls, a user approves in the browser, and the client gets its tokens once", async () => {
    await using server = await start();
    const { clock } = server.world;
    const service = await discover(server.origin);
    const cookie = await signIn(service, server.origin);
    const { device_code, user_code, interval, verification_uri_complete: link } = await begin(service);

    expect(await errorOf(await poll(service, device_code))).toEqual([400, "authorization_pending"]);
    expect(await errorOf(await poll(service, device_code))).toEqual([400, "slow_down"]);

    const page = link.replace("/device/", "/api/device/");
    const stranger = await fetch(page);
    expect(stranger.status).toBe(401);
    expect((await stranger.json()).error).toBeString();
    const shown = await fetch(page, { headers: { cookie } });
    expect([shown.status, await shown.json()]).toEqual([200, { user_code, status: "pending" }]);
    const approve = () =>
      fetch(page, {
        method: "POST",
        headers: { cookie, "content-type": "application/json" },
        body: JSON.stringify({ action: "approve" }),
      });
    const approved = await approve();
    expect([approved.status, await approved.json()]).toEqual([200, { success: true }]);
    const again = await approve();
    expect(again.status).toBe(400);
    expect((await again.json()).error).toBeString();

    clock.advance(interval * 1_000);
    const response = await poll(service, device_code);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("pragma")).toBe("no-cache");
    const tokens = await response.json();
    expect(Object.keys(tokens).sort()).toEqual([
      "access_token",
      "expires_at",
      "expires_in",
      "refresh_token",
      "scope",
      "token_type",
    ]);
    expect(tokens).toMatchObject({ expires_in: 900, token_type: "Bearer" });
    expect(tokens.scope).toBe("governance:read session:write client-status:write");

    expect(await errorOf(await poll(service, device_code))).toEqual([400, "invalid_grant"]);
  });

  test("the access token has the header and the claims that clients expect", async () => {
    await using server = await start();
    const { service, tokens } = await login(server);
    const { keys } = await (await fetch(`${service.issuer}/jwks`)).json();
    expect(decodeProtectedHeader(tokens.access_token)).toEqual({
      alg: "EdDSA",
      typ: "at+jwt",
      kid: keys[0].kid,
    });
    const claims = decodeJwt(tokens.access_token);
    const nowSeconds = Math.floor(server.world.clock.nowMs() / 1_000);
    expect(claims).toMatchObject({
      iss: service.issuer,
      email: EMAIL,
      role: "admin",
      client_id: "blue-cli",
      azp: "blue-cli",
      scope: tokens.scope,
      iat: nowSeconds,
      exp: nowSeconds + 900,
    });
    expect([claims.aud].flat()).toContain(service.resource);
    expect(claims.org_id).toMatch(UUID);
    expect(claims.sid).toBeString();
    expect(claims.sub).toBeString();
    expect(claims.jti).toBeString();
  });

  test("the client reads the user and the expiry of its token", async () => {
    await using server = await start();
    const { service, tokens } = await login(server);
    const response = await fetch(`${service.resource}/auth/me`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(response.status).toBe(200);
    const { sub, exp } = decodeJwt(tokens.access_token);
    const me = await response.json();
    expect(me).toMatchObject({ sub, email: EMAIL, role: "admin", expires_at: exp });
    expect(me.org_id).toMatch(UUID);
    expect(Number.isInteger(me.expires_at)).toBe(true);
  });

  test("a page is also available at its HTML address, which redirects a signed-out visitor to sign-in", async () => {
    await using server = await start();
    const { verification_uri_complete: link } = await begin(await discover(server.origin));
    const response = await fetch(link, { redirect: "manual" });
    const token = link.split("/").at(-1);
    expect(response.headers.get("location")).toBe(`/login?callbackURL=%2Fdevice%2F${token}`);
  });
});

describe("staying logged in", () => {
  test("a refresh with the same scope returns a new access token of the same login and the next refresh token", async () => {
    await using server = await start();
    const { service, tokens } = await login(server);
    server.world.clock.advance(1_000);
    const response = await refresh(service, tokens.refresh_token, { scope: tokens.scope });
    expect(response.status).toBe(200);
    const fresh = await response.json();
    const [before, after] = [decodeJwt(tokens.access_token), decodeJwt(fresh.access_token)];
    expect(after.sid).toBe(before.sid ?? "");
    expect(after.iat).not.toBe(before.iat);
    expect(after.jti).not.toBe(before.jti);
    expect(fresh.scope).toBe(tokens.scope);
    expect((await refresh(service, fresh.refresh_token)).status).toBe(200);
  });

  test("a browser's HTTP client works with our origin and its cookie, and after the browser signed out", async () => {
    await using server = await start();
    const { service, cookie, tokens } = await login(server);
    const headers = { origin: server.origin, cookie };
    const out = await fetch(`${service.issuer}/sign-out`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: "{}",
    });
    expect([out.status, await out.json()]).toEqual([200, { success: true }]);
    const response = await fetch(service.token, {
      method: "POST",
      headers,
      body: new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: tokens.refresh_token,
        client_id: "blue-cli",
      }),
    });
    expect(response.status).toBe(200);
  });

  test("two simultaneous refreshes of one token both succeed: the client has no lock", async () => {
    await using server = await start();
    const { service, tokens } = await login(server);
    const responses = await Promise.all([1, 2, 3].map(() => refresh(service, tokens.refresh_token)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

/** The three headers of the policy fetch, as a client of generation 3 sends them. */
const NEGOTIATION = {
  "user-agent": "blue/0.1.0",
  "x-blue-contract-version": "3",
  "x-blue-capabilities":
    "adapter_intervals,compiled_harness_registry,gateway_inference_jwt,transactional_reconcile,unverified_harness_versions,versioned_state",
};

/** What the client's decoder requires: none of these may be null, and a wrong type makes it reject the whole document. */
function expectDecodable(document: Record<string, unknown>): void {
  expect(document.revision).toBeString();
  expect(document.contract_version).toBeInteger();
  expect(document.ttl_seconds).toBeInteger();
  expect(document.required).toBeBoolean();
  for (const list of ["required_capabilities", "allowed_harnesses", "packages"])
    expect(document[list]).toBeArray();
  expect(document.harnesses).toBeObject();
  expect(Object.values(document)).not.toContain(null);
}

/** A policy with a version range and one package, whose archive is in the store. */
async function publish(server: ListeningServer): Promise<void> {
  const { directory, system, organizationId } = server.world;
  const bytes = tarGzOf(tarFile("skills/guide/SKILL.md", "how to".repeat(1_000)));
  writeFileSync(join(directory, "guide.tar.gz"), bytes);
  const entry = { id: "guide", version: "1", source_ref: "guide.tar.gz", sha256: sha256Hex(bytes) };
  const adapters = { kimi: { skills_dir: "skills" } };
  const file = join(directory, "catalog.json");
  writeFileSync(file, JSON.stringify([{ ...entry, adapters }]));
  await server.domain.catalog.seed.apply(system, { ...(await readCatalogFile(file)), prune: false });
  const artifact_id = server.domain.catalog.findArtifact(organizationId, entry.sha256)?.id;
  const harnesses = { codex: { version_requirement: ">=0.145.0" } };
  await publishFirst(server, { ttl_seconds: 300, harnesses });
  await publishPackages(server, { packages: [packageOf("guide", { ...entry, adapters, artifact_id })] });
}

/** A logged-in workstation of an organization with a policy; paths are joined to the service URL as the client does. */
async function atWork() {
  const server = await start();
  await publish(server);
  const { service, tokens } = await login(server);
  const authorization = `Bearer ${tokens.access_token}`;
  const call = (
    path: string,
    { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {},
  ) => fetch(new URL(path, service.resource), { ...init, headers: { authorization, ...headers } });
  return {
    server,
    call,
    fetchPolicy: () => call("/governance-config", { headers: NEGOTIATION }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A full report as `apply` sends it, on a revision that was applied. */
const reportOn = (revision: string, sha256: string) => ({
  instance_id: "6f1c7a52-0e9b-4f0e-9d0e-8b1f3c2d4e5f",
  hostname: "lab-14",
  client_version: "0.1.0",
  platform: "linux",
  architecture: "x86_64",
  config_revision: revision,
  applied: true,
  files_ok: true,
  harnesses: [
    {
      name: "kimi",
      api_allowed: true,
      client_supported: true,
      installed: true,
      path: "/usr/local/bin/kimi",
      raw_version: "kimi 0.39.0",
      version: "0.39.0",
      compatibility_profile: "kimi-v0_0_0",
      reconciled: true,
    },
  ],
  packages: [{ id: "guide", version: "1", sha256, harness: "kimi", state: "applied" }],
  reconciliation_attempt: null,
  error: null,
});

/** The frames of a stream, without comments, as pairs of event and data. */
async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<[event: string, data: unknown]> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const frames = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const lines = frame.split("\n").map((line) => line.split(": "));
      const fieldOf = (name: string) => lines.find(([field]) => field === name)?.[1];
      const [event, data] = [fieldOf("event"), fieldOf("data")];
      if (event !== undefined && data !== undefined) yield [event, JSON.parse(data)];
    }
  }
}

describe("working under the policy", () => {
  test("the client gets a response that gateway mode is off, and continues", async () => {
    await using workstation = await atWork();
    const ensured = await workstation.call("/gateway/key/ensure", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(ensured.status).toBe(200);
    const without = { enabled: false, email: EMAIL, status: expect.stringMatching(/^(missing|disabled)$/) };
    expect(await ensured.json()).toMatchObject(without);
    const read = await workstation.call("/gateway/key");
    expect([read.status, await read.json()]).toMatchObject([200, without]);
  });

  test("a client gets a document that it can decode, and one without declared capabilities gets a request to update", async () => {
    await using workstation = await atWork();
    const response = await workstation.fetchPolicy();
    expect(response.status).toBe(200);
    const document = await response.json();
    expectDecodable(document);
    const announced = NEGOTIATION["x-blue-capabilities"].split(",");
    expect(announced).toEqual(expect.arrayContaining(document.required_capabilities));
    expect(document.contract_version).toBeLessThanOrEqual(3);
    expect(document).not.toHaveProperty("gateway");

    const old = await workstation.call("/governance-config");
    expect(old.status).toBe(426);
    expect((await old.json()).error).toContain("versioned_state");
  });

  test("a client downloads each package without its token, and the digest matches the policy", async () => {
    await using workstation = await atWork();
    const { packages } = await (await workstation.fetchPolicy()).json();
    expect(packages).toHaveLength(1);
    const [{ artifact_id, sha256 }] = packages;
    const request = await workstation.call(`package-artifacts/${artifact_id}/download`, { method: "POST" });
    expect(request.status).toBe(200);
    const { url, method, headers } = await request.json();
    expect(method).toBe("GET");
    const archive = await fetch(url, { method, headers, redirect: "error" });
    expect(archive.status).toBe(200);
    const bytes = await archive.bytes();
    expect(archive.headers.get("content-length")).toBe(String(bytes.byteLength));
    expect(sha256Hex(bytes)).toBe(sha256);
  });

  test("a client reports, and an administrator sees a workstation that follows the policy", async () => {
    await using workstation = await atWork();
    const policy = async () => await (await workstation.fetchPolicy()).json();
    const { revision, packages } = await policy();
    const reported = await workstation.call("client-status", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(reportOn(revision, packages[0].sha256)),
    });
    expect([reported.status, await reported.text()]).toEqual([204, ""]);
    expect((await policy()).revision).toBe(revision);
    const listed = await workstation.call("/admin/client-status");
    expect(await listed.json()).toMatchObject({
      items: [{ hostname: "lab-14", user_email: EMAIL, status: "current", status_reasons: [] }],
      current_revision: revision,
    });
  });

  test("SSE: the current revision arrives immediately, and the next one when it is published", async () => {
    await using workstation = await atWork();
    const { revision } = await (await workstation.fetchPolicy()).json();
    const response = await workstation.call("/governance-config/events", {
      headers: { accept: "text/event-stream" },
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    if (!response.body) throw new Error("a stream has a body");
    const frames = framesOf(response.body);
    expect((await frames.next()).value).toEqual(["revision", { revision }]);
    const { id } = await publishPackages(workstation.server, { packages: [] });
    expect((await frames.next()).value).toEqual(["revision", { revision: id }]);
    await frames.return(undefined);
  });
});

describe("logging out", () => {
  test("revoking answers 200 any number of times and invalidates the refresh token permanently", async () => {
    await using server = await start();
    const { service, tokens } = await login(server);
    expect((await revoke(service, tokens.refresh_token)).status).toBe(200);
    expect((await revoke(service, tokens.refresh_token)).status).toBe(200);
    expect((await revoke(service, "never seen")).status).toBe(200);
    expect(await errorOf(await refresh(service, tokens.refresh_token))).toEqual([400, "invalid_grant"]);
    const me = await fetch(`${service.resource}/auth/me`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(me.status).toBe(401);
    expect((await me.json()).error).toBeString();
  });
});
