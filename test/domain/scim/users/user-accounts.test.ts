// The account of a user: created, linked or restored by a create request, updated with changes, kept by a removal.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users as accounts } from "../../../../src/domain/identity/tables.ts";
import { scimUserEmails } from "../../../../src/domain/scim/tables.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { PASSWORD } from "../../../support/server.ts";
import { ADA, addLocal, auditedIn, createUsersWorld, refusalOf, type UsersWorld } from "./users-world.ts";

const setAccount = (world: UsersWorld, id: string, row: Partial<typeof accounts.$inferInsert>) =>
  world.world.db.write((tx) => void tx.update(accounts).set(row).where(eq(accounts.id, id)).run());

const signIn = (world: UsersWorld, email: string) =>
  world.domain.access.sessions.signIn({
    email,
    password: new Secret(PASSWORD),
    address: null,
    userAgent: null,
  });

const userAt = (address: string) => ({
  userName: `name-of-${address}`,
  emails: [{ value: address, type: "work" }],
});

const GONE = [404, undefined, expect.any(String)];
const ADDRESS_TAKEN = [409, "uniqueness", expect.stringContaining("emails")];

test("SCIM-14 a user with a new address gets a member account that is active by default", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  expect(world.account(id)).toMatchObject({
    email: ADA,
    role: "member",
    status: "active",
    provisioningSource: "scim",
  });
  const { id: other } = await world.add({ userName: "grace@example.com", active: "False" });
  expect(world.account(other).status).toBe("suspended");
  expect(world.shown(other).active).toBe(false);
});

test("SCIM-22 roles, entitlements and userType are stored and grant no permission", async () => {
  await using world = await createUsersWorld();
  const said = { roles: [{ value: "admin" }], entitlements: [{ value: "admin" }], userType: "admin" };
  const { id } = await world.add({ userName: ADA, ...said });
  expect(world.shown(id)).toMatchObject(said);
  expect(world.account(id).role).toBe("member");
});

test.each([
  [
    "the primary e-mail",
    [
      { value: "a@x.example", type: "work" },
      { value: "b@x.example", primary: true },
    ],
    "b@x.example",
  ],
  [
    "else one of type work",
    [
      { value: "a@x.example", type: "home" },
      { value: "B@x.example", type: "Work" },
    ],
    "b@x.example",
  ],
  ["else any", [{ value: "a@x.example", type: "home" }, { value: "b@x.example" }], "a@x.example"],
  ["else the user name", [], "name@x.example"],
])("the account has %s", async (_, emails, address) => {
  await using world = await createUsersWorld();
  const { id } = await world.add({ userName: "Name@x.example", emails });
  expect(world.account(id).email).toBe(address);
});

test("a user without any address is refused with the name of the attribute", async () => {
  await using world = await createUsersWorld();
  expect(await refusalOf(() => world.add({ userName: "ada" }))).toEqual([
    400,
    "invalidValue",
    expect.stringContaining("emails"),
  ]);
});

test("SCIM-15 a local account is linked: same id and password, a member, and an audit entry with the former state", async () => {
  await using world = await createUsersWorld();
  await addLocal(world, "other@example.com", "admin");
  const { user } = await addLocal(world, ADA, "admin");
  const { id } = await world.add({ userName: "Ada@Example.com", externalId: "00u1" });
  expect(id).toBe(user.id);
  expect(world.account(id)).toMatchObject({
    subject: user.subject,
    email: ADA,
    role: "member",
    provisioningSource: "scim",
  });
  expect(await signIn(world, ADA)).toMatchObject({ user: { id, role: "member" } });
  expect(auditedIn(world)).toEqual([
    {
      action: "scim_user.link",
      actor: "scim:okta",
      target: id,
      before: { email: ADA, role: "admin", status: "active", provisioning_source: "local" },
      after: { user_name: "Ada@Example.com", external_id: "00u1", active: true, email: ADA, role: "member" },
    },
  ]);
});

test("pending invitations of the address are canceled", async () => {
  await using world = await createUsersWorld();
  const { world: own, domain } = world;
  const invited = { email: ADA, role: "member" };
  const { invitation, token } = await domain.identity.invitations.create(own.system, invited);
  await world.add();
  expect(domain.identity.invitations.show(own.organizationId, invitation.id).status).toBe("canceled");
  const acceptance = { token, password: new Secret(PASSWORD) };
  await expect(domain.identity.invitations.accept(acceptance)).rejects.toThrow("unavailable");
  expect(auditedIn(world).map(({ action }) => action)).toEqual([
    "invitation.create",
    "invitation.cancel",
    "scim_user.create",
  ]);
});

