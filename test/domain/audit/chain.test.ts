// The chain of audit entries that are recorded one by one or in bulk.
import { expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { digestOf } from "../../../src/domain/audit/chain.ts";
import type { AuditEvent } from "../../../src/domain/audit/service.ts";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createWorld, type World } from "../../support/world.ts";

const eventIn = ({ system }: World): Omit<AuditEvent, "target"> => ({
  actor: { ...system, requestId: "r" },
  action: "user.update",
  before: { role: "member" },
  after: { role: "admin", groups: ["Größe"] },
});

const entriesOf = ({ db }: World) => db.read.select().from(auditEntries).orderBy(asc(auditEntries.id)).all();

test("every entry is chained to the previous one, also in writes of many entries", async () => {
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

test("an entry without a credential has the same digest as before credentials were recorded", () => {
  const origin = { organizationId: "o", actorKind: "user", actorId: "u", actorLabel: "ana", address: null };
  const facts = { atMs: 1, ...origin, requestId: "r", action: "a", before: null, after: "{}" };
  const entry = { ...facts, target: "t", credential: null };
  const former = [1, "o", "user", "u", "ana", null, "r", "a", "t", null, "{}"];
  expect(digestOf("p", entry)).toBe(sha256Hex(`p\n${JSON.stringify(former)}`));
  expect(digestOf("p", { ...entry, credential: "grant:g" })).not.toBe(digestOf("p", entry));
});

test("entries written together equal entries written one by one, digests included", async () => {
  await using oneByOne = await createWorld();
  await using together = await createWorld();
  const event = eventIn(oneByOne);
  const targets = ["a", 'b"\\', "c"];
  for (const target of targets)
    await oneByOne.db.write((tx) => oneByOne.audit.record(tx, { ...event, target }));
  await together.db.write((tx) => together.audit.recordAll(tx, { ...event, targets }));
  expect(entriesOf(together)).toEqual(entriesOf(oneByOne));
  expect(entriesOf(together)[1]).toMatchObject({
    actorKind: "system",
    actorId: null,
    requestId: "r",
    target: 'b"\\',
    before: '{"role":"member"}',
    after: '{"role":"admin","groups":["Größe"]}',
  });
});
