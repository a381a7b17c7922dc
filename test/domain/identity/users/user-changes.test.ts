import { expect, test } from "bun:test";
import { loginSessions } from "../../../../src/domain/access/tables.ts";
import type { User } from "../../../../src/domain/identity/model.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { actorOf, createIdentityWorld, PASSWORD, reasonOf } from "../../../support/identity-world.ts";

/** A user that every check of a change refuses; `world.setUser` removes one reason at a time. */
async function createLadder() {
  const world = await createIdentityWorld();
  const bob = await world.addUser("bob@example.com");
  const ann = await world.addUser("ann@example.com", {
    role: "admin",
    status: "removed",
    protected: true,
    provisioningSource: "scim",
  });
  return { world, ann, self: actorOf(ann), other: actorOf(bob) };
}

test("a change is checked by its guards in order, and a refused one leaves no trace", async () => {
  const { world, ann, self, other } = await createLadder();
  await using _ = world;
  const { users } = world.identity;
  const before = world.audited();
  const demote = (actor = self) => reasonOf(() => users.update(actor, ann.id, { role: "member" }));
  expect(await reasonOf(() => users.update(self, "unknown", {}))).toBe("identity.invalid");
  expect(await reasonOf(() => users.update(self, "unknown", { role: "owner" }))).toBe("identity.invalid");
  expect(await reasonOf(() => users.update(self, "unknown", { status: "removed" }))).toBe("identity.invalid");
  expect(await reasonOf(() => users.update(self, "unknown", { role: "member" }))).toBe("user.not_found");
  expect(await demote()).toBe("user.removed");
  await world.setUser(ann.id, { status: "active" });
  expect(await demote()).toBe("user.own_account");
  expect(await demote(other)).toBe("user.protected");
  expect(await demote(world.operator)).toBe("user.protected");
  await world.setUser(ann.id, { protected: false });
  expect(await demote(other)).toBe("user.managed");
  await world.setUser(ann.id, { provisioningSource: "local" });
  expect(await demote(other)).toBe("user.last_administrator");
  expect(await demote(world.operator)).toBe("user.last_administrator");
  expect(world.endings).toEqual([]);
  expect(world.audited()).toEqual(before);
  await world.setUser(other.id ?? "", { role: "admin" });
  expect(await demote(other)).toMatchObject({ role: "member" });
});

test("a removal is checked by its guards in order and done once", async () => {
  const { world, ann, self, other } = await createLadder();
  await using _ = world;
  const { users } = world.identity;
  const before = world.audited();
  const remove = (actor = self) => reasonOf(() => users.remove(actor, ann.id));
  expect(await reasonOf(() => users.remove(self, "unknown"))).toBe("user.not_found");
  expect(await remove()).toBeUndefined(); // already removed
  await world.setUser(ann.id, { status: "active" });
  expect(await remove()).toBe("user.own_account");
  expect(await remove(other)).toBe("user.protected");
  await world.setUser(ann.id, { protected: false });
  expect(await remove(other)).toBe("user.managed");
  await world.setUser(ann.id, { provisioningSource: "local" });
  expect(await remove(other)).toBe("user.last_administrator");
  expect(world.audited()).toEqual(before);
  await world.setUser(other.id ?? "", { role: "admin" });
  expect(await remove(other)).toBeUndefined();
  expect(await remove(other)).toBeUndefined();
  expect(world.endings).toEqual([{ userId: ann.id, reason: "user_removed", nowMs: world.clock.nowMs() }]);
  expect(world.audited()).toEqual([...before, "user.remove"]);
});

test("the refusal of a managed user names the identity provider", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("ann@example.com", { provisioningSource: "scim" });
  const change = world.identity.users.setRole(world.operator, ann.id, "admin");
  await expect(change).rejects.toThrow(/identity provider/);
});

test("names all problems of a change together", async () => {
  await using world = await createIdentityWorld();
  const change = world.identity.users.update(world.operator, "unknown", { role: "owner", status: "removed" });
  await expect(change).rejects.toMatchObject({ problems: [{ pointer: "/role" }, { pointer: "/status" }] });
  const empty = world.identity.users.update(world.operator, "unknown", {});
  await expect(empty).rejects.toThrow(/^role, status or both/);
});

