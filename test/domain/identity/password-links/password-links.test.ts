// Links with which a user sets a new password: who gets one, its effect, and what invalidates it.
import { describe, expect, test } from "bun:test";
import { consumeBudget } from "../../../../src/domain/access/budgets/budgets.ts";
import { budgets } from "../../../../src/domain/access/tables.ts";
import type { User } from "../../../../src/domain/identity/model.ts";
import { PASSWORD_LINK_TTL_MS } from "../../../../src/domain/identity/model.ts";
import { passwordLinks } from "../../../../src/domain/identity/tables.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import {
  actorOf,
  createIdentityWorld,
  type IdentityWorld,
  PASSWORD,
  reasonOf,
} from "../../../support/identity-world.ts";

const ADA = "ada@example.com";
const NEXT = new Secret("a password from the link");
const UNAVAILABLE = "password_link.unavailable";

async function createLinkWorld(settings: Parameters<typeof createIdentityWorld>[0] = {}) {
  const world = await createIdentityWorld(settings);
  const admin = await world.addUser("admin@example.com", { role: "admin" });
  const ada = await world.addUser(ADA);
  const { passwordLinks: links } = world.identity;
  return Object.assign(world, {
    admin,
    ada,
    links,
    give: (actor: Actor = actorOf(admin), id = ada.id) => links.create(actor, id),
    set: (token: Secret, password = NEXT) => links.setPassword({ token, password }),
    rows: () => world.db.read.select().from(passwordLinks).all(),
    knows: (password: Secret, email = ADA) => {
      const { identity, organizationId, db } = world;
      return identity.isPasswordOf(identity.findUserByEmail(db.read, organizationId, email), password);
    },
  });
}
type LinkWorld = Awaited<ReturnType<typeof createLinkWorld>>;

const scimActor = (world: IdentityWorld): Actor => ({ ...world.system, kind: "scim", label: "scim:okta" });

const provision = async (world: IdentityWorld, email: string): Promise<User> => {
  const given = { actor: scimActor(world), email, active: true, mayLink: true };
  return (await world.db.write((tx) => world.identity.provisioned.admit(tx, given))).account;
};

