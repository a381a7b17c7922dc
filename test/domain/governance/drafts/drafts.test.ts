// Drafts of the policy: saved part by part, merged, reviewed and published as one revision.
import { describe, expect, test } from "bun:test";
import { managedYaml } from "../../../../src/domain/governance/document/yaml.ts";
import { DRAFT_DAYS_MAX, type Draft } from "../../../../src/domain/governance/drafts/draft-model.ts";
import { draftTexts, putDraft } from "../../../../src/domain/governance/drafts/draft-store.ts";
import { changesIn } from "../../../../src/domain/governance/shown/change-list.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { managedText, packageOf, refusalOf, sectionOf } from "../governance-world.ts";
import { createDraftWorld } from "./draft-world.ts";

const required = managedText({ required: true });

describe("a draft", () => {
  test("CON-50 is saved without publishing, and published as one revision that removes it", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const first = await drafts.savePolicy(world.ana, { version: 0 }, required);
    const second = await drafts.saveExtensions(world.ana, first, { packages: [packageOf("guide")] });
    expect(world.count()).toBe(1);
    expect(second).toMatchObject({ version: 2, baseRevision: world.inForce().id, isShared: false });
    const review = await draftPublishing.review(world.ana, second);
    expect(review).toMatchObject({ isStale: false, problems: [], commentReasons: [], needsOther: false });
    expect(changesIn(review.changes).map(({ path }) => path)).toEqual(["/required", "/packages/guide"]);
    const { revision } = await draftPublishing.publish(world.ana, { draft: second.id, version: 2 });
    expect(revision.document).toMatchObject({ required: true, packages: [{ id: "guide" }] });
    expect(drafts.own(world.ana)).toBeUndefined();
    expect(world.count()).toBe(2);
  });

  test("CON-49 keeps an invalid text unchanged, and cannot be published with it", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const text = "revision: mine\n# a comment\nrequired: maybe\n";
    const draft = await drafts.savePolicy(world.ana, { version: 0 }, text);
    expect(drafts.own(world.ana)?.typed.policy).toMatchObject({ input: text, problems: [{ line: 3 }] });
    expect(draft.document).toEqual(world.inForce().document);
    const publication = { draft: draft.id, version: 1 };
    expect(await refusalOf(() => draftPublishing.publish(world.ana, publication))).toMatchObject({
      reason: "governance.invalid",
      pointers: ["/required"],
    });
    const harness = { managedConfigYaml: "model: x" };
    expect(await refusalOf(() => drafts.saveHarness(world.ana, draft, "codex", harness))).toMatchObject({
      reason: "policy_draft.broken_text",
    });
  });

  test("CON-49 refuses half a surrogate pair, which cannot be kept unchanged", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const [whole, half] = ["# \ud83d\ude00\n", "# \ud83d\n"];
    const published = managedYaml(world.inForce().document);
    const harness = (text: string) => ({ managedConfigYaml: `model: x ${text}` });
    const reason = "governance.invalid";
    expect(
      await refusalOf(() => drafts.savePolicy(world.ana, { version: 0 }, published + half)),
    ).toMatchObject({
      reason,
      pointers: [""],
    });
    const save = (text: string) => drafts.saveHarness(world.ana, { version: 0 }, "codex", harness(text));
    expect(await refusalOf(() => save(half))).toMatchObject({ reason, pointers: ["/managed_config_yaml"] });
    expect(await world.governance.previews.check(world.ana, published + half, "policy")).toMatchObject([
      { pointer: "" },
    ]);
    expect(await world.governance.previews.check(world.ana, published + whole, "policy")).toEqual([]);
    expect(drafts.own(world.ana)).toBeUndefined();
  });

  test("keeps the order in which harnesses were published, whichever is saved first", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const order = ["opencode", "claude", "codex"];
    const settings = { managed_config: { model: "large" }, mcp: [{ name: "docs", command: "docs" }] };
    await world.start(sectionOf({ harnesses: Object.fromEntries(order.map((key) => [key, settings])) }));
    const published = managedYaml(world.inForce().document);
    const saves: ((version: { version: number }) => Promise<Draft>)[] = [
      (draft) => drafts.savePolicy(world.ana, draft, `${published}ttl_seconds: 60\n`),
      (draft) => drafts.saveExtensions(world.ana, draft, { packages: [packageOf("guide")] }),
      (draft) => drafts.saveMcp(world.ana, draft, { claude: [] }),
      (draft) => drafts.saveHarness(world.ana, draft, "claude", { managedConfigYaml: "model: small" }),
      (draft) => drafts.saveMcp(world.ana, draft, { kimi: [{ name: "docs", command: "docs" }] }),
    ];
    for (const save of saves) {
      const draft = await save({ version: 0 });
      expect(Object.keys(draft.document.harnesses).filter((key) => key !== "kimi")).toEqual(order);
      const text = await drafts.textOf(draft);
      expect([...text.matchAll(/^ {2}(opencode|claude|codex):/gm)].map(([, key]) => key)).toEqual(order);
      await drafts.discard(world.ana, draft.id);
    }
  });

  test("replaces one harness, and allows or forbids it", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const input = { managedConfigYaml: "model: gpt-5 # pinned\n", isAllowed: false };
    const draft = await drafts.saveHarness(world.ana, { version: 0 }, "codex", input);
    expect(draft.document.harnesses.codex?.managed_config).toEqual({ model: "gpt-5" });
    expect(draft.document.allowed_harnesses).toEqual(["claude", "kimi", "opencode"]);
    expect(draft.typed.harnesses.codex).toEqual({ input, problems: [] });
  });

  test("assigns models to a harness, and writes the default model into the unchanged text", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const input = { managedConfigYaml: "# ours\nmodel: a # pinned\nother: [1]\n", isAllowed: true };
    const typed = await drafts.saveHarness(world.ana, { version: 0 }, "codex", input);
    const assigned = { harness: "codex", gatewayModels: ["a", "b"], defaultModel: "b" };
    const draft = await drafts.saveModels(world.ana, typed, assigned);
    expect(draft.document.harnesses.codex).toMatchObject({
      gateway_models: ["a", "b"],
      managed_config: { model: "b", other: [1] },
    });
    const text = "# ours\nmodel: b # pinned\nother: [1]\n";
    expect(draft.typed.harnesses.codex?.input.managedConfigYaml).toBe(text);
    const kept = await drafts.saveModels(world.ana, draft, { harness: "codex", gatewayModels: ["b"] });
    expect(kept.typed.harnesses.codex?.input.managedConfigYaml).toBe(text);
    const none = { harness: "codex", gatewayModels: [], defaultModel: null };
    const removed = await drafts.saveModels(world.ana, kept, none);
    expect(removed.document.harnesses.codex).not.toHaveProperty("gateway_models");
    expect(removed.typed.harnesses.codex?.input.managedConfigYaml).toBe("# ours\nother: [1]\n");
  });

  test("refuses models with problems, and models of a harness whose text has problems", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const save = (version: number, input: Partial<Parameters<typeof drafts.saveModels>[2]>) =>
      refusalOf(() =>
        drafts.saveModels(world.ana, { version }, { harness: "codex", gatewayModels: ["a"], ...input }),
      );
    expect(await save(0, { gatewayModels: ["a", "a"], defaultModel: "b" })).toMatchObject({
      reason: "governance.invalid",
      pointers: ["/gateway_models/1", "/default_model"],
    });
    expect(await save(0, { harness: "vim" })).toMatchObject({ reason: "governance.unknown_harness" });
    const used = { managedConfigYaml: "model: &m a\nother: *m\n" };
    const draft = await drafts.saveHarness(world.ana, { version: 0 }, "codex", used);
    expect(await save(1, { defaultModel: null })).toMatchObject({ reason: "policy_draft.not_written" });
    await drafts.saveHarness(world.ana, draft, "codex", { managedConfigYaml: "model: [" });
    expect(await save(2, {})).toMatchObject({ reason: "policy_draft.broken_text" });
  });

  test("two concurrent saves lose nothing: one of them is refused", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const saves = [
      drafts.savePolicy(world.ana, { version: 0 }, required),
      drafts.savePolicy(world.ana, { version: 0 }, "{"),
    ];
    const ended = await Promise.allSettled(saves);
    const saved = ended.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const refused = ended.filter((one) => one.status === "rejected");
    expect(refused).toMatchObject([{ reason: { reason: "policy_draft.changed" } }]);
    expect(saved).toEqual([drafts.existing(world.ana)]);
    expect(saved).toMatchObject([{ version: 1 }]);
  });

  test("CON-51 starts above the version of a removed draft, so a form made from the removed one cannot change a later draft", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const begin = () => drafts.savePolicy(world.ana, { version: 0 }, required);
    const discarded = await begin();
    await drafts.discard(world.ana, discarded.id);
    const published = await drafts.savePolicy(world.ana, await begin(), managedText({ ttl_seconds: 60 }));
    await draftPublishing.publish(world.ana, { draft: published.id, version: published.version });
    const later = await begin();
    expect([discarded, published, later].map(({ version }) => version)).toEqual([1, 3, 4]);
    for (const { version } of [discarded, published])
      for (const act of [
        () => drafts.savePolicy(world.ana, { version }, managedText({})),
        () => drafts.discard(world.ana, later.id, { version }),
        () => drafts.share(world.ana, { version }, true),
        () => draftPublishing.merge(world.ana, { version }, {}),
        () => draftPublishing.publish(world.ana, { draft: world.ana.id ?? "", version }),
      ])
        expect(await refusalOf(act)).toMatchObject({ reason: "policy_draft.changed" });
    expect(drafts.own(world.ana)).toEqual(later);
  });

  test("is discarded by its id: a later one of the same owner stays", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const former = await drafts.savePolicy(world.ana, { version: 0 }, required);
    const later = { ...former, id: world.world.ids.uuid() };
    const texts = await draftTexts(later);
    const ended = await Promise.allSettled([
      drafts.discard(world.ana, former.id),
      world.world.db.write((tx) => putDraft(tx, later, texts)),
      drafts.discard(world.ana, former.id),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(drafts.own(world.ana)).toEqual(later);
  });

  test("CON-57 publishes nothing for a draft that changes nothing", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const { id } = await drafts.savePolicy(world.ana, { version: 0 }, managedText({}));
    const published = await draftPublishing.publish(world.ana, { draft: id, version: 1 });
    expect(published).toEqual({ revision: world.inForce(), isPublished: false });
    expect(world.count()).toBe(1);
  });

  test("CON-62 has the content of a former revision", async () => {
    await using world = await createDraftWorld();
    const former = world.inForce();
    await world.publish({ required: true });
    const draft = await world.governance.drafts.saveFormer(world.ana, { version: 0 }, former.id);
    const { changes } = await world.governance.draftPublishing.review(world.ana, draft);
    expect(changesIn(changes)).toEqual([{ path: "/required", before: true, after: false }]);
  });

  test("CON-62 a draft no longer counts as the former revision once something else of it is changed", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const { id } = world.inForce();
    await world.publish({ required: true });
    for (const change of [
      (draft: Draft) => drafts.takePackage(world.ana, draft, packageOf("added")),
      (draft: Draft) => drafts.saveMcp(world.ana, draft, { codex: [{ name: "x", command: "/x" }] }),
      (draft: Draft) => drafts.savePolicy(world.ana, draft, managedText({ ttl_seconds: 60 })),
    ]) {
      const draft = await drafts.saveFormer(world.ana, { version: drafts.own(world.ana)?.version ?? 0 }, id);
      expect(draft.typed.former).toBe(1);
      expect((await change(draft)).typed.former).toBeUndefined();
    }
  });

  test("CON-51 ends when it is discarded, or 30 days after its last save", async () => {
    await using world = await createDraftWorld();
    const { drafts } = world.governance;
    const { id } = await drafts.savePolicy(world.ana, { version: 0 }, required);
    expect(await refusalOf(() => drafts.discard(world.ben, id))).toMatchObject({
      reason: "policy_draft.not_shared",
    });
    await drafts.discard(world.ana, id);
    await drafts.savePolicy(world.ana, { version: 0 }, required);
    world.world.clock.advance(DRAFT_DAYS_MAX * DAY_MS);
    expect(await drafts.expire(world.world.system)).toBe(0);
    world.world.clock.advance(1);
    expect(await drafts.expire(world.world.system)).toBe(1);
    expect(drafts.own(world.ana)).toBeUndefined();
  });
});

