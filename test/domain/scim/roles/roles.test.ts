// Roles given by groups: whom a change affects, its effect on logins and the audit log, and the effect of a changed mapping at the
// next start.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { STEP_MEMBERS, STEP_ROLES } from "../../../../src/domain/scim/groups/member-slices.ts";
import {
  addScimUsers,
  auditOf,
  createGroupsWorld,
  type GroupsWorld,
  membersOf,
  patchOf,
  rolesOf,
  storedGroup,
} from "../groups/groups-world.ts";

const MAPPING = { Admins: "admin", Staff: "member", "externalId:root": "admin" } as const;

let world: GroupsWorld;
let ada: string;
let grace: string;

beforeEach(async () => {
  world = await createGroupsWorld(MAPPING);
  [ada = "", grace = ""] = await addScimUsers(world, 2);
});
afterEach(() => world.dispose());

const create = async (displayName: string, ids: readonly string[], externalId?: string): Promise<string> => {
  const body = { displayName, externalId, members: membersOf(ids) };
  return (await world.groups.create(world.caller, body, {})).id;
};

const patch = (id: string, ...operations: object[]) =>
  world.groups.patch(world.caller, id, { body: patchOf(...operations) });
const rename = (id: string, name: string) => patch(id, { op: "replace", path: "displayName", value: name });
const roles = () => rolesOf(world, [ada, grace]);
const endedLogins = () => world.endings.flatMap(({ userIds = [] }) => userIds);

describe("membership in a group mapped to admin", () => {
  test("makes a user an administrator, and its end makes them a member again", async () => {
    const id = await create("Admins", [ada]);
    expect(roles()).toEqual(["admin", "member"]);
    await patch(
      id,
      { op: "add", path: "members", value: grace },
      { op: "remove", path: "members", value: ada },
    );
    expect(roles()).toEqual(["member", "admin"]);
    await world.groups.replace(world.caller, id, { body: { displayName: "Admins" } });
    expect(roles()).toEqual(["member", "member"]);
  });

  test("ends the logins of each user whose role changes once, with an audit entry that names the token", async () => {
    await create("Admins", [ada]);
    expect(endedLogins()).toEqual([ada]);
    expect(auditOf(world, "user.update")).toEqual([
      { target: ada, actor: "scim:test", before: { role: "member" }, after: { role: "admin" } },
    ]);
    await create("Chiefs", [ada, grace], "root");
    expect(endedLogins()).toEqual([ada, grace]);
  });

  test("counts while one such group remains", async () => {
    const first = await create("Admins", [ada]);
    const second = await create("Chiefs", [ada], "root");
    await world.groups.remove(world.caller, first, {});
    expect(roles()).toEqual(["admin", "member"]);
    await world.groups.remove(world.caller, second, {});
    expect(roles()).toEqual(["member", "member"]);
  });

  test("SCIM-23 matches the exact spelling of the name", async () => {
    await create("admins", [ada]);
    await create("externalId:root", [grace]);
    expect(roles()).toEqual(["member", "member"]);
  });

  test.each(["__proto__", "constructor", "toString"])("does not match a name like %s", async (name) => {
    await create(name, [ada]);
    expect(roles()).toEqual(["member", "member"]);
  });
});

describe("a renamed group", () => {
  test("grants and revokes the role of all its members", async () => {
    const id = await create("Others", [ada, grace]);
    await rename(id, "Admins");
    expect(roles()).toEqual(["admin", "admin"]);
    await rename(id, "admins");
    expect(roles()).toEqual(["member", "member"]);
  });

  test("updates members added and removed in the same request", async () => {
    const id = await create("Admins", [ada]);
    await patch(
      id,
      { op: "replace", path: "displayName", value: "Others" },
      { op: "remove", path: "members", value: ada },
      { op: "add", path: "members", value: grace },
    );
    expect(roles()).toEqual(["member", "member"]);
  });

  test("keeps the role that its external id grants", async () => {
    const id = await create("Chiefs", [ada], "root");
    await rename(id, "Leaders");
    expect(roles()).toEqual(["admin", "member"]);
    expect(endedLogins()).toEqual([ada]);
    await patch(id, { op: "remove", path: "externalId" });
    expect(roles()).toEqual(["member", "member"]);
  });
});

