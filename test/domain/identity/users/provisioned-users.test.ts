// Accounts of an identity provider: how they are created, what they take over, what remains of them, and that an address may be
// reused after removal.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../../src/domain/identity/tables.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import {
  actorOf,
  createIdentityWorld,
  type IdentityWorld,
  PASSWORD,
  reasonOf,
} from "../../../support/identity-world.ts";

const ADA = "ada@example.com";

const scimActor = (world: IdentityWorld): Actor => ({ ...world.system, kind: "scim", label: "scim:okta" });

const admit = (world: IdentityWorld, email = ADA, given: { active?: boolean; mayLink?: boolean } = {}) =>
  world.db.write((tx) =>
    world.identity.provisioned.admit(tx, {
      actor: scimActor(world),
      email,
      active: true,
      mayLink: true,
      ...given,
    }),
  );

const update = (world: IdentityWorld, id: string, given: { email?: string; active?: boolean }) =>
  world.db.write((tx) => {
    const actor = scimActor(world);
    return world.identity.provisioned.update(tx, { actor, id, email: ADA, active: true, ...given });
  });

const remove = (world: IdentityWorld, id: string) =>
  world.db.write((tx) => world.identity.provisioned.remove(tx, { actor: scimActor(world), id }));

const endingsOf = (world: IdentityWorld) => world.endings.map(({ userId, reason }) => [userId, reason]);

test("a new address gets an account without a password: a member whom the provider manages", async () => {
  await using world = await createIdentityWorld();
  const { account, admission, before } = await admit(world, " Ada@Example.com ");
  expect({ admission, before }).toEqual({ admission: "created", before: undefined });
  expect(account).toMatchObject({
    email: ADA,
    role: "member",
    status: "active",
    protected: false,
    provisioningSource: "scim",
  });
  const found = world.identity.findUserByEmail(world.db.read, world.organizationId, ADA);
  expect(found).toMatchObject({ id: account.id, passwordHash: null });
  expect(world.endings).toEqual([]);
  expect(world.audited()).toEqual([]);
});

test("an account may start suspended", async () => {
  await using world = await createIdentityWorld();
  const { account } = await admit(world, ADA, { active: false });
  expect(account.status).toBe("suspended");
});

test("a local account is linked: same id, subject and password, demoted, without its logins", async () => {
  await using world = await createIdentityWorld();
  const ada = await world.addUser(ADA, { role: "admin", status: "suspended" });
  const { account, admission, before } = await admit(world);
  expect({ admission, before }).toEqual({ admission: "linked", before: ada });
  expect(account).toMatchObject({
    id: ada.id,
    subject: ada.subject,
    role: "member",
    status: "active",
    provisioningSource: "scim",
  });
  expect(endingsOf(world)).toEqual([[ada.id, "user_linked"]]);
  const found = world.identity.findUserByEmail(world.db.read, world.organizationId, ADA);
  expect(await world.identity.isPasswordOf(found, PASSWORD)).toBe(true);
  expect(before).not.toHaveProperty("passwordHash");
});

test("provisioned accounts, the protected administrator, and accounts without linking are not linked", async () => {
  await using world = await createIdentityWorld();
  const ada = await world.addUser(ADA);
  expect(await reasonOf(() => admit(world, ADA, { mayLink: false }))).toBe("user.exists");
  await world.setUser(ada.id, { protected: true });
  expect(await reasonOf(() => admit(world))).toBe("user.protected");
  await world.setUser(ada.id, { protected: false, provisioningSource: "scim" });
  expect(await reasonOf(() => admit(world))).toBe("user.exists");
  expect(world.endings).toEqual([]);
});

test("one of two active administrators is linked, but not the last one", async () => {
  await using world = await createIdentityWorld();
  const ada = await world.addUser(ADA, { role: "admin" });
  const other = await world.addUser("other@example.com", { role: "admin", status: "suspended" });
  expect(await reasonOf(() => admit(world))).toBe("user.last_administrator");
  await world.setUser(other.id, { status: "active" });
  expect(await admit(world)).toMatchObject({ account: { id: ada.id, role: "member" } });
});

