// The chain of audit entries, whether they are recorded one by one or many at once.
import { expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import type { AuditEvent } from "../../../src/domain/audit/service.ts";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { createWorld, type World } from "../../support/world.ts";

const eventIn = ({ system }: World): Omit<AuditEvent, "target"> => ({
  actor: { ...system, requestId: "r" },
  action: "user.update",
  before: { role: "member" },
  after: { role: "admin", groups: ["Größe"] },
});

const entriesOf = ({ db }: World) => db.read.select().from(auditEntries).orderBy(asc(auditEntries.id)).all();

test("every entry is chained to the one before, however many come at once", async () => {
  await using world = await createWorld();
  const { audit, db } = world;
  const event = eventIn(world);
  const many = Array.from({ length: 2_500 }, (_, at) => `user ${at}`);
  await db.write((tx) => {
    audit.record(tx, { ...event, target: "first" });
    audit.recordAll(tx, { ...event, targets: many });
    audit.recordAll(tx, { ...event, targets: [] });
  });
  await db.write((tx) => audit.record(tx, { ...event, target: "last" }));
  const entries = entriesOf(world);
  expect(entries.map(({ target }) => target)).toEqual(["first", ...many, "last"]);
  const digests = entries.map(({ digest }) => digest);
  expect(entries.map(({ previousDigest }) => previousDigest)).toEqual(["", ...digests.slice(0, -1)]);
  expect(new Set(digests).size).toBe(entries.length);
});

test("entries that come at once are the entries that come one by one, digests included", async () => {
  await using oneByOne = await createWorld();
  await using atOnce = await createWorld();
  const event = eventIn(oneByOne);
  const targets = ["a", 'b"\\', "c"];
  for (const target of targets)
    await oneByOne.db.write((tx) => oneByOne.audit.record(tx, { ...event, target }));
  await atOnce.db.write((tx) => atOnce.audit.recordAll(tx, { ...event, targets }));
  expect(entriesOf(atOnce)).toEqual(entriesOf(oneByOne));
  expect(entriesOf(atOnce)[1]).toMatchObject({
    actorKind: "system",
    actorId: null,
    requestId: "r",
    target: 'b"\\',
    before: '{"role":"member"}',
    after: '{"role":"admin","groups":["Größe"]}',
  });
});
