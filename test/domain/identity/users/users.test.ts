import { expect, test } from "bun:test";
import {
  SELECTED_USERS_MAX,
  USER_OPTIONS_MAX,
  USER_SEARCH_MAX,
  type User,
} from "../../../../src/domain/identity/model.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { createIdentityWorld, PASSWORD, reasonOf } from "../../../support/identity-world.ts";

const emails = (list: readonly User[]) => list.map(({ email }) => email);

test("a new user signs in with the given password", async () => {
  await using world = await createIdentityWorld();
  const { identity, db, organizationId } = world;
  const made = await identity.users.create(world.operator, {
    email: " Ann@Example.com ",
    role: "admin",
    password: PASSWORD,
  });
  expect(made.generatedPassword).toBeUndefined();
  expect(made.user).toMatchObject({ email: "ann@example.com", role: "admin", status: "active" });
  const found = identity.findUserByEmail(db.read, organizationId, "ANN@example.com");
  expect(found?.id).toBe(made.user.id);
  expect(await identity.isPasswordOf(found, PASSWORD)).toBe(true);
  expect(await identity.isPasswordOf(found, new Secret("wrong horse battery"))).toBe(false);
  expect(world.audited()).toEqual(["user.create"]);
});

test("generates a password of at least 24 characters if none is given and returns it once", async () => {
  await using world = await createIdentityWorld();
  const { identity, db, organizationId } = world;
  const { generatedPassword } = await identity.users.create(world.operator, {
    email: "ann@example.com",
    role: "member",
  });
  expect(generatedPassword?.reveal().length).toBeGreaterThanOrEqual(24);
  const found = identity.findUserByEmail(db.read, organizationId, "ann@example.com");
  expect(await identity.isPasswordOf(found, generatedPassword ?? new Secret(""))).toBe(true);
});

test("names all problems of a new user together and writes nothing", async () => {
  await using world = await createIdentityWorld();
  const creating = world.identity.users.create(world.operator, {
    email: "ann",
    role: "owner",
    password: new Secret("short"),
  });
  await expect(creating).rejects.toMatchObject({
    kind: "invalid",
    reason: "identity.invalid",
    problems: [{ pointer: "/email" }, { pointer: "/role" }, { pointer: "/password" }],
  });
  expect(world.audited()).toEqual([]);
});

test("an address belongs to one user, in any letter case, even if two are created concurrently", async () => {
  await using world = await createIdentityWorld();
  const create = (email: string) =>
    reasonOf(() =>
      world.identity.users.create(world.operator, { email, role: "member", password: PASSWORD }),
    );
  const results = await Promise.all([create("ann@example.com"), create("ANN@example.com")]);
  expect(results.filter((result) => result === "user.exists")).toHaveLength(1);
  expect(world.audited()).toEqual(["user.create"]);
});

test("a removed user returns under a new subject with the same id", async () => {
  await using world = await createIdentityWorld();
  const before = await world.addUser("ann@example.com");
  await world.identity.users.remove(world.operator, before.id);
  world.clock.advance(1_000);
  const after = await world.addUser("ann@example.com");
  expect(after).toMatchObject({ id: before.id, status: "active", createdAtMs: before.createdAtMs });
  expect(after.subject).not.toBe(before.subject);
  expect(world.audited()).toEqual(["user.create", "user.remove", "user.revive"]);
});

test("a new user ends pending invitations of the address", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const { token } = await invitations.create(world.operator, { email: "ann@example.com", role: "admin" });
  await world.addUser("ann@example.com");
  expect(await reasonOf(() => invitations.getByToken(token))).toBe("invitation.unavailable");
  expect(world.audited()).toEqual(["invitation.create", "invitation.cancel", "user.create"]);
});

test("only a look-up for sign-in returns the password hash", async () => {
  await using world = await createIdentityWorld();
  const user = await world.addUser("ann@example.com");
  const views = [
    user,
    world.identity.findUserById(world.db.read, user.id),
    world.identity.users.list(world.organizationId, {}),
    world.identity.users.options(world.organizationId),
  ];
  expect(JSON.stringify(views)).not.toContain("argon2");
});