test("two administrators cannot demote each other", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("ann@example.com", { role: "admin" });
  const bob = await world.addUser("bob@example.com", { role: "admin" });
  const { users } = world.identity;
  const demote = (actor: User, target: User) =>
    reasonOf(() => users.setRole(actorOf(actor), target.id, "member"));
  const results = await Promise.all([demote(ann, bob), demote(bob, ann)]);
  expect(results.filter((result) => result === "user.last_administrator")).toHaveLength(1);
  expect(users.list(world.organizationId, { role: "admin", status: "active" }).total).toBe(1);
});

test.each(["setStatus", "remove"] as const)(
  "the last active administrator stays, also under %p",
  async (verb) => {
    await using world = await createIdentityWorld();
    const ann = await world.addUser("ann@example.com", { role: "admin" });
    await world.addUser("bob@example.com", { role: "admin", status: "suspended" });
    const { users } = world.identity;
    const work = () =>
      verb === "remove"
        ? users.remove(world.operator, ann.id)
        : users.setStatus(world.operator, ann.id, "suspended");
    expect(await reasonOf(work)).toBe("user.last_administrator");
  },
);

test("a suspended administrator may be demoted: an active one remains", async () => {
  await using world = await createIdentityWorld();
  await world.addUser("ann@example.com", { role: "admin" });
  const bob = await world.addUser("bob@example.com", { role: "admin", status: "suspended" });
  expect(await world.identity.users.setRole(world.operator, bob.id, "member")).toMatchObject({
    role: "member",
    status: "suspended",
  });
});

test("suspending and resuming end the logins each time and keep the password", async () => {
  await using world = await createIdentityWorld();
  const { identity, db, organizationId, operator } = world;
  const ann = await world.addUser("ann@example.com");
  world.clock.advance(5);
  expect(await identity.users.setStatus(operator, ann.id, "suspended")).toMatchObject({
    status: "suspended",
  });
  const resumed = await identity.users.setStatus(operator, ann.id, "active");
  expect(resumed).toMatchObject({ status: "active", subject: ann.subject, updatedAtMs: world.clock.nowMs() });
  expect(world.endings.map(({ reason }) => reason)).toEqual(["user_suspended", "user_changed"]);
  const found = identity.findUserByEmail(db.read, organizationId, ann.email);
  expect(await identity.isPasswordOf(found, PASSWORD)).toBe(true);
});

test("a change to the same values still ends the logins", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("ann@example.com");
  await world.identity.users.update(world.operator, ann.id, { role: "member", status: "active" });
  expect(world.endings).toHaveLength(1);
  expect(world.audited()).toEqual(["user.create", "user.update"]);
});

test("a suspended user's open login session ends in the same moment", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("ann@example.com");
  const nowMs = world.clock.nowMs();
  const session = { id: "s", userId: ann.id, tokenHash: "h", createdAtMs: nowMs, renewedAtMs: nowMs };
  await world.db.write((tx) => {
    tx.insert(loginSessions)
      .values({ ...session, expiresAtMs: nowMs + 1_000 })
      .run();
  });
  await world.identity.users.setStatus(world.operator, ann.id, "suspended");
  const [after] = world.db.read.select().from(loginSessions).limit(1).all();
  expect(after?.endedAtMs).toBe(nowMs);
});

test("if the logins cannot be ended, the change does not happen", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("ann@example.com");
  world.endings.push = () => {
    throw new Error("no room");
  };
  await expect(world.identity.users.setRole(world.operator, ann.id, "admin")).rejects.toThrow("no room");
  expect(world.identity.users.show(world.organizationId, ann.id).role).toBe("member");
  expect(world.audited()).toEqual(["user.create"]);
});

test("a removed user keeps record and role but not the password", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("ann@example.com", { role: "admin" });
  await world.addUser("bob@example.com", { role: "admin" });
  await world.identity.users.remove(world.operator, ann.id);
  const found = world.identity.findUserByEmail(world.db.read, world.organizationId, ann.email);
  expect(found).toMatchObject({ id: ann.id, role: "admin", status: "removed", passwordHash: null });
  expect(await world.identity.isPasswordOf(found, PASSWORD)).toBe(false);
});

