// How a database is upgraded to a newer schema, with migrations of the test. test/migrations tests the product's migrations.
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Migration } from "../../../../migrations/index.ts";
import { openConnection } from "../../../../src/platform/database/connection.ts";
import {
  type MigrateOptions,
  type MigrateResult,
  migrate,
} from "../../../../src/platform/database/schema/migrate.ts";
import { programSchema, schemaOf } from "../../../../src/platform/database/schema/schema.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { startChild } from "../../../support/cli/child.ts";
import { tablesOf } from "../../../support/content/schema.ts";
import { heldClock, temporaryDirectory } from "../../../support/world.ts";

const FAMILIES: Migration = {
  id: 1,
  name: "families",
  sql: `CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE children (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL REFERENCES parents (id) ON DELETE CASCADE) STRICT;`,
};
/** how a constraint is changed in SQLite: copy, drop, rename */
const REBUILT_PARENT: Migration = {
  id: 2,
  name: "rebuilt-parent",
  sql: `CREATE TABLE parents_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (name <> '')) STRICT;
    INSERT INTO parents_new SELECT id, name FROM parents;
    DROP TABLE parents;
    ALTER TABLE parents_new RENAME TO parents;`,
};
const FAILING: Migration = {
  id: 2,
  name: "failing",
  sql: "CREATE TABLE half (x INTEGER) STRICT; INSERT INTO half VALUES (1); INSERT INTO missing VALUES (1);",
};
const ORPHANING: Migration = { id: 2, name: "orphaning", sql: "DELETE FROM parents;" };

interface Place extends Disposable {
  readonly file: string;
  readonly backupDirectory: string;
  migrate(migrations?: readonly Migration[], more?: Partial<MigrateOptions>): MigrateResult;
  /** runs SQL on the file, or reads the first column of a query */
  run(sql: string): void;
  read(sql: string): unknown[];
}

function place(): Place {
  const directory = temporaryDirectory();
  const file = join(directory, "quartermaster.db");
  const backupDirectory = join(directory, "backups");
  const base = { clock: heldClock(), version: "1.2.3", backupDirectory };
  return {
    file,
    backupDirectory,
    migrate: (migrations, more) => migrate(file, { ...base, ...(migrations && { migrations }), ...more }),
    run: (sql) => {
      using connection = openConnection(file, { create: true });
      connection.run(sql);
    },
    read: (sql) => readFrom(file, sql),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function readFrom(file: string, sql: string): unknown[] {
  using connection = openConnection(file, { readonly: true });
  return connection.query(sql).values().flat();
}

/** a database with two families in schema 1 */
function families(): Place {
  const here = place();
  here.migrate([FAMILIES]);
  here.run("INSERT INTO parents VALUES (1, 'ana'), (2, 'bo'); INSERT INTO children VALUES (10, 1), (20, 2)");
  return here;
}

function reasonOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof DomainError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return "no error";
}

function hintOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof DomainError) return error.hint;
    throw error;
  }
  return undefined;
}

test("an empty database gets the newest schema and no copy; repeating changes nothing", () => {
  using here = place();
  expect(here.migrate()).toEqual({ from: 0, to: programSchema(), backup: undefined });
  expect(here.migrate()).toEqual({ from: programSchema(), to: programSchema(), backup: undefined });
  expect(existsSync(here.backupDirectory)).toBe(false);
});

test("each migration records its number, name, digest, time and the program's version", () => {
  using here = place();
  here.migrate([FAMILIES]);
  const row = here.read("SELECT id, name, length(sha256), applied_at_ms, applied_by FROM schema_migrations");
  expect(row).toEqual([1, "families", 64, heldClock().nowMs(), "1.2.3"]);
});

test("rebuilding a parent table does not empty its child table", () => {
  using here = families();
  expect(here.migrate([FAMILIES, REBUILT_PARENT])).toMatchObject({ from: 1, to: 2 });
  expect(here.read("SELECT id FROM children ORDER BY id")).toEqual([10, 20]);
  expect(() => here.run("INSERT INTO children VALUES (30, 3)")).toThrow("FOREIGN KEY");
});

test("a failing migration leaves rows, tables and schema number unchanged", () => {
  using here = families();
  expect(() => here.migrate([FAMILIES, FAILING])).toThrow("missing");
  expect(here.read("SELECT name FROM sqlite_schema WHERE name = 'half'")).toEqual([]);
  expect(here.read("SELECT id FROM schema_migrations")).toEqual([1]);
  expect(here.migrate([FAMILIES, REBUILT_PARENT]).to).toBe(2);
});

