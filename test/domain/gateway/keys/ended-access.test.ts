// Which changes of a user revoke the gateway key in the same transaction, and that the revocation at the gateway is queued
// (SCIM-18).
import { describe, expect, test } from "bun:test";
import { findKey } from "../../../../src/domain/gateway/keys/store.ts";
import { gatewayRevocations } from "../../../../src/domain/gateway/tables.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { actorOf, reasonOf } from "../../../support/identity-world.ts";
import { createGatewayWorld, type GatewayWorld } from "../gateway-world.ts";

async function withKey(row: Parameters<GatewayWorld["addUser"]>[1] = {}) {
  const world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org", row);
  await world.gateway.keys.ensure({ actor: actorOf(user), user, manual: false });
  return { world, user };
}

const hasKey = (world: GatewayWorld, { id }: User) => findKey(world.db.read, id) !== undefined;
const queued = ({ db }: GatewayWorld) =>
  db.read
    .select({ externalId: gatewayRevocations.externalId, reason: gatewayRevocations.reason })
    .from(gatewayRevocations)
    .limit(10)
    .all();

describe("access of a local user", () => {
  test("USE-2 suspension revokes the key", async () => {
    const { world, user } = await withKey();
    await using _ = world;
    await world.identity.users.setStatus(world.operator, user.id, "suspended");
    expect(hasKey(world, user)).toBe(false);
    expect(queued(world)).toEqual([{ externalId: "key-1", reason: "user_suspended" }]);
  });

  test("removal revokes the key", async () => {
    const { world, user } = await withKey();
    await using _ = world;
    await world.identity.users.remove(world.operator, user.id);
    expect(hasKey(world, user)).toBe(false);
    expect(queued(world)).toEqual([{ externalId: "key-1", reason: "user_removed" }]);
  });

  test("nothing else revokes it", async () => {
    const { world, user } = await withKey();
    await using _ = world;
    const { users } = world.identity;
    await users.setRole(world.operator, user.id, "admin");
    await users.setStatus(world.operator, user.id, "active");
    await users.resetPassword(world.operator, user.id);
    await users.revokeLogins(world.operator, user.id);
    expect(hasKey(world, user)).toBe(true);
    expect(queued(world)).toEqual([]);
  });

  test("a refused change revokes nothing", async () => {
    const { world, user } = await withKey({ role: "admin" });
    await using _ = world;
    const suspend = () => world.identity.users.setStatus(actorOf(user), user.id, "suspended");
    expect(await reasonOf(suspend)).toBe("user.own_account");
    expect(hasKey(world, user)).toBe(true);
  });

  test("a user who returns gets another key", async () => {
    const { world, user } = await withKey();
    await using _ = world;
    await world.identity.users.setStatus(world.operator, user.id, "suspended");
    await world.identity.users.setStatus(world.operator, user.id, "active");
    const { status } = await world.gateway.keys.ensure({ actor: actorOf(user), user, manual: false });
    expect(status).toMatchObject({ status: "ready", external_id: "key-2" });
  });
});

describe("SCIM-18 access of a provisioned user", () => {
  const provisioned = () => withKey({ provisioningSource: "scim" });
  const updated = (world: GatewayWorld, user: User, given: { email?: string; active?: boolean }) =>
    world.db.write((tx) => {
      const { email, active } = { email: user.email, active: true, ...given };
      return world.identity.provisioned.update(tx, { actor: world.system, id: user.id, email, active })
        .account;
    }, "access");

  test.each([
    ["suspension", { active: false }, "user_suspended"],
    ["another address", { email: "anna@example.org" }, "address_changed"],
    ["both", { email: "anna@example.org", active: false }, "user_suspended"],
  ])("%s revokes the key", async (_name, given, reason) => {
    const { world, user } = await provisioned();
    await using _ = world;
    await updated(world, user, given);
    expect(hasKey(world, user)).toBe(false);
    expect(queued(world)).toEqual([{ externalId: "key-1", reason }]);
  });

  test("another spelling of the address revokes nothing", async () => {
    const { world, user } = await provisioned();
    await using _ = world;
    await updated(world, user, { email: "ANA@example.org" });
    expect(hasKey(world, user)).toBe(true);
  });

  test("removal revokes the key", async () => {
    const { world, user } = await provisioned();
    await using _ = world;
    await world.db.write(
      (tx) => world.identity.provisioned.remove(tx, { actor: world.system, id: user.id }),
      "access",
    );
    expect(queued(world)).toEqual([{ externalId: "key-1", reason: "user_removed" }]);
  });

  test("a change that is rolled back revokes nothing", async () => {
    const { world, user } = await provisioned();
    await using _ = world;
    const failing = () =>
      world.db.write((tx) => {
        world.identity.provisioned.remove(tx, { actor: world.system, id: user.id });
        throw new DomainError("invalid", "test.failed", "something after it failed");
      });
    expect(await reasonOf(failing)).toBe("test.failed");
    expect(hasKey(world, user)).toBe(true);
    expect(queued(world)).toEqual([]);
  });
});
