// What a user loses besides the logins, for every operation that changes role, status or address.
import { expect, test } from "bun:test";
import type { User } from "../../../../src/domain/identity/model.ts";
import {
  actorOf,
  createIdentityWorld,
  type IdentityWorld,
  type Loss,
} from "../../../support/identity-world.ts";

type Change = (world: IdentityWorld, user: User) => Promise<unknown>;
type Lost = readonly Loss["lost"][];

const setStatus =
  (status: "active" | "suspended"): Change =>
  ({ identity, operator }, { id }) =>
    identity.users.setStatus(operator, id, status);
const remove: Change = ({ identity, operator }, { id }) => identity.users.remove(operator, id);
const setRole: Change = ({ identity, operator }, { id }) => identity.users.setRole(operator, id, "admin");

const local: [string, Partial<User>, Change, Lost][] = [
  ["suspending", {}, setStatus("suspended"), ["user_suspended"]],
  ["removing", {}, remove, ["user_removed", "factors"]],
  ["removing, when suspended", { status: "suspended" }, remove, ["factors"]],
  ["resuming", { status: "suspended" }, setStatus("active"), []],
  ["a new role", {}, setRole, []],
];

const update =
  (changes: { email?: string; active?: boolean }): Change =>
  ({ db, identity, system: actor }, { id, email }) =>
    db.write(
      (tx) => void identity.provisioned.update(tx, { actor, id, email, active: true, ...changes }),
      "access",
    );
const removeProvisioned: Change = ({ db, identity, system: actor }, { id }) =>
  db.write((tx) => void identity.provisioned.remove(tx, { actor, id }), "access");

const provisioned: typeof local = [
  ["suspending", {}, update({ active: false }), ["user_suspended"]],
  ["removing", {}, removeProvisioned, ["user_removed", "factors"]],
  ["removing, when suspended", { status: "suspended" }, removeProvisioned, ["factors"]],
  ["resuming", { status: "suspended" }, update({}), []],
  ["a new address", {}, update({ email: "ann.lee@example.com" }), ["address_changed"]],
  ["the address in capitals", {}, update({ email: "ANN@example.com" }), []],
  [
    "suspending with a new address",
    {},
    update({ email: "ann.lee@example.com", active: false }),
    ["user_suspended"],
  ],
];

test.each([
  ...local.map(([name, before, change, lost]) => ["local", name, before, change, lost] as const),
  ...provisioned.map(([name, before, change, lost]) => ["scim", name, before, change, lost] as const),
])("a %s user loses gateway key and factors as the change requires: %s", async (source, _name, ...row) => {
  const [before, change, lost] = row;
  await using world = await createIdentityWorld();
  await world.addUser("bob@example.com");
  const user = await world.addUser("ann@example.com", { provisioningSource: source, ...before });
  await change(world, user);
  expect(world.losses).toEqual(lost.map((each) => ({ userId: user.id, lost: each })));
});

test("a user who stays an administrator keeps the invitations, and the response counts none", async () => {
  await using world = await createIdentityWorld();
  const { identity, operator, organizationId } = world;
  const ann = await world.addUser("ann@example.com", { role: "admin" });
  const { invitation } = await identity.invitations.create(actorOf(ann), {
    email: "eve@example.com",
    role: "admin",
  });
  const changed = await identity.users.update(operator, ann.id, { role: "admin" });
  expect(changed.canceledInvitations).toBe(0);
  expect(identity.invitations.show(organizationId, invitation.id).status).toBe("pending");
});
