// Statements of drizzle over one connection, and their parameters.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { eq, getTableColumns } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import {
  changesOf,
  drizzleOver,
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

test("one set of parameters inserts, updates and overwrites whole rows, each value as its column stores it", () => {
  using connection = new Database(":memory:", { strict: true });
  connection.run("CREATE TABLE flags (flag_id INTEGER PRIMARY KEY, is_open INTEGER, flag_value TEXT) STRICT");
  const db = drizzleOver(connection);
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
