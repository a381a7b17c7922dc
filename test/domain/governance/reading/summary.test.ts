// CON-61: the summary of a revision's changes in the history.
import { expect, test } from "bun:test";
import type { GovernanceConfig, HarnessPolicy } from "../../../../src/domain/governance/model.ts";
import { SUMMARY_PARTS_MAX, summaryOf } from "../../../../src/domain/governance/reading/summary.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { documentWith } from "../../clients/policies.ts";

const NONE: HarnessPolicy = { managed_config: {}, mcp: [], package_overrides: {} };
const policy = (document: Partial<GovernanceConfig> = {}, audiences = {}) => ({
  document: documentWith(document),
  audiences,
});
const codex = (members: Partial<HarnessPolicy>) => policy({ harnesses: { codex: { ...NONE, ...members } } });
const [managed] = documentWith().packages;
if (!managed) throw new Error("the document has a package");
const others = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ ...managed, id: `other-${at}` }));

test("CON-61 the first revision has no former one", () => {
  expect(runSynchronously(summaryOf(undefined, policy()))).toBe("first policy");
});

test("CON-61 a revision without changes has an empty summary", () => {
  expect(runSynchronously(summaryOf(policy(), policy({ revision: "another" })))).toBe("");
});

test.each([
  [
    "packages",
    policy({ packages: [managed, ...others(2)] }),
    policy({ packages: [{ ...managed, sha256: "e".repeat(64) }] }),
    "1 package updated, 2 packages removed",
  ],
  [
    "a new package and one with another name",
    policy({ packages: [managed] }),
    policy({ packages: [{ ...managed, name: "x" }, ...others(1)] }),
    "1 package added, 1 package changed",
  ],
  ["an audience", policy(), policy({}, { x: { scope: "users", user_ids: [] } }), "1 audience changed"],
  ["a narrower range", codex({}), codex({ version_requirement: ">=1" }), "codex range narrowed"],
  [
    "a wider range",
    codex({ version_requirement: ">=2" }),
    codex({ version_requirement: ">=1" }),
    "codex range widened",
  ],
  [
    "a moved range",
    codex({ version_requirement: ">=1, <2" }),
    codex({ version_requirement: ">=2, <3" }),
    "codex range moved",
  ],
  [
    "unverified versions",
    codex({ version_requirement: ">=1" }),
    codex({ version_requirement: ">=1", allow_unverified_versions: true }),
    "codex accepts unverified versions",
  ],
  [
    "a wider range with unverified versions",
    codex({ version_requirement: ">=2" }),
    codex({ version_requirement: ">=1", allow_unverified_versions: true }),
    "codex range widened, codex accepts unverified versions",
  ],
  [
    "no range any more, and with it no unverified versions",
    codex({ version_requirement: ">=1", allow_unverified_versions: true }),
    codex({}),
    "codex range widened",
  ],
  ["settings", codex({}), codex({ managed_config: { model: "x" } }), "codex settings changed"],
  [
    "MCP servers",
    codex({}),
    codex({ mcp: [{ name: "x", command: "y", disabled: false }] }),
    "codex MCP servers changed",
  ],
  [
    "package settings",
    codex({}),
    codex({ package_overrides: { x: { enabled: false, settings: {} } } }),
    "codex package settings changed",
  ],
  ["models", codex({}), codex({ gateway_models: ["x"] }), "codex models changed"],
  [
    "an agent",
    policy({ allowed_harnesses: ["codex"] }),
    policy({ allowed_harnesses: ["claude"] }),
    "codex no longer allowed, claude allowed",
  ],
  [
    "other members",
    policy({ required: true }),
    policy({ required: false, ttl_seconds: 60 }),
    "whether the policy is required changed, time to live changed",
  ],
])("CON-61 %s", (_what, former, next, words) => {
  expect(runSynchronously(summaryOf(former, next))).toBe(words);
});

test("CON-61 names at most SUMMARY_PARTS_MAX changes, and counts the others", () => {
  const changes: HarnessPolicy[] = [NONE, { ...NONE, managed_config: { a: 1 }, gateway_models: ["a"] }];
  const all = changes.map((one) => policy({ harnesses: { codex: one, claude: one, opencode: one } }));
  const more = (document: Partial<GovernanceConfig>) => policy({ ...all[1]?.document, ...document });
  const [before = policy(), after = policy()] = all;
  expect(runSynchronously(summaryOf(before, after)).split(", ")).toHaveLength(SUMMARY_PARTS_MAX);
  expect(runSynchronously(summaryOf(before, after))).not.toContain("more");
  expect(runSynchronously(summaryOf(before, more({ ttl_seconds: 5 })))).toEndWith(", 1 more");
});
