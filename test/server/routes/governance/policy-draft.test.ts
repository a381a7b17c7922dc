// The operations on drafts: one part for each save, the version that the author has read, merges and publications.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { managedText, packageOf } from "../../../domain/governance/governance-world.ts";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";

let testServer: TestServer;
let admin: Caller;

beforeAll(async () => {
  testServer = await createTestServer();
  await testServer.domain.governance.deployments.apply(testServer.world.system, undefined);
  admin = await testServer.signedIn("admin");
});
afterAll(() => testServer[Symbol.asyncDispose]());

async function ask(method: string, path: string, body?: object, caller = admin) {
  const sent = { token: caller.accessToken, ...(body && { body }) };
  const response = await testServer.request(method, `/admin/policy-draft${path}`, sent);
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

test("CON-50 a draft is read, saved part by part, published and gone", async () => {
  expect(await ask("GET", "")).toMatchObject({
    status: 200,
    body: { version: 0, changes: [], stale: false },
  });
  expect(await ask("DELETE", "")).toMatchObject({ status: 404, body: { reason: "policy_draft.none" } });
  const text = managedText({ required: true });
  const saved = await ask("PUT", "", { version: 0, managed_yaml: text });
  expect(saved).toMatchObject({
    status: 200,
    body: { version: 1, managed_yaml: text, changes: [{ path: "/required", before: false, after: true }] },
  });
  const extensions = { packages: [packageOf("guide")] };
  expect(await ask("PUT", "", { version: 1, extensions })).toMatchObject({
    status: 200,
    body: { version: 2 },
  });
  const harness = { harness: "codex", allowed: false, managed_config_yaml: "model: x" };
  const third = await ask("PUT", "", { version: 2, harness });
  expect(third.body.document).toMatchObject({
    allowed_harnesses: ["claude", "kimi", "opencode"],
    harnesses: { codex: { managed_config: { model: "x" } } },
  });
  const server = { name: "docs", command: "npx", disabled: false };
  const fourth = await ask("PUT", "", { version: 3, mcp: { claude: [server] } });
  expect(fourth.body.document).toMatchObject({
    packages: [{ id: "guide" }],
    harnesses: { claude: { mcp: [server] } },
  });
  const models = { harness: "claude", gateway_models: ["a"], default_model: "a" };
  const fifth = await ask("PUT", "", { version: 4, models });
  expect(fifth.body.document.harnesses.claude).toMatchObject({
    gateway_models: ["a"],
    managed_config: { model: "a" },
    mcp: [server],
  });
  expect(await ask("POST", "/publish", { version: 5 })).toMatchObject({
    status: 200,
    body: { number: 2, published: true },
  });
  expect(await ask("GET", "")).toMatchObject({ body: { version: 0, changes: [] } });
});

/** version of the draft that the next tests share */
let version: number;

test("refuses none, two or unknown parts, another version and unreadable extensions, and keeps the draft", async () => {
  const two = { version: 0, managed_yaml: "", shared: true };
  for (const body of [{ version: 0 }, two, { version: 0, managed: "" }])
    expect([400, 422]).toContain((await ask("PUT", "", body)).status);
  const text = managedText({ ttl_seconds: 60 });
  ({ version } = (await ask("PUT", "", { version: 0, managed_yaml: text })).body);
  expect(await ask("PUT", "", { version: 0, managed_yaml: "{}" })).toMatchObject({
    status: 409,
    body: { reason: "policy_draft.changed" },
  });
  const extensions = { packages: [{ id: "x" }] };
  expect((await ask("PUT", "", { version, extensions })).body).toMatchObject({
    reason: "governance.invalid",
  });
  expect(await ask("GET", "")).toMatchObject({ body: { version, managed_yaml: text } });
});

test("a shared draft is published by another administrator, after a merge that decides each conflict", async () => {
  const { id: base_revision } = testServer.domain.governance.revisions.inForce(
    testServer.world.organizationId,
  );
  const managed_yaml = managedText({ ttl_seconds: 90 });
  const sent = { token: admin.accessToken, body: { base_revision, managed_yaml } };
  expect((await testServer.request("PUT", "/admin/governance-config", sent)).status).toBe(200);
  expect(await ask("POST", "/publish", { version })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining("merge it into your draft") },
  });
  const { body } = await ask("POST", "/merge", { version });
  expect(body).toMatchObject({ version, undecided: [{ path: "/ttl_seconds", theirs: 90, mine: 60 }] });
  const decisions = { "/ttl_seconds": "mine" };
  const decided_on = body.current_revision;
  expect(await ask("POST", "/merge", { version, decisions, decided_on: base_revision })).toMatchObject({
    body: { version, current_revision: decided_on, undecided: [{ path: "/ttl_seconds" }] },
  });
  expect(await ask("POST", "/merge", { version, decisions, decided_on })).toMatchObject({
    body: { version: version + 1, undecided: [] },
  });
  const { body: shared } = await ask("PUT", "", { version: version + 1, shared: true });
  const other = await testServer.signedIn("admin");
  const publication = { draft: shared.id, version: version + 2 };
  expect(await ask("POST", "/publish", publication, other)).toMatchObject({ body: { published: true } });
  expect(
    testServer.domain.governance.revisions.inForce(testServer.world.organizationId).document.ttl_seconds,
  ).toBe(60);
});

