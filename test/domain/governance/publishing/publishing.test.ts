// What administrators publish becomes the policy, once, with checks in a fixed order, and nothing is lost.
import { describe, expect, test } from "bun:test";
import { COMMENT_LENGTH_MAX } from "../../../../src/domain/governance/model.ts";
import { toAdminConfig } from "../../../../src/domain/governance/reading/admin-view.ts";
import {
  createGovernanceWorld,
  DIGEST,
  managedText,
  packageOf,
  refusalOf,
  saidBy,
  sectionOf,
} from "../governance-world.ts";

describe("the first start", () => {
  test("publishes a policy that allows every harness", async () => {
    await using world = await createGovernanceWorld();
    const revision = world.inForce();
    expect(saidBy(revision)).toEqual({
      contract_version: 1,
      required: false,
      allowed_harnesses: ["codex", "claude", "kimi", "opencode"],
      harnesses: {},
      packages: [],
    });
    expect(revision).toMatchObject({ origin: "bootstrap", authorId: null, sequence: 1 });
    expect(revision.document.revision).toBe(revision.id);
    expect(world.audited()).toMatchObject({ action: "policy.bootstrap", actor: "test" });
  });

  test("publishes nothing a second time", async () => {
    await using world = await createGovernanceWorld();
    expect(await world.start()).toMatchObject({ outcome: "unchanged", revision: world.inForce().id });
    expect(world.count()).toBe(1);
  });
});