test("users are listed by folded address, removed ones included, page by page", async () => {
  await using world = await createIdentityWorld();
  for (const name of ["dan", "ann", "cid", "bob"]) await world.addUser(`${name}@example.com`);
  const bob = world.identity.findUserByEmail(world.db.read, world.organizationId, "bob@example.com");
  await world.identity.users.remove(world.operator, bob?.id ?? "");
  const page = world.identity.users.list(world.organizationId, { page: 1, perPage: 3 });
  expect(page).toMatchObject({ page: 1, perPage: 3, total: 4 });
  expect(emails(page.items)).toEqual(["ann@example.com", "bob@example.com", "cid@example.com"]);
  expect(emails(world.identity.users.list(world.organizationId, { page: 2, perPage: 3 }).items)).toEqual([
    "dan@example.com",
  ]);
  expect(world.identity.users.list(world.organizationId, { page: 3, perPage: 3 }).items).toEqual([]);
});

test("the search is a literal, case-insensitive part of address or subject", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("ann_1%@example.com");
  await world.addUser("annx1@example.com");
  await world.addUser("jörg@example.com");
  const search = (q: string) => emails(world.identity.users.list(world.organizationId, { q }).items);
  expect(search("ANN")).toHaveLength(2);
  expect(search("_1")).toEqual(["ann_1%@example.com"]);
  expect(search("1%")).toEqual(["ann_1%@example.com"]);
  expect(search("\\")).toEqual([]);
  expect(search("JÖRG")).toEqual(["jörg@example.com"]);
  expect(search(ann.subject.toUpperCase())).toEqual(["ann_1%@example.com"]);
});

test("role, status and source filter together; unknown words are refused", async () => {
  await using world = await createIdentityWorld();
  await world.addUser("ann@example.com", { role: "admin", provisioningSource: "scim" });
  await world.addUser("bob@example.com", { role: "admin", status: "suspended" });
  await world.addUser("cid@example.com");
  const { users } = world.identity;
  const list = (query: object) => emails(users.list(world.organizationId, query).items);
  expect(list({ role: "admin" })).toEqual(["ann@example.com", "bob@example.com"]);
  expect(list({ role: "admin", status: "suspended" })).toEqual(["bob@example.com"]);
  expect(list({ provisioningSource: "scim" })).toEqual(["ann@example.com"]);
  const wrong = () =>
    users.list(world.organizationId, { page: 0, role: "owner", status: "gone", provisioningSource: "ldap" });
  expect(wrong).toThrow(/page.*role.*status.*provisioning_source/);
});

test("users of another organization are invisible", async () => {
  await using world = await createIdentityWorld();
  const { users } = world.identity;
  const ann = await world.addUser("ann@example.com");
  const elsewhere = world.ids.uuid();
  expect(await reasonOf(() => users.show(elsewhere, ann.id))).toBe("user.not_found");
  expect(users.list(elsewhere, {}).total).toBe(0);
  expect(runSynchronously(users.options(elsewhere))).toEqual([]);
  const foreign = { ...world.operator, organizationId: elsewhere };
  expect(await reasonOf(() => users.remove(foreign, ann.id))).toBe("user.not_found");
});

test("options are all users that are not removed, up to the limit", async () => {
  await using world = await createIdentityWorld();
  const { users: service } = world.identity;
  const options = () => runSynchronously(service.options(world.organizationId));
  const add = (from: number, to: number) =>
    world.db.write((tx) => {
      const row = { organizationId: world.organizationId, role: "member", status: "active" } as const;
      const numbers = Array.from({ length: to - from }, (_, index) => String(from + index).padStart(5, "0"));
      const rows = numbers.map((name) => ({
        ...row,
        id: name,
        subject: name,
        email: `${name}@example.com`,
        emailKey: `${name}@example.com`,
        createdAtMs: 0,
        updatedAtMs: 0,
      }));
      while (rows.length > 0) tx.insert(users).values(rows.splice(0, 1_000)).run();
    });
  await add(0, USER_OPTIONS_MAX - 1);
  expect(options()).toHaveLength(USER_OPTIONS_MAX - 1);
  await add(USER_OPTIONS_MAX - 1, USER_OPTIONS_MAX + 1);
  expect(options()).toHaveLength(USER_OPTIONS_MAX);
  await world.setUser("00000", { status: "removed" });
  await world.setUser("00001", { status: "suspended" });
  expect(options()[0]?.id).toBe("00001");
});