test("logins can be revoked for anyone who is not removed, oneself included", async () => {
  const { world, ann, self } = await createLadder();
  await using _ = world;
  const { users } = world.identity;
  expect(await reasonOf(() => users.revokeLogins(self, "unknown"))).toBe("user.not_found");
  expect(await reasonOf(() => users.revokeLogins(self, ann.id))).toBe("user.removed");
  expect(world.endings).toEqual([]);
  await world.setUser(ann.id, { status: "active" });
  await users.revokeLogins(self, ann.id);
  expect(world.endings.map(({ userId, reason }) => ({ userId, reason }))).toEqual([
    { userId: ann.id, reason: "logins_revoked" },
  ]);
  expect(world.audited().at(-1)).toBe("user.revoke_logins");
});

test("a reset password replaces the old one and ends the logins", async () => {
  await using world = await createIdentityWorld();
  const { identity, db, organizationId, operator } = world;
  const ann = await world.addUser("ann@example.com");
  const { generatedPassword } = await identity.users.resetPassword(operator, ann.id);
  const found = identity.findUserByEmail(db.read, organizationId, ann.email);
  expect(await identity.isPasswordOf(found, PASSWORD)).toBe(false);
  expect(await identity.isPasswordOf(found, generatedPassword ?? new Secret(""))).toBe(true);
  expect(world.endings.map(({ reason }) => reason)).toEqual(["password_reset"]);
  const chosen = new Secret("another long password");
  expect((await identity.users.resetPassword(operator, ann.id, chosen)).generatedPassword).toBeUndefined();
  expect(
    await identity.isPasswordOf(identity.findUserByEmail(db.read, organizationId, ann.email), chosen),
  ).toBe(true);
});

test("a password is reset under guards: length, presence, protection", async () => {
  const { world, ann, other } = await createLadder();
  await using _ = world;
  const reset = (actor = other, password = PASSWORD) =>
    reasonOf(() => world.identity.users.resetPassword(actor, ann.id, password));
  expect(await reset(other, new Secret("short"))).toBe("identity.invalid");
  expect(await reset()).toBe("user.removed");
  await world.setUser(ann.id, { status: "active" });
  expect(await reset()).toBe("user.protected");
  expect(await reset(world.operator)).toMatchObject({ user: { id: ann.id } });
});

test("every check refuses what its change would refuse, and changes nothing", async () => {
  await using world = await createIdentityWorld();
  const { users } = world.identity;
  const { operator } = world;
  const cases = [
    [await world.addUser("protected@example.com", { role: "admin", protected: true }), "user.protected"],
    [await world.addUser("managed@example.com", { provisioningSource: "scim" }), "user.managed"],
    [await world.addUser("gone@example.com", { status: "removed" }), "user.removed"],
    [await world.addUser("fine@example.com"), undefined],
  ] as const;
  const before = world.audited();
  const suspension = { status: "suspended" };
  for (const [user, refused] of cases) {
    expect(await reasonOf(() => void users.checkUpdate(operator, user.id, suspension))).toBe(refused);
    const removal = refused === "user.removed" ? undefined : refused;
    expect(await reasonOf(() => users.checkRemove(operator, user.id))).toBe(removal);
    const reset = refused === "user.removed" ? refused : undefined;
    expect(await reasonOf(() => users.checkResetPassword(operator, user.id))).toBe(reset);
  }
  expect(await reasonOf(() => users.checkUpdate(operator, "unknown", suspension))).toBe("user.not_found");
  expect(await reasonOf(() => users.checkUpdate(operator, cases[3][0].id, { role: "owner" }))).toBe(
    "identity.invalid",
  );
  await world.setUser(cases[0][0].id, { protected: false });
  expect(await reasonOf(() => users.checkRemove(operator, cases[0][0].id))).toBe("user.last_administrator");
  for (const update of [suspension, { role: "member" }])
    expect(await reasonOf(() => users.checkUpdate(operator, cases[0][0].id, update))).toBe(
      "user.last_administrator",
    );
  expect(world.audited()).toEqual(before);
  expect(world.endings).toEqual([]);
});