describe("a link", () => {
  test("lets a provisioned user set the first password, once, and is audited", async () => {
    await using world = await createLinkWorld();
    const { id } = await provision(world, "eve@example.com");
    const { token, user, expiresAtMs } = await world.give(actorOf(world.admin), id);
    expect({ email: user.email, expiresAtMs }).toEqual({
      email: "eve@example.com",
      expiresAtMs: world.clock.nowMs() + PASSWORD_LINK_TTL_MS,
    });
    expect(world.links.getUser(token)).toMatchObject({ id });
    expect(await world.set(token)).toMatchObject({ id, provisioningSource: "scim" });
    expect(await world.knows(NEXT, "eve@example.com")).toBe(true);
    expect(await reasonOf(() => world.set(token, PASSWORD))).toBe(UNAVAILABLE);
    expect(world.audited().slice(-2)).toEqual(["user.password_link", "user.password_set"]);
  });

  test("replaces a password and ends the logins only when it is used", async () => {
    await using world = await createLinkWorld();
    const { token } = await world.give();
    expect(await world.knows(PASSWORD)).toBe(true);
    expect(world.endings).toEqual([]);
    await world.set(token);
    expect([await world.knows(PASSWORD), await world.knows(NEXT)]).toEqual([false, true]);
    expect(world.endings).toEqual([
      { userId: world.ada.id, reason: "password_set", nowMs: world.clock.nowMs() },
    ]);
  });

  test("refuses a void link as void with any password", async () => {
    await using world = await createLinkWorld();
    const { token } = await world.give();
    await world.set(token);
    expect(await reasonOf(() => world.set(token, new Secret("short")))).toBe(UNAVAILABLE);
  });

  test("is stored as a digest", async () => {
    await using world = await createLinkWorld();
    const { token, expiresAtMs } = await world.give();
    expect(world.rows()).toEqual([
      {
        userId: world.ada.id,
        tokenHash: sha256Hex(token.reveal()),
        creatorId: world.admin.id,
        createdAtMs: world.clock.nowMs(),
        expiresAtMs,
      },
    ]);
  });

  test("survives a password that is too short", async () => {
    await using world = await createLinkWorld();
    const { token } = await world.give();
    expect(await reasonOf(() => world.set(token, new Secret("short")))).toBe("identity.invalid");
    expect(await world.set(token)).toMatchObject({ id: world.ada.id });
  });

  test.each([
    ["just before it expires", -1, false],
    ["when it has expired", 0, true],
  ])("%s", async (_when, offsetMs, isRefused) => {
    await using world = await createLinkWorld();
    const { token } = await world.give();
    world.clock.advance(PASSWORD_LINK_TTL_MS + offsetMs);
    expect((await reasonOf(() => world.set(token))) === UNAVAILABLE).toBe(isRefused);
  });

  test("is replaced by a second one of the same user, and by no other user's", async () => {
    await using world = await createLinkWorld();
    const other = await world.addUser("other@example.com");
    const first = await world.give();
    const others = await world.give(actorOf(world.admin), other.id);
    const second = await world.give();
    expect(await reasonOf(() => world.set(first.token))).toBe(UNAVAILABLE);
    expect(await world.set(others.token)).toMatchObject({ id: other.id });
    expect(await world.set(second.token)).toMatchObject({ id: world.ada.id });
    expect(world.rows()).toEqual([]);
  });

  test("works for one of two simultaneous requests", async () => {
    await using world = await createLinkWorld();
    const { token } = await world.give();
    world.whileHashing = () => world.set(token, PASSWORD);
    expect(await reasonOf(() => world.set(token))).toBe(UNAVAILABLE);
    expect(await world.knows(PASSWORD)).toBe(true);
  });

  test("unknown, is refused", async () => {
    await using world = await createLinkWorld();
    expect(await reasonOf(() => world.links.getUser(new Secret("")))).toBe(UNAVAILABLE);
    expect(await reasonOf(() => world.set(new Secret("none")))).toBe(UNAVAILABLE);
  });

  test("is counted while it is valid, for its user and in total", async () => {
    await using world = await createLinkWorld();
    const counts = () => [world.links.countOpen(), world.links.countOpen(world.ada.id)];
    const other = await world.addUser("other@example.com");
    await world.give();
    world.clock.advance(1);
    await world.give(actorOf(world.admin), other.id);
    expect(counts()).toEqual([2, 1]);
    world.clock.advance(PASSWORD_LINK_TTL_MS - 1);
    expect(counts()).toEqual([1, 0]);
    world.clock.advance(1);
    expect(counts()).toEqual([0, 0]);
  });

  test("clears the wrong passwords of its user only", async () => {
    await using world = await createLinkWorld();
    const { token } = await world.give();
    await world.db.write((tx) => {
      for (const subject of [ADA, "other@example.com"])
        consumeBudget(tx, {
          name: "password.account",
          subject,
          limit: 9,
          windowSeconds: 60,
          nowMs: world.clock.nowMs(),
        });
    });
    await world.set(token);
    expect(world.db.read.select().from(budgets).all()).toHaveLength(1);
  });

  test("sweeps an expired link and keeps an open one", async () => {
    await using world = await createLinkWorld();
    await world.give();
    world.clock.advance(1);
    const other = await world.addUser("other@example.com");
    await world.give(actorOf(world.admin), other.id);
    world.clock.advance(PASSWORD_LINK_TTL_MS - 1);
    expect(await world.links.sweep(new AbortController().signal)).toBe(1);
    expect(world.rows()).toMatchObject([{ userId: other.id }]);
  });
});

