// Statements of drizzle over one connection: their parameters, and what the planner may read of them.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { and, eq, getTableColumns } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import {
  changesOf,
  drizzleOver,
  insertAll,
  named,
  overwriteAll,
  updateAll,
} from "../../../src/platform/database/drizzle.ts";

const notes = sqliteTable("notes", {
  id: text("id").primaryKey(),
  state: text("state"),
  topic: text("topic"),
});

function openNotes(): Database {
  const connection = new Database(":memory:", { strict: true });
  connection.run("CREATE TABLE notes (id TEXT PRIMARY KEY, state TEXT, topic TEXT)");
  connection.run("CREATE INDEX notes_open ON notes (topic) WHERE state = 'open'");
  return connection;
}

test("a placeholder and a limit are written so that the planner cannot read their values", () => {
  using connection = openNotes();
  const query = drizzleOver(connection)
    .select({ id: notes.id })
    .from(notes)
    .where(eq(notes.id, named("id")))
    .limit(7)
    .prepare()
    .getQuery();
  expect(query.sql).toBe('select "id" from "notes" where "notes"."id" = +? limit +?');
});

test("constant text still lets SQLite take a partial index", () => {
  using connection = openNotes();
  const isOpen = and(eq(notes.topic, "tea"), eq(notes.state, "open"));
  const query = drizzleOver(connection).select().from(notes).where(isOpen).toSQL();
  const plan = connection.prepare<{ detail: string }, string[]>(`EXPLAIN QUERY PLAN ${query.sql}`);
  expect(plan.all("tea", "open").map(({ detail }) => detail)).toEqual([
    "SEARCH notes USING INDEX notes_open (topic=?)",
  ]);
});

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
