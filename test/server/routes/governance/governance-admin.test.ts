// Reading and publishing the policy over HTTP: shapes, statuses, and the order of checks.
import { expect, test } from "bun:test";
import { parse } from "yaml";
import { COMMENT_LENGTH_MAX } from "../../../../src/domain/governance/model.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import {
  createGovernanceWorld,
  type GovernanceWorld,
  managedText,
  packageOf,
} from "../../../domain/governance/governance-world.ts";
import { addScimUsers, membersOf } from "../../../domain/scim/groups/groups-world.ts";
import { BASE_URL, createTestServer } from "../../../support/server.ts";

const CONFIG = "/admin/governance-config";
const EXTENSIONS = "/admin/governance-extensions";
const CODEX = "/admin/harnesses/codex/managed-config";

/** @returns the responses to the calls of one administrator: the status, and the body as it is */
async function asAdministrator(world: GovernanceWorld) {
  const { accessToken: token, user } = await world.signedIn("admin");
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await world.request(method, path, body === undefined ? { token } : { token, body });
    return { status: response.status, body: await response.json() };
  };
  return { call, user };
}

test("the current policy comes with its texts and one audience for each package", async () => {
  await using world = await createGovernanceWorld();
  const { call, user } = await asAdministrator(world);
  const base = (await call("GET", CONFIG)).body;
  const { status, body } = await call("PUT", EXTENSIONS, {
    base_revision: base.revision,
    packages: [packageOf("one"), packageOf("two")],
    package_audiences: { two: { scope: "users", user_ids: [user.id] } },
    mcp: { codex: [{ name: "files", command: "files-server" }] },
    package_overrides: { kimi: { one: { enabled: false } } },
    comment: "first packages",
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    document: { revision: body.revision, packages: [{ id: "one" }, { id: "two" }] },
    package_audiences: {
      one: { scope: "organization", user_ids: [] },
      two: { scope: "users", user_ids: [user.id] },
    },
    deployment_conflicts: [],
    created_at: "2026-01-01T00:00:00.000Z",
  });
  expect(body.yaml).toContain("files-server");
  expect(body.managed_yaml).not.toContain("files-server");
  expect((await call("GET", CONFIG)).body).toEqual(body);
});

test("the entity tag of the policy differs while it has a warning that depends on the address of the service", async () => {
  await using world = await createGovernanceWorld();
  const { call } = await asAdministrator(world);
  const { accessToken: token } = await world.signedIn("admin");
  const publish = async (presign_url: string) => {
    const base_revision = (await call("GET", CONFIG)).body.revision;
    const managed_yaml = managedText({ session_upload: { presign_url } });
    await call("PUT", CONFIG, { base_revision, managed_yaml });
    const answer = await world.request("GET", CONFIG, { token });
    const { revision, warnings } = await answer.json();
    return { isRevisionAlone: answer.headers.get("etag") === `"${revision}"`, warnings: warnings.length };
  };
  const own = `${BASE_URL}/session-uploads/presign`;
  expect(await publish(own)).toEqual({ isRevisionAlone: true, warnings: 0 });
  expect(await publish("https://other.example.com/session-uploads/presign")).toEqual({
    isRevisionAlone: false,
    warnings: 1,
  });
});

test("an audience may name groups, whose members get the package through the same document", async () => {
  await using world = await createGovernanceWorld();
  const { call, user } = await asAdministrator(world);
  const [ana = ""] = await addScimUsers(world.world, 1);
  const { organizationId } = world.world;
  const actor: Actor = { kind: "scim", id: null, label: "scim:test", organizationId };
  const group = { displayName: "Engineers", members: membersOf([ana]) };
  const { id } = await world.domain.scim.groups.create({ actor, profile: "standard" }, group, {});
  const put = async (audience: object) => {
    const base_revision = world.inForce().id;
    const package_audiences = { one: { scope: "users", ...audience } };
    return call("PUT", EXTENSIONS, { base_revision, packages: [packageOf("one")], package_audiences });
  };
  const { status, body } = await put({ group_ids: [id] });
  expect(status).toBe(200);
  expect(body.package_audiences).toEqual({ one: { scope: "users", user_ids: [], group_ids: [id] } });
  const view = world.domain.delivery.viewFor({ organizationId, userId: ana });
  expect(view.document).toEqual(body.document);
  const kept = await put({ user_ids: [user.id] });
  expect(kept.body.package_audiences.one).toEqual({ scope: "users", user_ids: [user.id], group_ids: [id] });
  const refused = await put({ group_ids: [user.id] });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("group_ids")]);
});

