// ETag, If-None-Match and If-Match on resources that administrators read and change (API-2).
import { expect, test } from "bun:test";
import { recordTag } from "../../../src/server/http/conditional.ts";
import { createGovernanceWorld, managedText } from "../../domain/governance/governance-world.ts";

const CONFIG = "/admin/governance-config";
const CODEX = "/admin/harnesses/codex/managed-config";

async function createAdministration() {
  const world = await createGovernanceWorld();
  const { accessToken: token } = await world.signedIn("admin", { email: "admin@example.com" });
  const call = async (method: string, path: string, { body, ...headers }: Sent = {}) => {
    const response = await world.request(method, path, { token, headers, ...(body && { body }) });
    const text = await response.text();
    const etag = response.headers.get("etag");
    return { status: response.status, etag, text, body: text === "" ? undefined : JSON.parse(text) };
  };
  const member = await world.signedIn("member", { email: "ben@example.com" });
  return Object.assign(world, { call, member: `/admin/users/${member.user.id}` });
}

interface Sent {
  body?: object;
  "if-match"?: string;
  "if-none-match"?: string;
}

const tagOf = ({ etag }: { etag: string | null }): string => {
  expect(etag).toMatch(/^"[\w.-]+"$/);
  return etag ?? "";
};

async function pathsOf({ call, member }: Awaited<ReturnType<typeof createAdministration>>) {
  const invited = await call("POST", "/admin/invitations", {
    body: { email: "eve@example.com", role: "member" },
  });
  return [
    CONFIG,
    `${CONFIG}/revisions`,
    "/admin/harnesses/managed-configs",
    CODEX,
    "/admin/users",
    member,
    "/admin/invitations",
    `/admin/invitations/${invited.body.id}`,
    "/branding",
  ];
}

const changedPlaces = (...pointers: string[]) =>
  pointers.map((pointer) => ({ pointer, detail: "has changed since the ETag in If-Match" }));

test("API-2: each read has an entity tag, and a matching If-None-Match gets an empty 304", async () => {
  await using world = await createAdministration();
  for (const path of await pathsOf(world)) {
    const read = await world.call("GET", path);
    const etag = tagOf(read);
    const again = await world.call("GET", path, { "if-none-match": `"other", W/${etag}` });
    expect([path, again.status, again.etag, again.text]).toEqual([path, 304, etag, ""]);
    const other = await world.call("GET", path, { "if-none-match": '"other"' });
    expect([path, other.status, other.body]).toEqual([path, 200, read.body]);
  }
});

/** Responses that are not JSON, or an endless stream. */
const OTHER_READS = new Set(["/admin/audit.jsonl", "/admin/blue-config/export", "/admin/events"]);

test("API-2: every read of administrators has an entity tag and describes If-None-Match", async () => {
  await using world = await createAdministration();
  const { body: document } = await world.call("GET", "/openapi.json");
  const reads = Object.entries<Record<string, Described>>(document.paths).flatMap(([path, { get }]) =>
    get && path.startsWith("/admin/") && !OTHER_READS.has(path) ? [{ path, get }] : [],
  );
  expect(reads.length).toBeGreaterThan(30);
  const describes = ({ get: { parameters, responses } }: (typeof reads)[number]) =>
    parameters.some(({ name }) => name === "If-None-Match") && "304" in responses;
  expect(reads.filter((read) => !describes(read)).map(({ path }) => path)).toEqual([]);
  const answered: string[] = [];
  for (const { path } of reads.filter(({ path }) => !path.includes("{"))) {
    const read = await world.call("GET", path);
    if (read.status !== 200) continue; // this installation has no gateway, and some reads require parameters
    answered.push(path);
    tagOf(read);
  }
  expect(answered).toContain("/admin/client-status");
  expect(answered.length).toBeGreaterThan(15);
});

interface Described {
  parameters: { name: string }[];
  responses: object;
}

test("API-2: a read without a revision answers 304 until it changes, and refuses unauthenticated callers", async () => {
  await using world = await createAdministration();
  const path = "/admin/scim/tokens";
  const etag = tagOf(await world.call("GET", path));
  const again = await world.call("GET", path, { "if-none-match": etag });
  expect([again.status, again.text, again.etag]).toEqual([304, "", etag]);
  const stranger = await world.request("GET", path, { token: "none", headers: { "if-none-match": etag } });
  expect(stranger.status).toBe(401);
  await world.call("POST", path, { body: { label: "okta" } });
  const changed = await world.call("GET", path, { "if-none-match": etag });
  expect([changed.status, tagOf(changed) === etag]).toEqual([200, false]);
});

