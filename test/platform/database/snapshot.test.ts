import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { organizations } from "../../../src/domain/identity/tables.ts";
import { openSnapshot } from "../../../src/platform/database/snapshot.ts";
import { createWorld, type World } from "../../support/world.ts";

const rename = ({ db, organizationId }: World, name: string) =>
  db.write((tx) => {
    tx.update(organizations).set({ name }).where(eq(organizations.id, organizationId)).run();
  });

test("a snapshot keeps the moment of its first statement", async () => {
  await using world = await createWorld();
  const { connection, close } = openSnapshot(world.file);
  const name = () => connection.select({ name: organizations.name }).from(organizations).get()?.name;
  expect(name()).toBe("Test");
  await rename(world, "Renamed");
  expect(name()).toBe("Test");
  close();
  const later = openSnapshot(world.file);
  expect(later.connection.select({ name: organizations.name }).from(organizations).get()?.name).toBe(
    "Renamed",
  );
  later.close();
});

test("a snapshot cannot write", async () => {
  await using world = await createWorld();
  const { connection, close } = openSnapshot(world.file);
  expect(() => connection.update(organizations).set({ name: "Written" }).run()).toThrow(/readonly/);
  close();
});

test("a closed snapshot no longer blocks checkpoints", async () => {
  await using world = await createWorld();
  const { connection, close } = openSnapshot(world.file);
  connection.select().from(organizations).all();
  await rename(world, "Renamed");
  close();
  const other = new Database(world.file);
  const [checkpoint] = other
    .prepare<{ busy: number; log: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)")
    .all();
  other.close();
  expect(checkpoint).toMatchObject({ busy: 0, log: 0 });
});
