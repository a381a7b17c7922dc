// Reading the audit log: changes made directly in the file are found, filters use an index, and the whole log can be read page by
// page.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { AuditRow } from "../../../src/domain/audit/chain.ts";
import { AuditLog, type AuditQuery } from "../../../src/domain/audit/log.ts";
import { type Verification, WALK_ROWS } from "../../../src/domain/audit/verification.ts";
import { PER_PAGE_MAX } from "../../../src/domain/shared/page.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { createWorld, START_MS, type World } from "../../support/world.ts";

const ANA = "01890000-0000-7000-8000-00000000000a";

/** Records this many entries, named 1, 2, 3 and so on, a day apart. */
async function record(world: World, entries: number): Promise<void> {
  for (let number = 1; number <= entries; number++) {
    await world.db.write((tx) =>
      world.audit.record(tx, { actor: world.system, action: "user.update", target: String(number) }),
    );
    world.clock.advance(DAY_MS);
  }
}

/** Changes the file like a person with access to it. */
function tamper({ file }: World, ...statements: string[]): void {
  using db = new Database(file);
  for (const sql of statements) db.run(sql);
}

/** @returns how many entries were verified, and the id and kind of the break */
function inShort({ entries, broken }: Verification): [number, string | undefined] {
  if (broken === undefined) return [entries, undefined];
  return [entries, "entry" in broken ? `${broken.kind} ${broken.entry.id}` : broken.kind];
}

const TAMPERED: readonly [string, string[], number, string][] = [
  ["an edited target", ["UPDATE audit_entries SET target = 'x' WHERE id = 3"], 2, "altered 3"],
  ["an edited time", ["UPDATE audit_entries SET at_ms = at_ms + 1 WHERE id = 3"], 2, "altered 3"],
  ["an edited address", ["UPDATE audit_entries SET address = '' WHERE id = 3"], 2, "altered 3"],
  ["an added credential", ["UPDATE audit_entries SET credential = 'grant:x' WHERE id = 6"], 5, "altered 6"],
  ["an added summary", ["UPDATE audit_entries SET after = '{}' WHERE id = 6"], 5, "altered 6"],
  ["an edited digest", ["UPDATE audit_entries SET digest = 'x' WHERE id = 3"], 2, "altered 3"],
  ["a removed first entry", ["DELETE FROM audit_entries WHERE id = 1"], 0, "begins_late 2"],
  ["a removed entry", ["DELETE FROM audit_entries WHERE id = 3"], 2, "unlinked 4"],
  ["a removed last entry", ["DELETE FROM audit_entries WHERE id = 6"], 5, "cut_off"],
  ["a log without entries", ["DELETE FROM audit_entries"], 0, "cut_off"],
  [
    "two entries that changed places",
    [
      "UPDATE audit_entries SET id = 99 WHERE id = 3",
      "UPDATE audit_entries SET id = 3 WHERE id = 4",
      "UPDATE audit_entries SET id = 4 WHERE id = 99",
    ],
    2,
    "unlinked 3",
  ],
  [
    "a duplicate entry",
    [
      "INSERT INTO audit_entries SELECT 7, at_ms, organization_id, actor_kind, actor_id, actor_label, address, request_id, action, target, before, after, previous_digest, digest, credential, NULL FROM audit_entries WHERE id = 6",
    ],
    6,
    "unlinked 7",
  ],
];

test.each(TAMPERED)("API-6 %s is found", async (_name, statements, fitting, found) => {
  await using world = await createWorld();
  await record(world, 6);
  const log = new AuditLog(world);
  expect(inShort(await log.verify())).toEqual([6, undefined]);
  tamper(world, ...statements);
  expect(inShort(await log.verify())).toEqual([fitting, found]);
});

test("reports the first of two breaks", async () => {
  await using world = await createWorld();
  await record(world, 6);
  tamper(world, "UPDATE audit_entries SET action = 'x' WHERE id IN (2, 5)");
  expect(inShort(await new AuditLog(world).verify())).toEqual([1, "altered 2"]);
});

test("an empty log without traces of entries is a break once an organization exists", async () => {
  await using world = await createWorld();
  await record(world, 6);
  let isInstalled = false;
  const log = new AuditLog({ ...world, isInstalled: () => isInstalled });
  tamper(world, "DELETE FROM audit_entries", "DELETE FROM sqlite_sequence");
  expect(inShort(await log.verify())).toEqual([0, undefined]);
  isInstalled = true;
  expect(inShort(await log.verify())).toEqual([0, "emptied"]);
});

test("an empty log is whole", async () => {
  await using world = await createWorld();
  expect(await new AuditLog(world).verify()).toEqual({
    entries: 0,
    removed: 0,
    last: undefined,
    broken: undefined,
  });
});

test("a verification tolerates entries that are written during it", async () => {
  await using world = await createWorld();
  await recordAtOnce(world, WALK_ROWS + 1);
  const written: Promise<void>[] = [];
  const advance = (): void => void written.push(recordAtOnce(world, 1));
  const { entries, broken } = await new AuditLog(world).verify({ advance });
  await Promise.all(written);
  expect(broken).toBeUndefined();
  expect(entries).toBeGreaterThan(WALK_ROWS);
});