test("publishes a policy on the revision in If-Match without a base in the body", async () => {
  await using world = await createAdministration();
  const { call } = world;
  const etag = tagOf(await call("GET", CONFIG));
  expect(etag).toBe(`"${world.inForce().id}"`);
  const body = { managed_yaml: managedText({ required: true }) };
  const published = await call("PUT", CONFIG, { body, "if-match": etag });
  expect([published.status, tagOf(published)]).toEqual([200, `"${published.body.revision}"`]);
  expect(published.etag).not.toBe(etag);
  const harness = await call("PUT", CODEX, {
    body: { managed_config_yaml: "model: fast\n" },
    "if-match": tagOf(published),
  });
  expect([harness.status, tagOf(harness)]).toEqual([200, `"${harness.body.revision}"`]);
  const extensions = await call("PUT", "/admin/governance-extensions", {
    body: { packages: [] },
    "if-match": "*",
  });
  expect(extensions.status).toBe(200);
});

test("API-2: refuses a stale If-Match with 412, the current revision and the changes, and publishes nothing", async () => {
  await using world = await createAdministration();
  const { call } = world;
  const former = tagOf(await call("GET", CONFIG));
  const first = { managed_yaml: managedText({ required: true }) };
  const current = await call("PUT", CONFIG, { body: first, "if-match": former });
  const body = { managed_yaml: managedText({ required: false }) };
  for (const stated of [body, { ...body, base_revision: current.body.revision }]) {
    const refused = await call("PUT", CONFIG, { body: stated, "if-match": former });
    expect(refused.status).toBe(412);
    expect(refused.etag).toBe(current.etag);
    expect(refused.body.reason).toBe("governance.stale_revision");
    expect(refused.body.detail).toContain(current.body.revision);
    expect(refused.body.errors).toContainEqual({
      pointer: "/required",
      detail: "has changed since the base revision",
    });
  }
  const weak = await call("PUT", CONFIG, { body, "if-match": `W/${current.etag}` });
  expect(weak.status).toBe(412);
  expect((await call("GET", CONFIG)).etag).toBe(current.etag);
});

test("requires a base in the body without If-Match, and refuses a stale one with 409", async () => {
  await using world = await createAdministration();
  const body = { managed_yaml: managedText({ required: true }) };
  const missing = await world.call("PUT", CONFIG, { body });
  expect([missing.status, missing.body.errors[0].pointer]).toEqual([422, "/base_revision"]);
  const stale = await world.call("PUT", CONFIG, { body: { ...body, base_revision: "old" } });
  expect([stale.status, stale.body.reason]).toEqual([409, "governance.stale_revision"]);
  const both = await world.call("PUT", CONFIG, { body: { ...body, base_revision: "old" }, "if-match": "*" });
  expect([both.status, both.body.reason]).toEqual([412, "governance.stale_revision"]);
});

test("API-2: changes or removes a user only if If-Match is current", async () => {
  await using world = await createAdministration();
  const { call, member } = world;
  const former = tagOf(await call("GET", member));
  world.world.clock.advance(1_000);
  const changed = await call("PATCH", member, { body: { role: "admin" }, "if-match": `"x", ${former}` });
  expect(changed.status).toBe(200);
  expect(tagOf(changed)).toBe(tagOf(await call("GET", member)));
  for (const [method, body] of [["PATCH", { role: "member" }], ["DELETE"]] as const) {
    const refused = await call(method, member, { ...(body && { body }), "if-match": `"x", ${former}` });
    expect([refused.status, refused.body.reason, refused.etag]).toEqual([412, "request.stale", changed.etag]);
    expect(refused.body.detail).toContain(changed.etag ?? "-");
    expect(refused.body.errors).toEqual(changedPlaces("/role", "/updated_at"));
  }
  expect((await call("GET", member)).etag).toBe(changed.etag);
  expect((await call("PATCH", member, { body: { role: "member" } })).status).toBe(200);
  expect((await call("DELETE", member, { "if-match": "*" })).status).toBe(204);
});