test("publishing the current text changes nothing, and publishing an edited text creates a revision", async () => {
  await using world = await createGovernanceWorld();
  const { call } = await asAdministrator(world);
  const { revision, managed_yaml: text } = (await call("GET", CONFIG)).body;
  const put = (managed_yaml: string) => call("PUT", CONFIG, { base_revision: revision, managed_yaml });
  expect((await put(text)).body.revision).toBe(revision);
  const published = await put(text.replace("required: false", "required: true"));
  expect(published.body.document.required).toBe(true);
  expect(published.body.revision).not.toBe(revision);
});

test("a stale base is refused with 409 and the current revision before the text is checked", async () => {
  await using world = await createGovernanceWorld();
  const { call } = await asAdministrator(world);
  const answer = await call("PUT", CONFIG, { base_revision: "stale", managed_yaml: "][" });
  expect(answer).toMatchObject({ status: 409, body: { reason: "governance.stale_revision" } });
  expect(answer.body.error).toContain(world.inForce().id);
});

test("violations of domain rules are 400 with every pointer, and missing members are 422", async () => {
  await using world = await createGovernanceWorld();
  const { call } = await asAdministrator(world);
  const base_revision = world.inForce().id;
  const refused = await call("PUT", CONFIG, { base_revision, managed_yaml: "{revision: x, a: 1, b: 2}" });
  expect(refused).toMatchObject({ status: 400, body: { reason: "governance.invalid" } });
  expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(["/a", "/b"]);
  const statusOf = async (method: string, path: string, body: object) =>
    (await call(method, path, body)).status;
  expect(await statusOf("PUT", CONFIG, { base_revision })).toBe(422);
  expect(await statusOf("PUT", CONFIG, { base_revision, managed_yaml: "{}", more: 1 })).toBe(422);
  expect(await statusOf("PUT", EXTENSIONS, { base_revision, packages: {} })).toBe(422);
  expect(await statusOf("PUT", EXTENSIONS, { base_revision, packages: [1] })).toBe(400);
  const wrongScope = { one: { scope: "everybody" } };
  expect(
    await statusOf("PUT", EXTENSIONS, { base_revision, packages: [], package_audiences: wrongScope }),
  ).toBe(422);
  expect(await statusOf("PUT", CODEX, { base_revision, managed_config_yaml: "x" })).toBe(400);
  expect(await statusOf("PUT", CODEX, { base_revision, managed_config_yaml: 1 })).toBe(422);
  const comment = "x".repeat(COMMENT_LENGTH_MAX + 1);
  expect(await statusOf("PUT", CONFIG, { base_revision, managed_yaml: managedText({}), comment })).toBe(400);
});

test("a harness is read and published separately, and every harness is in the three maps", async () => {
  await using world = await createGovernanceWorld();
  const { call } = await asAdministrator(world);
  expect((await call("GET", CODEX)).body).toMatchObject({
    harness: "codex",
    managed_config_yaml: "{}\n",
    version_requirement: null,
    allow_unverified_versions: false,
  });
  const update = {
    base_revision: world.inForce().id,
    managed_config_yaml: "model: x",
    version_requirement: ">=0.145.0",
    allow_unverified_versions: true,
  };
  const published = await call("PUT", CODEX, update);
  expect(published.body).toEqual({
    revision: world.inForce().id,
    harness: "codex",
    managed_config_yaml: "model: x\n",
    version_requirement: ">=0.145.0",
    allow_unverified_versions: true,
  });
  expect((await call("GET", "/admin/harnesses/managed-configs")).body).toEqual({
    revision: world.inForce().id,
    configurations: { codex: "model: x\n", claude: "{}\n", kimi: "{}\n", opencode: "{}\n" },
    version_requirements: { codex: ">=0.145.0", claude: null, kimi: null, opencode: null },
    allow_unverified_versions: { codex: true, claude: false, kimi: false, opencode: false },
  });
  expect(await call("GET", "/admin/harnesses/claude-code/managed-config")).toMatchObject({
    status: 400,
    body: { reason: "governance.unknown_harness" },
  });
});

test("revisions are listed newest first, and those of the command line have the origin dashboard", async () => {
  await using world = await createGovernanceWorld();
  const { call, user } = await asAdministrator(world);
  const base_revision = world.inForce().id;
  await call("PUT", CONFIG, { base_revision, managed_yaml: managedText({ required: true }), comment: "why" });
  await world.governance.publishing.rollback(world.operator, {
    to: base_revision,
    baseRevision: world.inForce().id,
  });
  const { body } = await call("GET", `${CONFIG}/revisions`);
  expect(body).toMatchObject([
    { revision: world.inForce().id, origin: "dashboard", created_by_email: null },
    { origin: "dashboard", created_by_email: user.email, comment: "why" },
    { revision: base_revision, origin: "bootstrap", created_by_email: null, comment: null },
  ]);
});