const recordAtOnce = ({ db, audit, system }: World, entries: number): Promise<void> =>
  db.write((tx) => {
    const targets = Array.from({ length: entries }, (_, index) => String(index + 1));
    audit.recordAll(tx, { actor: system, action: "user.update", targets });
  });

test.each([WALK_ROWS - 1, WALK_ROWS, WALK_ROWS + 1])(
  "reads each of %d entries once, in order",
  async (rows) => {
    await using world = await createWorld();
    await recordAtOnce(world, rows);
    const pages = await Array.fromAsync(new AuditLog(world).walk());
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(WALK_ROWS);
    expect(pages.flat().map(({ id }) => id)).toEqual(Array.from({ length: rows }, (_, index) => index + 1));
  },
);

test("a break behind the first page is located exactly", async () => {
  await using world = await createWorld();
  await recordAtOnce(world, 2 * WALK_ROWS + 10);
  tamper(world, `DELETE FROM audit_entries WHERE id = ${WALK_ROWS + 1}`);
  expect(inShort(await new AuditLog(world).verify())).toEqual([WALK_ROWS, `unlinked ${WALK_ROWS + 2}`]);
});

test("a walk continues after any entry and stops on request", async () => {
  await using world = await createWorld();
  await record(world, 4);
  const log = new AuditLog(world);
  const rest = await Array.fromAsync(log.walk({ after: 2 }));
  expect(rest.flat().map(({ id }) => id)).toEqual([3, 4]);
  expect(await Array.fromAsync(log.walk({ after: 4 }))).toEqual([]);
  const signal = AbortSignal.abort(new Error("stopped"));
  expect(Array.fromAsync(log.walk({ signal }))).rejects.toThrow("stopped");
});

/** Four entries: by the system, twice by Ana and by the operator. */
async function createFilledLog() {
  const world = await createWorld();
  const { db, audit, clock, organizationId } = world;
  const ana = { kind: "user", id: ANA, label: "Ana@example.org", organizationId } as const;
  const root = { kind: "operator", id: null, label: "root", organizationId } as const;
  const events = [
    { actor: world.system, action: "user.create", target: "b" },
    { actor: ana, action: "user.update", target: "b" },
    { actor: ana, action: "catalog.remove", target: "d" },
    { actor: root, action: "user.update", target: "c" },
  ];
  for (const event of events) {
    await db.write((tx) => audit.record(tx, event));
    clock.advance(DAY_MS);
  }
  return { world, log: new AuditLog(world) };
}

const idsOf = ({ items }: { items: readonly AuditRow[] }): number[] => items.map(({ id }) => id);

const FILTERS: readonly [string, AuditQuery, number[]][] = [
  ["everything", {}, [4, 3, 2, 1]],
  ["an actor's address in any case", { actor: "ana@EXAMPLE.org" }, [3, 2]],
  ["an actor's id", { actor: ANA }, [3, 2]],
  ["an operator's name", { actor: "root" }, [4]],
  ["an action", { action: "user.update" }, [4, 2]],
  ["a target", { target: "b" }, [2, 1]],
  ["all of them", { actor: ANA, action: "user.update", target: "b", sinceMs: START_MS }, [2]],
  ["a time from on", { sinceMs: START_MS + 2 * DAY_MS }, [4, 3]],
  ["a time before", { beforeMs: START_MS + 2 * DAY_MS }, [2, 1]],
  ["a range", { sinceMs: START_MS + DAY_MS, beforeMs: START_MS + DAY_MS + 1 }, [2]],
  ["a page", { page: 2, perPage: 3 }, [1]],
  ["nothing", { target: "nobody" }, []],
];

test.each(FILTERS)("entries are found by %s, newest first", async (_name, query, ids) => {
  const { world, log } = await createFilledLog();
  await using _ = world;
  expect(idsOf(log.list(world.organizationId, query))).toEqual(ids);
});

test("a known total is not counted again", async () => {
  const { world, log } = await createFilledLog();
  await using _ = world;
  expect(log.list(world.organizationId, { actor: ANA }).total).toBe(2);
  expect(log.list(world.organizationId, { actor: ANA, known: 7 }).total).toBe(7);
});

test("entries of another organization are not listed", async () => {
  const { world, log } = await createFilledLog();
  await using _ = world;
  expect(log.list(world.ids.uuid(), {})).toMatchObject({ items: [], total: 0 });
});

test("reports all problems of a query together", async () => {
  const { world, log } = await createFilledLog();
  await using _ = world;
  const ask = (query: AuditQuery) => () => log.list(world.organizationId, query);
  expect(ask({ sinceMs: 2, beforeMs: 2, perPage: PER_PAGE_MAX + 1 })).toThrow(
    "per_page must be a whole number from 1 to 100; until must be later than since",
  );
  expect(ask({ sinceMs: 2, beforeMs: 3, perPage: PER_PAGE_MAX })).not.toThrow();
});
