// Statements over one connection: what SQLite may see of a bound value when it plans.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { and, eq, sql } from "drizzle-orm";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { drizzleOver } from "../../../src/platform/database/drizzle.ts";

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

test("SQLite sees no placeholder's value when it plans, so that nothing bound compiles a statement anew", () => {
  using connection = openNotes();
  const { sql: compiled } = drizzleOver(connection)
    .select({ id: notes.id })
    .from(notes)
    .where(eq(notes.id, sql.placeholder("id")))
    .limit(sql.placeholder("rows"))
    .prepare()
    .getQuery();
  expect(compiled).toBe('select "id" from "notes" where "notes"."id" = +? limit +?');
});

test("a last limit that never changes stands in the text", () => {
  using connection = openNotes();
  const query = drizzleOver(connection).select({ id: notes.id }).from(notes).limit(7).prepare().getQuery();
  expect(query).toMatchObject({ sql: 'select "id" from "notes" limit 7', params: [] });
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
