// Models are assigned to one harness at a time: each assignment is a revision, and the checks have a fixed order.
import { describe, expect, test } from "bun:test";
import type { ModelsPublication } from "../../../../src/domain/governance/publishing/model-assignment.ts";
import type { Revision } from "../../../../src/domain/governance/service.ts";
import { sharedServer } from "../../../support/shared.ts";
import { SETTINGS } from "../../gateway/gateway-world.ts";
import { Upstream } from "../../gateway/provisioners/litellm/upstream.ts";
import { createGovernanceWorld, type GovernanceWorld, packageOf, refusalOf } from "../governance-world.ts";

const gatewayMode = {
  settings: SETTINGS,
  provisioner: new Upstream(() => 0).provisioner(), // it is never called
  configurationDigest: "one",
};
const site = sharedServer(() =>
  createGovernanceWorld({ revision: "file", allowed_harnesses: ["codex", "claude"] }, { gatewayMode }),
);

const assign = (
  { governance, admin, inForce }: GovernanceWorld,
  gatewayModels: string[],
  rest: Partial<ModelsPublication> = {},
): Promise<Revision> =>
  governance.publishing.publishModels(admin, {
    harness: "codex",
    gatewayModels,
    baseRevision: inForce().id,
    ...rest,
  });

const generationOf = ({ document }: Revision) => document.contract_version;

describe("an assignment", () => {
  test("is stored as a revision with its places in the audit log, and raises the generation with the last harness", async () => {
    const world = await site();
    const first = await assign(world, ["a", "b"], { defaultModel: "b" });
    expect(world.inForce()).toEqual(first);
    expect(first.document.harnesses.codex).toEqual({
      managed_config: { model: "b" },
      mcp: [],
      package_overrides: {},
      gateway_models: ["a", "b"],
    });
    expect(generationOf(first)).toBe(3);
    const second = await assign(world, ["c"], { harness: "claude", comment: "as agreed" });
    expect(generationOf(second)).toBe(4);
    expect(second.document.required_capabilities).toEqual(["gateway_inference_jwt", "gateway_model_catalog"]);
    expect(world.audited()).toMatchObject({
      action: "policy.publish",
      after: {
        comment: "as agreed",
        changed: ["/contract_version", "/required_capabilities", "/harnesses/claude"],
      },
    });
  });

  test("is removed by an empty list, and the generation falls with it", async () => {
    const world = await site();
    await assign(world, ["a"], { defaultModel: "a" });
    await assign(world, ["c"], { harness: "claude" });
    const after = await assign(world, []);
    expect(after.document.harnesses.codex).toEqual({
      managed_config: { model: "a" },
      mcp: [],
      package_overrides: {},
    });
    expect(generationOf(after)).toBe(3);
    expect(after.document.required_capabilities).toEqual(["gateway_inference_jwt"]);
  });

  test("keeps the model that the harness starts with, replaces it, and removes it", async () => {
    const world = await site();
    const modelOf = ({ document }: Revision) => document.harnesses.codex?.managed_config.model;
    expect(modelOf(await assign(world, ["a", "b"], { defaultModel: "a" }))).toBe("a");
    expect(modelOf(await assign(world, ["a"]))).toBe("a");
    expect(modelOf(await assign(world, ["a", "b"], { defaultModel: "b" }))).toBe("b");
    expect(modelOf(await assign(world, ["a"], { defaultModel: null }))).toBeUndefined();
  });

  test("publishes nothing for an assignment that changes nothing", async () => {
    const world = await site();
    await assign(world, []);
    expect(world.count()).toBe(1);
    await assign(world, ["a"]);
    await assign(world, ["a"]);
    expect(world.count()).toBe(2);
  });

  test("stays when settings, versions or extensions of the harness change", async () => {
    const world = await site();
    await assign(world, ["a"]);
    const { publishing } = world.governance;
    const base = () => ({ baseRevision: world.inForce().id });
    const settings = { harness: "codex", managedConfigYaml: "auto_approve: true", ...base() };
    await publishing.publishHarness(world.admin, settings);
    await publishing.publishExtensions(world.admin, { packages: [packageOf("one")], ...base() });
    expect(world.inForce().document.harnesses.codex).toMatchObject({
      managed_config: { auto_approve: true },
      gateway_models: ["a"],
    });
  });

  test("is rolled back with its revision", async () => {
    const world = await site();
    const before = world.inForce();
    await assign(world, ["a"]);
    const { publishing } = world.governance;
    const after = await publishing.rollback(world.admin, { to: before.id, baseRevision: world.inForce().id });
    expect(after.document.harnesses).toEqual({});
  });

  test("keeps the gateway of the policy when an operator assigns models", async () => {
    const world = await site();
    for (const harness of ["codex", "claude"])
      await world.governance.publishing.publishModels(world.operator, {
        harness,
        gatewayModels: ["a"],
        baseRevision: world.inForce().id,
      });
    expect(generationOf(world.inForce())).toBe(4);
  });
});

describe("a refused assignment", () => {
  test("names all wrong ids and the wrong model together, before the base is checked", async () => {
    const world = await site();
    const wrong = assign(world, ["a", " b", "a"], { defaultModel: "c", baseRevision: "stale" });
    expect(await refusalOf(() => wrong)).toMatchObject({
      reason: "governance.invalid",
      pointers: ["/gateway_models/1", "/gateway_models/2", "/default_model"],
    });
  });

  test("reports a stale base before it checks the harness", async () => {
    const world = await site();
    const { reason } = await refusalOf(() => assign(world, [], { harness: "vim", baseRevision: "stale" }));
    expect(reason).toBe("governance.stale_revision");
  });

  test.each([
    ["vim", "governance.unknown_harness"],
    ["claude-code", "governance.unknown_harness"],
    ["kimi", "governance.invalid"],
  ])("refuses %s, which is not an allowed harness", async (harness, reason) => {
    const world = await site();
    expect(await refusalOf(() => assign(world, ["a"], { harness }))).toMatchObject({
      kind: "invalid",
      reason,
    });
  });

  test("would leave the harness with a model outside of its list", async () => {
    const world = await site();
    await assign(world, ["a"], { defaultModel: "a" });
    const { pointers, problems } = await refusalOf(() => assign(world, ["b"]));
    expect(pointers).toEqual(["/default_model"]);
    expect(problems[0]?.detail).toContain("assigned to codex");
  });

  test("would raise the generation while another harness starts with a model outside of its list", async () => {
    const world = await site();
    await world.publish({
      allowed_harnesses: ["codex", "claude"],
      harnesses: { claude: { managed_config: { model: "x" }, gateway_models: ["a"] } },
    });
    const { pointers, problems } = await refusalOf(() => assign(world, ["a"]));
    expect(pointers).toEqual(["/harnesses/claude/managed_config/model"]);
    expect(problems[0]?.detail).toContain("assigned to claude");
  });
});
