// Changes of single packages in a draft: each leaves everything else unchanged.

import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { artifacts } from "../../../../src/domain/catalog/tables.ts";
import { changesIn } from "../../../../src/domain/governance/service.ts";
import { seedCatalog } from "../../../support/content/catalog.ts";
import { tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { packageOf, refusalOf } from "../governance-world.ts";
import { createDraftWorld, type DraftWorld } from "./draft-world.ts";

const FIRST = { version: 0 };
const adapters = { codex: { skills_dir: "skills" } };
const guide = packageOf("guide", { adapters });
const tool = packageOf("tool", { adapters });
const server = { name: "issues", command: "issues-mcp", disabled: false };

const audienceIn = ({ ben }: DraftWorld) => ({ scope: "users" as const, user_ids: [ben.id ?? ""] });

/** @returns a world whose policy has two packages, the first with an audience and an override, and an MCP server */
async function createPackageWorld(): Promise<DraftWorld> {
  const world = await createDraftWorld();
  await world.governance.publishing.publishExtensions(world.ana, {
    baseRevision: world.inForce().id,
    packages: [guide, tool],
    packageAudiences: { guide: audienceIn(world) },
    packageOverrides: { codex: { guide: { enabled: false, settings: {} } } },
    mcp: { codex: [server] },
  });
  return world;
}

test("a package is replaced in its place, and keeps its audience and its override", async () => {
  await using world = await createPackageWorld();
  const { document, audiences } = await world.governance.drafts.takePackage(world.ana, FIRST, {
    ...guide,
    version: "1.1.0",
  });
  expect(document.packages.map(({ id, version }) => [id, version])).toEqual([
    ["guide", "1.1.0"],
    ["tool", "1.0.0"],
  ]);
  expect(audiences).toEqual({ guide: audienceIn(world) });
  expect(document.harnesses.codex).toEqual(world.inForce().document.harnesses.codex);
});

test("a new package is added after the others, and is for all users", async () => {
  await using world = await createPackageWorld();
  const added = packageOf("added");
  const { document, audiences } = await world.governance.drafts.takePackage(world.ana, FIRST, added);
  expect(document.packages.map(({ id }) => id)).toEqual(["guide", "tool", "added"]);
  expect(Object.keys(audiences)).toEqual(["guide"]);
});

test("a package is removed with its audience and its override; MCP servers stay", async () => {
  await using world = await createPackageWorld();
  const { document, audiences } = await world.governance.drafts.removePackage(world.ana, FIRST, "guide");
  expect(document.packages.map(({ id }) => id)).toEqual(["tool"]);
  expect(audiences).toEqual({});
  expect(document.harnesses.codex).toMatchObject({ package_overrides: {}, mcp: [server] });
});

test("an audience is replaced, and removed", async () => {
  await using world = await createPackageWorld();
  const { drafts } = world.governance;
  const first = await drafts.audience(world.ana, FIRST, "tool", audienceIn(world));
  expect(first.audiences).toEqual({ guide: audienceIn(world), tool: audienceIn(world) });
  const second = await drafts.audience(world.ana, first, "guide", { scope: "organization" });
  expect(second.audiences).toEqual({ tool: audienceIn(world) });
});

test("an override is set for one harness, and is removed once it is empty", async () => {
  await using world = await createPackageWorld();
  const { drafts } = world.governance;
  const settings = { depth: 3 };
  const used = { harness: "codex", isEnabled: true, settings } as const;
  const first = await drafts.use(world.ana, FIRST, "tool", used);
  expect(first.document.harnesses.codex?.package_overrides).toEqual({
    guide: { enabled: false, settings: {} },
    tool: { settings },
  });
  const second = await drafts.use(world.ana, first, "tool", { ...used, settings: {} });
  expect(second.document.harnesses.codex?.package_overrides).toEqual({
    guide: { enabled: false, settings: {} },
  });
  const kimi = await drafts.use(world.ana, second, "tool", { harness: "kimi", isEnabled: false, settings });
  expect(kimi.document.harnesses.kimi?.package_overrides).toEqual({ tool: { enabled: false, settings } });
});

test("a package that the draft lacks is refused", async () => {
  await using world = await createPackageWorld();
  const { drafts } = world.governance;
  const { ana } = world;
  const use = { harness: "codex", isEnabled: false, settings: {} } as const;
  for (const change of [
    () => drafts.removePackage(ana, FIRST, "other"),
    () => drafts.audience(ana, FIRST, "constructor", { scope: "organization" }),
    () => drafts.use(ana, FIRST, "other", use),
  ])
    expect(await refusalOf(change)).toMatchObject({ kind: "not_found", reason: "policy_draft.no_package" });
  expect(drafts.own(ana)).toBeUndefined();
});

test("CON-56 a newer entry of the catalog is named in the review, and no other save takes it", async () => {
  await using world = await createPackageWorld();
  const { drafts, draftPublishing } = world.governance;
  await seedCatalog(world, [
    { ...guide, version: "1.3.0", sha256: "cd".repeat(32) },
    { ...tool, sha256: guide.sha256.toUpperCase() },
  ]);
  const { organizationId } = world.world;
  const harness = { managedConfigYaml: "model: gpt-5", isAllowed: true };
  const draft = await drafts.saveHarness(world.ana, FIRST, "codex", harness);
  const review = await draftPublishing.review(world.ana, draft);
  expect(review.catalogUpdates).toEqual([{ id: "guide", from: "1.0.0", to: "1.3.0" }]);
  expect(changesIn(review.changes).map(({ path }) => path)).toEqual([
    "/harnesses/codex/managed_config/model",
  ]);
  await draftPublishing.publish(world.ana, { draft: draft.id, version: draft.version });
  expect(world.inForce().document.packages[0]).toMatchObject({ version: "1.0.0", sha256: guide.sha256 });

  const offered = world.domain.catalog.get(organizationId, "guide");
  const updated = await drafts.takePackage(world.ana, FIRST, offered);
  const after = await draftPublishing.review(world.ana, updated);
  expect(after.catalogUpdates).toEqual([]);
  expect(changesIn(after.changes)).toContainEqual({
    path: "/packages/guide/version",
    before: "1.0.0",
    after: "1.3.0",
  });
});

test("a package whose archive is no longer stored prevents no other edit, and the review names it", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const bytes = (async function* () {
    yield tarGzOf(tarFile("skills/guide/SKILL.md", "# Guide"));
  })();
  const { artifactId, sha256 } = await world.domain.packageSources.upload(world.ana, {
    name: "g.tgz",
    bytes,
  });
  const stored = packageOf("guide", { artifact_id: artifactId, sha256 });
  const draft = await drafts.takePackage(world.ana, FIRST, stored);
  await world.world.db.write((tx) => tx.delete(artifacts).where(eq(artifacts.id, artifactId)).run());
  const added = await drafts.takePackage(world.ana, draft, tool);
  const { problems } = await draftPublishing.review(world.ana, added);
  expect(problems).toMatchObject([{ pointer: "/packages/0/artifact_id" }]);
  const second = packageOf("second", { artifact_id: crypto.randomUUID() });
  expect(await refusalOf(() => drafts.takePackage(world.ana, added, second))).toMatchObject({
    pointers: ["/packages/2/artifact_id"],
  });
});
