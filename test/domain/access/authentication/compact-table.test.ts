// The table of compact rows: what it finds, what it evicts and in which order, and its size.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { hashAt } from "../../../../src/domain/access/authentication/compact-segment.ts";
import {
  CompactTable,
  expiryOf,
  OWN_BITS_SHIFT,
} from "../../../../src/domain/access/authentication/compact-table.ts";

const OWN_WORDS = 2;
/** four words for the key, one for the time */
const ROW_BYTES = (4 + 1 + OWN_WORDS) * 4;
const SEGMENTS = 256;

const randomKey = (): Uint32Array => crypto.getRandomValues(new Uint32Array(4));
const open = (bytesMax = 2 ** 20) => new CompactTable({ ownWords: OWN_WORDS, bytesMax });
const ownWordOf = (table: CompactTable, key: Uint32Array): number | undefined => {
  const row = table.find(key);
  return row?.words[row.at + 1];
};

/** @returns keys whose rows are in the same segment of a table */
function neighbors(count: number): Uint32Array[] {
  const keys: Uint32Array[] = [];
  while (keys.length < count) {
    const key = randomKey();
    if (hashAt(key, 0) >>> 24 === 7) keys.push(key);
  }
  return keys;
}

test("finds what a map finds after random additions, replacements and removals", () => {
  const step = fc.record({
    act: fc.constantFrom("put" as const, "put" as const, "remove" as const),
    key: fc.nat({ max: 400 }),
    value: fc.nat(),
  });
  const keys = Array.from({ length: 401 }, randomKey);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_000, size: "max" }), (steps) => {
      const table = open();
      const oracle = new Map<number, number>();
      for (const { act, key, value } of steps) {
        const words = keys[key] ?? randomKey();
        if (act === "remove") {
          oracle.delete(key);
          table.remove(words);
        } else {
          oracle.set(key, value);
          table.put(words, [0, value], { expiry: 100, now: 1 });
        }
      }
      expect(keys.map((key) => ownWordOf(table, key))).toEqual(keys.map((_key, at) => oracle.get(at)));
      expect(table.unexpiredAt(1)).toBe(oracle.size);
    }),
    { numRuns: 50 },
  );
});

test("an empty table takes no memory", () => {
  expect(open().bytes).toBe(0);
});

test("an expired row is found until its slot is needed, with its expiry time", () => {
  const table = open();
  const key = randomKey();
  table.put(key, [0, 1], { expiry: 50, now: 1 });
  const row = table.find(key);
  expect(row && expiryOf(row)).toBe(50);
  expect([table.unexpiredAt(49), table.unexpiredAt(50)]).toEqual([1, 0]);
});

test("keeps the bits of the first word that belong to the owner: all but the lowest", () => {
  const table = open();
  const key = randomKey();
  const own = (0x7fff_ffff << OWN_BITS_SHIFT) >>> 0;
  table.put(key, [own, 1], { expiry: 50, now: 1 });
  for (let requests = 0; requests < 2; requests += 1) {
    const row = table.find(key);
    expect((row?.words[row.at] ?? 0) >>> OWN_BITS_SHIFT).toBe(0x7fff_ffff);
  }
});

test.each([10_000, 100_000])("%p rows take at most 1.46 times their own bytes", (rows) => {
  const table = open(2 ** 26);
  for (let row = 0; row < rows; row += 1) table.put(randomKey(), [0, row], { expiry: 50, now: 1 });
  expect(table.unexpiredAt(1)).toBe(rows);
  expect(table.bytes / rows / ROW_BYTES).toBeLessThan(1.46);
});

test("expired rows are reused: the table of a steady stream does not grow", () => {
  const table = open(2 ** 26);
  const second = (now: number) => {
    for (let row = 0; row < 200; row += 1) table.put(randomKey(), [0, row], { expiry: now + 10, now });
  };
  for (let now = 1; now <= 100; now += 1) second(now);
  const { bytes } = table;
  for (let now = 101; now <= 400; now += 1) second(now);
  expect(table.bytes).toBeLessThan(bytes * 1.2);
  expect(table.unexpiredAt(400)).toBe(2_000);
});

test.each([
  ["below", -1],
  ["at", 0],
  ["above", 1],
])("a segment keeps every row up to its limit, and the limit above it: %s", (_where, more) => {
  const slots = 40;
  const table = open(slots * ROW_BYTES * SEGMENTS);
  const keys = neighbors(slots + more);
  for (const [at, key] of keys.entries()) table.put(key, [0, at], { expiry: 50, now: 1 });
  expect(table.unexpiredAt(1)).toBe(Math.min(slots, slots + more));
  expect(table.bytes).toBeLessThanOrEqual(slots * ROW_BYTES * SEGMENTS);
});

// Random keys fill segments unevenly. With 200 rows for each segment on average, every segment gets at least 41.
test("leaves less memory unused than one more row in every segment would take", () => {
  const bytesMax = 41 * ROW_BYTES * SEGMENTS - 1;
  const table = open(bytesMax);
  for (let row = 0; row < 200 * SEGMENTS; row += 1) table.put(randomKey(), [0, row], { expiry: 50, now: 1 });
  expect(table.bytes).toBeWithin(bytesMax - ROW_BYTES * SEGMENTS, bytesMax);
});

