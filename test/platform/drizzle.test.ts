// Statements over one connection: what SQLite may see of a bound value when it plans, and that a compiled statement
// answers as drizzle's own session does.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { and, count, eq, getTableColumns, gt, type SQL, sql } from "drizzle-orm";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { blob, integer, numeric, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { drizzleOver } from "../../src/platform/drizzle.ts";

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

const things = sqliteTable("things", {
  id: integer("id").primaryKey(),
  label: text("label_key"),
  amount: integer("amount"),
  isOpen: integer("is_open", { mode: "boolean" }),
  changedAt: integer("changed_at_ms", { mode: "timestamp_ms" }),
  size: real("size"),
  price: numeric("price"),
  tags: text("tags", { mode: "json" }).$type<string[]>(),
  bytes: blob("bytes", { mode: "buffer" }),
  large: blob("large", { mode: "bigint" }),
});
const parts = sqliteTable("parts", {
  id: integer("id").primaryKey(),
  thingId: integer("thing_id"),
  label: text("label"),
});

const values = {
  label: fc.string({ unit: "binary" }),
  amount: fc.maxSafeInteger(),
  isOpen: fc.boolean(),
  changedAt: fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms)),
  size: fc.double({ noNaN: true }),
  price: fc.integer().map(String),
  tags: fc.array(fc.string()),
  bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  large: fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
};
const fullThing = fc.record(values);
/** what is left out is NULL */
const thing = fc.record(values, { requiredKeys: [] });
const { id: _, ...settable } = getTableColumns(things);
const everyColumn = Object.entries(getTableColumns(things));
const selection = fc.subarray(everyColumn, { minLength: 1 }).map((columns) => Object.fromEntries(columns));
const named = Object.keys(settable).map((name) => [name, sql.placeholder(name)]);

interface Both {
  ours: BunSQLiteDatabase;
  /** drizzle's own session on the same connection */
  theirs: BunSQLiteDatabase;
  [Symbol.dispose](): void;
}

function openThings(): Both {
  const connection = new Database(":memory:", { strict: true });
  connection.run(`CREATE TABLE things (id INTEGER PRIMARY KEY, label_key TEXT, amount INTEGER, is_open INTEGER,
    changed_at_ms INTEGER, size REAL, price NUMERIC, tags TEXT, bytes BLOB, large BLOB)`);
  connection.run("CREATE TABLE parts (id INTEGER PRIMARY KEY, thing_id INTEGER, label TEXT)");
  return {
    ours: drizzleOver(connection),
    theirs: drizzle(connection),
    [Symbol.dispose]: () => connection.close(),
  };
}

/** Asks both; order of properties counts. */
function expectSame({ ours, theirs }: Both, ask: (db: BunSQLiteDatabase) => unknown): void {
  const [answer, wanted] = [ask(ours), ask(theirs)];
  expect(answer).toStrictEqual(wanted);
  expect(Bun.inspect(answer)).toBe(Bun.inspect(wanted));
}

const errorOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

test("any selection of any rows reads as drizzle reads it", () => {
  fc.assert(
    fc.property(fc.array(thing, { maxLength: 4 }), selection, (rows, columns) => {
      using both = openThings();
      for (const row of rows) both.theirs.insert(things).values(row).run();
      const prepared = (db: BunSQLiteDatabase) =>
        db
          .select(columns)
          .from(things)
          .where(gt(things.id, sql.placeholder("after")))
          .prepare();
      for (const after of [0, 1, 9]) {
        expectSame(both, (db) => prepared(db).all({ after }));
        expectSame(both, (db) => prepared(db).get({ after }));
        expectSame(both, (db) => prepared(db).values({ after }));
      }
    }),
  );
});

test("any row is written as drizzle writes it, and handed back by RETURNING", () => {
  fc.assert(
    fc.property(fullThing, fullThing, (first, second) => {
      using both = openThings();
      const insert = (db: BunSQLiteDatabase) =>
        db.insert(things).values(Object.fromEntries(named)).returning(settable).prepare();
      const update = (db: BunSQLiteDatabase) =>
        db.update(things).set(second).where(eq(things.id, 1)).returning().prepare();
      expectSame(both, (db) => insert(db).get(first));
      const stored = both.theirs.values(sql`SELECT * FROM things`).map(([, ...columns]) => columns);
      expect(stored[0]).toEqual(stored[1]);
      expectSame(both, (db) => update(db).all());
      expectSame(both, (db) => db.update(things).set(first).prepare().run());
    }),
  );
});

test("joins, nested selections and expressions read as drizzle reads them", () => {
  using both = openThings();
  both.theirs
    .insert(things)
    .values([{ isOpen: true }, { isOpen: false, label: "b" }])
    .run();
  both.theirs
    .insert(parts)
    .values([{ thingId: 1, label: "p" }, { thingId: 1 }])
    .run();
  const ofThing = eq(parts.thingId, things.id);
  expectSame(both, (db) => db.select().from(things).leftJoin(parts, ofThing).prepare().all());
  expectSame(both, (db) => db.select().from(things).innerJoin(parts, ofThing).prepare().get());
  const flat = { thing: things.label, part: parts.label, isOpen: things.isOpen };
  expectSame(both, (db) => db.select(flat).from(things).leftJoin(parts, ofThing).prepare().all());
  const nested = { id: things.id, part: { id: parts.id, label: parts.label } };
  expectSame(both, (db) => db.select(nested).from(things).leftJoin(parts, ofThing).prepare().all());
  const expressions = { rows: count(), text: sql<string>`'a'`.as("a"), mapped: sql`1`.mapWith(Boolean) };
  expectSame(both, (db) => db.select(expressions).from(things).prepare().all());
});

test("statements of plain SQL answer as drizzle answers them", () => {
  using both = openThings();
  const query: SQL = sql`SELECT id, label_key FROM things WHERE id > ${0}`;
  for (const rows of [0, 1, 2]) {
    expectSame(both, (db) => db.all(query));
    expectSame(both, (db) => db.get(query));
    expectSame(both, (db) => db.values(query));
    both.ours.run(sql`INSERT INTO things (label_key) VALUES (${`label ${rows}`})`);
  }
});

test("a placeholder without a value is refused, and nothing is bound in its place", () => {
  using both = openThings();
  const byId = (db: BunSQLiteDatabase) =>
    db
      .select()
      .from(things)
      .where(eq(things.id, sql.placeholder("id")));
  const insert = (db: BunSQLiteDatabase) => db.insert(things).values({ isOpen: sql.placeholder("isOpen") });
  expect(errorOf(() => byId(both.ours).prepare().get())).toBe('No value for placeholder "id" was provided');
  expectSame(both, (db) => errorOf(() => byId(db).prepare().all({ other: 1 })));
  expectSame(both, (db) => errorOf(() => byId(db).prepare().all({ id: undefined })));
  expectSame(both, (db) => errorOf(() => insert(db).prepare().run({})));
  expect(both.theirs.select().from(things).all()).toEqual([]);
});

test("a transaction of drizzle that throws leaves nothing", () => {
  using both = openThings();
  const failing = () =>
    both.ours.transaction((tx) => {
      tx.insert(things).values({ label: "a" }).run();
      throw new Error("refused by a rule");
    });
  expect(failing).toThrow("refused by a rule");
  expect(both.theirs.select().from(things).all()).toEqual([]);
});
