// Texts of a draft with problems: none replaces another, and each is checked against the current draft.
import { describe, expect, test } from "bun:test";
import { managedYaml } from "../../../../src/domain/governance/document/yaml.ts";
import { typedProblems } from "../../../../src/domain/governance/drafts/draft-model.ts";
import { discardText } from "../../../../src/domain/governance/drafts/texts/discarded-text.ts";
import { managedText, packageOf, refusalOf, sectionOf } from "../governance-world.ts";
import { createDraftWorld } from "./draft-world.ts";

const BROKEN = { managedConfigYaml: "model: x\nmodel: y\n" };
const required = managedText({ required: true });

describe("a text with problems", () => {
  test("CON-49 keeps the broken text of a harness: the text of the policy cannot replace it until it is corrected or discarded", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const broken = await drafts.saveHarness(world.ana, { version: 0 }, "codex", BROKEN);
    for (const text of [required, "required: ["])
      expect(await refusalOf(() => drafts.savePolicy(world.ana, broken, text))).toMatchObject({
        reason: "policy_draft.broken_text",
      });
    expect(drafts.existing(world.ana).typed.harnesses.codex?.input).toEqual(BROKEN);
    const corrected = await drafts.saveHarness(world.ana, broken, "codex", { managedConfigYaml: "model: y" });
    expect((await drafts.savePolicy(world.ana, corrected, required)).document.required).toBe(true);
  });

  test("is discarded separately, and only in the version that was read", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const valid = { managedConfigYaml: "model: z # ours" };
    const kept = await drafts.saveHarness(world.ana, { version: 0 }, "claude", valid);
    const broken = await drafts.saveHarness(world.ana, kept, "codex", BROKEN);
    const stale = () => discardText(drafts, world.ana, kept, "codex");
    expect(await refusalOf(stale)).toMatchObject({ reason: "policy_draft.changed" });
    expect(await refusalOf(() => discardText(drafts, world.ana, broken, "vim"))).toMatchObject({
      reason: "governance.unknown_harness",
    });
    const without = await discardText(drafts, world.ana, broken, "codex");
    expect(without).toMatchObject({ document: broken.document, version: 3 });
    expect(without.typed).toEqual({ harnesses: { claude: { input: valid, problems: [] } } });
    const policy = await drafts.savePolicy(world.ana, without, "required: [");
    expect((await discardText(drafts, world.ana, policy, "policy")).typed.policy).toBeUndefined();
  });

  test("does not quote an alias, which may be a secret", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const secret = "s3cr3t-value";
    const harness = { managedConfigYaml: `api_token: *${secret}\n` };
    const draft = await drafts.saveHarness(world.ana, { version: 0 }, "codex", harness);
    const problems = [
      ...typedProblems(draft.typed),
      ...(await world.governance.previews.check(world.ana, `a: *${secret}\n`, "policy")),
    ];
    expect(problems).toMatchObject([{ line: 1 }, { line: 1 }]);
    expect(JSON.stringify(problems)).not.toContain(secret);
  });

  test("names its text, also if another harness has a problem", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const first = await drafts.saveHarness(world.ana, { version: 0 }, "codex", BROKEN);
    const both = await drafts.saveHarness(world.ana, first, "claude", BROKEN);
    const { problems } = await draftPublishing.review(world.ana, both);
    expect(problems).toMatchObject([
      { text: "codex", pointer: "/harnesses/codex/managed_config_yaml", line: 2 },
      { text: "claude", pointer: "/harnesses/claude/managed_config_yaml", line: 2 },
    ]);
  });
});

describe("a problem with another part of the draft", () => {
  const since = "2.0.12";
  const skills = packageOf("guide", { adapters: { claude: { introduced: since, skills_dir: "skills" } } });
  const range = (version: string) => ({
    managedConfigYaml: "model: opus # ours",
    versionRequirement: `>=${version}, <3`,
    allowUnverifiedVersions: true,
  });

  test("ends when that part changes: the text is accepted unchanged", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const served = await drafts.saveHarness(world.ana, { version: 0 }, "claude", range(since));
    const packed = await drafts.saveExtensions(world.ana, served, { packages: [skills] });
    const wider = await drafts.saveHarness(world.ana, packed, "claude", range("1.0.0"));
    expect(typedProblems(wider.typed)).toMatchObject([
      {
        text: "claude",
        pointer: "/packages/0/adapters/claude",
        detail: expect.stringContaining("(with the text of claude)"),
      },
    ]);
    const moved = await drafts.saveExtensions(world.ana, wider, { packages: [packageOf("first"), skills] });
    expect(typedProblems(moved.typed)).toMatchObject([{ pointer: "/packages/1/adapters/claude" }]);
    const removed = await drafts.removePackage(world.ana, moved, "guide");
    expect(typedProblems(removed.typed)).toEqual([]);
    expect(removed.document.harnesses.claude).toMatchObject({ version_requirement: ">=1.0.0, <3" });
    expect(removed.typed.harnesses.claude?.input).toEqual(range("1.0.0"));
    const { isPublished } = await draftPublishing.publish(world.ana, {
      draft: removed.id,
      version: removed.version,
      comment: "wider",
    });
    expect(isPublished).toBe(true);
  });

  test("ends for the text of the policy, too, and a text with its own problems keeps them", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    await world.start(
      sectionOf({
        harnesses: { claude: { version_requirement: `>=${since}, <3`, allow_unverified_versions: true } },
      }),
    );
    const text = managedYaml(world.inForce().document).replace(since, "1.0.0");
    const packed = await drafts.saveExtensions(world.ana, { version: 0 }, { packages: [skills] });
    const wider = await drafts.savePolicy(world.ana, packed, text);
    expect(wider.typed.policy?.problems).not.toEqual([]);
    const removed = await drafts.removePackage(world.ana, wider, "guide");
    expect(removed.typed.policy).toEqual({ input: text, problems: [] });
    expect(removed.document.harnesses.claude?.version_requirement).toBe(">=1.0.0, <3");
    const broken = await drafts.savePolicy(world.ana, removed, `${text}required: maybe\n`);
    const after = await drafts.saveExtensions(world.ana, broken, { packages: [packageOf("first")] });
    expect(after.typed).toEqual(broken.typed);
  });
});