test("a search of options returns selected users first, then active matches, ten in total", async () => {
  await using world = await createIdentityWorld();
  for (let number = 0; number < USER_SEARCH_MAX; number += 1) await world.addUser(`ann${number}@example.com`);
  const zoe = await world.addUser("zoe@example.com", { status: "suspended" });
  const gone = await world.addUser("gone@example.com", { status: "removed" });
  await world.addUser("annsuspended@example.com", { status: "suspended" });
  const search = (query: object) =>
    runSynchronously(world.identity.users.searchOptions(world.organizationId, query));
  expect(search({ q: " ANN " })).toHaveLength(USER_SEARCH_MAX);
  expect(emails(search({ q: "ann" }))).not.toContain("annsuspended@example.com");
  const found = emails(search({ q: "ann", selectedUserIds: [zoe.id, gone.id, "unknown"] }));
  expect(found).toHaveLength(USER_SEARCH_MAX);
  expect(found.slice(0, 2)).toEqual(["zoe@example.com", "ann0@example.com"]);
  expect(search({})).toHaveLength(USER_SEARCH_MAX);
  const second = search({})[1]?.id ?? "";
  const ids = search({ selectedUserIds: [second] }).map(({ id }) => id);
  expect(ids[0]).toBe(second);
  expect(new Set(ids).size).toBe(USER_SEARCH_MAX);
  const everybody = search({}).map(({ id }) => id);
  expect(search({ q: "zoe", selectedUserIds: everybody }).map(({ id }) => id)).toEqual(everybody);
});

test.each([
  [SELECTED_USERS_MAX - 1, []],
  [SELECTED_USERS_MAX, []],
  [SELECTED_USERS_MAX + 1, "identity.invalid"],
])("a search with %p selected users returns %p", async (length, response) => {
  await using world = await createIdentityWorld();
  const selectedUserIds = Array.from({ length }, () => world.ids.uuid());
  const { users } = world.identity;
  expect(
    await reasonOf(() => runSynchronously(users.searchOptions(world.organizationId, { selectedUserIds }))),
  ).toEqual(response);
});

test("a user of any status is found by id, or by address in any letter case", async () => {
  await using world = await createIdentityWorld();
  const { users } = world.identity;
  const ann = await world.addUser("ann@example.com", { status: "removed" });
  expect(users.find(world.organizationId, ann.id)).toEqual(ann);
  expect(users.find(world.organizationId, " ANN@Example.com ")).toEqual(ann);
  expect(users.find(world.organizationId, ann.email)).not.toHaveProperty("passwordHash");
  for (const unknown of ["bob@example.com", "unknown", ""])
    expect(await reasonOf(() => users.find(world.organizationId, unknown))).toBe("user.not_found");
  expect(await reasonOf(() => users.find("elsewhere", ann.email))).toBe("user.not_found");
});

test("a list that is read after the last user of the page before continues as the pages do", async () => {
  await using world = await createIdentityWorld();
  for (const name of ["d", "B", "a", "c"]) await world.addUser(`${name}@example.com`);
  await world.addUser("gone@example.com", { status: "removed" });
  const { users } = world.identity;
  const all = users.list(world.organizationId, {}).items;
  expect(all).toHaveLength(5);
  for (const [at, after] of all.entries()) {
    const { items, total } = users.list(world.organizationId, { after, page: 7, perPage: 2 });
    expect(items).toEqual(all.slice(at + 1, at + 3));
    expect(total).toBe(5);
  }
  expect(users.list(world.organizationId, { known: 9 }).total).toBe(9);
});