describe("the policy", () => {
  test("is replaced by the sent one; harnesses that are left out disappear", async () => {
    await using world = await createGovernanceWorld();
    await world.publish({ harnesses: { codex: { managed_config: { model: "x" } }, kimi: {} } });
    const revision = await world.publish({
      required: true,
      harnesses: { kimi: { managed_config: { a: 1 } } },
    });
    expect(world.inForce()).toEqual(revision);
    expect(revision.document).toMatchObject({
      required: true,
      harnesses: { kimi: { managed_config: { a: 1 } } },
    });
    expect(revision.document.harnesses.codex).toBeUndefined();
    expect(revision).toMatchObject({ origin: "dashboard", authorLabel: "ana@example.com", sequence: 3 });
    expect(world.audited()).toMatchObject({
      action: "policy.publish",
      after: { changed: ["/required", "/harnesses/codex", "/harnesses/kimi/managed_config/a"] },
    });
  });

  test("keeps packages, audiences, servers and overrides, also of a harness that is left out", async () => {
    await using world = await createGovernanceWorld();
    const { user } = await world.signedIn("member");
    const mcp = [{ name: "files", command: "files-server" }];
    await world.governance.publishing.publishExtensions(world.admin, {
      baseRevision: world.inForce().id,
      packages: [packageOf("one"), packageOf("two")],
      packageAudiences: { two: { scope: "users", user_ids: [user.id] } },
      packageOverrides: { kimi: { one: { enabled: false } } },
      mcp: { codex: mcp },
    });
    const before = world.inForce();
    const after = await world.publish({ ttl_seconds: 60 });
    expect(after.document.packages).toEqual(before.document.packages);
    expect(after.audiences).toEqual({ two: { scope: "users", user_ids: [user.id] } });
    expect(after.document.harnesses).toEqual(before.document.harnesses);
    expect(after.document.harnesses.codex?.mcp).toMatchObject(mcp);
  });

  test("may be wrapped in governance, and wrapping hides nothing", async () => {
    await using world = await createGovernanceWorld();
    const publish = (governance: object) =>
      world.governance.publishing.publishPolicy(world.admin, {
        baseRevision: world.inForce().id,
        managedYaml: JSON.stringify({ governance }),
      });
    expect((await publish({ revision: "", required: true })).document.required).toBe(true);
    expect(await refusalOf(() => publish({ revision: "", packages: [] }))).toMatchObject({
      reason: "governance.invalid",
      pointers: ["/governance/packages"],
    });
  });

  test("is refused with all problems, each with its place and line", async () => {
    await using world = await createGovernanceWorld();
    const managedYaml = [
      "revision: x",
      "requird: true",
      "packages: []",
      "harnesses:",
      "  codex: {mcp: [], session_upload: {}, version_requirement: ''}",
      "  vim: {}",
    ].join("\n");
    const baseRevision = world.inForce().id;
    const { pointers, problems } = await refusalOf(() =>
      world.governance.publishing.publishPolicy(world.admin, { baseRevision, managedYaml }),
    );
    expect(new Set(pointers)).toEqual(
      new Set([
        "/requird",
        "/packages",
        "/harnesses/codex/mcp",
        "/harnesses/codex/session_upload",
        "/harnesses/codex/version_requirement",
        "/harnesses/vim",
      ]),
    );
    expect(problems.find(({ pointer }) => pointer === "/harnesses/vim")?.line).toBe(6);
    expect(world.count()).toBe(1);
  });

  test("is refused for a stale base before its text is read, and the response says what has changed since", async () => {
    await using world = await createGovernanceWorld();
    const stale = world.inForce().id;
    const current = await world.publish({ required: true });
    const refusal = await refusalOf(() =>
      world.governance.publishing.publishPolicy(world.admin, { baseRevision: stale, managedYaml: "][" }),
    );
    expect(refusal).toMatchObject({
      kind: "conflict",
      reason: "governance.stale_revision",
      pointers: ["/required"],
    });
    expect(world.inForce()).toEqual(current);
  });

  test("saved unchanged creates no revision, also after the version of this program increased", async () => {
    await using world = await createGovernanceWorld();
    const policy = { harnesses: { codex: { version_requirement: ">=0.145.0" } } };
    const revision = await world.publish(policy);
    expect(revision.document.required_capabilities).toContain("adapter_intervals");
    expect((await world.publish(policy)).id).toBe(revision.id);
    expect(world.count()).toBe(2);
  });

  test("demands a capability only while its cause exists, or if the administrator added it", async () => {
    await using world = await createGovernanceWorld();
    const codex = { version_requirement: ">=0.145.0" };
    await world.publish({ required_capabilities: ["tenant_client_version_pin"], harnesses: { codex } });
    const { document } = await world.publish({ required_capabilities: ["tenant_client_version_pin"] });
    expect(document.required_capabilities).toEqual(["tenant_client_version_pin"]);
    expect(document.contract_version).toBe(1);
  });

  test("accepts a comment of the maximum length, but not a longer one", async () => {
    await using world = await createGovernanceWorld();
    const publish = (length: number, ttl: number) =>
      world.governance.publishing.publishPolicy(world.admin, {
        baseRevision: world.inForce().id,
        managedYaml: managedText({ ttl_seconds: ttl }),
        comment: "é".repeat(length),
      });
    expect((await publish(COMMENT_LENGTH_MAX - 1, 1)).comment).toHaveLength(COMMENT_LENGTH_MAX - 1);
    expect((await publish(COMMENT_LENGTH_MAX, 2)).comment).toHaveLength(COMMENT_LENGTH_MAX);
    expect(await refusalOf(() => publish(COMMENT_LENGTH_MAX + 1, 3))).toMatchObject({
      pointers: ["/comment"],
    });
  });
});

describe("two concurrent authors", () => {
  test("exactly one succeeds, and the other gets the error that the policy has changed", async () => {
    await using world = await createGovernanceWorld();
    const base = world.inForce().id;
    const attempts = Array.from({ length: 8 }, (_, at) => world.publish({ ttl_seconds: at + 1 }, base));
    const settled = await Promise.allSettled(attempts);
    const won = settled.filter(({ status }) => status === "fulfilled");
    const reasons = settled.flatMap((one) => (one.status === "rejected" ? [one.reason.reason] : []));
    expect(won).toHaveLength(1);
    expect(reasons).toEqual(Array.from({ length: 7 }, () => "governance.stale_revision"));
    expect(world.count()).toBe(2);
  });

  test("changes of the deployment file and of an administrator at the same moment both apply", async () => {
    await using world = await createGovernanceWorld();
    const [published] = await Promise.allSettled([
      world.publish({ ttl_seconds: 60 }),
      world.start({
        revision: "x",
        allowed_harnesses: ["codex", "claude", "kimi", "opencode"],
        required: true,
      }),
    ]);
    expect(published.status).toBe("fulfilled");
    expect(world.inForce().document).toMatchObject({ ttl_seconds: 60, required: true });
  });
});

