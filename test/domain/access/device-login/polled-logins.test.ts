// The cache of polled device logins: one query while nothing changes, and no stale entry after a change; the time of the last poll,
// also after the clock goes back.
import { expect, test } from "bun:test";
import * as store from "../../../../src/domain/access/device-login/device-logins-store.ts";
import {
  acceptPoll,
  POLLED_LOGINS_MAX,
  PolledLogins,
} from "../../../../src/domain/access/device-login/polled-logins.ts";
import { deviceLogins } from "../../../../src/domain/access/tables.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { createWorld, type World } from "../../../support/world.ts";

const codeOf = (name: string) => ({ id: name, hash: `hash of ${name}` });

const insert = (world: World, name: string) =>
  world.db.write((tx) => {
    store.insert(tx, {
      id: name,
      deviceCodeHash: `hash of ${name}`,
      userCodeHash: sha256Hex(`user code of ${name}`),
      linkHash: `link of ${name}`,
      clientId: "client",
      scope: "scope",
      resource: null,
      address: null,
      countedAddress: null,
      countedNetwork: null,
      createdAtMs: 0,
      expiresAtMs: 1,
    });
  }, "access");

test("a login is read once while nothing changes, and again after a change", async () => {
  await using world = await createWorld();
  await insert(world, "a");
  const logins = new PolledLogins(world.db);
  const first = logins.find(codeOf("a"));
  expect(first?.login).toMatchObject({ id: "a", state: "pending" });
  expect(logins.find(codeOf("a"))).toBe(first);
  await world.db.write((tx) => {
    tx.update(deviceLogins).set({ state: "refused" }).run();
  }, "access");
  expect(logins.find(codeOf("a"))?.login).toMatchObject({ state: "refused" });
});

test("a change by another connection applies from the next turn on", async () => {
  await using world = await createWorld();
  await insert(world, "a");
  const logins = new PolledLogins(world.db);
  expect(logins.find(codeOf("a"))?.login).toMatchObject({ state: "pending" });
  const other = openDatabase(world.file);
  await other.write((tx) => {
    tx.delete(deviceLogins).run();
  });
  await other.close();
  expect(logins.find(codeOf("a"))).toBeUndefined();
  expect(logins.size).toBe(0);
});

test("the id of a login is useless without its secret, known or not", async () => {
  await using world = await createWorld();
  await insert(world, "a");
  const logins = new PolledLogins(world.db);
  expect(logins.find({ id: "a", hash: "guessed" })).toBeUndefined();
  expect(logins.find(codeOf("a"))).toBeDefined();
  expect(logins.find({ id: "a", hash: "guessed" })).toBeUndefined();
  expect(logins.size).toBe(1);
});

test.each([1, 2, 3])("keeps at most two of %p logins with a limit of two", async (count) => {
  await using world = await createWorld();
  const logins = new PolledLogins(world.db, 2);
  const names = ["a", "b", "c"].slice(0, count);
  for (const name of names) await insert(world, name);
  for (const name of names) expect(logins.find(codeOf(name))).toBeDefined();
  expect(logins.size).toBe(Math.min(count, 2));
  expect(POLLED_LOGINS_MAX).toBe(50_000);
});

test("the time of a poll is kept when the login changes, and removed with it", async () => {
  await using world = await createWorld();
  await insert(world, "a");
  const logins = new PolledLogins(world.db);
  const poll = (nowMs: number) => {
    const polled = logins.find(codeOf("a"));
    return polled && acceptPoll(polled, { nowMs, intervalMs: 5_000 });
  };
  expect(poll(0)).toBe(true);
  await world.db.write((tx) => {
    tx.update(deviceLogins).set({ state: "approved" }).run();
  }, "access");
  expect(poll(4_999)).toBe(false);
  logins.forget(codeOf("a").hash);
  expect(logins.size).toBe(0);
  expect(poll(4_999)).toBe(true);
});

const at = (nowMs: number) => ({ nowMs, intervalMs: 5_000 });
const pending = (): Parameters<typeof acceptPoll>[0] => ({ acceptedAtMs: undefined });

test("a poll that was refused does not move the window", () => {
  const polled = pending();
  expect(acceptPoll(polled, at(0))).toBe(true);
  expect(acceptPoll(polled, at(4_999))).toBe(false);
  expect(acceptPoll(polled, at(5_000))).toBe(true);
  expect(acceptPoll(polled, at(9_999))).toBe(false);
});

test("a clock that was set back locks no user out", () => {
  const polled = pending();
  acceptPoll(polled, at(1_000_000));
  expect(acceptPoll(polled, at(10))).toBe(true);
  expect(acceptPoll(polled, at(11))).toBe(false);
});