test("local accounts are unchanged if linking is off", async () => {
  await using world = await createUsersWorld({ linkExisting: "never" });
  const { user } = await addLocal(world, ADA);
  expect(await refusalOf(() => world.add())).toEqual(ADDRESS_TAKEN);
  expect(world.account(user.id).provisioningSource).toBe("local");
  expect(await signIn(world, ADA)).toMatchObject({ user: { id: user.id } });
});

test("SCIM-14 the protected administrator is never linked, and the refusal explains what to do", async () => {
  await using world = await createUsersWorld();
  const { user } = await addLocal(world, ADA, "admin");
  await setAccount(world, user.id, { protected: true });
  expect(await refusalOf(() => world.add())).toEqual([
    409,
    "uniqueness",
    expect.stringMatching(/emails.*remove this person from the assignment/),
  ]);
  expect(world.account(user.id)).toMatchObject({ role: "admin", provisioningSource: "local" });
  expect(auditedIn(world)).toEqual([]);
});

test("SCIM-15 the last active administrator is linked only if a protected or another administrator exists", async () => {
  await using world = await createUsersWorld();
  const { user } = await addLocal(world, ADA, "admin");
  expect(await refusalOf(() => world.add())).toEqual([
    409,
    "uniqueness",
    expect.stringContaining("last administrator"),
  ]);
  const { user: other } = await addLocal(world, "other@example.com", "admin");
  await setAccount(world, other.id, { protected: true });
  expect(await world.add()).toMatchObject({ id: user.id });
});

test("SCIM-16 a user deleted and created any number of times is the same account under a new subject each time", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const subjects = new Set([world.account(id).subject]);
  for (let round = 0; round < 5; round += 1) {
    await world.users.remove(world.caller, id, {});
    expect(world.account(id)).toMatchObject({ status: "removed", email: ADA });
    expect(await refusalOf(() => world.shown(id))).toEqual(GONE);
    expect(await refusalOf(() => world.users.remove(world.caller, id, {}))).toEqual(GONE);
    const again = await world.add({ userName: ADA, title: `round ${round}` });
    expect(again.id).toBe(id);
    expect(world.shown(id)).toMatchObject({ title: `round ${round}`, active: true });
    subjects.add(world.account(id).subject);
  }
  expect(subjects.size).toBe(6);
  const actions = auditedIn(world).map(({ action }) => action);
  expect(actions.filter((action) => action === "scim_user.remove")).toHaveLength(5);
  expect(actions.filter((action) => action === "scim_user.revive")).toHaveLength(5);
});

test("an entity tag from before a deletion does not match the recreated user, whose times are new", async () => {
  await using world = await createUsersWorld();
  const { id, version: first } = await world.add();
  const { version: second } = await world.patch(id, { op: "add", path: "title", value: "Countess" });
  await world.users.remove(world.caller, id, {});
  world.world.clock.advance(60_000);
  const { version } = await world.add();
  expect(version).toBeGreaterThan(second);
  for (const former of [first, second]) {
    const { json } = world.users.get(world.caller, id, { ifNoneMatch: `W/"${former}"` });
    expect(json).toBeString();
  }
  await world.users.remove(world.caller, id, {});
  world.world.clock.advance(60_000);
  await addLocal(world, ADA);
  expect((await world.add()).version).toBeGreaterThan(version);
  const { created, lastModified } = JSON.parse(JSON.stringify(world.shown(id).meta));
  const now = new Date(world.world.clock.nowMs()).toISOString();
  expect([created, lastModified]).toEqual([now, now]);
});

test("a user deleted as administrator returns as a member, and the log has the former role and source", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  await setAccount(world, id, { role: "admin" });
  await world.users.remove(world.caller, id, {});
  expect(world.account(id).role).toBe("admin");
  await world.add({ userName: ADA, active: false });
  expect(world.account(id)).toMatchObject({ role: "member", status: "suspended" });
  expect(auditedIn(world).at(-1)).toMatchObject({
    action: "scim_user.revive",
    before: { email: ADA, role: "admin", status: "removed", provisioning_source: "scim" },
    after: { active: false, role: "member" },
  });
});