test("every row of a full segment can be removed", () => {
  const slots = 40;
  const table = open(slots * ROW_BYTES * SEGMENTS);
  const keys = neighbors(slots);
  for (const [at, key] of keys.entries()) table.put(key, [0, at], { expiry: 50, now: 1 });
  for (const key of keys) table.remove(key);
  expect([table.unexpiredAt(1), keys.filter((key) => table.find(key))]).toEqual([0, []]);
});

test("never evicts rows in use in favor of rows that were not used", () => {
  const slots = 40;
  const table = open(slots * ROW_BYTES * SEGMENTS);
  const [good, flood] = [neighbors(slots / 2), neighbors(2_000)];
  for (const key of good) table.put(key, [0, 1], { expiry: 50, now: 1 });
  for (const key of flood) {
    for (const each of good) table.find(each);
    table.put(key, [0, 2], { expiry: 90, now: 2 });
  }
  expect(good.map((key) => ownWordOf(table, key))).toEqual(good.map(() => 1));
});

test("keeps a whole new working set after a few rounds, even if an earlier one filled the table", () => {
  const slots = 100;
  const table = open(slots * ROW_BYTES * SEGMENTS);
  const [former, now] = [neighbors(60), neighbors(60)];
  const misses = (keys: readonly Uint32Array[]): number =>
    keys.filter((key) => {
      if (table.find(key)) return false;
      table.put(key, [0, 1], { expiry: 50, now: 1 });
      return true;
    }).length;
  for (let round = 0; round < 3; round += 1) misses(former);
  const counts = Array.from({ length: 12 }, () => misses(now));
  expect([counts[0], counts.at(-1)]).toEqual([60, 0]);
});

test("evicts the row that expires first if all were used, in any slot", () => {
  const slots = 40;
  const keys = neighbors(slots + 1);
  const last = keys.pop() ?? randomKey();
  for (const ending of keys.keys()) {
    const table = open(slots * ROW_BYTES * SEGMENTS);
    for (const [at, key] of keys.entries())
      table.put(key, [0, at], { expiry: at === ending ? 40 : 50, now: 1 });
    for (const key of keys) table.find(key);
    table.put(last, [0, 99], { expiry: 50, now: 2 });
    expect(keys.filter((key) => ownWordOf(table, key) === undefined)).toEqual(keys.slice(ending, ending + 1));
    expect(ownWordOf(table, last)).toBe(99);
  }
});

test("a row that expires now is replaced before one that was not used", () => {
  const table = open(2 * ROW_BYTES * SEGMENTS);
  const [ending = randomKey(), unused = randomKey(), last = randomKey()] = neighbors(3);
  table.put(ending, [0, 1], { expiry: 5, now: 1 });
  table.find(ending);
  table.put(unused, [0, 2], { expiry: 50, now: 1 });
  table.put(last, [0, 3], { expiry: 50, now: 5 });
  expect([unused, last].map((key) => ownWordOf(table, key))).toEqual([2, 3]);
});

test("keys that collide in one slot can fill a segment", () => {
  const slots = 40;
  const table = open(slots * ROW_BYTES * SEGMENTS);
  const keys: Uint32Array[] = [];
  for (let at = 0; keys.length < slots; at += 1) {
    const key = Uint32Array.of(0, 0, 0, at);
    const hash = hashAt(key, 0);
    if (hash >>> 24 === 7 && (hash & 0xff_ffff) < 0x10_0000 / slots) keys.push(key);
  }
  for (const [at, key] of keys.entries()) table.put(key, [0, at], { expiry: 50, now: 1 });
  expect(keys.map((key) => ownWordOf(table, key))).toEqual([...keys.keys()]);
});

test("loses rows only by eviction in a segment that fills up before it reaches its maximum size", () => {
  for (let round = 0; round < 20; round += 1) {
    const table = open(184 * ROW_BYTES * SEGMENTS);
    const keys = neighbors(250);
    for (const [at, key] of keys.entries()) table.put(key, [0, at], { expiry: 50, now: 1 });
    expect(keys.filter((key) => table.find(key))).toHaveLength(table.unexpiredAt(1));
  }
});

test("evicts a row last used before the last eviction before a row used since then", () => {
  const slots = 40;
  const table = open(slots * ROW_BYTES * SEGMENTS);
  const keys = neighbors(slots);
  const [ending, idle] = [3, 20];
  for (const [at, key] of keys.entries())
    table.put(key, [0, at], { expiry: at === ending ? 45 : 50, now: 1 });
  for (const key of keys) table.find(key);
  const [first = randomKey(), second = randomKey()] = neighbors(2);
  table.put(first, [0, 98], { expiry: 40, now: 2 });
  const kept = keys.filter((key, at) => at !== idle && table.find(key));
  table.find(first);
  table.put(second, [0, 99], { expiry: 50, now: 2 });
  expect(kept).toHaveLength(slots - 2);
  expect([keys[idle] && ownWordOf(table, keys[idle]), ...kept.filter((key) => !table.find(key))]).toEqual([
    undefined,
  ]);
});

test.each([0, 1, 2])("a segment with room for %p rows always keeps the row added last", (slots) => {
  const table = open(slots * ROW_BYTES * SEGMENTS);
  for (const [at, key] of neighbors(20).entries()) {
    table.put(key, [0, at], { expiry: 50, now: 1 });
    expect([ownWordOf(table, key), table.unexpiredAt(1)]).toEqual([at, Math.min(at + 1, Math.max(1, slots))]);
  }
});