test("a migration that would leave rows without their parent is rolled back", () => {
  using here = families();
  expect(() => here.migrate([FAMILIES, ORPHANING])).toThrow("would break 2 foreign keys");
  expect(here.read("SELECT name FROM parents ORDER BY id")).toEqual(["ana", "bo"]);
});

test("DAT-6 every migration is undone when a later one fails, the message says so, and the former program still starts", () => {
  using here = families();
  const refusal = reasonOf(() => here.migrate([FAMILIES, REBUILT_PARENT, { ...FAILING, id: 3 }]));
  expect(refusal).toStartWith(
    "schema.migration_failed: migration 3 (failing) failed: no such table: missing",
  );
  expect(refusal).toEndWith("nothing was changed, the database still has schema 1");
  expect(here.read("SELECT id FROM schema_migrations ORDER BY id")).toEqual([1]);
  expect(here.migrate([FAMILIES])).toEqual({ from: 1, to: 1, backup: undefined });
});

test("DAT-6 several migrations are applied in one run, and none in the next", () => {
  using here = families();
  const third = { id: 3, name: "third", sql: "CREATE TABLE third (x INTEGER) STRICT" };
  expect(here.migrate([FAMILIES, REBUILT_PARENT, third])).toMatchObject({ from: 1, to: 3 });
  expect(here.migrate([FAMILIES, REBUILT_PARENT, third])).toMatchObject({ from: 3, to: 3 });
});

test("refuses a newer database without changing it and names the newest known version", () => {
  using here = families();
  here.migrate([FAMILIES, REBUILT_PARENT], { version: "2.0.0" });
  here.migrate([FAMILIES, REBUILT_PARENT, { id: 3, name: "third", sql: "SELECT 1" }], { version: "3.0.0" });
  const refusal = reasonOf(() => here.migrate([FAMILIES]));
  expect(refusal).toStartWith("schema.newer: the database has schema 3 (made by version 3.0.0)");
  expect(refusal).toEndWith("knows up to 1");
});

test("DAT-7 starting an older program on a newer database prints the exact command to go back", () => {
  using here = families();
  const { backup } = here.migrate([FAMILIES, REBUILT_PARENT], { version: "2.0.0" });
  const folder = dirname(here.file);
  const command = `quartermaster backup restore ${backup} --data-dir ${folder} --confirm ${basename(folder)}`;
  expect(hintOf(() => here.migrate([FAMILIES]))).toBe(
    `start version 2.0.0 or newer again, or restore the copy from before the upgrade: ${command}`,
  );
});

test("refuses a migration that was edited after it ran", () => {
  using here = families();
  const edited = { ...FAMILIES, sql: `${FAMILIES.sql} -- better` };
  expect(reasonOf(() => here.migrate([edited, REBUILT_PARENT]))).toStartWith(
    "schema.altered: migration 1 (families)",
  );
  expect(here.read("SELECT id FROM schema_migrations")).toEqual([1]);
});

test("the schema number of a database is read without changing it", () => {
  using here = families();
  using connection = openConnection(here.file, { readonly: true });
  expect(schemaOf(connection, [FAMILIES, REBUILT_PARENT])).toBe(1);
  expect(reasonOf(() => schemaOf(connection, []))).toStartWith("schema.newer");
});

test("copies the old database before the first change, complete and readable by its owner only", () => {
  using here = families();
  const { backup = "" } = here.migrate([FAMILIES, REBUILT_PARENT]);
  expect(backup).toBe(join(here.backupDirectory, "before-upgrade-schema-1-20260101T000000Z.db"));
  expect(readFrom(backup, "SELECT id FROM schema_migrations")).toEqual([1]);
  expect(readFrom(backup, "SELECT id FROM children ORDER BY id")).toEqual([10, 20]);
  expect(readFrom(backup, "PRAGMA integrity_check")).toEqual(["ok"]);
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  expect(readdirSync(here.backupDirectory)).toHaveLength(1);
});

test("the copy contains rows that are only in the write-ahead log", () => {
  using here = families();
  using connection = openConnection(here.file, {});
  connection.run("INSERT INTO parents VALUES (3, 'cy')");
  expect(statSync(`${here.file}-wal`).size).toBeGreaterThan(0);
  const { backup = "" } = here.migrate([FAMILIES, REBUILT_PARENT]);
  expect(readFrom(backup, "SELECT name FROM parents ORDER BY id")).toEqual(["ana", "bo", "cy"]);
});

