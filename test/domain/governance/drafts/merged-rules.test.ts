// A merge of two valid policies may break a rule of one member. The review reports it, and nothing is published.
import { describe, expect, test } from "bun:test";
import { typedProblems } from "../../../../src/domain/governance/drafts/draft-model.ts";
import { changesIn } from "../../../../src/domain/governance/shown/change-list.ts";
import { managedText, packageOf, refusalOf } from "../governance-world.ts";
import { createDraftWorld, type DraftWorld } from "./draft-world.ts";

const local = { name: "x", command: "/x" };

/** Publishes servers of Codex directly, as another administrator. */
const publishServers = ({ governance, admin, inForce }: DraftWorld, ...codex: object[]) =>
  governance.publishing.publishExtensions(admin, {
    baseRevision: inForce().id,
    packages: [],
    mcp: { codex },
  });

test("CON-53 what an MCP server runs is one value: two changes of it are never mixed", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  await publishServers(world, local);
  const mine = { name: "x", url: "https://h/x", disabled: false };
  const draft = await drafts.saveMcp(world.ana, { version: 0 }, { codex: [mine] });
  await publishServers(world, { ...local, env: { K: "v" } });
  const path = "/harnesses/codex/mcp/x";
  const { undecided } = await draftPublishing.merge(world.ana, draft, {});
  expect(JSON.parse(undecided.text)).toMatchObject([{ path, mine, theirs: { env: { K: "v" } } }]);
  const merged = await draftPublishing.merge(world.ana, draft, { [path]: "mine" });
  await draftPublishing.publish(world.ana, { draft: draft.id, version: merged.draft.version });
  expect(world.inForce().document.harnesses.codex?.mcp).toEqual([mine]);
});

test("CON-53 a server that one turned off and the other changed is changed and off", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  await publishServers(world, local);
  const off = { codex: [{ ...local, disabled: true }] };
  const draft = await drafts.saveMcp(world.ana, { version: 0 }, off);
  await publishServers(world, { ...local, env: { K: "v" } });
  const { draft: merged, undecided } = await draftPublishing.merge(world.ana, draft, {});
  expect(undecided.count).toBe(0);
  expect(merged.document.harnesses.codex?.mcp).toMatchObject([{ env: { K: "v" }, disabled: true }]);
});

test("CON-54 a range that one removed and the other relied on cannot be published", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const codex = (policy: object) => ({ harnesses: { codex: { managed_config: { model: "a" }, ...policy } } });
  const range = { version_requirement: ">=0.145.0" };
  await world.publish(codex(range));
  const text = managedText(codex({ ...range, allow_unverified_versions: true }));
  const draft = await drafts.savePolicy(world.ana, { version: 0 }, text);
  await world.publish(codex({}));
  const merged = await draftPublishing.merge(world.ana, draft, {});
  expect(merged.undecided.count).toBe(0);
  const { problems } = await draftPublishing.review(world.ana, merged.draft);
  expect(problems.map(({ pointer }) => pointer)).toEqual(["/harnesses/codex/allow_unverified_versions"]);
});

test("CON-55 the review after a merge lists only what changes", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const harnesses = { codex: { version_requirement: ">=0.145.0" } };
  await world.publish({ harnesses });
  expect(world.inForce().document.contract_version).toBeGreaterThan(1);
  const required = managedText({ harnesses, required: true });
  const draft = await drafts.savePolicy(world.ana, { version: 0 }, required);
  await world.publish({ harnesses, ttl_seconds: 60 });
  const merged = await draftPublishing.merge(world.ana, draft, {});
  const { changes } = await draftPublishing.review(world.ana, merged.draft);
  expect(changesIn(changes).map(({ path }) => path)).toEqual(["/required"]);
  expect(merged.draft).toMatchObject({ changes: 1 });
});

