import { expect, test } from "bun:test";
import { INVITATION_TTL_MS } from "../../../../src/domain/identity/model.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import {
  actorOf,
  createIdentityWorld,
  type IdentityWorld,
  PASSWORD,
  reasonOf,
} from "../../../support/identity-world.ts";

const ANN = { email: "ann@example.com", role: "admin" };

const accept = (world: IdentityWorld, token: Secret, password = PASSWORD) =>
  reasonOf(() => world.identity.invitations.accept({ token, password }));

test("an invitation fixes address and role and is valid for 24 hours", async () => {
  await using world = await createIdentityWorld();
  const bob = await world.addUser("bob@example.com");
  const made = await world.identity.invitations.create(actorOf(bob), {
    email: " Ann@Example.com ",
    role: "admin",
  });
  expect(made.token.reveal()).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(made.invitation).toMatchObject({
    email: "ann@example.com",
    role: "admin",
    status: "pending",
    inviterEmail: "bob@example.com",
    expiresAtMs: world.clock.nowMs() + 24 * 3_600_000,
  });
  expect(world.identity.invitations.getByToken(made.token)).toEqual(made.invitation);
});

test("the holder of the link becomes a user with the chosen password, once", async () => {
  await using world = await createIdentityWorld();
  const { identity, db, organizationId } = world;
  const { token, invitation } = await identity.invitations.create(world.operator, ANN);
  const user = await identity.invitations.accept({ token, password: PASSWORD, requestId: "r1" });
  expect(user).toMatchObject({ email: "ann@example.com", role: "admin", status: "active" });
  const found = identity.findUserByEmail(db.read, organizationId, "ann@example.com");
  expect(await identity.isPasswordOf(found, PASSWORD)).toBe(true);
  expect(identity.invitations.show(organizationId, invitation.id).status).toBe("accepted");
  expect(await accept(world, token)).toBe("invitation.unavailable");
  expect(world.audited()).toEqual(["invitation.create", "invitation.accept", "user.create"]);
});

test("a link opened twice at the same moment admits one user", async () => {
  await using world = await createIdentityWorld();
  const { token } = await world.identity.invitations.create(world.operator, ANN);
  const results = await Promise.all([accept(world, token), accept(world, token)]);
  expect(results.filter((result) => result === "invitation.unavailable")).toHaveLength(1);
});

test("a link that is canceled or expires while the password is hashed admits no one", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const first = await invitations.create(world.operator, ANN);
  world.whileHashing = () => invitations.cancel(world.operator, first.invitation.id);
  expect(await accept(world, first.token)).toBe("invitation.unavailable");
  const second = await invitations.create(world.operator, ANN);
  world.whileHashing = async () => world.clock.advance(INVITATION_TTL_MS);
  expect(await accept(world, second.token)).toBe("invitation.unavailable");
  expect(world.identity.users.list(world.organizationId, {}).total).toBe(0);
});

test("an inviter who was removed is not shown", async () => {
  await using world = await createIdentityWorld();
  const { users, invitations } = world.identity;
  const bob = await world.addUser("bob@example.com");
  const { invitation } = await invitations.create(actorOf(bob), ANN);
  await invitations.cancel(world.operator, invitation.id);
  await users.remove(world.operator, bob.id);
  expect(invitations.show(world.organizationId, invitation.id).inviterEmail).toBeNull();
});

test("a removed user who is invited again has a new subject and the old id", async () => {
  await using world = await createIdentityWorld();
  const before = await world.addUser("ann@example.com");
  await world.identity.users.remove(world.operator, before.id);
  const { token } = await world.identity.invitations.create(world.operator, ANN);
  const after = await world.identity.invitations.accept({ token, password: PASSWORD });
  expect(after).toMatchObject({ id: before.id, role: "admin", status: "active" });
  expect(after.subject).not.toBe(before.subject);
});

