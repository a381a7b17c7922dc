// The deployment file as a second author: its changes are published, differing values of the dashboard are kept, and every such
// place is shown until both agree.
import { describe, expect, test } from "bun:test";
import { createGovernanceWorld, packageOf, refusalOf, sectionOf } from "../governance-world.ts";

const withTtl = (ttl_seconds: number, more: object = {}) => sectionOf({ ttl_seconds, ...more });

describe("a section of the file", () => {
  test("is the first policy", async () => {
    await using world = await createGovernanceWorld(withTtl(60));
    expect(world.inForce()).toMatchObject({ origin: "bootstrap", document: { ttl_seconds: 60 } });
  });

  test("is merged with the default if it is added later", async () => {
    await using world = await createGovernanceWorld();
    const outcome = await world.start({ revision: "x", allowed_harnesses: ["codex"], required: true });
    expect(outcome).toMatchObject({ outcome: "deployed", conflicts: [] });
    expect(world.inForce()).toMatchObject({
      origin: "deployment",
      document: { allowed_harnesses: ["codex"], required: true },
    });
    expect(world.audited()).toMatchObject({
      action: "policy.deploy",
      after: { changed: ["/required", "/allowed_harnesses"] },
    });
  });

  test("publishes nothing for a section without changes, with any revision text", async () => {
    await using world = await createGovernanceWorld(withTtl(60));
    expect(await world.start(withTtl(60, { revision: "other" }))).toMatchObject({ outcome: "unchanged" });
    expect(world.count()).toBe(1);
  });

  test("publishes its changes and keeps those of the dashboard", async () => {
    await using world = await createGovernanceWorld(withTtl(60));
    await world.publish({ ttl_seconds: 60, required: true });
    expect(await world.start(withTtl(120))).toMatchObject({ outcome: "deployed", conflicts: [] });
    expect(world.inForce().document).toMatchObject({ ttl_seconds: 120, required: true });
  });

  test("keeps audiences by package", async () => {
    await using world = await createGovernanceWorld(sectionOf({ packages: [packageOf("one")] }));
    const { user } = await world.signedIn("member");
    await world.governance.publishing.publishExtensions(world.admin, {
      baseRevision: world.inForce().id,
      packages: [packageOf("one")],
      packageAudiences: { one: { scope: "users", user_ids: [user.id] } },
    });
    await world.start(sectionOf({ packages: [packageOf("one", { version: "2" }), packageOf("two")] }));
    expect(world.inForce().document.packages.map(({ id, version }) => `${id} ${version}`)).toEqual([
      "one 2",
      "two 1.0.0",
    ]);
    expect(world.inForce().audiences).toEqual({ one: { scope: "users", user_ids: [user.id] } });
  });

  test("takes the values of its references from the environment and names unset ones", async () => {
    await using world = await createGovernanceWorld();
    const section = sectionOf({
      harnesses: {
        codex: { mcp: [{ name: "a", command: "a", env: { KEY: "os.environ/A_KEY", MODE: "env://A_MODE" } }] },
      },
    });
    const refusal = await refusalOf(() => world.start(section, { A_KEY: "k" }));
    expect(refusal.problems).toEqual([
      {
        pointer: "/governance/harnesses/codex/mcp/0/env/MODE",
        detail: "refers to A_MODE, which is not set",
        line: 7,
      },
    ]);
    await world.start(section, { A_KEY: "k", A_MODE: "m" });
    expect(world.inForce().document.harnesses.codex?.mcp[0]?.env).toEqual({ KEY: "k", MODE: "m" });
  });

  test("takes a reference to a number as a number, and names a variable that has none", async () => {
    await using world = await createGovernanceWorld();
    const section = sectionOf({
      harnesses: { codex: { managed_config: { password: "os.environ/A_PIN:number" } } },
    });
    for (const text of ["12a", "0x10", " 1"]) {
      const { problems } = await refusalOf(() => world.start(section, { A_PIN: text }));
      expect(problems).toMatchObject([{ detail: "refers to A_PIN, which is not a number" }]);
    }
    for (const text of ["1e400", "9007199254740993"]) {
      const { problems } = await refusalOf(() => world.start(section, { A_PIN: text }));
      const detail = "refers to A_PIN, which a number cannot hold exactly; leave out :number";
      expect(problems).toMatchObject([{ detail }]);
    }
    await world.start(section, { A_PIN: "-1.5" });
    expect(world.inForce().document.harnesses.codex?.managed_config).toEqual({ password: -1.5 });
  });

  test("refuses a section with all of its problems, and changes nothing", async () => {
    await using world = await createGovernanceWorld();
    const refusal = await refusalOf(() =>
      world.start(sectionOf({ tll_seconds: 5, gateway: { type: "litellm" }, packages: [packageOf("One")] })),
    );
    expect(refusal.reason).toBe("governance.invalid");
    expect(new Set(refusal.pointers)).toEqual(
      new Set(["/governance/tll_seconds", "/governance/gateway", "/governance/packages/0/id"]),
    );
    expect(world.count()).toBe(1);
  });

  test("reports a range that no certified version satisfies, without refusing it", async () => {
    await using world = await createGovernanceWorld();
    const outcome = await world.start(
      sectionOf({ harnesses: { codex: { version_requirement: ">=99.0.0" } } }),
    );
    expect(outcome.outcome).toBe("deployed");
    expect(outcome.warnings.map(({ pointer }) => pointer)).toEqual(["/harnesses/codex/version_requirement"]);
  });
});

