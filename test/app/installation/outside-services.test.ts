// Backups from outside: files that only look like a backup, and databases that this program did not create.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packBackup } from "../../../src/domain/backup/pack.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { inspectDatabase } from "../../../src/platform/database/maintenance/copy.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { productCommand, SHORT_LIVED } from "../../support/cli/executable.ts";
import { repeatArtifact } from "../../support/content/backup-files.ts";
import { createInstallation, type Workspace } from "../../support/in-process.ts";

let workspace: Workspace;
let backup: string;

beforeAll(async () => {
  workspace = await createInstallation();
  backup = join(workspace.folder, "made.qmb");
  await workspace.json(`backup create ${backup}`);
});
afterAll(() => workspace[Symbol.dispose]());

describe("DAT-4 a named pipe", () => {
  const PATIENCE_MS = 50_000;
  const inChild = (line: string) =>
    spawnSync(productCommand()[0] ?? "", [...line.split(" "), "--json", "--data-dir", workspace.data], {
      encoding: "utf8",
      env: SHORT_LIVED,
      timeout: PATIENCE_MS,
      killSignal: "SIGKILL",
    });

  test.each(["verify", "restore --confirm data"])("is refused by `backup %s` without waiting", (verb) => {
    const pipe = join(workspace.folder, `pipe-${verb.split(" ")[0]}`);
    spawnSync("mkfifo", [pipe]);
    const { status, stderr } = inChild(`backup ${verb} ${pipe}`);
    expect([status, JSON.parse(stderr).reason]).toEqual([2, "file.not_regular"]);
  });

  test("lists a named pipe in the backup folder with its problem", () => {
    const folder = join(workspace.folder, "with-pipe");
    mkdirSync(folder);
    spawnSync("mkfifo", [join(folder, "backup-20260101T000000Z.qmb")]);
    const { status, stdout } = inChild(`backup list --backup-directory ${folder}`);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).items[0].problem).toEndWith("is not a regular file");
  });
});

test("DAT-4 a truncated backup is listed with its problem, even if its beginning is intact", async () => {
  const folder = join(workspace.folder, "cut-short");
  mkdirSync(folder);
  const path = join(folder, "scheduled-20260101T000000Z.qmb");
  copyFileSync(backup, path);
  truncateSync(path, statSync(path).size - 512);
  const { items } = await workspace.json(`backup list --backup-directory ${folder}`);
  expect(JSON.stringify(items)).toContain("is damaged: its end is missing");
});

test("DAT-4 a backup or copy given as a link is read from the link's target", async () => {
  const copy = join(workspace.folder, "copy.db");
  using live = openConnection(join(workspace.data, "quartermaster.db"), { readonly: true });
  live.query("VACUUM INTO ?").run(copy);
  for (const target of [copy, backup]) {
    const link = `${target}.link`;
    symlinkSync(target, link);
    expect(await workspace.run(`backup verify ${link}`)).toMatchObject({ exitCode: 0 });
  }
});