describe("a comment is required", () => {
  test.each([
    [
      { codex: { version_requirement: ">=1, <3" } },
      { codex: { version_requirement: ">=1, <2" } },
      ["the range of codex is narrowed"],
    ],
    [{ codex: { version_requirement: ">=1, <2" } }, { codex: { version_requirement: ">=1, <3" } }, []],
    [{ codex: { version_requirement: ">=1" } }, {}, []],
    [{}, { codex: { version_requirement: ">=1" } }, ["the range of codex is narrowed"]],
  ])("requires a comment from %p to %p: %p", async (before, after, reasons) => {
    await using world = await createDraftWorld();
    const unverified = (harnesses: object) =>
      Object.fromEntries(
        Object.entries(harnesses).map(([key, policy]) => [
          key,
          { ...policy, allow_unverified_versions: true },
        ]),
      );
    await world.publish({ harnesses: unverified(before) });
    const text = managedText({ harnesses: unverified(after) });
    const draft = await world.governance.drafts.savePolicy(world.ana, { version: 0 }, text);
    const { commentReasons, problems } = await world.governance.draftPublishing.review(world.ana, draft);
    expect({ commentReasons, problems }).toEqual({ commentReasons: reasons, problems: [] });
  });

  test.each([
    [["codex"], []],
    [[], ["no harness is allowed"]],
    [["opencode", "kimi", "codex", "claude"], []],
  ])("CON-58 requires a comment when no harness may run: with %p allowed, %p", async (allowed, reasons) => {
    await using world = await createDraftWorld();
    await world.publish({});
    const text = managedText({ allowed_harnesses: allowed });
    const draft = await world.governance.drafts.savePolicy(world.ana, { version: 0 }, text);
    const { commentReasons } = await world.governance.draftPublishing.review(world.ana, draft);
    expect(commentReasons).toEqual(reasons);
  });

  test("CON-55 requires a comment for a package that is removed", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const base = { baseRevision: world.inForce().id };
    await world.governance.publishing.publishExtensions(world.ana, {
      ...base,
      packages: [packageOf("guide")],
    });
    const draft = await drafts.saveExtensions(world.ana, { version: 0 }, { packages: [] });
    const publish = (comment?: string) =>
      draftPublishing.publish(world.ana, { draft: draft.id, version: 1, comment });
    expect(await refusalOf(() => publish(" "))).toMatchObject({ reason: "policy_draft.comment_required" });
    expect((await publish("retired")).revision).toMatchObject({
      comment: "retired",
      document: { packages: [] },
    });
  });
});