describe("a place that both changed differently", () => {
  test("keeps the dashboard's value and is reported at every start until both agree", async () => {
    await using world = await createGovernanceWorld(withTtl(60));
    const { organizationId } = world.world;
    const conflicts = () => world.governance.deployments.conflicts(organizationId);
    await world.publish({ ttl_seconds: 90 });
    const first = await world.start(withTtl(120, { required: true }));
    expect(first).toMatchObject({ outcome: "deployed", conflicts: ["/ttl_seconds"] });
    expect(world.inForce().document).toMatchObject({ ttl_seconds: 90, required: true });
    expect(await world.start(withTtl(120, { required: true }))).toMatchObject({
      outcome: "unchanged",
      conflicts: ["/ttl_seconds"],
    });
    await world.publish({ ttl_seconds: 95, required: true });
    expect(conflicts()).toEqual(["/ttl_seconds"]);
    await world.publish({ ttl_seconds: 120, required: true });
    expect(conflicts()).toEqual([]);
    await world.publish({ ttl_seconds: 130, required: true });
    expect(await world.start(withTtl(120, { required: true }))).toMatchObject({ conflicts: [] });
  });

  test("is also settled by a change of the file", async () => {
    await using world = await createGovernanceWorld(withTtl(60));
    await world.publish({ ttl_seconds: 90 });
    await world.start(withTtl(120));
    expect(await world.start(withTtl(90))).toMatchObject({ outcome: "unchanged", conflicts: [] });
  });

  test("is still a conflict while the section is missing from the file", async () => {
    await using world = await createGovernanceWorld(withTtl(60));
    await world.publish({ ttl_seconds: 90 });
    await world.start(withTtl(120));
    expect(await world.start()).toMatchObject({ outcome: "unchanged", conflicts: ["/ttl_seconds"] });
    expect(await world.start(withTtl(120))).toMatchObject({ conflicts: ["/ttl_seconds"] });
  });

  test("is named by package and server, never with its value", async () => {
    const server = (url: string) => ({ harnesses: { codex: { mcp: [{ name: "a/b", url }] } } });
    await using world = await createGovernanceWorld(
      sectionOf({ packages: [packageOf("one")], ...server("https://one.example") }),
    );
    await world.governance.publishing.publishExtensions(world.admin, {
      baseRevision: world.inForce().id,
      packages: [packageOf("one", { version: "dashboard" })],
      mcp: { codex: [{ name: "a/b", url: "https://two.example" }] },
    });
    const { conflicts } = await world.start(
      sectionOf({ packages: [packageOf("one", { version: "file" })], ...server("https://three.example") }),
    );
    expect(new Set(conflicts)).toEqual(new Set(["/harnesses/codex/mcp/a~1b", "/packages/one"]));
  });
});

