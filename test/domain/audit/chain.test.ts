// The chain of audit entries, whether they are recorded one by one or many at once.
import { expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import type { AuditEvent } from "../../../src/domain/audit/service.ts";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { createWorld, type World } from "../../support/world.ts";

const events = ({ system }: World, ...targets: string[]): AuditEvent[] =>
  targets.map((target) => ({ actor: system, action: "user.update", target, after: { role: "admin" } }));

const entriesOf = ({ db }: World) => db.read.select().from(auditEntries).orderBy(asc(auditEntries.id)).all();

test("every entry is chained to the one before, however many come at once", async () => {
  await using world = await createWorld();
  const { audit, db } = world;
  await db.write((tx) => {
    for (const event of events(world, "a", "b")) audit.record(tx, event);
    audit.recordAll(tx, events(world, "c", "d", "e"));
  });
  await db.write((tx) => audit.recordAll(tx, []));
  await db.write((tx) => audit.recordAll(tx, events(world, "f")));
  const entries = entriesOf(world);
  expect(entries.map(({ target }) => target)).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(entries.map(({ previousDigest }) => previousDigest)).toEqual([
    "",
    ...entries.slice(0, -1).map(({ digest }) => digest),
  ]);
  expect(new Set(entries.map(({ digest }) => digest)).size).toBe(6);
});

test("entries that come at once are the entries that come one by one, digests included", async () => {
  await using oneByOne = await createWorld();
  await using atOnce = await createWorld();
  const told = events(oneByOne, "a", "b", "c");
  for (const event of told) await oneByOne.db.write((tx) => oneByOne.audit.record(tx, event));
  await atOnce.db.write((tx) => atOnce.audit.recordAll(tx, told));
  expect(entriesOf(atOnce)).toEqual(entriesOf(oneByOne));
});