test("CON-53 an order that both changed is a decision that lists the names, and a server that one added stays", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => ({ name, command: `/${name}` }));
  await publishServers(world, ...[a, b, c].filter((server) => server !== undefined));
  const draft = await drafts.saveMcp(world.ana, { version: 0 }, { codex: [a, c, b] });
  await publishServers(world, ...[b, a, c, d].filter((server) => server !== undefined));
  const { undecided } = await draftPublishing.merge(world.ana, draft, {});
  const path = "/harnesses/codex/mcp";
  expect(JSON.parse(undecided.text)).toEqual([
    { path, order: true, base: ["a", "b", "c"], theirs: ["b", "a", "c", "d"], mine: ["a", "c", "b"] },
  ]);
  for (const [decision, names] of [
    ["mine", ["a", "c", "d", "b"]],
    ["theirs", ["b", "a", "c", "d"]],
  ] as const) {
    const { version } = drafts.existing(world.ana);
    const merged = await draftPublishing.merge(world.ana, { version }, { [path]: decision });
    expect(merged.draft.document.harnesses.codex?.mcp.map(({ name }) => name)).toEqual([...names]);
    await drafts.discard(world.ana, merged.draft.id);
    const base = world.governance.revisions.before(world.world.organizationId, world.inForce());
    await drafts.saveMcp(world.ana, { version: 0, baseRevision: base.id }, { codex: [a, c, b] });
  }
});

test("CON-53 a draft's changes to a package end when another revision removes the package", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing, publishing } = world.governance;
  const { user } = await world.signedIn("member");
  const publish = (...packages: object[]) =>
    publishing.publishExtensions(world.admin, { baseRevision: world.inForce().id, packages });
  await publish(packageOf("one"), packageOf("two"));
  const used = await drafts.use(world.ana, { version: 0 }, "one", {
    harness: "codex",
    isEnabled: false,
    settings: {},
  });
  const draft = await drafts.audience(world.ana, used, "one", { scope: "users", user_ids: [user.id] });
  await publish(packageOf("two"));
  const merged = await draftPublishing.merge(world.ana, draft, {});
  expect(merged.undecided.count).toBe(0);
  expect(merged.draft.document.harnesses.codex?.package_overrides).toEqual({});
  expect(merged.draft.audiences).toEqual({});
  expect(await draftPublishing.review(world.ana, merged.draft)).toMatchObject({ problems: [] });
});

test.each(["mine", "theirs"] as const)(
  "CON-53 a package that the other side removed keeps its audience and its use, if the decision is %s",
  async (decision) => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing, publishing } = world.governance;
    const one = packageOf("one", { adapters: { codex: { skills_dir: "skills" } } });
    const changed = { ...one, version: "2.0.0" };
    const rules = {
      packageAudiences: { one: { scope: "users" as const, user_ids: [world.ben.id ?? ""] } },
      packageOverrides: { codex: { one: { enabled: false, settings: {} } } },
    };
    const publish = (packages: object[], more: object = {}) =>
      publishing.publishExtensions(world.admin, { baseRevision: world.inForce().id, packages, ...more });
    await publish([one], rules);
    const draft =
      decision === "mine"
        ? await drafts.takePackage(world.ana, { version: 0 }, changed)
        : await drafts.removePackage(world.ana, { version: 0 }, "one");
    await (decision === "mine" ? publish([]) : publish([changed], rules));
    const { draft: merged, undecided } = await draftPublishing.merge(world.ana, draft, {
      "/packages/one": decision,
    });
    expect(undecided.count).toBe(0);
    expect(merged.document.packages.map(({ version }) => version)).toEqual(["2.0.0"]);
    expect(merged.document.harnesses.codex?.package_overrides).toEqual(rules.packageOverrides.codex);
    expect(merged.audiences).toEqual(rules.packageAudiences);
  },
);

const codexLayout = { adapters: { codex: { skills_dir: "skills" } } };
const only = (...user_ids: string[]) => ({ scope: "users" as const, user_ids });
const EVERYBODY = { scope: "organization", user_ids: [] };