describe("what voids an open link", () => {
  const ACTS: [name: string, act: (world: LinkWorld) => Promise<unknown>][] = [
    [
      "suspending the user",
      ({ identity, operator, ada }) => identity.users.setStatus(operator, ada.id, "suspended"),
    ],
    [
      "suspending and resuming the user",
      async ({ identity, operator, ada }) => {
        await identity.users.setStatus(operator, ada.id, "suspended");
        await identity.users.setStatus(operator, ada.id, "active");
      },
    ],
    ["removing the user", ({ identity, operator, ada }) => identity.users.remove(operator, ada.id)],
    [
      "another role of the user",
      ({ identity, operator, ada }) => identity.users.setRole(operator, ada.id, "admin"),
    ],
    ["a reset password", ({ identity, operator, ada }) => identity.users.resetPassword(operator, ada.id)],
    [
      "ending the user's logins",
      ({ identity, operator, ada }) => identity.users.revokeLogins(operator, ada.id),
    ],
    [
      "a password that the user changes",
      async ({ identity, db, ada }) => {
        const hash = await identity.ownPasswords.hash(PASSWORD);
        await db.write((tx) => identity.ownPasswords.replace(tx, ada, hash));
      },
    ],
    ["an identity provider that takes the account over", (world) => provision(world, ADA)],
    [
      "an identity provider that gives another address",
      async (world) => {
        await world.setUser(world.ada.id, { provisioningSource: "scim" });
        const moved = { actor: scimActor(world), id: world.ada.id, email: "l@example.com", active: true };
        await world.db.write((tx) => world.identity.provisioned.update(tx, moved));
      },
    ],
    [
      "a role from a provisioned group",
      async (world) => {
        await world.setUser(world.ada.id, { provisioningSource: "scim" });
        const given = { actor: scimActor(world), userIds: [world.ada.id], role: "admin" } as const;
        await world.db.write((tx) => world.identity.provisioned.setRole(tx, given));
      },
    ],
    [
      "a role from groups at sign-in",
      ({ db, identity, operator, ada }) =>
        db.write((tx) => identity.external.setRole(tx, { actor: operator, user: ada, role: "admin" })),
    ],
    [
      "an address from the provider at sign-in",
      ({ db, identity, operator, ada }) =>
        db.write((tx) =>
          identity.external.changeAddress(tx, { actor: operator, user: ada, email: "l@example.com" }),
        ),
    ],
    [
      "suspending the administrator who gave it",
      ({ identity, operator, admin }) => identity.users.setStatus(operator, admin.id, "suspended"),
    ],
    [
      "permanently, a demotion of the administrator who created it",
      async ({ identity, operator, admin }) => {
        await identity.users.setRole(operator, admin.id, "member");
        await identity.users.setRole(operator, admin.id, "admin");
      },
    ],
    [
      "a role that the administrator who gave it loses unnoticed",
      ({ setUser, admin }) => setUser(admin.id, { role: "member" }),
    ],
    ["a suspension behind the service", ({ setUser, ada }) => setUser(ada.id, { status: "suspended" })],
    [
      "a suspension, behind the service, of the administrator who gave it",
      ({ setUser, admin }) => setUser(admin.id, { status: "suspended" }),
    ],
    [
      "protection that the user gets",
      ({ setUser, ada }) => setUser(ada.id, { role: "admin", protected: true }),
    ],
  ];

  test.each(ACTS)("%s", async (_name, act) => {
    await using world = await createLinkWorld();
    await world.addUser("root@example.com", { role: "admin" });
    const { token } = await world.give();
    expect(world.links.getUser(token)).toMatchObject({ id: world.ada.id });
    await act(world);
    expect(await reasonOf(() => world.links.getUser(token))).toBe(UNAVAILABLE);
    expect(await reasonOf(() => world.set(token))).toBe(UNAVAILABLE);
    expect(await world.knows(NEXT)).toBe(false);
  });

  test("an act while the new password is hashed", async () => {
    await using world = await createLinkWorld();
    const { token } = await world.give();
    world.whileHashing = () => world.identity.users.setStatus(world.operator, world.ada.id, "suspended");
    expect(await reasonOf(() => world.set(token))).toBe(UNAVAILABLE);
  });

  test("keeps the link after changes to other users, if the operator gave it", async () => {
    await using world = await createLinkWorld();
    await world.addUser("root@example.com", { role: "admin" });
    const { token } = await world.give(world.operator);
    await world.identity.users.remove(world.operator, world.admin.id);
    expect(await world.set(token)).toMatchObject({ id: world.ada.id });
  });
});

describe("giving a link", () => {
  test("has its guards in order, and a check without effect returns the same", async () => {
    await using world = await createLinkWorld();
    const { admin, ada, links, operator } = world;
    const refusal = async (actor: Actor = actorOf(admin), id = ada.id) => {
      const checked = await reasonOf(() => links.checkCreate(actor, id));
      const created = await reasonOf(() => links.create(actor, id));
      if (typeof created === "string") expect(checked).toBe(created);
      else expect(checked).toBeUndefined();
      return typeof created === "string" ? created : "given";
    };
    expect(await refusal(operator, "unknown")).toBe("user.not_found");
    expect(await refusal(actorOf(admin), admin.id)).toBe("user.own_account");
    await world.setUser(ada.id, { status: "removed", protected: true });
    expect(await refusal(operator)).toBe("user.removed");
    await world.setUser(ada.id, { status: "suspended" });
    expect(await refusal()).toBe("user.protected");
    await world.setUser(ada.id, { protected: false });
    expect(await refusal()).toBe("user.suspended");
    await world.setUser(ada.id, { status: "active" });
    expect(await refusal()).toBe("given");
    await world.setUser(ada.id, { protected: true });
    expect(await refusal(operator)).toBe("given");
  });

  test("is refused where users sign in at the identity provider, except for the protected administrator", async () => {
    await using world = await createLinkWorld({ mode: "oidc" });
    expect(await reasonOf(() => world.give(world.operator))).toBe("user.password_unused");
    await world.setUser(world.ada.id, { protected: true });
    const { token } = await world.give(world.operator);
    await world.setUser(world.ada.id, { protected: false }); // as if it had been created before the mode changed
    expect(await reasonOf(() => world.set(token))).toBe(UNAVAILABLE);
    await world.setUser(world.ada.id, { protected: true });
    expect(await world.set(token)).toMatchObject({ id: world.ada.id });
  });
});