test("CON-46 a text is checked without being saved: all problems with their lines and columns", async () => {
  const check = (managed_yaml: string) =>
    testServer.request("POST", "/admin/governance-config/check", {
      token: admin.accessToken,
      body: { managed_yaml },
    });
  expect(await (await check(managedText({}))).json()).toEqual({ valid: true, problems: [] });
  const broken = "revision: mine\nrequird: true\nallowed_harnesses: [vim]\n";
  const found = await (await check(broken)).json();
  expect(found).toMatchObject({
    valid: false,
    problems: [
      { line: 2, column: 1 },
      { line: 3, column: 21, pointer: "/allowed_harnesses/0" },
    ],
  });
  const unread = await (await check("revision: mine\nallowed_harnesses: [codex, 'vim]\n")).json();
  expect(unread).toMatchObject({ problems: [{ line: 2, column: 28 }, { line: 3 }] });
  expect((await ask("GET", "")).body.version).toBe(0);
});

test("CON-46 the settings of a harness are checked with the rest of the draft, and an unknown part is refused", async () => {
  const check = async (managed_yaml: string, part: string) => {
    const sent = { token: admin.accessToken, body: { managed_yaml, part } };
    const response = await testServer.request("POST", "/admin/governance-config/check", sent);
    return { status: response.status, body: await response.json() };
  };
  expect((await check("model: large", "codex")).body).toEqual({ valid: true, problems: [] });
  expect((await check("model: a\nmodel: b\n", "codex")).body).toMatchObject({
    valid: false,
    problems: [{ pointer: "/managed_config_yaml", line: 2 }],
  });
  expect((await check("model: 3", "claude")).body).toMatchObject({ problems: [{ line: 1 }] });
  expect((await check(managedText({}), "policy")).body).toEqual({ valid: true, problems: [] });
  expect((await check("model: large", "vim")).status).toBe(422);
  expect((await ask("GET", "")).body.version).toBe(0);
});

test("CON-58 the impact of a whole document is computed without a draft, and one with problems is refused", async () => {
  const impact = async (body: object) => {
    const response = await testServer.request("POST", "/admin/governance-config/impact", {
      token: admin.accessToken,
      body,
    });
    return { status: response.status, body: await response.json() };
  };
  const read = await testServer.request("GET", "/admin/governance-config", { token: admin.accessToken });
  const { document } = await read.json();
  expect(await impact({ document })).toMatchObject({ status: 200, body: { harnesses: [], packages: [] } });
  const packages = [packageOf("guide", { version: "2.0.0" })];
  expect(await impact({ document: { ...document, packages } })).toMatchObject({
    status: 200,
    body: { packages: [{ id: "guide", from: "1.0.0", to: "2.0.0" }] },
  });
  expect(await impact({ document: { ...document, requird: true, packages: [{ id: "x" }] } })).toMatchObject({
    status: 400,
    body: { reason: "governance.invalid" },
  });
  const unknown = packageOf("x", { artifact_id: crypto.randomUUID() });
  expect(await impact({ document: { ...document, packages: [unknown] } })).toMatchObject({
    body: { errors: [{ pointer: "/packages/0/artifact_id" }] },
  });
  expect(await impact({ document, draft: "x" })).toMatchObject({ body: { reason: "policy.impact" } });
  expect((await ask("GET", "")).body.version).toBe(0);
});

test("CON-58 the impact of the own draft is computed, and refused without a draft", async () => {
  const impact = async () =>
    (
      await testServer.request("POST", "/admin/governance-config/impact", {
        token: admin.accessToken,
        body: {},
      })
    ).json();
  expect(await impact()).toMatchObject({ reason: "policy_draft.none" });
  await ask("PUT", "", { version: 0, extensions: { packages: [packageOf("guide", { version: "2.0.0" })] } });
  expect(await impact()).toEqual({
    workstations: { total: 0, counted: 0, outdated: 0, refused: 0, client_too_old: 0, uncounted: 0 },
    harnesses: [],
    packages: [
      {
        id: "guide",
        from: "1.0.0",
        to: "2.0.0",
        gaining: { count: 0, named: [] },
        losing: { count: 0, named: [] },
      },
    ],
    gateway_keys: 0,
  });
});

test("CON-52 only administrators read another one's draft, by its id and once it is shared", async () => {
  const ben = await testServer.signedIn("admin");
  const member = await testServer.signedIn("member");
  const { version } = (await ask("GET", "")).body;
  const own = await ask("PUT", "", { version, managed_yaml: managedText({ ttl_seconds: 77 }) });
  const path = `?draft=${own.body.id}`;
  expect(await ask("GET", path, undefined, ben)).toMatchObject({
    status: 404,
    body: { reason: "policy_draft.not_shared" },
  });
  const shared = await ask("PUT", "", { version: own.body.version, shared: true });
  expect(await ask("GET", path, undefined, ben)).toMatchObject({
    status: 200,
    body: { id: own.body.id, version: shared.body.version, document: { ttl_seconds: 77 } },
  });
  expect((await ask("GET", path)).body).toEqual((await ask("GET", "")).body);
  expect((await ask("GET", path, undefined, member)).status).toBe(403);
  expect(await ask("GET", "?draft=gone", undefined, ben)).toMatchObject({
    status: 404,
    body: { reason: "policy_draft.none" },
  });
  await ask("DELETE", "");
});
