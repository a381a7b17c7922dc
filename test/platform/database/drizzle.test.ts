// Statements of drizzle over one connection, and their parameters.
import { fullGC, heapStats } from "bun:jsc";
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { and, eq, getTableColumns, gt, lt, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import {
  changesOf,
  createDrizzle,
  insertAll,
  named,
  overwriteAll,
  updateAll,
} from "../../../src/platform/database/drizzle.ts";

const flags = sqliteTable("flags", {
  id: integer("flag_id").primaryKey(),
  isOpen: integer("is_open", { mode: "boolean" }),
  value: text("flag_value", { mode: "json" }),
});

test("an unused prepared statement is collected", async () => {
  using connection = new Database(":memory:", { strict: true });
  connection.run("CREATE TABLE flags (flag_id INTEGER PRIMARY KEY, is_open INTEGER, flag_value TEXT) STRICT");
  const db = createDrizzle(connection);
  const statements = () => heapStats().objectTypeCounts.SQLStatement ?? 0;
  const before = statements();
  for (let made = 0; made < 1_000; made++) db.select().from(flags).prepare();
  await new Promise(setImmediate);
  fullGC();
  expect(statements() - before).toBeLessThan(500);
});

test("one set of parameters inserts, updates and overwrites whole rows, each value as its column stores it", () => {
  using connection = new Database(":memory:", { strict: true });
  connection.run("CREATE TABLE flags (flag_id INTEGER PRIMARY KEY, is_open INTEGER, flag_value TEXT) STRICT");
  const db = createDrizzle(connection);
  const { id, ...others } = getTableColumns(flags);
  const put = db
    .insert(flags)
    .values(insertAll(flags))
    .onConflictDoUpdate({ target: id, set: overwriteAll(others) })
    .prepare();
  const change = db
    .update(flags)
    .set(updateAll(others))
    .where(eq(id, named("id")))
    .prepare();
  const first = { id: 1, isOpen: true, value: { a: 1 } };
  put.run(first);
  expect(db.select().from(flags).all()).toEqual([first]);
  put.run({ ...first, isOpen: false });
  expect(db.select().from(flags).all()).toEqual([{ ...first, isOpen: false }]);
  expect(changesOf(change.run({ ...first, value: null }))).toBe(1);
  expect(db.select().from(flags).all()).toEqual([{ ...first, value: null }]);
});

describe("a prepared SELECT of columns", () => {
  const connection = new Database(":memory:", { strict: true });
  connection.run("CREATE TABLE flags (flag_id INTEGER PRIMARY KEY, is_open INTEGER, flag_value TEXT) STRICT");
  afterAll(() => connection.close());
  const db = createDrizzle(connection);
  const rows = [
    { id: 1, isOpen: true, value: { a: 1 } },
    { id: 2, isOpen: false, value: null },
    { id: 3, isOpen: null, value: "text" },
  ];
  db.insert(flags).values(rows).run();

  test("reads each value as its column stores it, null included", () => {
    expect(db.select().from(flags).orderBy(flags.id).prepare().all()).toEqual(rows);
  });

  test("binds parameters by name, and constants, in the order of the statement", () => {
    const { id, isOpen } = getTableColumns(flags);
    const find = db
      .select({ isOpen, id })
      .from(flags)
      .where(and(lt(id, named("below")), eq(isOpen, false), gt(id, named("above"))))
      .prepare();
    expect(find.get({ above: 1, below: 3 })).toEqual({ isOpen: false, id: 2 });
    expect(find.all({ above: 2, below: 3 })).toEqual([]);
    expect(find.get({ above: 2, below: 3 })).toBeUndefined();
    expect(() => find.get({ above: 1 })).toThrow("below");
  });

  test("reads nested rows and expressions with the result that drizzle gives", () => {
    const nested = db
      .select({ flag: { id: flags.id }, count: sql<number>`count(*) OVER ()` })
      .from(flags)
      .where(eq(flags.id, named("id")))
      .prepare();
    expect(nested.get({ id: 2 })).toEqual({ flag: { id: 2 }, count: 1 });
  });
});
