// A database that temporarily accepts no changes: refused writes change nothing, and writes that were admitted too late are undone.
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { createWorld } from "../../support/world.ts";

test("STB-5 a write is admitted before its transaction and again before its commit", async () => {
  await using world = await createWorld();
  const requests: string[] = [];
  let refusesAt = 0;
  const admit = () => {
    requests.push("asked");
    if (requests.length === refusesAt) throw new DomainError("unavailable", "standby.no_lease", "not now");
  };
  const db = openDatabase(world.file, { admit });
  const count = () =>
    db.read.all<{ total: number }>(sql`SELECT count(*) AS total FROM organizations`)[0]?.total;
  const remove = () =>
    db.write((tx) => {
      tx.run(sql`DELETE FROM organizations`);
    });
  const removeInSteps = () =>
    db.writeInSteps(function* (tx) {
      yield;
      tx.run(sql`DELETE FROM organizations`);
    });
  for (const work of [remove, removeInSteps])
    for (refusesAt of [1, 2]) {
      requests.length = 0;
      expect(work()).rejects.toMatchObject({ reason: "standby.no_lease" });
      await db.write(() => {}).catch(() => {});
      expect(count()).toBe(1);
    }
  refusesAt = 0;
  await remove();
  expect(count()).toBe(0);
  await db.close();
});