test("a package that file and dashboard added keeps the dashboard's uses, because the dashboard's package is published", async () => {
  const one = (version: string) => packageOf("one", { version, adapters: { codex: { skills_dir: "s" } } });
  const off = (settings: object) => ({ codex: { package_overrides: { one: { enabled: false, settings } } } });
  await using world = await createGovernanceWorld(sectionOf({}));
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [one("dashboard")],
  });
  const section = sectionOf({
    packages: [one("file")],
    harnesses: off({ endpoint: "https://file.example" }),
  });
  expect(await world.start(section)).toMatchObject({
    conflicts: ["/packages/one", "/harnesses/codex/package_overrides/one"],
  });
  const { packages, harnesses } = world.inForce().document;
  expect(packages).toMatchObject([{ id: "one", version: "dashboard" }]);
  expect(harnesses.codex?.package_overrides ?? {}).toEqual({});
  const changed = sectionOf({ packages: [one("file")], harnesses: off({ more: 1 }) });
  expect((await world.start(changed)).conflicts).toContain("/harnesses/codex/package_overrides/one");
  expect(world.inForce().document.harnesses.codex?.package_overrides ?? {}).toEqual({});
});

test("a package that the file removes ends with the uses that the dashboard has for it", async () => {
  const section = sectionOf({ packages: [packageOf("one", { adapters: { codex: { skills_dir: "s" } } })] });
  await using world = await createGovernanceWorld(section);
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: world.inForce().document.packages,
    packageOverrides: { codex: { one: { enabled: false, settings: {} } } },
  });
  expect(await world.start(sectionOf({ ttl_seconds: 60 }))).toMatchObject({
    outcome: "deployed",
    problems: [],
  });
  expect(world.inForce().document).toMatchObject({ packages: [], ttl_seconds: 60 });
});

test("a package that file and dashboard added equally has the uses of the file", async () => {
  const one = packageOf("one", { adapters: { codex: { skills_dir: "s" } } });
  const overrides = { one: { enabled: false, settings: {} } };
  await using world = await createGovernanceWorld(sectionOf({}));
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [one],
  });
  const section = sectionOf({ packages: [one], harnesses: { codex: { package_overrides: overrides } } });
  expect(await world.start(section)).toMatchObject({ outcome: "deployed", conflicts: [] });
  expect(world.inForce().document.harnesses.codex?.package_overrides).toEqual(overrides);
});

test("different uses of a package that file and dashboard added equally are a conflict, and the dashboard's stays", async () => {
  const one = packageOf("one", { adapters: { codex: { skills_dir: "s" } } });
  const use = { one: { settings: { level: 1 } } };
  const mcp = { codex: [{ name: "own", command: "/own" }] };
  await using world = await createGovernanceWorld(sectionOf({ harnesses: { codex: { mcp: mcp.codex } } }));
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [one],
    packageOverrides: { codex: use },
    mcp,
  });
  const off = { package_overrides: { one: { enabled: false, settings: {} } }, mcp: mcp.codex };
  const path = "/harnesses/codex/package_overrides/one";
  const section = sectionOf({ packages: [one], harnesses: { codex: off } });
  expect(await world.start(section)).toMatchObject({ conflicts: [path] });
  expect(world.inForce().document.harnesses.codex?.package_overrides).toEqual(use);
});

test("a valid file and a valid dashboard that conflict keep the current policy and are tried again", async () => {
  await using world = await createGovernanceWorld(sectionOf({ packages: [packageOf("one")] }));
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [],
  });
  const before = world.inForce();
  const section = sectionOf({
    packages: [packageOf("one")],
    harnesses: { codex: { package_overrides: { one: { enabled: false } } } },
  });
  for (let start = 1; start <= 2; start++) {
    const outcome = await world.start(section);
    expect(outcome).toMatchObject({ outcome: "kept", revision: before.id });
    expect(outcome.problems.map(({ pointer }) => pointer)).toEqual([
      "/harnesses/codex/package_overrides/one",
    ]);
  }
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: before.id,
    packages: [packageOf("one", { version: "2" })],
  });
  expect(await world.start(section)).toMatchObject({ outcome: "deployed" });
});

test("a file and a dashboard that break a rule of one member together keep the current policy", async () => {
  const codex = (policy: object) => ({ harnesses: { codex: { managed_config: { model: "a" }, ...policy } } });
  const range = { version_requirement: ">=0.145.0" };
  await using world = await createGovernanceWorld(sectionOf(codex(range)));
  await world.publish(codex({ ...range, allow_unverified_versions: true }));
  const before = world.inForce();
  const outcome = await world.start(sectionOf(codex({})));
  expect(outcome).toMatchObject({ outcome: "kept", revision: before.id });
  expect(outcome.problems.map(({ pointer }) => pointer)).toEqual([
    "/harnesses/codex/allow_unverified_versions",
  ]);
});
