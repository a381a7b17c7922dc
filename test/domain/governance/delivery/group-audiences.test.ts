// Audiences that name groups of the identity provider, whose members are read at each request.
import { afterAll, expect, test } from "bun:test";
import { addArtifact } from "../../../../src/domain/catalog/store.ts";
import type { ScimCaller } from "../../../../src/domain/scim/model.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { addScimUsers, membersOf, patchOf } from "../../scim/groups/groups-world.ts";
import { createGovernanceWorld, DIGEST, packageOf, refusalOf } from "../governance-world.ts";

const world = await createGovernanceWorld();
afterAll(() => world[Symbol.asyncDispose]());
const { governance, delivery, scim, clients } = world.domain;
const { organizationId } = world.world;
const caller: ScimCaller = {
  actor: { kind: "scim", id: null, label: "scim:test", organizationId },
  profile: "standard",
};
const [ana = "", ben = "", cleo = ""] = await addScimUsers(world.world, 3);

const createGroup = async (displayName: string, members: readonly string[]): Promise<string> =>
  (await scim.groups.create(caller, { displayName, members: membersOf(members) }, {})).id;

const publish = (
  packageAudiences: Parameters<typeof governance.publishing.publishExtensions>[1]["packageAudiences"],
) =>
  governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [packageOf("guide"), packageOf("other")],
    packageAudiences,
  });

const viewOf = (userId: string) => delivery.viewFor({ organizationId, userId });
const packagesOf = (userId: string) => viewOf(userId).document.packages.map(({ id }) => id);
const tagOf = (userId: string) => delivery.tagFor({ organizationId, userId }).name;

const change = (group: string, operation: object) =>
  scim.groups.patch(caller, group, { body: patchOf(operation) });

test("members immediately get the package, and lose it when they leave, without another revision", async () => {
  const engineers = await createGroup("Engineers", [ana]);
  const { id: revision } = await publish({
    guide: { scope: "users", user_ids: [cleo], group_ids: [engineers] },
  });
  expect([ana, ben, cleo].map(packagesOf)).toEqual([["guide", "other"], ["other"], ["guide", "other"]]);
  expect(viewOf(ana)).toBe(viewOf(cleo));
  const before = [tagOf(ana), tagOf(ben)];
  expect(before[0]).toBe(viewOf(ana).name);

  await change(engineers, { op: "add", path: "members", value: membersOf([ben]) });
  await change(engineers, { op: "remove", path: `members[value eq "${ana}"]` });
  expect([ana, ben, cleo].map(packagesOf)).toEqual([["other"], ["guide", "other"], ["guide", "other"]]);
  expect([tagOf(ben), tagOf(ana)]).toEqual(before);
  expect(world.inForce().id).toBe(revision);
  expect(governance.hiddenFrom(ana, world.inForce())).toEqual(["guide"]);
  const explained = await governance.explain(world.admin, { userId: ben, harness: "codex" });
  expect(explained.packages.map(({ state }) => state)).toEqual(["other_harness", "other_harness"]);
  expect(governance.summarize(organizationId, ana)?.packages).toBe(0);
});

test("the delivered document contains no groups", async () => {
  const staff = await createGroup("Staff", [ana]);
  await publish({ guide: { scope: "users", group_ids: [staff] } });
  const text = new TextDecoder().decode(viewOf(ana).bytes);
  expect(text).toContain('"guide"');
  expect(text).not.toContain(staff);
  expect(text).not.toContain("group_ids");
});

test("a publication without group_ids keeps the stored groups, and an empty list removes them", async () => {
  const kept = await createGroup("Kept", [ana]);
  await publish({ guide: { scope: "users", user_ids: [ben], group_ids: [kept] } });
  await publish({ guide: { scope: "users", user_ids: [cleo] } });
  expect(world.inForce().audiences).toEqual({
    guide: { scope: "users", user_ids: [cleo], group_ids: [kept] },
  });
  await publish({ guide: { scope: "users", user_ids: [] } });
  expect(packagesOf(ana)).toEqual(["guide", "other"]);
  expect(packagesOf(cleo)).toEqual(["other"]);
  await publish({ guide: { scope: "users", user_ids: [cleo], group_ids: [] } });
  expect(world.inForce().audiences).toEqual({ guide: { scope: "users", user_ids: [cleo] } });
  await publish({ guide: { scope: "organization" } });
  expect(world.inForce().audiences).toEqual({});
});

test("a deleted group gives no user the package, and a new audience may not name it", async () => {
  const gone = await createGroup("Gone", [ana]);
  await publish({ guide: { scope: "users", user_ids: [ben], group_ids: [gone] } });
  await scim.groups.remove(caller, gone, {});
  expect(packagesOf(ana)).toEqual(["other"]);
  await publish({ guide: { scope: "users", user_ids: [ben], group_ids: [gone] } });
  const refused = await refusalOf(() => publish({ other: { scope: "users", group_ids: [gone] } }));
  expect(refused).toMatchObject({
    reason: "governance.invalid",
    pointers: ["/package_audiences/other/group_ids/0"],
  });
});

test("only members may fetch an archive, as of the time of the request", async () => {
  const artifact = {
    id: world.world.ids.uuid(),
    organizationId,
    sha256: DIGEST,
    sizeBytes: 1,
    createdAtMs: 0,
  };
  await world.world.db.write((tx) => addArtifact(tx, { ...artifact, entries: 1, expandedBytes: 1 }));
  const readers = await createGroup("Readers", [ana]);
  await governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [packageOf("archive", { artifact_id: artifact.id })],
    packageAudiences: { archive: { scope: "users", group_ids: [readers] } },
  });
  const offer = (userId: string) =>
    refusalOf(() => world.domain.artifactLinks.offer({ organizationId, userId }, artifact.id));
  expect(await offer(ben)).toMatchObject({ reason: "artifact.not_found" });
  expect(await offer(ana)).toMatchObject({ reason: "artifact.bytes_missing" });
});

test("CON-58 the impact of a change counts the members of groups once", async () => {
  const one = await createGroup("One", [ana, ben]);
  const other = await createGroup("Other", [ben, cleo]);
  const { document } = world.inForce();
  const packages = [packageOf("guide")] as unknown as typeof document.packages;
  const says = (group_ids: string[], user_ids: string[] = []) => ({
    document: { ...document, packages },
    audiences: { guide: { scope: "users" as const, user_ids, group_ids } },
  });
  const change = { before: says([one]), after: says([one, other], [ana]) };
  const [impact] = runSynchronously(clients.impactOf(organizationId, change)).packages;
  expect(impact).toMatchObject({
    gaining: { count: 1, named: ["user2@example.com"] },
    losing: { count: 0, named: [] },
  });
});