/** @returns a function that directly publishes packages with their rules, as another administrator */
const publisherOf =
  ({ governance, admin, inForce }: DraftWorld) =>
  (packages: object[], rules: object = {}) =>
    governance.publishing.publishExtensions(admin, { baseRevision: inForce().id, packages, ...rules });

test("CON-53 an audience is one value: merging two never leaves a package without users", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const [ana = "", ben = ""] = [world.ana.id, world.ben.id].map(String);
  const publish = publisherOf(world);
  await publish([packageOf("one")], { packageAudiences: { one: only(ana) } });
  const draft = await drafts.audience(world.ana, { version: 0 }, "one", only(ana, ben));
  await publish([packageOf("one")], { packageAudiences: { one: only(ben) } });
  const { undecided } = await draftPublishing.merge(world.ana, draft, {});
  expect(JSON.parse(undecided.text)).toEqual([
    { path: "/package_audiences/one", base: only(ana), theirs: only(ben), mine: only(ana, ben) },
  ]);
  const merged = await draftPublishing.merge(world.ana, draft, { "/package_audiences/one": "mine" });
  expect(merged.draft.audiences).toEqual({ one: only(ana, ben) });
});

test("CON-53 two entries that both added under one name are never mixed", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const mine = { name: "docs", command: "/mine", env: { TOKEN: "x" }, disabled: false };
  const draft = await drafts.saveMcp(world.ana, { version: 0 }, { codex: [mine] });
  await publishServers(world, { name: "docs", command: "/theirs", args: ["-y"] });
  const { undecided } = await draftPublishing.merge(world.ana, draft, {});
  const path = "/harnesses/codex/mcp/docs";
  expect(JSON.parse(undecided.text)).toMatchObject([{ path, mine, theirs: { command: "/theirs" } }]);
  const merged = await draftPublishing.merge(world.ana, draft, { [path]: "mine" });
  expect(merged.draft.document.harnesses.codex?.mcp).toEqual([mine]);
});

test("CON-53 two uses of one package that both added are never mixed", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const publish = publisherOf(world);
  await publish([packageOf("one", codexLayout)]);
  const use = { harness: "codex" as const, isEnabled: true, settings: { level: 1 } };
  const draft = await drafts.use(world.ana, { version: 0 }, "one", use);
  const off = { one: { enabled: false, settings: {} } };
  await publish([packageOf("one", codexLayout)], { packageOverrides: { codex: off } });
  const { undecided } = await draftPublishing.merge(world.ana, draft, {});
  const path = "/harnesses/codex/package_overrides/one";
  expect(JSON.parse(undecided.text)).toMatchObject([
    { path, mine: { settings: { level: 1 } }, theirs: off.one },
  ]);
  const merged = await draftPublishing.merge(world.ana, draft, { [path]: "theirs" });
  expect(merged.draft.document.harnesses.codex?.package_overrides).toEqual(off);
});

test.each(["mine", "theirs"] as const)(
  "CON-53 a package that both added has the uses of one author, if the decision is %s",
  async (decision) => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const [mine, theirs] = ["1", "2"].map((version) => packageOf("one", { version, ...codexLayout }));
    if (!mine || !theirs) throw new Error("there are two");
    const draft = await drafts.takePackage(world.ana, { version: 0 }, mine);
    const off = { codex: { one: { enabled: false, settings: {} } } };
    const pilot = only(String(world.ben.id));
    await publisherOf(world)([theirs], { packageOverrides: off, packageAudiences: { one: pilot } });
    const { undecided } = await draftPublishing.merge(world.ana, draft, {});
    const places = JSON.parse(undecided.text).map(({ path }: { path: string }) => path);
    expect(places).toEqual(["/packages/one", "/package_audiences/one"]);
    expect(JSON.parse(undecided.text)[1]).toMatchObject({ theirs: pilot, mine: EVERYBODY });
    const decisions = { "/packages/one": decision, "/package_audiences/one": "mine" } as const;
    const { document, audiences } = (await draftPublishing.merge(world.ana, draft, decisions)).draft;
    expect(document.packages).toMatchObject([decision === "mine" ? { version: "1" } : { version: "2" }]);
    expect(document.harnesses.codex?.package_overrides ?? {}).toEqual(decision === "mine" ? {} : off.codex);
    expect(audiences).toEqual({});
  },
);