test("renews or cancels an invitation only if If-Match is current", async () => {
  await using world = await createAdministration();
  const { call } = world;
  const made = await call("POST", "/admin/invitations", {
    body: { email: "eve@example.com", role: "member" },
  });
  const path = `/admin/invitations/${made.body.id}`;
  const former = tagOf(await call("GET", path));
  world.world.clock.advance(1_000);
  const renewed = await call("POST", `${path}/resend`, { "if-match": former });
  expect([renewed.status, renewed.etag]).toEqual([200, tagOf(await call("GET", path))]);
  for (const [method, target] of [
    ["POST", `${path}/resend`],
    ["POST", `${path}/regenerate`],
    ["DELETE", path],
  ] as const) {
    const refused = await call(method, target, { "if-match": former });
    expect([target, refused.status, refused.etag]).toEqual([target, 412, renewed.etag]);
    expect(refused.body.errors).toEqual(changedPlaces("/expires_at"));
  }
  expect((await call("DELETE", path, { "if-match": tagOf(renewed) })).status).toBe(204);
});

test("replaces the branding only if If-Match is current", async () => {
  await using world = await createAdministration();
  const { call } = world;
  const former = tagOf(await call("GET", "/branding"));
  const body = { logo_url: "https://example.com/logo.svg" };
  const saved = await call("PUT", "/admin/branding", { body, "if-match": former });
  expect([saved.status, saved.etag]).toEqual([200, (await call("GET", "/branding")).etag]);
  const refused = await call("PUT", "/admin/branding", { body: {}, "if-match": former });
  expect([refused.status, refused.body.reason, refused.etag]).toEqual([412, "request.stale", saved.etag]);
  expect(refused.body.errors).toEqual(changedPlaces("/logo_url"));
  const foreign = await call("PUT", "/admin/branding", { body: {}, "if-match": '"of-another-service"' });
  expect([foreign.status, foreign.etag, foreign.body.errors]).toEqual([412, saved.etag, undefined]);
  expect((await call("PUT", "/admin/branding", { body: {} })).status).toBe(200);
});

test.each(["logo", "icon"])("replaces the %s only if If-Match has the tag of the branding", async (kind) => {
  await using world = await createAdministration();
  const { call } = world;
  const { accessToken: token } = await world.signedIn("admin", { email: "designer@example.com" });
  const former = tagOf(await call("GET", "/branding"));
  const upload = (headers: Record<string, string>) =>
    world.request("PUT", `/admin/branding/${kind}`, {
      token,
      headers: { ...headers, "content-type": "image/svg+xml" },
      body: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'),
    });
  const saved = await upload({ "if-match": former });
  expect([saved.status, saved.headers.get("etag")]).toEqual([200, (await call("GET", "/branding")).etag]);
  const refused = await upload({ "if-match": former });
  expect([refused.status, (await refused.json()).reason]).toEqual([412, "request.stale"]);
  expect((await upload({})).status).toBe(200);
});

test("a record's tag has a part for each member, including one without a value", () => {
  const tag = recordTag({ a: undefined, b: 1 });
  expect(tag).toMatch(/^"[0-9a-f]{32}\.[0-9a-f]{8}"$/);
  expect(recordTag({ a: undefined, b: 2 }).slice(0, -5)).not.toBe(tag.slice(0, -5));
  expect(recordTag({ a: undefined, b: 2 }).split(".")[1]?.slice(0, 4)).toBe(tag.split(".")[1]?.slice(0, 4));
});

test("CON-118 a dry run of a user or the branding answers as if it were done, and changes nothing", async () => {
  await using world = await createAdministration();
  const { call, member } = world;
  const before = await call("GET", member);
  const told = await call("PATCH", `${member}?dry_run=true`, { body: { role: "admin" } });
  expect([told.status, told.body]).toEqual([200, { ...before.body, role: "admin" }]);
  const own = world.domain.identity.users.find(world.world.organizationId, "admin@example.com");
  const refused = await call("PATCH", `/admin/users/${own.id}?dry_run=true`, {
    body: { role: "member" },
  });
  expect([refused.status, refused.body.reason]).toEqual([409, "user.own_account"]);
  const logo_url = "https://images.example.com/logo.png";
  const shown = await call("PUT", "/admin/branding?dry_run=true", { body: { logo_url } });
  expect(shown.body).toEqual({ logo_url, favicon_url: null });
  expect((await call("PUT", "/admin/branding?dry_run=true", { body: { logo_url: "x" } })).status).toBe(400);
  for (const path of [member, "/admin/branding"]) {
    const method = path === member ? "PATCH" : "PUT";
    const body = path === member ? { role: "admin" } : { logo_url };
    expect((await call(method, `${path}?dry_run=true`, { body, "if-match": '"stale"' })).status).toBe(412);
    expect((await call(method, `${path}?dry_run=maybe`, { body })).status).toBe(400);
  }
  expect([(await call("GET", member)).body, (await call("GET", "/branding")).body.logo_url]).toEqual([
    before.body,
    null,
  ]);
});
