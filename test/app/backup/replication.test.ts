// Software that replicates the database through its write-ahead log, by the rules of Litestream. It holds a read
// transaction so that no other connection restarts the log, copies appended pages, and is the only one that runs
// checkpoints. Its copy must be a complete database at any time.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openExisting } from "../../../src/app/installation/installation.ts";
import { handbookText } from "../../../src/handbook/chapters.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createInstallation, createWorkspace, type Workspace } from "../../support/in-process.ts";

let workspace: Workspace;
let file: string;

beforeAll(async () => {
  workspace = await createInstallation();
  file = join(workspace.data, "quartermaster.db");
});
afterAll(() => workspace[Symbol.dispose]());

const WAL_HEADER_BYTES = 32;
const SALT = [16, 24] as const;

/** Copies the log piece by piece. A log that another connection restarted is a failure. */
class Replica {
  readonly #own: Database;
  #salt = "";
  #copied = Buffer.alloc(0);

  constructor(
    private readonly live: string,
    readonly copy: string,
  ) {
    this.#own = new Database(live, { readwrite: true });
    this.#own.run("PRAGMA wal_autocheckpoint=0");
    this.#own.run("CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
    this.#own.run("CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)");
    this.#own.run("INSERT INTO _litestream_seq VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1");
    this.#hold();
    copyFileSync(live, copy);
  }

  /** The read transaction prevents other connections from restarting the log. */
  #hold(): void {
    this.#own.run("BEGIN");
    this.#own.run("SELECT count(*) FROM _litestream_seq");
  }

  /** @returns how many bytes were new */
  sync(): number {
    const log = readFileSync(`${this.live}-wal`);
    const salt = log.subarray(...SALT).toString("hex");
    if (this.#copied.length > 0 && salt !== this.#salt) throw new Error("somebody began the log again");
    const fresh = log.length - this.#copied.length;
    this.#salt = salt;
    this.#copied = log;
    return fresh;
  }

  /** Runs the only checkpoints, and checkpoints the copy as well. */
  checkpoint(): void {
    this.#own.run("COMMIT");
    this.sync();
    this.#fold();
    this.#own.run("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#own.run("UPDATE _litestream_seq SET seq = seq + 1");
    this.#copied = Buffer.alloc(0);
    this.#hold();
  }

  #fold(): void {
    if (this.#copied.length <= WAL_HEADER_BYTES) return;
    writeFileSync(`${this.copy}-wal`, this.#copied);
    rmSync(`${this.copy}-shm`, { force: true });
    using connection = new Database(this.copy, { readwrite: true });
    connection.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** @returns the digest of each table of the copy, as it would be restored now */
  contents(): Record<string, string> {
    this.sync();
    this.#fold();
    return contentsOf(this.copy);
  }

  close(): void {
    this.#own.run("COMMIT");
    this.#own.close();
  }
}

function contentsOf(path: string): Record<string, string> {
  using connection = openConnection(path, { readonly: true });
  expect(connection.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  const tables = connection.query("SELECT name FROM sqlite_schema WHERE type = 'table'").values().flat();
  return Object.fromEntries(
    tables.map((name) => [
      String(name),
      sha256Hex(JSON.stringify(connection.query(`SELECT * FROM "${name}"`).values())),
    ]),
  );
}

/** size in pages at which SQLite runs a checkpoint automatically */
const LIMIT_BYTES = 8_000 * 4_096;

test("DAT-8 a replica that copies the log is complete, and no other process checkpoints the log", async () => {
  const replica = new Replica(file, join(workspace.folder, "replica.db"));
  const flags = { dataDir: workspace.data, databaseReplicated: "yes" };
  const config = loadConfig({ flags, env: {}, cwd: workspace.folder });
  const { clock, ids } = workspace;
  const installation = await openExisting({ config, clock, ids, baseUrl: () => "" });
  const { domain, organizationId } = installation;
  const actor = { kind: "system", id: null, label: "service", organizationId } as const;
  const large = (row: number): string => `${row} ${"x".repeat(200_000)}`;
  for (let round = 0; round < 2; round++) {
    const before = statSync(file);
    const rows = round === 0 ? LIMIT_BYTES / 300_000 : 3;
    for (let row = 0; row < rows; row++) {
      await domain.backups.recordRemoved(actor, [large(row)]);
      if (row % 40 === 0) expect(replica.sync()).toBeGreaterThan(0);
    }
    expect(statSync(file).mtimeMs).toBe(before.mtimeMs);
    if (round === 0) expect(statSync(`${file}-wal`).size).toBeGreaterThan(LIMIT_BYTES);
    if (round === 0) replica.checkpoint();
  }
  await workspace.json(`backup create ${join(workspace.folder, "beside.qmb")}`);
  expect(replica.contents()).toEqual(contentsOf(file));
  replica.close();
  await installation.close();
});

test("DAT-8 a replica is restored like a backup, and the replication state of the former database is moved with it", async () => {
  using other = createWorkspace();
  cpSync(workspace.data, other.data, { recursive: true });
  mkdirSync(join(other.data, ".quartermaster.db-litestream/generations"), { recursive: true });
  const replica = join(workspace.folder, "replica.db");
  const { replaced } = await other.json(`backup restore ${replica} --confirm data`);
  expect(readdirSync(String(replaced)).sort()[0]).toBe(".quartermaster.db-litestream");
  expect(existsSync(join(other.data, ".quartermaster.db-litestream"))).toBe(false);
  const { stdout } = await other.run("audit verify");
  expect(stdout).toMatch(/entries verified/);
});

test("DAT-8 tables of replication software stay unchanged and are included in backups", async () => {
  const path = join(workspace.folder, "with-foreign-tables.qmb");
  const { database } = await workspace.json(`backup create ${path}`);
  expect(database).toMatchObject({ rows: { _litestream_seq: 1, _litestream_lock: 0 } });
  for (const line of [`backup verify ${path}`, "migrate status", "users list"])
    expect((await workspace.run(line)).exitCode).toBe(0);
});

test("DAT-8 SQLite checkpoints the log automatically at the default size if replication is off", () => {
  using other = openConnection(file, {});
  const before = statSync(file).mtimeMs;
  other.run("CREATE TABLE filler (text TEXT)");
  for (let row = 0; row < LIMIT_BYTES / 1_000_000 + 2; row++)
    other.run("INSERT INTO filler VALUES (?)", ["x".repeat(1_000_000)]);
  expect(statSync(file).mtimeMs).toBeGreaterThan(before);
});

test("DAT-8 the example of `help backups` is valid for Litestream 0.3 and 0.5 and restores into the data directory", () => {
  const text = handbookText("backups");
  expect(text).toContain("    replicas:\n      - path: ");
  expect(text).toMatch(/backup restore \S+ --data-dir \/var\/lib\/quartermaster --confirm quartermaster$/m);
});