describe("a group changed in one or more steps", () => {
  test.each([STEP_ROLES, STEP_ROLES + 1, STEP_MEMBERS, STEP_MEMBERS + 1])(
    "grants and revokes the role of each of %d members once",
    async (size) => {
      const people = await addScimUsers(world, size, "one of many ");
      const all = (role: "admin" | "member") => people.map(() => role);
      const id = await create("Admins", people);
      expect(rolesOf(world, people)).toEqual(all("admin"));
      await rename(id, "Others");
      expect(rolesOf(world, people)).toEqual(all("member"));
      await patch(id, { op: "add", path: "externalId", value: "root" });
      expect(rolesOf(world, people)).toEqual(all("admin"));
      await world.groups.remove(world.caller, id, {});
      expect(rolesOf(world, people)).toEqual(all("member"));
      const sorted = people.toSorted();
      for (const change of [0, 1, 2, 3])
        expect(endedLogins().slice(change * size, (change + 1) * size)).toEqual(sorted);
      expect(auditOf(world, "user.update").map(({ target }) => target)).toEqual(endedLogins());
    },
  );
});

test("roles of more users than one step changes are granted in several turns of the event loop", async () => {
  const people = await addScimUsers(world, 3 * STEP_ROLES, "one of many ");
  let turns = 0;
  let isDone = false;
  const creating = create("Admins", people).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await creating;
  expect(turns).toBeGreaterThan(3);
});

describe("SCIM-24 a group without a role", () => {
  test("changes no account, even one with a wrong role", async () => {
    await world.setUser(ada, { role: "admin" });
    const id = await create("Staff", [ada]);
    await rename(id, "Others");
    await world.groups.remove(world.caller, id, {});
    expect(roles()).toEqual(["admin", "member"]);
  });

  test("keeps the access caches when nothing is mapped", async () => {
    const revision = world.db.revision("access");
    const { groups } = world.withMapping({});
    await groups.create(world.caller, { displayName: "Admins", members: membersOf([ada]) }, {});
    expect(world.db.revision("access")).toBe(revision);
    await create("Others", []);
    expect(world.db.revision("access")).toBeGreaterThan(revision);
  });
});

describe("SCIM-24 a mapping changed while the service was stopped", () => {
  const start = (mapping: Parameters<GroupsWorld["withMapping"]>[0]) =>
    world.withMapping(mapping).roles.applyMapping(world.system);

  test("is applied and audited at the next start only", async () => {
    await create("Admins", [ada]);
    await create("Others", [grace]);
    expect(await start(MAPPING)).toBe(0);
    expect(await start({ Others: "admin" })).toBe(2);
    expect(roles()).toEqual(["member", "admin"]);
    expect(auditOf(world, "user.update").slice(1)).toMatchObject([
      { target: grace, actor: "test", after: { role: "admin" } },
      { target: ada, actor: "test", after: { role: "member" } },
    ]);
    await world.setUser(ada, { role: "admin" });
    expect(await start({ Others: "admin" })).toBe(0);
    expect(roles()).toEqual(["admin", "admin"]);
  });

  test("applies to more users than one step changes", async () => {
    await using own = await createGroupsWorld(MAPPING);
    const people = await addScimUsers(own, STEP_ROLES + 1);
    const members = membersOf(people);
    await own.groups.create(own.caller, { displayName: "Others", members }, {});
    expect(await own.withMapping({ Others: "admin" }).roles.applyMapping(own.system)).toBe(people.length);
    expect(new Set(rolesOf(own, people))).toEqual(new Set(["admin"]));
  });

  test("revokes the role from all users if it was deleted", async () => {
    await create("Admins", [ada]);
    await create("Chiefs", [grace], "root");
    await start(MAPPING);
    expect(await start({})).toBe(2);
    expect(roles()).toEqual(["member", "member"]);
  });

  test("has the same effect in any order of its entries", async () => {
    await start({ A: "admin", B: "admin" });
    await create("A", [ada]);
    await world.setUser(ada, { role: "admin" });
    expect(await start({ B: "admin", A: "admin" })).toBe(0);
    expect(roles()).toEqual(["admin", "member"]);
  });

  test("does not affect users that the identity provider did not create", async () => {
    const local = await world.addUser("local@example.com", { role: "admin" });
    await start({ Others: "admin" });
    expect(rolesOf(world, [local.id])).toEqual(["admin"]);
  });
});

describe("warnings", () => {
  test("SCIM-23 name each entry of the mapping without a matching group", async () => {
    await create("admins", []);
    await create("Staff", []);
    expect(world.roles.warnings(world.organizationId)).toEqual([
      'a role is mapped to the group "Admins", but the group is named "admins": use the same spelling',
      'a role is mapped to the group with the external id "root", but no group has it',
    ]);
  });

  test("end when such a group exists", async () => {
    const id = await create("Admins", [], "root");
    expect(world.roles.warnings(world.organizationId)).toEqual([
      'a role is mapped to the group "Staff", but no group has that name',
    ]);
    await create("Staff", []);
    expect(world.roles.warnings(world.organizationId)).toEqual([]);
    expect(storedGroup(world, id)).toMatchObject({ version: 1 });
  });
});