test("CON-53 a layout belongs to its archive: the archive of one author never gets the layout of another", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const publish = publisherOf(world);
  await publish([packageOf("one", codexLayout)]);
  const elsewhere = { adapters: { codex: { skills_dir: "elsewhere" } } };
  const draft = await drafts.takePackage(world.ana, { version: 0 }, packageOf("one", elsewhere));
  await publish([packageOf("one", { version: "2", ...codexLayout })]);
  const { undecided } = await draftPublishing.merge(world.ana, draft, {});
  expect(JSON.parse(undecided.text).map(({ path }: { path: string }) => path)).toEqual(["/packages/one"]);
});

test("CON-62 a former audience with a user who has left is published again with a warning", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const { user } = await world.signedIn("member");
  const publish = publisherOf(world);
  await publish([packageOf("one")], { packageAudiences: { one: only(user.id) } });
  const former = world.inForce();
  await publish([packageOf("one")], { packageAudiences: { one: EVERYBODY } });
  await world.domain.identity.users.update(world.admin, user.id, { status: "suspended" });
  const draft = await drafts.saveFormer(world.ana, { version: 0 }, former.id);
  expect(await draftPublishing.review(world.ana, draft)).toMatchObject({
    problems: [],
    warnings: [{ pointer: "/package_audiences/one/user_ids/0", detail: `${user.email} is suspended` }],
  });
  await draftPublishing.publish(world.ana, { draft: draft.id, version: draft.version });
  expect(world.inForce().audiences).toEqual({ one: only(user.id) });
});