describe("another administrator", () => {
  test("CON-52 reads and publishes a shared draft, and cannot change it", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const { id } = await drafts.savePolicy(world.ana, { version: 0 }, required);
    const unshared = { reason: "policy_draft.not_shared" };
    expect(await refusalOf(() => drafts.show(world.ben, id))).toMatchObject(unshared);
    const { version } = await drafts.share(world.ana, { version: 1 }, true);
    expect(drafts.show(world.ben, id).ownerId).toBe(world.ana.id ?? "");
    const { revision } = await draftPublishing.publish(world.ben, { draft: id, version });
    expect(revision).toMatchObject({ authorLabel: "ben@x.org", document: { required: true } });
    expect(world.audited().after).toMatchObject({ written_by: "ana@x.org" });
  });

  test("is required with the setting, for drafts and for direct publications", async () => {
    await using world = await createDraftWorld({ requiresSecondAdministrator: true });
    const { drafts, draftPublishing } = world.governance;
    const { id } = await drafts.savePolicy(world.ana, { version: 0 }, required);
    const { version } = await drafts.share(world.ana, { version: 1 }, true);
    const reason = "policy_draft.second_administrator";
    expect(await refusalOf(() => draftPublishing.publish(world.ana, { draft: id, version }))).toMatchObject({
      reason,
    });
    expect(await refusalOf(() => world.publish({ required: true }))).toMatchObject({ reason });
    await draftPublishing.publish(world.ben, { draft: id, version });
    expect(world.inForce().document.required).toBe(true);
  });
});