test("discards a copy that would contain another process's later changes", () => {
  using here = families();
  const list = [FAMILIES, REBUILT_PARENT];
  const outcome = here.migrate(list, { beforeChange: () => void here.migrate(list) });
  expect(outcome).toEqual({ from: 1, to: 2, backup: undefined });
  const [copy = "", ...others] = readdirSync(here.backupDirectory);
  expect(others).toEqual([]);
  expect(readFrom(join(here.backupDirectory, copy), "SELECT max(id) FROM schema_migrations")).toEqual([1]);
});

test("changes nothing if the copy cannot be created", () => {
  using here = families();
  writeFileSync(here.backupDirectory, "a file where the folder should be");
  expect(() => here.migrate([FAMILIES, REBUILT_PARENT])).toThrow();
  expect(here.read("SELECT id FROM schema_migrations")).toEqual([1]);
});

test("asks the caller before anything changes, only if something would, and the caller may refuse", () => {
  using here = families();
  const refuse = () => {
    throw new Error("a server is running");
  };
  expect(here.migrate([FAMILIES], { beforeChange: refuse }).to).toBe(1);
  expect(() => here.migrate([FAMILIES, REBUILT_PARENT], { beforeChange: refuse })).toThrow(
    "a server is running",
  );
  expect(existsSync(here.backupDirectory)).toBe(false);
  expect(here.read("SELECT id FROM schema_migrations")).toEqual([1]);
});

test("a process killed inside a migration leaves the old schema, and the next one finishes", async () => {
  using here = place();
  here.migrate();
  here.run("INSERT INTO organizations VALUES ('o', 'Observatory', 0)");
  const child = startChild("migrate-and-stop", [here.file, here.backupDirectory]);
  expect(await child.line()).toBe("stopped");
  child.kill();
  await child.ended();
  expect(here.read("SELECT name FROM sqlite_schema WHERE name = 'half'")).toEqual([]);
  expect(here.migrate()).toEqual({ from: programSchema(), to: programSchema(), backup: undefined });
  expect(here.read("SELECT name FROM organizations")).toEqual(["Observatory"]);
  expect(here.read("PRAGMA integrity_check")).toEqual(["ok"]);
});

test.each([1, 2, 3])(
  "two processes that bring the same new database up to date both succeed (%d)",
  async () => {
    using here = place();
    const both = [1, 2].map(() => startChild("migrate", [here.file, here.backupDirectory]));
    for (const child of both) expect(await child.line()).toBe("ready");
    for (const child of both) child.goOn();
    const outcomes = await Promise.all(both.map((child) => child.ended()));
    expect(outcomes.map(({ code, errors }) => ({ code, errors }))).toEqual(
      Array(2).fill({ code: 0, errors: "" }),
    );
    using connection = openConnection(here.file, { readonly: true });
    expect(schemaOf(connection)).toBe(programSchema());
    expect(tablesOf(connection)).toContain("organizations");
  },
);

test.each([1, 2, 3])(
  "two processes that upgrade the same database both succeed, with one schema in the copy (%d)",
  async () => {
    using here = place();
    here.migrate();
    here.run("INSERT INTO organizations VALUES ('o', 'Observatory', 0)");
    const both = [1, 2].map(() => startChild("upgrade", [here.file, here.backupDirectory]));
    for (const child of both) expect(await child.line()).toBe("ready");
    for (const child of both) child.goOn();
    const outcomes = await Promise.all(both.map((child) => child.ended()));
    expect(outcomes.map(({ code, errors }) => ({ code, errors }))).toEqual(
      Array(2).fill({ code: 0, errors: "" }),
    );
    const copies = readdirSync(here.backupDirectory).map((name) => join(here.backupDirectory, name));
    expect(copies.length).toBeGreaterThan(0);
    for (const copy of copies)
      expect(readFrom(copy, "SELECT max(id) FROM schema_migrations")).toEqual([programSchema()]);
  },
);

test("refuses a file that is not a database", () => {
  using here = place();
  writeFileSync(here.file, "Dear operator, ".repeat(100));
  chmodSync(here.file, 0o600);
  expect(reasonOf(() => here.migrate())).toStartWith("storage.damaged");
});
