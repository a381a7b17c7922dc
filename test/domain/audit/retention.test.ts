// The job that removes the oldest audit entries: how many it removes, what remains of the chain, and that a faked removal is
// detected.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { AuditLog } from "../../../src/domain/audit/log.ts";
import { FORGET_BATCH_ROWS } from "../../../src/domain/audit/retention.ts";
import { type ChainBreak, WALK_ROWS } from "../../../src/domain/audit/verification.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { createWorld, type World } from "../../support/world.ts";

const DAYS = 30;
const forget = (world: World, signal = new AbortController().signal) =>
  new AuditLog(world).forget(world.system, { retentionDays: DAYS, signal });
const verify = (world: World) => new AuditLog(world).verify();

/** Records this many entries together, named 1, 2, 3 and so on. */
const record = ({ db, audit, system }: World, entries: number): Promise<void> =>
  db.write((tx) => {
    const targets = Array.from({ length: entries }, (_, index) => String(index + 1));
    audit.recordAll(tx, { actor: system, action: "user.update", targets });
  });

const idsOf = ({ db }: World): number[] =>
  db.read.all<{ id: number }>(sql`SELECT id FROM audit_entries ORDER BY id`).map(({ id }) => id);

/** Changes the file like a person with access to it. */
function tamper({ file }: World, ...statements: string[]): void {
  using db = new Database(file);
  for (const statement of statements) db.run(statement);
}

test("entries are removed only after the retention; the rest is a chain that records the number of removed ones", async () => {
  await using world = await createWorld();
  await record(world, 3);
  world.clock.advance(DAY_MS);
  await record(world, 2);
  world.clock.advance((DAYS - 1) * DAY_MS);
  expect(await forget(world)).toBe(0);
  world.clock.advance(1);
  expect(await forget(world)).toBe(3);
  expect(idsOf(world)).toEqual([4, 5, 6]);
  expect(await verify(world)).toMatchObject({ entries: 3, removed: 3, last: { id: 6 }, broken: undefined });
  expect(await forget(world)).toBe(0);
});

test("the entry about a removal records its count and the new start of the log", async () => {
  await using world = await createWorld();
  await record(world, 2);
  world.clock.advance((DAYS + 1) * DAY_MS);
  await forget(world);
  const [entry] = new AuditLog(world).list(world.organizationId, { action: "audit.forget" }).items;
  expect(JSON.parse(entry?.after ?? "")).toEqual({
    recorded_before: expect.any(String),
    removed: 2,
    up_to: 2,
    digest: entry?.previousDigest,
    removed_in_all: 2,
  });
});

test("a log of only old entries keeps its chain and continues with later removals", async () => {
  await using world = await createWorld();
  for (const _ of [1, 2, 3]) {
    await record(world, 2);
    world.clock.advance((DAYS + 1) * DAY_MS);
    await forget(world);
  }
  expect(idsOf(world)).toEqual([9]);
  expect(await verify(world)).toMatchObject({ entries: 1, removed: 8, broken: undefined });
});

test.each([FORGET_BATCH_ROWS - 1, FORGET_BATCH_ROWS, FORGET_BATCH_ROWS + 1])(
  "%d of them are removed, a batch for each audit entry",
  async (count) => {
    await using world = await createWorld();
    await record(world, count);
    world.clock.advance((DAYS + 1) * DAY_MS);
    expect(await forget(world)).toBe(count);
    const batches = Math.ceil(count / FORGET_BATCH_ROWS);
    expect(idsOf(world)).toHaveLength(batches);
    expect(await verify(world)).toMatchObject({ entries: batches, removed: count, broken: undefined });
  },
);

test("an aborted run removes no further entries", async () => {
  await using world = await createWorld();
  await record(world, 1);
  world.clock.advance((DAYS + 1) * DAY_MS);
  expect(await forget(world, AbortSignal.abort())).toBe(0);
});

test("a young entry protects its successors; an entry from the future does not", async () => {
  await using world = await createWorld();
  await record(world, 5);
  const now = world.clock.nowMs() + (DAYS + 1) * DAY_MS;
  tamper(
    world,
    `UPDATE audit_entries SET at_ms = ${now + 1} WHERE id = 2`,
    `UPDATE audit_entries SET at_ms = ${now} WHERE id = 4`,
  );
  world.clock.advance((DAYS + 1) * DAY_MS);
  expect(await forget(world)).toBe(3);
  expect(idsOf(world)).toEqual([4, 5, 6]);
});

test("a verification that retention overtakes continues at the new start of the log", async () => {
  await using world = await createWorld();
  await record(world, 3 * WALK_ROWS);
  world.clock.advance((DAYS + 1) * DAY_MS);
  await record(world, 1);
  const runs: Promise<number>[] = [];
  const advance = (): void => void (runs.length === 0 && runs.push(forget(world)));
  const { broken } = await new AuditLog(world).verify({ advance });
  expect(await Promise.all(runs)).toEqual([3 * WALK_ROWS]);
  expect(broken).toBeUndefined();
});

const CHECKPOINT = "UPDATE audit_checkpoint SET";
const LIKE_RETENTION = `${CHECKPOINT} entry_id = 4, removed = 4, digest = (SELECT digest FROM audit_entries WHERE id = 4)`;
const TAMPERED: readonly [string, string[], string][] = [
  ["a removed first entry", ["DELETE FROM audit_entries WHERE id = 4"], "begins_late 5"],
  [
    "a removal that looks like retention's",
    [LIKE_RETENTION, "DELETE FROM audit_entries WHERE id = 4"],
    "begins_late 5",
  ],
  ["a checkpoint that counts fewer", [`${CHECKPOINT} removed = 2`], "begins_late 4"],
  ["a removed checkpoint", ["DELETE FROM audit_checkpoint"], "begins_late 4"],
  ["another digest at the checkpoint", [`${CHECKPOINT} digest = 'x'`], "unlinked 4"],
  [
    "an entry that was added at the beginning",
    [
      "INSERT INTO audit_entries SELECT 3, at_ms, organization_id, actor_kind, actor_id, actor_label, address, request_id, action, target, before, after, previous_digest, digest, credential, NULL FROM audit_entries WHERE id = 4",
    ],
    "unlinked 3",
  ],
  ["a log without entries", ["DELETE FROM audit_entries"], "cut_off"],
  [
    "a log without entries and numbers",
    ["DELETE FROM audit_entries", "DELETE FROM sqlite_sequence"],
    "cut_off",
  ],
];

const inShort = (broken: ChainBreak | undefined): string | undefined =>
  broken && "entry" in broken ? `${broken.kind} ${broken.entry.id}` : broken?.kind;

test.each(TAMPERED)("after a removal, %s is found", async (_name, statements, found) => {
  await using world = await createWorld();
  await record(world, 3);
  world.clock.advance((DAYS + 1) * DAY_MS);
  await record(world, 2);
  await forget(world);
  expect((await verify(world)).broken).toBeUndefined();
  tamper(world, ...statements);
  expect(inShort((await verify(world)).broken)).toBe(found);
});