test("unknown, expired, canceled and accepted links give the same response", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const responses = new Set<string>();
  const collect = async (token: Secret) => {
    for (const work of [
      () => Promise.resolve().then(() => invitations.getByToken(token)),
      () => invitations.accept({ token, password: PASSWORD }),
    ]) {
      const error = await work().then(String, (failure) => failure);
      responses.add(JSON.stringify([error.kind, error.reason, error.message, error.hint]));
    }
  };
  await collect(new Secret("x".repeat(43)));
  const accepted = await invitations.create(world.operator, { email: "a@example.com", role: "member" });
  await invitations.accept({ token: accepted.token, password: PASSWORD });
  await collect(accepted.token);
  const canceled = await invitations.create(world.operator, { email: "b@example.com", role: "member" });
  await invitations.cancel(world.operator, canceled.invitation.id);
  await collect(canceled.token);
  const expired = await invitations.create(world.operator, { email: "c@example.com", role: "member" });
  world.clock.advance(INVITATION_TTL_MS);
  await collect(expired.token);
  expect(responses.size).toBe(1);
  expect([...responses][0]).toContain("invitation.unavailable");
});

test.each([
  [INVITATION_TTL_MS - 1, "open"],
  [INVITATION_TTL_MS, "invitation.unavailable"],
  [INVITATION_TTL_MS + 1, "invitation.unavailable"],
])("%p ms after its creation an invitation is %p", async (age, response) => {
  await using world = await createIdentityWorld();
  const { token } = await world.identity.invitations.create(world.operator, ANN);
  world.clock.advance(age);
  const result = await accept(world, token);
  expect(typeof result === "string" ? result : "open").toBe(response);
});

test("a refused password does not spend the link", async () => {
  await using world = await createIdentityWorld();
  const { token } = await world.identity.invitations.create(world.operator, ANN);
  expect(await accept(world, token, new Secret("elevenchars"))).toBe("identity.invalid");
  expect(await accept(world, token)).toMatchObject({ email: ANN.email });
});

test("an invitation is refused in order: provider, input, member, pending", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const create = (email: string, role = "member") =>
    reasonOf(() => invitations.create(world.operator, { email, role }));
  await world.addUser("bob@example.com", { status: "suspended" });
  await create("ann@example.com");
  const before = world.audited();
  const wrong = invitations.create(world.operator, { email: "ann@", role: "owner" });
  await expect(wrong).rejects.toMatchObject({ problems: [{ pointer: "/role" }, { pointer: "/email" }] });
  expect(await create("BOB@example.com")).toBe("user.exists");
  expect(await create("Ann@example.com")).toBe("invitation.pending");
  expect(world.audited()).toEqual(before);
});

test("an expired invitation is replaced by a new one and canceled", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const old = await invitations.create(world.operator, ANN);
  world.clock.advance(INVITATION_TTL_MS);
  await invitations.create(world.operator, ANN);
  expect(invitations.show(world.organizationId, old.invitation.id).status).toBe("canceled");
  expect(world.audited()).toEqual(["invitation.create", "invitation.cancel", "invitation.create"]);
});

test("two invitations of one address at the same moment create one", async () => {
  await using world = await createIdentityWorld();
  const create = () => reasonOf(() => world.identity.invitations.create(world.operator, ANN));
  const results = await Promise.all([create(), create()]);
  expect(results.filter((result) => result === "invitation.pending")).toHaveLength(1);
});

test("SSO-3 if the provider admits invited people, a link is made and its password form is refused", async () => {
  await using world = await createIdentityWorld({ mode: "oidc", invites: true });
  const { identity, operator } = world;
  const { token } = await identity.invitations.create(operator, { email: "ana@example.org", role: "member" });
  expect(await reasonOf(() => identity.invitations.accept({ token, password: PASSWORD }))).toBe(
    "invitation.accepted_at_provider",
  );
});

test("SSO-3 if the identity provider decides, no one is invited, renewed or admitted", async () => {
  await using world = await createIdentityWorld({ mode: "oidc" });
  const { invitations } = world.identity;
  const refused = [
    () => invitations.create(world.operator, { email: "", role: "" }),
    () => invitations.resend(world.operator, "unknown"),
    () => invitations.regenerate(world.operator, "unknown"),
    () => invitations.accept({ token: new Secret("x"), password: PASSWORD }),
  ];
  for (const work of refused) expect(await reasonOf(work)).toBe("invitation.disabled");
  expect(await reasonOf(() => invitations.cancel(world.operator, "unknown"))).toBe("invitation.not_found");
});