describe("extensions", () => {
  test("replaces extensions as a whole: those left out are removed, and the rest of the policy stays", async () => {
    await using world = await createGovernanceWorld();
    await world.publish({ harnesses: { codex: { managed_config: { model: "x" } } } });
    const publish = (publication: object) =>
      world.governance.publishing.publishExtensions(world.admin, {
        baseRevision: world.inForce().id,
        packages: [],
        ...publication,
      });
    await publish({
      packages: [packageOf("one")],
      mcp: { codex: [{ name: "a", command: "a" }], kimi: [{ name: "b", url: "https://b.example" }] },
    });
    expect(Object.keys(world.inForce().document.harnesses)).toEqual(["codex", "kimi"]);
    const { document } = await publish({});
    expect(document.packages).toEqual([]);
    expect(document.harnesses.codex).toEqual({
      managed_config: { model: "x" },
      mcp: [],
      package_overrides: {},
    });
  });

  test("refuses extensions with places of the request, before the base is checked", async () => {
    await using world = await createGovernanceWorld();
    const refusal = await refusalOf(() =>
      world.governance.publishing.publishExtensions(world.admin, {
        baseRevision: "stale",
        packages: [packageOf("one"), packageOf("Two")],
        packageOverrides: { codex: { gone: {} }, vim: {} },
        mcp: {
          kimi: [{ name: "a" }],
          claude: [
            { name: "a", command: "a" },
            { name: "a ", command: "a" },
          ],
        },
      }),
    );
    expect(refusal.reason).toBe("governance.invalid");
    expect(new Set(refusal.pointers)).toEqual(
      new Set(["/packages/1/id", "/package_overrides/vim", "/mcp/kimi/0", "/mcp/claude/1/name"]),
    );
  });

  test("may name stored artifacts with their digest", async () => {
    await using world = await createGovernanceWorld();
    const unknown = { artifact_id: world.world.ids.uuid() };
    const platforms = {
      platform_sources: { "linux-x86_64": { source_ref: "x", sha256: DIGEST, ...unknown } },
    };
    const refusal = await refusalOf(() =>
      world.governance.publishing.publishExtensions(world.admin, {
        baseRevision: "stale",
        packages: [packageOf("one"), packageOf("two", unknown), packageOf("three", platforms)],
        mcp: { kimi: [{ name: "a" }] },
      }),
    );
    expect(refusal.pointers).toEqual([
      "/mcp/kimi/0",
      "/packages/1/artifact_id",
      "/packages/2/platform_sources/linux-x86_64/artifact_id",
    ]);
  });

  test("may name archives that every workstation has, with a warning for each", async () => {
    await using world = await createGovernanceWorld();
    const local = { source_ref: "/srv/packages/three.tar.gz", sha256: DIGEST };
    const packages = [
      packageOf("one", { source_ref: "file:///srv/packages/one.tar.gz" }),
      packageOf("two", { source_ref: "tools/two.tar.gz" }),
      packageOf("three", { platform_sources: { "linux-x86_64": local } }),
    ];
    const baseRevision = world.inForce().id;
    await world.governance.publishing.publishExtensions(world.admin, { baseRevision, packages });
    const places = ["/packages/0", "/packages/1", "/packages/2/platform_sources/linux-x86_64"];
    const warned = places.map((place) => `${place}/source_ref`);
    const { warnings } = toAdminConfig(world.inForce(), { conflicts: "[]", presignUrl: undefined });
    expect(warnings.map(({ pointer }) => pointer)).toEqual(warned);
    expect(warnings[0]?.detail).toStartWith("is a file that must exist on every workstation");
    const started = await world.start(sectionOf({ packages }));
    expect(started.warnings.map(({ pointer }) => pointer)).toEqual(warned);
  });

  test("refuses extensions with the problems of audiences and of the whole together", async () => {
    await using world = await createGovernanceWorld();
    const { pointers } = await refusalOf(() =>
      world.governance.publishing.publishExtensions(world.admin, {
        baseRevision: world.inForce().id,
        packages: [packageOf("one", { adapters: { claude: { skills_dir: "skills" } } })],
        packageAudiences: { one: { scope: "users", user_ids: [] } },
      }),
    );
    expect(pointers).toEqual(["/package_audiences/one/user_ids", "/packages/0/adapters/claude"]);
  });

  test("may name only active users, or users that the package named before", async () => {
    await using world = await createGovernanceWorld();
    const { user } = await world.signedIn("member");
    const publish = (user_ids: string[], scope: "users" | "organization" = "users") =>
      world.governance.publishing.publishExtensions(world.admin, {
        baseRevision: world.inForce().id,
        packages: [packageOf("one")],
        packageAudiences: { one: { scope, user_ids } },
      });
    const pointersOf = async (work: Promise<unknown>) => (await refusalOf(() => work)).pointers;
    const own = "/package_audiences/one/user_ids";
    expect(await pointersOf(publish([]))).toEqual([own]);
    expect(await pointersOf(publish([user.id, user.id.toUpperCase()]))).toEqual([own]);
    expect(await pointersOf(publish([user.id], "organization"))).toEqual([own]);
    expect(await pointersOf(publish([world.world.ids.uuid()]))).toEqual([`${own}/0`]);

    await publish([user.id]);
    await world.domain.identity.users.update(world.world.system, user.id, { status: "suspended" });
    await world.publish({ required: true });
    expect((await publish([user.id])).audiences).toEqual({ one: { scope: "users", user_ids: [user.id] } });
    await publish([], "organization");
    expect(await pointersOf(publish([user.id]))).toEqual([`${own}/0`]);
  });
});