test("restores the latest of the removed accounts of an address, under a new subject", async () => {
  await using world = await createIdentityWorld();
  const removed = { status: "removed", provisioningSource: "scim" } as const; // each with a password, which must not be restored
  const older = await world.addUser(ADA, { ...removed, updatedAtMs: 5 });
  const latest = await world.addUser("moved@example.com", { ...removed, emailKey: ADA, updatedAtMs: 7 });
  await world.addUser("also-moved@example.com", { ...removed, emailKey: ADA, updatedAtMs: 6 });
  const { account, admission, before } = await admit(world);
  expect({ admission, before }).toMatchObject({ admission: "revived", before: { id: latest.id } });
  expect(account).toMatchObject({ id: latest.id, status: "active", provisioningSource: "scim" });
  expect(account.subject).not.toBe(latest.subject);
  const found = world.identity.findUserByEmail(world.db.read, world.organizationId, ADA);
  expect(found).toMatchObject({ id: latest.id, passwordHash: null });
  expect(world.identity.users.show(world.organizationId, older.id).status).toBe("removed");
});

test("pending invitations of the address are canceled and recorded", async () => {
  await using world = await createIdentityWorld();
  const { invitation } = await world.identity.invitations.create(world.operator, {
    email: ADA,
    role: "member",
  });
  await admit(world);
  expect(world.identity.invitations.show(world.organizationId, invitation.id).status).toBe("canceled");
  expect(world.audited()).toEqual(["invitation.create", "invitation.cancel"]);
});

test("logins end only when address or status change", async () => {
  await using world = await createIdentityWorld();
  const { account } = await admit(world);
  world.clock.advance(1_000);
  expect(await update(world, account.id, { email: "ADA@example.com" })).toEqual({
    account,
    before: account,
  });
  expect(endingsOf(world)).toEqual([]);
  for (const given of [{ active: false }, { active: false }, {}, {}, { email: "l@example.com" }]) {
    await update(world, account.id, given);
  }
  expect(endingsOf(world)).toEqual([
    [account.id, "user_suspended"],
    [account.id, "user_changed"],
    [account.id, "address_changed"],
  ]);
  const after = world.identity.users.find(world.organizationId, "l@example.com");
  expect(after).toEqual({
    ...account,
    email: "l@example.com",
    updatedAtMs: world.clock.nowMs(),
  });
});

test("a new address must be free among those who are not removed", async () => {
  await using world = await createIdentityWorld();
  const { account } = await admit(world);
  const other = await world.addUser("other@example.com");
  const move = () => reasonOf(() => update(world, account.id, { email: other.email }));
  expect(await move()).toBe("user.exists");
  await world.setUser(other.id, { protected: true });
  expect(await move()).toBe("user.protected");
  await world.setUser(other.id, { protected: false, status: "removed" });
  expect(await move()).toMatchObject({ account: { id: account.id, email: other.email } });
});

test("a provisioned account that the configuration protects is unchanged", async () => {
  await using world = await createIdentityWorld();
  const { account } = await admit(world);
  await world.setUser(account.id, { role: "admin", protected: true });
  expect(await reasonOf(() => update(world, account.id, { active: false }))).toBe("user.protected");
  expect(await reasonOf(() => remove(world, account.id))).toBe("user.protected");
  expect(await update(world, account.id, {})).toMatchObject({ account: { role: "admin" } });
});

test("a removed account loses its logins and keeps its role", async () => {
  await using world = await createIdentityWorld();
  const { account } = await admit(world);
  await world.setUser(account.id, { role: "admin" });
  expect(await remove(world, account.id)).toMatchObject({ role: "admin", status: "removed" });
  expect(endingsOf(world)).toEqual([[account.id, "user_removed"]]);
});

test("a role is given in one step to the provisioned accounts that lack it", async () => {
  await using world = await createIdentityWorld();
  const accounts = [];
  for (const name of ["a", "b", "c", "d", "e"]) {
    accounts.push((await admit(world, `${name}@example.com`)).account);
  }
  const [a, b, gone, kept, outside] = accounts.map(({ id }) => id);
  const local = await world.addUser("local@example.com");
  await world.setUser(gone ?? "", { status: "removed" });
  await world.setUser(kept ?? "", { protected: true });
  const userIds = [a, b, gone, kept, local.id, "unknown"].map(String);
  const setRole = () =>
    world.db.write((tx) =>
      world.identity.provisioned.setRole(tx, { actor: scimActor(world), userIds, role: "admin" }),
    );
  expect([...(await setRole())].sort()).toEqual([a, b].map(String).sort());
  expect(world.endings.map(({ reason, userIds = [] }) => [reason, ...[...userIds].sort()])).toEqual([
    ["user_changed", ...[a, b].map(String).sort()],
  ]);
  const roleOf = (id: string | undefined) => world.identity.users.show(world.organizationId, id ?? "").role;
  expect([a, b, gone, kept, outside, local.id].map(roleOf)).toEqual([
    "admin",
    "admin",
    "member",
    "member",
    "member",
    "member",
  ]);
  expect(await setRole()).toEqual([]);
  expect(world.endings).toHaveLength(1);
});