test("the list is newest first, with ties by id, and filters by state, address and role", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const add = (email: string, role: string) => invitations.create(world.operator, { email, role });
  const expired = await add("a_x@example.com", "admin");
  world.clock.advance(INVITATION_TTL_MS);
  const canceled = await add("b@example.com", "member");
  await add("c@example.com", "member");
  await invitations.cancel(world.operator, canceled.invitation.id);
  world.clock.set(expired.invitation.createdAtMs - 1);
  await add("d@example.com", "admin");
  world.clock.advance(INVITATION_TTL_MS);
  const list = (query: object) =>
    invitations.list(world.organizationId, query).items.map(({ email }) => email.slice(0, 1));
  expect(list({})).toEqual(["c", "b", "a", "d"]);
  expect(list({ perPage: 1, page: 2 })).toEqual(["b"]);
  expect(list({ status: "outstanding" })).toEqual(["c", "a", "d"]);
  expect(list({ q: "A_" })).toEqual(["a"]);
  expect(list({ role: "member" })).toEqual(["c", "b"]);
  expect(invitations.list(world.organizationId, {}).total).toBe(4);
  expect(() => invitations.list(world.organizationId, { status: "pending" })).toThrow(/outstanding/);
  expect(await reasonOf(() => invitations.show(world.ids.uuid(), expired.invitation.id))).toBe(
    "invitation.not_found",
  );
});

test("canceling may be repeated and is refused after acceptance", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const { invitation } = await invitations.create(world.operator, ANN);
  world.clock.advance(INVITATION_TTL_MS);
  await invitations.cancel(world.operator, invitation.id);
  await invitations.cancel(world.operator, invitation.id);
  expect(world.audited()).toEqual(["invitation.create", "invitation.cancel"]);
  const other = await invitations.create(world.operator, ANN);
  await invitations.accept({ token: other.token, password: PASSWORD });
  expect(await reasonOf(() => invitations.cancel(world.operator, other.invitation.id))).toBe(
    "invitation.accepted",
  );
});

test("resending renews an expired invitation for 24 hours with the same link", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const { invitation, token } = await invitations.create(world.operator, ANN);
  world.clock.advance(INVITATION_TTL_MS + 1);
  const renewed = await invitations.resend(world.operator, invitation.id);
  expect(renewed).toEqual({ ...invitation, expiresAtMs: world.clock.nowMs() + INVITATION_TTL_MS });
  expect(invitations.getByToken(token)).toEqual(renewed);
  expect(world.audited()).toEqual(["invitation.create", "invitation.resend"]);
});

test("regenerating creates a new link and ends the old one", async () => {
  await using world = await createIdentityWorld();
  const { invitations } = world.identity;
  const old = await invitations.create(world.operator, ANN);
  const fresh = await invitations.regenerate(world.operator, old.invitation.id);
  expect(fresh.invitation.id).toBe(old.invitation.id);
  expect(await accept(world, old.token)).toBe("invitation.unavailable");
  expect(await accept(world, fresh.token)).toMatchObject({ email: ANN.email });
  expect(world.audited()[1]).toBe("invitation.regenerate");
});

test.each(["resend", "regenerate"] as const)(
  "%p is refused for an invitation that is no longer pending",
  async (verb) => {
    await using world = await createIdentityWorld();
    const { invitations } = world.identity;
    const { invitation } = await invitations.create(world.operator, ANN);
    await invitations.cancel(world.operator, invitation.id);
    const before = world.audited();
    expect(await reasonOf(() => invitations[verb](world.operator, invitation.id))).toBe("invitation.closed");
    expect(await reasonOf(() => invitations[verb](world.operator, "unknown"))).toBe("invitation.not_found");
    expect(world.audited()).toEqual(before);
  },
);