describe("CON-54 after a merge that breaks rules of two harnesses", () => {
  const since = "2.0.12";
  const served = (version: string) => ({ version_requirement: version, allow_unverified_versions: true });
  const policy = (claude: string, codex: string) => ({
    harnesses: { claude: served(claude), codex: served(codex) },
  });
  const adapters = {
    claude: { introduced: since, skills_dir: "skills" },
    codex: { introduced: "0.145.0", skills_dir: "skills" },
  };
  const settings = (versionRequirement: string) => ({
    managedConfigYaml: "",
    versionRequirement,
    allowUnverifiedVersions: true,
  });

  /** @returns a draft that added a package while the ranges of its harnesses became wider */
  async function createBrokenMerge(world: DraftWorld) {
    const { drafts, draftPublishing } = world.governance;
    await world.publish(policy(`>=${since}, <3`, ">=0.145.0, <1"));
    const packages = [packageOf("guide", { adapters })];
    const draft = await drafts.saveExtensions(world.ana, { version: 0 }, { packages });
    await world.publish(policy(">=1.0.0, <3", ">=0.100.0, <1"));
    const merged = await draftPublishing.merge(world.ana, draft, {});
    const { problems } = await draftPublishing.review(world.ana, merged.draft);
    expect(problems.map(({ pointer }) => pointer)).toEqual([
      "/packages/0/adapters/codex",
      "/packages/0/adapters/claude",
    ]);
    return merged.draft;
  }

  test("each is corrected by itself", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing, previews } = world.governance;
    const merged = await createBrokenMerge(world);
    expect(await previews.check(world.ana, await drafts.textOf(merged), "policy")).toHaveLength(2);
    expect(await previews.check(world.ana, "", "claude")).toHaveLength(2);
    const one = await drafts.saveHarness(world.ana, merged, "claude", settings(`>=${since}, <3`));
    expect(typedProblems(one.typed)).toEqual([]);
    const both = await drafts.saveHarness(world.ana, one, "codex", settings(">=0.145.0, <1"));
    expect((await draftPublishing.review(world.ana, both)).problems).toEqual([]);
  });

  test("other parts are edited before that, and the review counts what they add", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const merged = await createBrokenMerge(world);
    const withServer = await drafts.saveMcp(world.ana, merged, { kimi: [local] });
    const added = await drafts.takePackage(world.ana, withServer, packageOf("other"));
    const moved = await drafts.saveExtensions(world.ana, added, {
      packages: [packageOf("other"), packageOf("guide", { adapters })],
      mcp: { kimi: [local] },
    });
    const more = await drafts.takePackage(world.ana, moved, packageOf("more", { adapters }));
    expect((await draftPublishing.review(world.ana, more)).problems).toHaveLength(4);
    const publishing = draftPublishing.publish(world.ana, { draft: more.id, version: more.version });
    expect(await refusalOf(() => publishing)).toMatchObject({ reason: "governance.invalid" });
  });

  test("one range is corrected while a package is still not served, whichever version its problem names", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    await world.publish(policy(`>=${since}, <3`, ">=0.145.0, <1"));
    const later = { claude: { introduced: "2.1.0", skills_dir: "skills" } };
    const packages = [packageOf("guide", { adapters }), packageOf("later", { adapters: later })];
    const draft = await drafts.saveExtensions(world.ana, { version: 0 }, { packages });
    const wider = policy(">=1.0.0, <3", ">=0.145.0, <1");
    await world.publish(wider);
    const { draft: merged } = await draftPublishing.merge(world.ana, draft, {});
    expect((await draftPublishing.review(world.ana, merged)).problems).toHaveLength(2);
    const one = await drafts.saveHarness(world.ana, merged, "claude", settings(`>=${since}, <3`));
    expect(typedProblems(one.typed)).toEqual([]);
    const { problems } = await draftPublishing.review(world.ana, one);
    expect(problems).toMatchObject([{ pointer: "/packages/1/adapters/claude" }]);
    const saved = await drafts.saveHarness(world.ana, one, "claude", settings(">=2.1.0, <3"));
    expect((await draftPublishing.review(world.ana, saved)).problems).toEqual([]);
  });
});

describe("CON-54 after a merge that is too large", () => {
  const server = (name: string) => ({
    name,
    command: "/x",
    args: Array.from({ length: 6 }, () => "y".repeat(30_000)),
  });
  const [mine, theirs] = ["a", "b"].map((side) =>
    Array.from({ length: 6 }, (_, at) => server(`${side}${at}`)),
  ) as [ReturnType<typeof server>[], ReturnType<typeof server>[]];

  test("servers are removed one by one, and none is added", async () => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const draft = await drafts.saveMcp(world.ana, { version: 0 }, { claude: mine });
    await publishServers(world, ...theirs);
    let { draft: last } = await draftPublishing.merge(world.ana, draft, {});
    expect((await draftPublishing.review(world.ana, last)).problems).toMatchObject([{ pointer: "" }]);
    const adding = () => drafts.saveMcp(world.ana, last, { kimi: [local] });
    expect(await refusalOf(adding)).toMatchObject({ reason: "governance.invalid" });
    const wide = mine.map((one) => ({ ...one, args: one.args.map((text) => "€".repeat(text.length / 2)) }));
    expect(await refusalOf(() => drafts.saveMcp(world.ana, last, { claude: wide }))).toMatchObject({
      reason: "governance.invalid",
    });
    for (const left of [5, 4, 3, 2])
      last = await drafts.saveMcp(world.ana, last, { claude: mine.slice(0, left) });
    expect((await draftPublishing.review(world.ana, last)).problems).toEqual([]);
  });
});
