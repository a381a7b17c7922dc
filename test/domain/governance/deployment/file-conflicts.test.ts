// Settling places where the policy differs from the deployment file: keeping the value until the file changes there, or adopting
// the file's value.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { createGovernanceWorld, packageOf, refusalOf, sectionOf } from "../governance-world.ts";

const world = await createGovernanceWorld(sectionOf({ ttl_seconds: 60 }));
afterAll(() => world[Symbol.asyncDispose]());
const { fileConflicts, drafts, documents, deployments } = world.governance;
const { organizationId } = world.world;
const admin = (await world.signedIn("admin")).actor;
const server = (url: string) => ({ harnesses: { codex: { mcp: [{ name: "docs", url }] } } });
const withPackage = (ttl_seconds: number, version: string) =>
  sectionOf({
    ttl_seconds,
    packages: [packageOf("one", { version })],
    ...server(`https://${version}.example`),
  });
let round = 100;

/** Both change the same three places. @returns the number in the file now */
beforeEach(async () => {
  if (drafts.own(admin)) await drafts.discard(admin, drafts.existing(admin).id);
  const former = `1.${round}`;
  await world.start(withPackage(round, former));
  const { conflicts } = await fileConflicts.list(organizationId);
  for (const { path } of conflicts)
    await fileConflicts.keep(admin, { ...(await fileConflicts.list(organizationId)), paths: [path] });
  await world.publish({ ttl_seconds: round + 1 });
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [packageOf("one", { version: "dashboard" })],
    mcp: {},
  });
  round += 2;
  await world.start(withPackage(round, `1.${round}`));
});

test("CON-45 both values are listed; a side without a value lacks its member", async () => {
  const { conflicts, version } = await fileConflicts.list(organizationId);
  expect(conflicts).toEqual([
    { path: "/ttl_seconds", policy: round - 1, file: round },
    {
      path: "/harnesses/codex/mcp/docs",
      file: expect.objectContaining({ url: `https://1.${round}.example` }),
    },
    {
      path: "/packages/one",
      policy: expect.objectContaining({ version: "dashboard" }),
      file: expect.objectContaining({ version: `1.${round}` }),
    },
  ]);
  expect((await fileConflicts.show(organizationId, ["/ttl_seconds"])).conflicts).toHaveLength(1);
  expect((await fileConflicts.list(organizationId)).version).toBe(version);
});

test("CON-45 a kept value is not a conflict until the file changes there, and publishes nothing", async () => {
  const { version } = await fileConflicts.list(organizationId);
  const before = world.inForce();
  await fileConflicts.keep(admin, { version, paths: ["/ttl_seconds"] });
  expect(world.inForce().id).toBe(before.id);
  expect(deployments.conflicts(organizationId)).not.toContain("/ttl_seconds");
  expect(await world.start(withPackage(round, `1.${round}`))).toMatchObject({ outcome: "unchanged" });
  expect(deployments.conflicts(organizationId)).not.toContain("/ttl_seconds");
  await world.start(withPackage(round + 9, `1.${round}`));
  expect(deployments.conflicts(organizationId)).toContain("/ttl_seconds");
});

test("CON-45 values of the file are taken in the draft, and publishing it settles them", async () => {
  const paths = (await fileConflicts.list(organizationId)).conflicts.map(({ path }) => path);
  const { document } = await drafts.takeFileValues(admin, { version: 0 }, paths);
  expect(document).toMatchObject({
    ttl_seconds: round,
    packages: [{ id: "one", version: `1.${round}` }],
    harnesses: { codex: { mcp: [{ name: "docs" }] } },
  });
  const { id: draft, version } = drafts.existing(admin);
  await world.governance.draftPublishing.publish(admin, { draft, version });
  expect(deployments.conflicts(organizationId)).toEqual([]);
});

test("an operator publishes values of the file; the other places stay", async () => {
  const plan = await fileConflicts.plan(world.operator, ["/ttl_seconds"]);
  expect(plan.changes.map(({ path }) => path)).toEqual(["/ttl_seconds"]);
  await documents.apply(world.operator, plan, { comment: undefined });
  expect(world.inForce()).toMatchObject({ origin: "operator", document: { ttl_seconds: round } });
  expect(deployments.conflicts(organizationId)).toHaveLength(2);
});

test("a package that the policy no longer has is taken whole", async () => {
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [],
  });
  const { document } = await drafts.takeFileValues(admin, { version: 0 }, ["/packages/one"]);
  expect(document.packages).toMatchObject([{ id: "one", version: `1.${round}` }]);
});

test("CON-45 a package that the policy no longer has comes with its uses, and a use needs its package", async () => {
  const file = (version: string, enabled: boolean) =>
    sectionOf({
      packages: [packageOf("one", { version })],
      harnesses: { codex: { package_overrides: { one: { enabled, settings: {} } } } },
    });
  await world.start(file("2.0.0", true));
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [],
    mcp: { codex: [{ name: "own", command: "/own" }] },
  });
  await world.start(file("3.0.0", false));
  const use = "/harnesses/codex/package_overrides/one";
  expect(deployments.conflicts(organizationId)).toEqual(expect.arrayContaining([use, "/packages/one"]));
  expect(await refusalOf(() => fileConflicts.plan(world.operator, [use]))).toMatchObject({
    reason: "governance.invalid",
    pointers: [use],
    hint: expect.stringContaining("its package"),
  });
  const half = await drafts.takeFileValues(admin, { version: 0 }, [use]);
  const { problems } = await world.governance.draftPublishing.review(admin, half);
  expect(problems).toMatchObject([{ pointer: use }]);
  const { document } = await drafts.takeFileValues(admin, half, ["/packages/one"]);
  expect(document).toMatchObject({
    packages: [{ id: "one", version: "3.0.0" }],
    harnesses: { codex: { package_overrides: { one: { enabled: false } } } },
  });
});

test("CON-45 a package that the file removed ends with the overrides that the policy has for it", async () => {
  await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [packageOf("one", { version: "new", adapters: { codex: { skills_dir: "s" } } })],
    packageOverrides: { codex: { one: { enabled: false, settings: {} } } },
  });
  await world.start(sectionOf({ ttl_seconds: round }));
  expect(deployments.conflicts(organizationId)).toContain("/packages/one");
  const { document } = await drafts.takeFileValues(admin, { version: 0 }, ["/packages/one"]);
  expect(document).toMatchObject({ packages: [], harnesses: { codex: { package_overrides: {} } } });
});

test("refuses a place without a conflict, values that have changed, and a draft with a broken text", async () => {
  const { version } = await fileConflicts.list(organizationId);
  const none = { kind: "not_found", reason: "policy_conflict.none" };
  for (const path of ["/required", "", "x", "/ttl_seconds/"]) {
    expect(await refusalOf(() => fileConflicts.keep(admin, { version, paths: [path] }))).toMatchObject(none);
    expect(await refusalOf(() => fileConflicts.plan(world.operator, [path]))).toMatchObject(none);
    expect(await refusalOf(() => drafts.takeFileValues(admin, { version: 0 }, [path]))).toMatchObject(none);
  }
  const keep = () => fileConflicts.keep(admin, { version, paths: ["/ttl_seconds"] });
  await world.publish({ ttl_seconds: 7 });
  expect(await refusalOf(keep)).toMatchObject({ kind: "conflict", reason: "policy_conflict.changed" });
  const broken = await drafts.savePolicy(admin, { version: 0 }, "requird: true");
  const take = () => drafts.takeFileValues(admin, broken, ["/ttl_seconds"]);
  expect(await refusalOf(take)).toMatchObject({ reason: "policy_draft.broken_text" });
});