describe("a draft with an outdated base revision", () => {
  test("CON-53 begins from the revision that its author has read, and reverts nothing of a later one", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const read = { version: 0, baseRevision: world.inForce().id };
    await world.publish({ ttl_seconds: 60 });
    const draft = await drafts.savePolicy(world.ana, read, required);
    expect(draft.baseRevision).toBe(read.baseRevision);
    const merged = await draftPublishing.merge(world.ana, draft, {});
    await draftPublishing.publish(world.ana, { draft: draft.id, version: merged.draft.version });
    expect(world.inForce().document).toMatchObject({ required: true, ttl_seconds: 60 });
    const old = managedText({ revision: read.baseRevision, required: false });
    const stated = { version: 0, baseRevision: world.inForce().id };
    for (const [from, text] of [
      [{ version: 0 }, old],
      [stated, old],
      [{ version: 0 }, `{"governance": ${old}, "server": {}}`],
      [{ version: 0 }, `# mine\nrevision: ${read.baseRevision}\nrequired: [`],
      [{ version: 0 }, old.slice(0, -1)],
    ] as const) {
      const begun = await drafts.savePolicy(world.ana, from, text);
      expect(begun.baseRevision).toBe(read.baseRevision);
      await drafts.discard(world.ana, begun.id);
    }
    const named = await drafts.savePolicy(world.ana, { version: 0 }, old);
    const again = await draftPublishing.merge(world.ana, named, {});
    expect(again.draft.document).toMatchObject({ required: true, ttl_seconds: 60 });
    await drafts.discard(world.ana, named.id);
    const unknown = { version: 0, baseRevision: "gone" };
    expect(await refusalOf(() => drafts.savePolicy(world.ana, unknown, required))).toMatchObject({
      reason: "policy_draft.changed",
    });
  });

  test("CON-54 is not published until it is merged; both changes are in it then", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const draft = await drafts.savePolicy(world.ana, { version: 0 }, required);
    await world.publish({ ttl_seconds: 60 });
    const publication = { draft: draft.id, version: 1 };
    expect(await refusalOf(() => draftPublishing.publish(world.ana, publication))).toMatchObject({
      reason: "governance.stale_revision",
      pointers: ["/ttl_seconds"],
    });
    const merged = await draftPublishing.merge(world.ana, draft, {});
    expect(merged.undecided.count).toBe(0);
    const { version } = merged.draft;
    await draftPublishing.publish(world.ana, { draft: draft.id, version });
    expect(world.inForce().document).toMatchObject({ required: true, ttl_seconds: 60 });
  });

  test.each([
    ["mine", 30],
    ["theirs", 60],
  ] as const)("CON-53 keeps %s where both changed a place differently", async (decision, seconds) => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const text = managedText({ ttl_seconds: 30, required: true });
    const draft = await drafts.savePolicy(world.ana, { version: 0 }, text);
    await world.publish({ ttl_seconds: 60 });
    const { undecided } = await draftPublishing.merge(world.ana, draft, {});
    expect(JSON.parse(undecided.text)).toEqual([{ path: "/ttl_seconds", theirs: 60, mine: 30 }]);
    expect(drafts.own(world.ana)).toEqual(draft);
    const merged = await draftPublishing.merge(world.ana, draft, { "/ttl_seconds": decision });
    expect(merged.draft.document).toMatchObject({ ttl_seconds: seconds, required: true });
    expect(merged.draft.baseRevision).toBe(world.inForce().id);
  });

  test.each(["mine", "theirs"] as const)(
    "CON-53 asks again where another revision was published after the author decided for %s",
    async (decision) => {
      await using world = await createDraftWorld();
      const { drafts, draftPublishing } = world.governance;
      const text = managedText({ ttl_seconds: 30, required: true });
      const draft = await drafts.savePolicy(world.ana, { version: 0 }, text);
      await world.publish({ ttl_seconds: 60 });
      const { current, undecided } = await draftPublishing.merge(world.ana, draft, {});
      expect(undecided.count).toBe(1);
      await world.publish({ ttl_seconds: 90 });
      const decisions = { "/ttl_seconds": decision };
      for (const decidedOn of [current.id, "gone"]) {
        const again = await draftPublishing.merge(world.ana, { ...draft, decidedOn }, decisions);
        expect(again).toMatchObject({ draft: { version: 1 }, decisions: {}, current: world.inForce() });
        expect(JSON.parse(again.undecided.text)).toEqual([{ path: "/ttl_seconds", theirs: 90, mine: 30 }]);
      }
      await world.publish({ ttl_seconds: 60 });
      const merged = await draftPublishing.merge(world.ana, { ...draft, decidedOn: current.id }, decisions);
      expect(merged.draft.document.ttl_seconds).toBe(decision === "mine" ? 30 : 60);
    },
  );
});
