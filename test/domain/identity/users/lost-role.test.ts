// Pending invitations end with the role of their sender, for every operation that removes the role.
import { expect, test } from "bun:test";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import {
  actorOf,
  createIdentityWorld,
  type IdentityWorld,
  reasonOf,
} from "../../../support/identity-world.ts";

const PASSWORD = new Secret("correct horse battery");

type Ending = (world: IdentityWorld, user: User) => Promise<unknown>;

/** A world with a second administrator, who has sent one invitation to an administrator and one to a member. */
async function createInviter(source: "local" | "scim") {
  const world = await createIdentityWorld();
  await world.addUser("boss@example.com", { role: "admin" });
  const inviter = await world.addUser("ann@example.com", { role: "admin", provisioningSource: source });
  const { invitations } = world.identity;
  const admin = await invitations.create(actorOf(inviter), { email: "eve@example.com", role: "admin" });
  const member = await invitations.create(actorOf(inviter), { email: "mia@example.com", role: "member" });
  const ids = [admin.invitation.id, member.invitation.id];
  const statuses = () => ids.map((id) => invitations.show(world.organizationId, id).status);
  return { world, inviter, admin, ids, statuses };
}

const provisioned = (
  world: IdentityWorld,
  act: (tx: Parameters<Parameters<typeof world.db.write>[0]>[0]) => unknown,
) => world.db.write((tx) => void act(tx), "access");

const byAdministrator: [string, Ending][] = [
  ["demoted", ({ identity, operator }, { id }) => identity.users.setRole(operator, id, "member")],
  ["suspended", ({ identity, operator }, { id }) => identity.users.setStatus(operator, id, "suspended")],
  ["removed", ({ identity, operator }, { id }) => identity.users.remove(operator, id)],
  [
    "taken over by the identity provider",
    (world, { email }) =>
      provisioned(world, (tx) =>
        world.identity.provisioned.admit(tx, { actor: world.system, email, active: true, mayLink: true }),
      ),
  ],
];

const byProvider: [string, Ending][] = [
  [
    "suspended",
    (world, { id, email }) =>
      provisioned(world, (tx) =>
        world.identity.provisioned.update(tx, { actor: world.system, id, email, active: false }),
      ),
  ],
  [
    "removed",
    (world, { id }) =>
      provisioned(world, (tx) => world.identity.provisioned.remove(tx, { actor: world.system, id })),
  ],
  [
    "left without a group that makes administrators",
    (world, { id }) =>
      provisioned(world, (tx) =>
        world.identity.provisioned.setRole(tx, { actor: world.system, userIds: [id], role: "member" }),
      ),
  ],
];

test.each([
  ...byAdministrator.map(([name, end]) => [name, "local", end] as const),
  ...byProvider.map(([name, end]) => [`${name} by the provider`, "scim", end] as const),
])("an administrator who is %s loses the pending invitations", async (_name, source, end) => {
  const { world, inviter, admin, ids, statuses } = await createInviter(source);
  await using _ = world;
  await end(world, inviter);
  expect(statuses()).toEqual(["canceled", "canceled"]);
  const { token } = admin;
  const accepting = () => world.identity.invitations.accept({ token, password: PASSWORD });
  expect(await reasonOf(accepting)).toBe("invitation.unavailable");
  const entries = world.db.read.select().from(auditEntries).all();
  const canceled = entries.filter(({ action }) => action === "invitation.cancel");
  expect(canceled.map(({ target }) => target).sort()).toEqual([...ids].sort());
  expect(JSON.parse(canceled[0]?.after ?? "")).toEqual({ status: "canceled", reason: "inviter_lost_role" });
});

test("administrators who leave one group together all lose their pending invitations", async () => {
  const { world, inviter, statuses } = await createInviter("scim");
  await using _ = world;
  const other = await world.addUser("bob@example.com", { role: "admin", provisioningSource: "scim" });
  const { invitations } = world.identity;
  const { invitation } = await invitations.create(actorOf(other), {
    email: "new@example.com",
    role: "admin",
  });
  const userIds = [inviter.id, other.id];
  await provisioned(world, (tx) =>
    world.identity.provisioned.setRole(tx, { actor: world.system, userIds, role: "member" }),
  );
  expect(statuses()).toEqual(["canceled", "canceled"]);
  expect(invitations.show(world.organizationId, invitation.id).status).toBe("canceled");
});