describe("DAT-4 a foreign database", () => {
  const file = (name: string): string => join(workspace.folder, `${name}.db`);

  /** @returns a copy of the live database after executing the statements */
  function changed(name: string, ...statements: string[]): string {
    using live = openConnection(join(workspace.data, "quartermaster.db"), { readonly: true });
    live.query("VACUUM INTO ?").run(file(name));
    using copy = new Database(file(name), { readwrite: true });
    copy.run("PRAGMA foreign_keys=OFF");
    copy.run("PRAGMA writable_schema=ON");
    for (const statement of statements) copy.run(statement);
    return file(name);
  }

  /** @returns the same copy in a backup with valid digests */
  function packed(database: string): string {
    const { organizationId: _, differences, problems, sizeBytes, ...found } = inspectDatabase(database);
    const target = `${database}.qmb`;
    const facts = { ...found, created_at: "2026-01-01T00:00:00.000Z", version: "1.0.0", sealing_key_ids: [] };
    packBackup({
      database,
      artifacts: join(workspace.folder, "none"),
      target,
      partial: `${target}.partial`,
      facts,
    });
    return target;
  }

  /** @returns the outputs of verify, of the dry run and of the restore */
  async function refusals(path: string): Promise<Set<string>> {
    const lines = [`verify ${path}`, `restore ${path} --confirm data`];
    const told = new Set<string>();
    for (const line of lines) {
      const { stderr, exitCode } = await workspace.run(`backup ${line} --json`);
      const { reason, error } = exitCode === 0 ? { reason: "accepted", error: "" } : JSON.parse(stderr);
      told.add(`${exitCode} ${reason} ${error.split(": ").at(-1)}`);
    }
    return told;
  }

  const FOREIGN = [
    [
      "a trigger",
      "CREATE TRIGGER quiet BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(IGNORE); END",
      "trigger quiet",
    ],
    ["a view", "CREATE VIEW peek AS SELECT * FROM users", "view peek"],
    ["a table", "CREATE TABLE extra (x)", "table extra"],
    ["an index", "CREATE INDEX extra_index ON users (status)", "index extra_index"],
    [
      "a virtual table with an allowed name",
      "CREATE VIRTUAL TABLE _litestream_seq USING fts5(x)",
      "table _litestream_seq",
    ],
  ] as const;

  test.each(FOREIGN)("refuses a database with a foreign %s", async (_, sql, name) => {
    const path = changed(name.replace(" ", "-"), sql);
    const wanted = new Set([`7 backup.foreign_objects the ${name} is foreign`]);
    expect(await refusals(path)).toEqual(wanted);
    expect(await refusals(packed(path))).toEqual(wanted);
  });

  test("refuses a database with a changed or missing table", async () => {
    const path = changed("altered", "DROP TABLE backups", "ALTER TABLE users ADD COLUMN extra TEXT");
    expect(await refusals(path)).toEqual(new Set(["7 backup.foreign_objects the table users was changed"]));
    expect(await refusals(changed("less", "DROP TABLE backups"))).toEqual(
      new Set(["7 backup.foreign_objects the index backups_created is missing"]),
    );
  });

  test("accepts a database with the tables of Litestream and of SQLite's statistics", async () => {
    const path = changed(
      "replica",
      "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
      "CREATE TABLE _litestream_lock (id INTEGER)",
      "ANALYZE",
    );
    expect((await workspace.run(`backup verify ${path}`)).exitCode).toBe(0);
    expect((await workspace.run(`backup verify ${packed(path)}`)).exitCode).toBe(0);
  });

  test("refuses a database without an organization or a journal of migrations", async () => {
    const none = changed("empty");
    using other = new Database(file("other"), { create: true });
    other.run("CREATE TABLE schema_migrations (x)");
    other.run("CREATE TABLE organizations (x)");
    const journal = "its database has no migration history of Quartermaster";
    expect(await refusals(file("other"))).toEqual(new Set([`7 backup.unreadable ${journal}`]));
    expect(await refusals(changed("bare", "DELETE FROM schema_migrations"))).toEqual(
      new Set([`7 backup.unreadable ${journal}`]),
    );
    emptyOfRows(none);
    expect(await refusals(none)).toEqual(new Set(["7 backup.unreadable its database has no organization"]));
    expect(await refusals(packed(none))).toEqual(
      new Set(["7 backup.unreadable its database has no organization"]),
    );
  });

  test("refuses a database with an edited migration", async () => {
    const path = changed("edited", "UPDATE schema_migrations SET sha256 = 'x' WHERE id = 2");
    const [told = ""] = await refusals(packed(path));
    expect(told).toStartWith("4 schema.altered");
  });

  test("finds a foreign database in the data directory, and makes its backup with exit code 8", async () => {
    using own = await createInstallation();
    changeFile(join(own.data, "quartermaster.db"), FOREIGN[0][1]);
    const { stdout } = await own.run("doctor --json");
    expect(JSON.parse(stdout).checks).toContainEqual(
      expect.objectContaining({
        check: "schema_objects",
        result: "failed",
        detail: "the trigger quiet is foreign",
      }),
    );
    const { exitCode, stderr } = await own.run("backup create");
    expect([exitCode, stderr]).toEqual([8, expect.stringContaining("restore will refuse this backup")]);
  });
});

function changeFile(path: string, sql: string): void {
  using database = new Database(path, { readwrite: true });
  database.run("PRAGMA foreign_keys=OFF");
  database.run(sql);
}

/** Keeps tables and the journal mode. */
function emptyOfRows(path: string): void {
  using database = new Database(path, { readwrite: true });
  const tables = database
    .query("SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .values()
    .flat();
  database.run("PRAGMA foreign_keys=OFF");
  for (const name of tables) if (name !== "schema_migrations") database.run(`DELETE FROM "${name}"`);
}

test("DAT-4 a duplicate artifact is refused by verify and by restore", async () => {
  const source = join(workspace.folder, "twice");
  const digest = sha256Hex("an artifact");
  const shard = join(source, "sha256", digest.slice(0, 2));
  mkdirSync(shard, { recursive: true });
  writeFileSync(join(shard, digest), "an artifact");
  const database = join(workspace.folder, "twice.db");
  using live = openConnection(join(workspace.data, "quartermaster.db"), { readonly: true });
  live.query("VACUUM INTO ?").run(database);
  const { schema, rows } = inspectDatabase(database);
  const facts = {
    schema,
    rows,
    created_at: "2026-01-01T00:00:00.000Z",
    version: "1.0.0",
    sealing_key_ids: [],
  };
  const target = join(workspace.folder, "twice.qmb");
  packBackup({ database, artifacts: source, target, partial: `${target}.partial`, facts });
  repeatArtifact(target, { digest, sizeBytes: 11 });
  for (const verb of [`verify ${target}`, `restore ${target} --confirm data`]) {
    const { stderr, exitCode } = await workspace.run(`backup ${verb} --json`);
    expect([exitCode, JSON.parse(stderr)]).toEqual([
      7,
      expect.objectContaining({ reason: "backup.damaged", error: expect.stringContaining("occurs twice") }),
    ]);
  }
});