test("every read is 404 and the list is empty before the first publication", async () => {
  await using testServer = await createTestServer();
  const { accessToken: token } = await testServer.signedIn("admin");
  for (const path of [CONFIG, CODEX, "/admin/harnesses/managed-configs", "/admin/blue-config/export"]) {
    const response = await testServer.request("GET", path, { token });
    expect([path, response.status, (await response.json()).reason]).toEqual([
      path,
      404,
      "governance.no_policy",
    ]);
  }
  expect(await (await testServer.request("GET", `${CONFIG}/revisions`, { token })).json()).toEqual([]);
});

test("/auth/me returns the current revision", async () => {
  await using world = await createGovernanceWorld();
  const { accessToken: token } = await world.signedIn("member");
  const current = async () =>
    (await (await world.request("GET", "/auth/me", { token })).json()).current_revision;
  expect(await current()).toBe(world.inForce().id);
  const { id } = await world.publish({ required: true });
  expect(await current()).toBe(id);
});

test("the export is the configuration file with the policy and without secrets", async () => {
  const content = {
    server: { listen: "127.0.0.1:1" },
    scim: { token: "the-scim-token" },
    metrics: { token: "os.environ/METRICS" },
    governance: { revision: "former" },
  };
  const secrets = [["scim.token", "QUARTERMASTER_SCIM_TOKEN"]] as const;
  const configuration = () => ({ content: JSON.stringify(content), secrets });
  await using world = await createGovernanceWorld(undefined, { configuration });
  const { call } = await asAdministrator(world);
  await call("PUT", EXTENSIONS, {
    base_revision: world.inForce().id,
    packages: [packageOf("one", { settings: { apiKey: "package-secret", color: "red" } })],
    mcp: {
      codex: [
        {
          name: "a",
          command: "a",
          args: ["--token", "secret-1", "--api-key=secret-2", "-v"],
          env: { MODE: "secret-3" },
        },
        { name: "b", url: "https://ana:secret-4@b.example/x?y=1" },
      ],
    },
  });
  const { yaml, redactions } = (await call("GET", "/admin/blue-config/export")).body;
  expect(yaml).not.toContain("secret-");
  expect(yaml).not.toContain("the-scim-token");
  for (const kept of [
    "127.0.0.1:1",
    "os.environ/METRICS",
    "color: red",
    "os.environ/QUARTERMASTER_SCIM_TOKEN",
  ])
    expect(yaml).toContain(kept);
  expect(yaml).not.toContain("former");
  expect(redactions).toContainEqual({
    path: "/scim/token",
    environment_variable: "QUARTERMASTER_SCIM_TOKEN",
  });
  expect(redactions.map(({ path }: { path: string }) => path)).toEqual([
    "/scim/token",
    "/governance/harnesses/codex/mcp/0/args/1",
    "/governance/harnesses/codex/mcp/0/args/2",
    "/governance/harnesses/codex/mcp/0/env/MODE",
    "/governance/harnesses/codex/mcp/1/url",
    "/governance/packages/0/settings/apiKey",
  ]);
  const names = redactions.map(({ environment_variable: name }: { environment_variable: string }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test("the exported section is the same policy if the removed secrets are in the environment", async () => {
  await using world = await createGovernanceWorld();
  const { call } = await asAdministrator(world);
  await call("PUT", EXTENSIONS, {
    base_revision: world.inForce().id,
    packages: [
      packageOf("one", {
        settings: { token: "t", nested: [{ password: "p" }], pass: [12, -1.5e-9], text: "a\npwd: x\n" },
      }),
    ],
    mcp: { codex: [{ name: "a", command: "a", args: ["--token", "s"], env: { MODE: "m", KEY: "k" } }] },
  });
  const { yaml, redactions } = (await call("GET", "/admin/blue-config/export")).body;
  const given = (path: string): unknown =>
    path
      .split("/")
      .slice(2)
      .reduce((value: unknown, token) => Reflect.get(Object(value), token), world.inForce().document);
  const env = Object.fromEntries(
    redactions.map((one: { path: string; environment_variable: string }) => [
      one.environment_variable,
      String(given(one.path)),
    ]),
  );
  expect(Object.values(env).toSorted()).toEqual(
    ["a\npwd: x\n", "k", "m", "p", "s", "t", "12", "-1.5e-9"].toSorted(),
  );
  expect(await world.start(parse(yaml).governance, env)).toMatchObject({
    outcome: "unchanged",
    conflicts: [],
  });
});