test("a change reports how many invitations it cancels", async () => {
  const { world, inviter } = await createInviter("local");
  await using _ = world;
  const { users } = world.identity;
  expect(users.countSentInvitations(world.organizationId, inviter.id)).toBe(2);
  const demotion = { role: "member" };
  expect(await users.update(world.operator, inviter.id, demotion)).toMatchObject({ canceledInvitations: 2 });
  expect(users.countSentInvitations(world.organizationId, inviter.id)).toBe(0);
});

test("an expired invitation is canceled too, because it could be renewed", async () => {
  const { world, inviter, ids } = await createInviter("local");
  await using _ = world;
  world.clock.advance(2 * DAY_MS);
  await world.identity.users.remove(world.operator, inviter.id);
  const renewing = () => world.identity.invitations.resend(world.operator, ids[0] ?? "");
  expect(await reasonOf(renewing)).toBe("invitation.closed");
});

test("invitations from other administrators and from the operator stay", async () => {
  const { world, inviter } = await createInviter("local");
  await using _ = world;
  const { invitations, users } = world.identity;
  const other = await world.addUser("bob@example.com", { role: "admin" });
  const kept = [
    await invitations.create(actorOf(other), { email: "new@example.com", role: "member" }),
    await invitations.create(world.operator, { email: "newer@example.com", role: "admin" }),
  ];
  await users.remove(world.operator, inviter.id);
  for (const { token } of kept)
    expect(await invitations.accept({ token, password: PASSWORD })).toMatchObject({ status: "active" });
});

test("an invitation whose inviter lost the role while it was written admits no one", async () => {
  await using world = await createIdentityWorld();
  await world.addUser("boss@example.com", { role: "admin" });
  const inviter = await world.addUser("ann@example.com", { role: "admin" });
  await world.identity.users.setRole(world.operator, inviter.id, "member");
  const late = await world.identity.invitations.create(actorOf(inviter), {
    email: "eve@example.com",
    role: "admin",
  });
  const accepting = () => world.identity.invitations.accept({ token: late.token, password: PASSWORD });
  expect(await reasonOf(accepting)).toBe("invitation.unavailable");
});

test("a new link belongs to its creator and ends with that administrator's role", async () => {
  const { world, inviter, ids, statuses } = await createInviter("local");
  await using _ = world;
  const { invitations, users } = world.identity;
  const renewer = await world.addUser("ron@example.com", { role: "admin" });
  const [id = ""] = ids;
  const renewed = await invitations.regenerate(actorOf(renewer), id);
  expect(renewed.invitation.inviterEmail).toBe("ron@example.com");
  expect(users.countSentInvitations(world.organizationId, renewer.id)).toBe(1);
  await users.remove(world.operator, inviter.id);
  expect(statuses()).toEqual(["pending", "canceled"]);
  await users.setRole(world.operator, renewer.id, "member");
  expect(statuses()).toEqual(["canceled", "canceled"]);
});

test.each(["suspend", "make_member"] as const)(
  "many users: %s reports whose invitations it cancels, before and after",
  async (action) => {
    const { world, inviter, statuses } = await createInviter("local");
    await using _ = world;
    const other = await world.addUser("bo@example.com", { role: "admin" });
    const { bulkChanges } = world.identity;
    const selection = { ids: [inviter.id, other.id] };
    const rows = [
      { name: "ann@example.com", result: "done", why: "also cancels 2 invitations from this person" },
      { name: "bo@example.com", result: "done" },
    ];
    const plan = await bulkChanges.slice(world.operator, { action, selection, isDryRun: true });
    expect(plan.rows).toMatchObject(rows);
    expect(plan.rows[1]?.why).toBeUndefined();
    expect(statuses()).toEqual(["pending", "pending"]);
    expect((await bulkChanges.slice(world.operator, { action, selection })).rows).toMatchObject(rows);
    expect(statuses()).toEqual(["canceled", "canceled"]);
  },
);
