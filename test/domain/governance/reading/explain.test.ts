// The explanation of each package for a user on a harness, and which harnesses can be explained.
import { expect, test } from "bun:test";
import { createGovernanceWorld, packageOf, refusalOf } from "../governance-world.ts";

test("USE-7 each package has its status for this user, harness and version", async () => {
  await using world = await createGovernanceWorld();
  const { user } = await world.signedIn("member");
  await world.publish({ allowed_harnesses: ["codex"], required: true });
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [
      packageOf("plain", { adapters: { codex: {} } }),
      packageOf("off", { adapters: { codex: {} } }),
      packageOf("elsewhere", { adapters: { kimi: {} } }),
      packageOf("hers", { adapters: { codex: {} } }),
    ],
    packageAudiences: { hers: { scope: "users", user_ids: [user.id] } },
    packageOverrides: { codex: { off: { enabled: false } } },
  });
  const told = async (userId: string) => {
    const { packages, isAllowed, isRequired } = await world.governance.explain(world.admin, {
      userId,
      harness: "codex",
      version: "0.150.0",
    });
    const states: Record<string, string> = Object.fromEntries(packages.map(({ id, state }) => [id, state]));
    return { isAllowed, isRequired, states };
  };
  const common = { plain: "installed", off: "disabled", elsewhere: "other_harness" };
  expect(await told(user.id)).toMatchObject({
    isAllowed: true,
    isRequired: true,
    states: { ...common, hers: "installed" },
  });
  expect((await told("somebody")).states).toEqual({ ...common, hers: "hidden" });
});

test("a package for other versions is reported as such", async () => {
  await using world = await createGovernanceWorld();
  const codex = { before: "0.145.0", skills_dir: "skills" };
  await world.governance.publishing.publishHarness(world.admin, {
    baseRevision: world.inForce().id,
    harness: "codex",
    managedConfigYaml: "",
    versionRequirement: "<0.145.0",
  });
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [packageOf("old", { adapters: { codex } })],
  });
  const stateFor = async (version: string) =>
    (await world.governance.explain(world.admin, { userId: "x", harness: "codex", version })).packages[0]
      ?.state;
  expect(await stateFor("0.144.0")).toBe("installed");
  expect(await stateFor("0.145.0")).toBe("other_version");
});

test("refuses an alias of a harness and a partial version", async () => {
  await using world = await createGovernanceWorld();
  const ask = (harness: string, version?: string) =>
    refusalOf(() => world.governance.explain(world.admin, { userId: "x", harness, version }));
  expect(await ask("claude-code")).toMatchObject({ kind: "invalid", reason: "governance.unknown_harness" });
  expect(await ask("codex", "1.2")).toMatchObject({ kind: "invalid", reason: "governance.bad_version" });
});

test("lists of models that workstations do not get are not explained", async () => {
  await using world = await createGovernanceWorld();
  await world.publish({ harnesses: { codex: { managed_config: { model: "a" }, gateway_models: ["a"] } } });
  const { values } = await world.governance.explain(world.admin, { userId: "x", harness: "codex" });
  expect(values.map(({ pointer }) => pointer)).toEqual(["/harnesses/codex/managed_config/model"]);
});