test("a locally removed account returns through the provider and vice versa", async () => {
  await using world = await createUsersWorld();
  const { identity } = world.domain;
  const { user } = await addLocal(world, ADA);
  await identity.users.remove(world.world.system, user.id);
  expect(await world.add()).toMatchObject({ id: user.id });
  await world.users.remove(world.caller, user.id, {});
  const account = { email: ADA, role: "member", password: new Secret(PASSWORD) };
  expect((await identity.users.create(world.world.system, account)).user).toMatchObject({
    id: user.id,
    provisioningSource: "local",
  });
  expect(await signIn(world, ADA)).toMatchObject({ user: { id: user.id } });
  expect(await world.add()).toMatchObject({ id: user.id });
  expect(auditedIn(world).map(({ action }) => action)).toEqual([
    "scim_user.revive",
    "scim_user.remove",
    "scim_user.link",
  ]);
});

test("restores the account that was removed last of two with one address", async () => {
  await using world = await createUsersWorld();
  const first = await world.add();
  await world.users.remove(world.caller, first.id, {});
  const second = await world.add(userAt("grace@example.com"));
  await world.patch(second.id, { op: "replace", path: "emails", value: [{ value: ADA }] });
  world.world.clock.advance(1_000);
  await world.users.remove(world.caller, second.id, {});
  expect(await world.add()).toMatchObject({ id: second.id });
  expect(world.account(first.id).status).toBe("removed");
});

test("the account follows its address, which must be unused by accounts that are not removed", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const move = (value: string) => world.patch(id, { op: "replace", path: "emails", value: [{ value }] });
  await move("Lovelace@Example.com");
  expect(world.account(id).email).toBe("lovelace@example.com");
  const grace = await world.add({ userName: "grace@example.com" });
  const { user: local } = await addLocal(world, "local@example.com");
  const { user: boss } = await addLocal(world, "boss@example.com", "admin");
  await setAccount(world, boss.id, { protected: true });
  for (const taken of ["Grace@example.com", local.email, boss.email]) {
    expect(await refusalOf(() => move(taken))).toEqual(ADDRESS_TAKEN);
  }
  expect(world.shown(id).emails).toEqual([{ value: "Lovelace@Example.com" }]);
  await world.users.remove(world.caller, grace.id, {});
  expect(await move("grace@example.com")).toMatchObject({ version: 3 });
  expect(world.account(id).email).toBe("grace@example.com");
  const back = await refusalOf(() => world.add(userAt("grace@example.com")));
  expect(back).toEqual(ADDRESS_TAKEN);
});

test("a refused address undoes the whole request", async () => {
  await using world = await createUsersWorld();
  await world.add({ userName: "grace@example.com" });
  const { id } = await world.add({ userName: ADA, externalId: "1" });
  const before = world.shown(id);
  const body = {
    userName: "lovelace",
    externalId: "2",
    emails: [{ value: "grace@example.com" }],
    active: false,
  };
  expect(await refusalOf(() => world.users.replace(world.caller, id, { body }))).toEqual(ADDRESS_TAKEN);
  expect(world.shown(id)).toEqual(before);
  expect(world.account(id)).toMatchObject({ status: "active", email: ADA });
});

test("SCIM-26 deleting a user removes it from its groups, increments their versions, and deletes its e-mails", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const { id: stays } = await world.add({ userName: "grace@example.com" });
  const members = [id, stays].map((value) => ({ value }));
  const group = await world.groups.create(world.caller, { displayName: "Engineering", members }, {});
  await world.users.remove(world.caller, id, {});
  const after = world.groups.get(world.caller, group.id, {});
  expect(after.version).toBe(group.version + 1);
  expect(JSON.parse(String(after.json)).members).toMatchObject([{ value: stays }]);
  const emails = world.world.db.read.select().from(scimUserEmails).where(eq(scimUserEmails.userId, id)).all();
  expect(emails).toEqual([]);
  await world.add();
  expect(world.shown(id).groups).toEqual([]);
});

test("an administrator can end the logins of a provisioned user and change nothing else", async () => {
  await using world = await createUsersWorld();
  const { accessToken: token } = await addLocal(world, "boss@example.com", "admin");
  const { id } = await world.add();
  const path = `/admin/users/${id}`;
  const attempts: [method: string, path: string, body?: object][] = [
    ["PATCH", path, { role: "admin" }],
    ["PATCH", path, { status: "suspended" }],
    ["DELETE", path],
  ];
  for (const [method, at, body] of attempts) {
    const response = await world.request(method, at, { token, ...(body && { body }) });
    expect(response.status).toBe(409);
    expect(JSON.stringify(await response.json())).toContain("identity provider");
  }
  expect(world.account(id)).toMatchObject({ role: "member", status: "active" });
  await world.domain.identity.users.revokeLogins(world.world.system, id);
});