test("an address finds its present holder, else the one removed last", async () => {
  await using world = await createIdentityWorld();
  const { identity, organizationId, db } = world;
  const found = () => identity.findUserByEmail(db.read, organizationId, ADA)?.id;
  const { account: first } = await admit(world);
  await remove(world, first.id);
  const { account: second } = await admit(world, "l@example.com");
  world.clock.advance(1);
  await update(world, second.id, { email: ADA });
  expect([found(), identity.users.find(organizationId, ADA).id]).toEqual([second.id, second.id]);
  world.clock.advance(1);
  await remove(world, second.id);
  expect(found()).toBe(second.id);
  const { user } = await identity.users.create(world.operator, {
    email: ADA,
    role: "member",
    password: PASSWORD,
  });
  expect(user).toMatchObject({ id: second.id, status: "active", provisioningSource: "local" });
  expect(await identity.isPasswordOf(identity.findUserByEmail(db.read, organizationId, ADA), PASSWORD)).toBe(
    true,
  );
  expect(
    await reasonOf(() => identity.invitations.create(world.operator, { email: ADA, role: "member" })),
  ).toBe("user.exists");
  const rows = db.read.select({ id: users.id }).from(users).where(eq(users.emailKey, ADA)).all();
  expect(rows).toHaveLength(2);
});

test("an invited user at an address of several removed accounts becomes the latest of them", async () => {
  await using world = await createIdentityWorld();
  const { account: first } = await admit(world);
  await remove(world, first.id);
  const { account: second } = await admit(world, "l@example.com");
  await update(world, second.id, {});
  world.clock.advance(1);
  await remove(world, second.id);
  const { token } = await world.identity.invitations.create(world.operator, { email: ADA, role: "member" });
  const accepted = await world.identity.invitations.accept({ token, password: PASSWORD });
  expect(accepted).toMatchObject({ id: second.id, status: "active", provisioningSource: "local" });
});

test("USE-4 role, status and removal of a provisioned account are refused elsewhere; its logins can be revoked", async () => {
  await using world = await createIdentityWorld();
  const admin = await world.addUser("admin@example.com", { role: "admin" });
  const { account } = await admit(world);
  const { users: service } = world.identity;
  for (const actor of [actorOf(admin), world.operator]) {
    const refusals = [
      () => service.setRole(actor, account.id, "admin"),
      () => service.setStatus(actor, account.id, "suspended"),
      () => service.remove(actor, account.id),
    ];
    for (const refused of refusals) {
      await expect(refused()).rejects.toMatchObject({
        kind: "conflict",
        reason: "user.managed",
        message: expect.stringContaining("identity provider"),
      });
    }
    expect(await reasonOf(() => service.create(actor, { email: ADA, role: "member" }))).toBe("user.exists");
    await service.revokeLogins(actor, account.id);
  }
  expect(endingsOf(world)).toEqual([
    [account.id, "logins_revoked"],
    [account.id, "logins_revoked"],
  ]);
});

test("a password that was reset lets a provisioned user sign in, and the provider's next change keeps it", async () => {
  await using world = await createIdentityWorld();
  const { account } = await admit(world);
  await world.identity.users.resetPassword(world.operator, account.id, PASSWORD);
  await update(world, account.id, { active: false });
  await update(world, account.id, {});
  const found = world.identity.findUserByEmail(world.db.read, world.organizationId, ADA);
  expect(found).toMatchObject({ provisioningSource: "scim", status: "active" });
  expect(await world.identity.isPasswordOf(found, PASSWORD)).toBe(true);
});

test("active provisioned users without a password cannot sign in, unless an identity provider signs them in", async () => {
  await using world = await createIdentityWorld();
  const counted = () => world.identity.provisioned.countCannotSignIn(world.organizationId);
  await world.addUser("local@example.com", { passwordHash: null });
  await admit(world, "suspended@example.com", { active: false });
  const { account: gone } = await admit(world, "gone@example.com");
  await remove(world, gone.id);
  expect(counted()).toBe(0);
  const { account } = await admit(world);
  await admit(world, "second@example.com");
  expect(counted()).toBe(2);
  await world.identity.users.resetPassword(world.operator, account.id, PASSWORD);
  expect(counted()).toBe(1);

  await using elsewhere = await createIdentityWorld({ mode: "oidc" });
  await admit(elsewhere);
  expect(elsewhere.identity.provisioned.countCannotSignIn(elsewhere.organizationId)).toBe(0);
});