test("a range that no certified version satisfies does not block changes elsewhere", async () => {
  await using world = await createGovernanceWorld();
  const settled = { harnesses: { codex: { version_requirement: ">=99" } } };
  await world.start(sectionOf(settled));
  await world.publish({ ...settled, required: true });
  const extensions = { baseRevision: world.inForce().id, packages: [packageOf("one")] };
  await world.governance.publishing.publishExtensions(world.admin, extensions);
  expect(world.inForce().document).toMatchObject({ required: true, packages: [{ id: "one" }] });
  const other = { harnesses: { codex: { version_requirement: ">=98" } } };
  const { pointers } = await refusalOf(() => world.publish(other));
  expect(pointers).toEqual(["/harnesses/codex/version_requirement"]);
});

describe("one harness", () => {
  const settings = { managedConfigYaml: "model: x\nfast_mode: false\n" };

  test("gets new settings and a new range, and nothing else changes", async () => {
    await using world = await createGovernanceWorld();
    await world.publish({ required: true, harnesses: { kimi: { managed_config: { a: 1 } } } });
    const before = world.inForce();
    const { document } = await world.governance.publishing.publishHarness(world.admin, {
      ...settings,
      baseRevision: before.id,
      harness: "codex",
      versionRequirement: " >=0.145.0 ",
    });
    expect(document.harnesses).toMatchObject({
      kimi: before.document.harnesses.kimi,
      codex: { version_requirement: ">=0.145.0", managed_config: { model: "x", fast_mode: false } },
    });
    const cleared = await world.governance.publishing.publishHarness(world.admin, {
      baseRevision: world.inForce().id,
      harness: "codex",
      managedConfigYaml: " \n",
      versionRequirement: "",
    });
    expect(cleared.document.harnesses.codex).toEqual({ managed_config: {}, mcp: [], package_overrides: {} });
  });

  test("CON-49 names the line of a setting that has a wrong value", async () => {
    await using world = await createGovernanceWorld();
    const { problems } = await refusalOf(() =>
      world.governance.publishing.publishHarness(world.admin, {
        baseRevision: world.inForce().id,
        harness: "codex",
        managedConfigYaml: "# ours\nsandbox:\n  mode: a\nmodel: 5\n",
      }),
    );
    expect(problems).toMatchObject([
      { pointer: "/managed_config_yaml", detail: expect.stringContaining("/model "), line: 4, column: 1 },
    ]);
  });

  test("is refused in a fixed order: settings, base, harness, range", async () => {
    await using world = await createGovernanceWorld();
    const publish = (publication: object) =>
      refusalOf(() =>
        world.governance.publishing.publishHarness(world.admin, {
          managedConfigYaml: "",
          baseRevision: world.inForce().id,
          harness: "codex",
          ...publication,
        }),
      );
    const list = { managedConfigYaml: "- a" };
    expect(await publish({ ...list, baseRevision: "x", harness: "vim" })).toMatchObject({
      pointers: ["/managed_config_yaml"],
    });
    expect(await publish({ baseRevision: "x", harness: "vim" })).toMatchObject({
      reason: "governance.stale_revision",
    });
    expect(await publish({ harness: "claude-code" })).toMatchObject({ reason: "governance.unknown_harness" });
    expect(await publish({ versionRequirement: "often" })).toMatchObject({
      pointers: ["/version_requirement"],
    });
    expect(await publish({ versionRequirement: ">=99.0.0" })).toMatchObject({
      pointers: ["/version_requirement"],
    });
    expect(await publish({ allowUnverifiedVersions: true })).toMatchObject({ reason: "governance.invalid" });
  });
});

