// Rows of keys in memory: what changes them anywhere is seen by the next look.
import { expect, test } from "bun:test";
import { KeyRows } from "../../../../src/domain/gateway/keys/key-rows.ts";
import * as store from "../../../../src/domain/gateway/keys/store.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { openDatabase, type Tx } from "../../../../src/platform/database/database.ts";
import { actorOf } from "../../../support/identity-world.ts";
import { createGatewayWorld, type GatewayWorld } from "../gateway-world.ts";

async function addKeys(world: GatewayWorld, count: number): Promise<User[]> {
  const users: User[] = [];
  for (let at = 0; at < count; at += 1) {
    const user = await world.addUser(`user-${at}@example.org`);
    await world.gateway.keys.ensure({ actor: actorOf(user), user, manual: false });
    users.push(user);
  }
  return users;
}

const rename =
  ({ id }: User, alias: string) =>
  (tx: Tx): void =>
    void store.updateKey(tx, id, { alias });

test("the same row is given until something about keys, access or groups changes", async () => {
  await using world = await createGatewayWorld();
  const rows = new KeyRows(world.db);
  for (const user of await addKeys(world, 1)) {
    const first = rows.find(user.id);
    expect(rows.find(user.id)).toBe(first);
    await world.db.write(() => {}, "catalog");
    expect(rows.find(user.id)).toBe(first);
    for (const topic of ["gateway", "access", "provisioning"] as const) {
      await world.db.write(rename(user, topic), topic);
      expect(rows.find(user.id)?.alias).toBe(topic);
    }
  }
});

test("what another process changes is seen", async () => {
  await using world = await createGatewayWorld();
  const rows = new KeyRows(world.db);
  for (const user of await addKeys(world, 1)) {
    rows.find(user.id);
    const beside = openDatabase(world.file);
    await beside.write(rename(user, "elsewhere"), "gateway");
    await beside.close();
    expect(rows.find(user.id)?.alias).toBe("elsewhere");
  }
});

test("no more rows are kept than allowed", async () => {
  await using world = await createGatewayWorld();
  const rows = new KeyRows(world.db, 2);
  const sizes = (await addKeys(world, 3)).map(({ id }) => {
    expect(rows.find(id)?.userId).toBe(id);
    return rows.size;
  });
  expect(sizes).toEqual([1, 2, 2]);
});

test("a key that is not there is not remembered", async () => {
  await using world = await createGatewayWorld();
  const rows = new KeyRows(world.db);
  expect(rows.find("nobody")).toBeUndefined();
  expect(rows.size).toBe(0);
});
