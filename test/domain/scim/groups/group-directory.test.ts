// Groups as people search for them, and the state of provisioning.
import { describe, expect, test } from "bun:test";
import { organizations } from "../../../../src/domain/identity/tables.ts";
import { GroupDirectory } from "../../../../src/domain/scim/groups/group-directory.ts";
import { createScimStatus } from "../../../../src/domain/scim/status/status.ts";
import { ScimTokens } from "../../../../src/domain/scim/tokens/tokens.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { addProvisionedGroup, addProvisionedUser } from "../../../support/content/provisioned-rows.ts";
import { idempotencyOf } from "../../../support/identity-world.ts";
import { createWorld, START_MS, type World } from "../../../support/world.ts";

async function addOrganization({ db, ids }: World): Promise<string> {
  const id = ids.uuid();
  const row = { id, name: "Other", createdAtMs: START_MS };
  await db.write((tx) => void tx.insert(organizations).values(row).run());
  return id;
}

function reasonOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
  return undefined;
}

describe("groups", () => {
  test("lists groups by name without regard to case, in pages, for one organization", async () => {
    await using world = await createWorld();
    const elsewhere = { ...world, organizationId: await addOrganization(world) };
    await addProvisionedGroup(elsewhere, "Abroad");
    for (const name of ["Öffice", "beta", "Alpha"]) await addProvisionedGroup(world, name);
    const directory = new GroupDirectory(world.db);
    const namesOn = (page: number) => {
      const { items, total } = directory.list(world.organizationId, { page, perPage: 2 });
      return [total, ...items.map(({ displayName }) => displayName)];
    };
    expect([namesOn(1), namesOn(2), namesOn(3)]).toEqual([[3, "Alpha", "beta"], [3, "Öffice"], [3]]);
  });

  test("searches groups by name in any case and by external id, both as literal text", async () => {
    await using world = await createWorld();
    await addProvisionedGroup(world, "ÖFFICE");
    await addProvisionedGroup(world, "100%", { externalId: "ext_1" });
    await addProvisionedGroup(world, "1000");
    const directory = new GroupDirectory(world.db);
    const found = (q: string) =>
      directory.list(world.organizationId, { q }).items.map(({ displayName }) => displayName);
    expect([found("öff"), found("0%"), found("T_1"), found("_")]).toEqual([
      ["ÖFFICE"],
      ["100%"],
      ["100%"],
      ["100%"],
    ]);
  });

  test("refuses a page out of range", async () => {
    await using world = await createWorld();
    const directory = new GroupDirectory(world.db);
    expect(reasonOf(() => directory.list(world.organizationId, { page: 0 }))).toBe("scim_group.invalid");
    expect(reasonOf(() => directory.members("any", { perPage: 101 }))).toBe("scim_group.invalid");
  });

  test("finds a group by id, then by name in any case, then by exact external id", async () => {
    await using world = await createWorld();
    const id = await addProvisionedGroup(world, "Engineering", { externalId: "Ext-1" });
    const byName = await addProvisionedGroup(world, id, { externalId: "other" });
    const namedLikeExternal = await addProvisionedGroup(world, "ext-1");
    const directory = new GroupDirectory(world.db);
    const idOf = (reference: string) => directory.show(world.organizationId, reference).id;
    expect([idOf(id), idOf(" engineerinG "), idOf("other"), idOf("Ext-1")]).toEqual([
      id,
      id,
      byName,
      namedLikeExternal,
    ]);
    for (const unknown of ["Other", "nothing", ""])
      expect(reasonOf(() => idOf(unknown))).toBe("scim_group.not_found");
  });

  test("does not find groups of another organization", async () => {
    await using world = await createWorld();
    const elsewhere = { ...world, organizationId: await addOrganization(world) };
    const id = await addProvisionedGroup(elsewhere, "Abroad", { externalId: "x" });
    const directory = new GroupDirectory(world.db);
    for (const reference of [id, "Abroad", "x"])
      expect(reasonOf(() => directory.show(world.organizationId, reference))).toBe("scim_group.not_found");
  });

  test("show their members in pages, including suspended ones", async () => {
    await using world = await createWorld();
    const ana = await addProvisionedUser(world, "ana@example.org");
    const bob = await addProvisionedUser(world, "bob@example.org", { active: false });
    await addProvisionedUser(world, "carl@example.org");
    const group = await addProvisionedGroup(world, "Engineering", { members: [bob, ana] });
    const directory = new GroupDirectory(world.db);
    expect(directory.members(group, { page: 1, perPage: 1 })).toEqual({
      page: 1,
      perPage: 1,
      total: 2,
      items: [{ id: ana, userName: "ana@example.org", label: "ana@example.org", active: true }],
    });
    expect(directory.members(group, { page: 2, perPage: 1 }).items).toMatchObject([
      { id: bob, active: false },
    ]);
  });
});

describe("the status", () => {
  test("counts the organization's resources, lists unrevoked tokens, and includes warnings", async () => {
    await using world = await createWorld();
    const elsewhere = { ...world, organizationId: await addOrganization(world) };
    await addProvisionedUser(elsewhere, "zoe@example.org");
    await addProvisionedUser(world, "ana@example.org");
    await addProvisionedUser(world, "bob@example.org", { active: false });
    await addProvisionedGroup(world, "Engineering");
    const tokens = new ScimTokens({
      ...world,
      idempotency: idempotencyOf(world),
      organization: () => world.organizationId,
      configured: undefined,
    });
    const status = createScimStatus({
      ...world,
      tokens,
      refusals: { list: () => [] },
      countCannotSignIn: () => 2,
      mappingWarnings: () => ["no group is called Admins"],
    });
    await tokens.create(world.system, { label: "old", profile: "standard" });
    await tokens.revoke(world.system, "old");
    expect(status(world.organizationId).warnings).toEqual([
      expect.stringContaining("no token is active"),
      expect.stringContaining("2 provisioned users have no password"),
      "no group is called Admins",
    ]);
    await tokens.create(world.system, { label: "entra", profile: "standard" });
    expect(status(world.organizationId)).toEqual({
      users: 2,
      suspendedUsers: 1,
      groups: 1,
      tokens: [expect.objectContaining({ label: "entra", lastUsedAtMs: null })],
      cannotSignIn: 2,
      refusals: [],
      warnings: [expect.stringContaining("users password-link USER"), "no group is called Admins"],
    });
  });
});