describe("rolling back", () => {
  test("USE-6 publishes a former revision with its audiences as a new revision", async () => {
    await using world = await createGovernanceWorld();
    const { user } = await world.signedIn("member");
    const former = await world.governance.publishing.publishExtensions(world.admin, {
      baseRevision: world.inForce().id,
      packages: [packageOf("one")],
      packageAudiences: { one: { scope: "users", user_ids: [user.id] } },
    });
    await world.governance.publishing.publishExtensions(world.admin, {
      baseRevision: former.id,
      packages: [],
    });
    const back = await world.governance.publishing.rollback(world.operator, {
      to: former.id,
      baseRevision: world.inForce().id,
    });
    expect(saidBy(back)).toEqual(saidBy(former));
    expect(back).toMatchObject({
      audiences: former.audiences,
      origin: "operator",
      comment: `rollback to ${former.id}`,
    });
    expect(back.sequence).toBe(4);
    expect(world.audited().action).toBe("policy.rollback");
  });

  test("changes nothing for the current revision, and refuses an unknown one", async () => {
    await using world = await createGovernanceWorld();
    const { id } = world.inForce();
    const rollback = (to: string) =>
      world.governance.publishing.rollback(world.operator, { to, baseRevision: world.inForce().id });
    expect((await rollback(id)).id).toBe(id);
    expect(await refusalOf(() => rollback("nowhere"))).toMatchObject({ reason: "governance.not_found" });
  });
});

test("a revision stays the same object while it is current, and another process's publication appears immediately", async () => {
  await using world = await createGovernanceWorld();
  const { organizationId } = world.world;
  const before = world.governance.revisions.current(organizationId);
  expect(world.governance.revisions.current(organizationId)).toBe(before);
  const after = await world.publish({ required: true });
  expect(world.governance.revisions.current(organizationId)?.id).toBe(after.id);
  expect(world.governance.revisions.find(organizationId, before?.id ?? "")).toEqual(before);
  expect(world.governance.revisions.find(world.world.ids.uuid(), after.id)).toBeUndefined();
});
