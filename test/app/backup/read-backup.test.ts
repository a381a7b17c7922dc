// Reading a backup: free space for its contents is checked first, progress is reported, and no file stays readable by others.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeBackup, spaceFor } from "../../../src/app/backup/backup.ts";
import { performTask } from "../../../src/app/backup/perform-task.ts";
import { type BackupFile, inspectFile, readBackup } from "../../../src/app/backup/read-backup.ts";
import { MANIFEST_BYTES, memberOf, SEAL_NAME } from "../../../src/domain/backup/model.ts";
import { PIECE_BYTES, packBackup } from "../../../src/domain/backup/pack.ts";
import { readManifest, unpackBackup } from "../../../src/domain/backup/unpack.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { copyDatabase, inspectDatabase } from "../../../src/platform/database/maintenance/copy.ts";
import { folderSizeOf } from "../../../src/platform/files/disk.ts";
import { tarHeader } from "../../../src/platform/files/tar.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createInstallation, type Workspace } from "../../support/in-process.ts";

/** procfs never has free bytes. */
const FULL = "/proc";

const SQLITE_HEADER_BYTES = 100;

let workspace: Workspace;
let whole: BackupFile;

beforeAll(async () => {
  workspace = await createInstallation();
  const target = join(workspace.folder, "whole.qmb");
  const directory = placesIn(workspace.data);
  const request = {
    kind: "manual",
    directory,
    folder: workspace.folder,
    target,
    withSessions: false,
  } as const;
  const startedAtMs = performance.now();
  const { durationMs } = await makeBackup({
    ...request,
    clock: workspace.clock,
    keyIdsIn: () => [],
    perform: performTask,
  });
  expect(durationMs).toBeWithin(0, performance.now() - startedAtMs + 1);
  whole = inspectFile(target);
});
afterAll(() => workspace[Symbol.dispose]());

interface Sizes {
  database: number;
  artifacts: number;
  sessions?: number;
}

/** The same file, with other sizes in its manifest. */
function sized({ database, artifacts, sessions }: Sizes): BackupFile {
  const { manifest } = whole;
  if (!manifest) throw new Error("a backup has a manifest");
  const changed = {
    ...manifest,
    database: { ...manifest.database, size_bytes: database },
    artifacts: { ...manifest.artifacts, size_bytes: artifacts },
    ...(sessions !== undefined && { sessions: { ...manifest.artifacts, size_bytes: sessions } }),
  };
  return { ...whole, manifest: changed, sizeBytes: 1 };
}

const copyOf = (sizeBytes: number): BackupFile => ({ ...whole, manifest: undefined, sizeBytes });

test("a damaged copy of a database is not reported as one of another program", () => {
  const path = join(workspace.folder, "damaged.db");
  const bytes = readFileSync(placesIn(workspace.data).database);
  writeFileSync(path, bytes.fill(0xff, SQLITE_HEADER_BYTES));
  expect(() => inspectFile(path)).toThrow("the database file is damaged");
});

test.each<[string, () => BackupFile, string | undefined, boolean]>([
  ["a database that needs nothing", () => sized({ database: 0, artifacts: 1 }), undefined, true],
  ["a database", () => sized({ database: 1, artifacts: 0 }), undefined, false],
  ["artifacts that are unpacked", () => sized({ database: 0, artifacts: 1 }), `${FULL}/artifacts`, false],
  ["artifacts that need nothing", () => sized({ database: 0, artifacts: 0 }), `${FULL}/artifacts`, true],
  ["a copy of a database that needs nothing", () => copyOf(0), undefined, true],
  ["a copy of a database that has no artifacts", () => copyOf(0), `${FULL}/artifacts`, true],
  ["a copy of a database", () => copyOf(1), undefined, false],
])("checks the free bytes for %s: %#", async (_what, backupOf, artifacts, fits) => {
  const request = { backup: backupOf(), folder: FULL, clock: workspace.clock, perform: performTask };
  const reading = readBackup({ ...request, ...(artifacts !== undefined && { artifacts }) });
  const error = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error); // nothing can be written there in any case
  const isWithoutRoom = error instanceof Error && "reason" in error && error.reason === "storage.full";
  expect(isWithoutRoom).toBe(!fits);
});

test.each([
  [0, 1, `${FULL}/sessions`, false],
  [0, 0, `${FULL}/sessions`, true],
  [0, undefined, `${FULL}/sessions`, true],
  [0, 1, undefined, true],
  [1, 1, `${FULL}/sessions`, false],
] as const)(
  "checks the free bytes for %p of artifacts and %p of sessions: %#",
  async (artifacts, sessions, folder, fits) => {
    const backup = sized({ database: 0, artifacts, ...(sessions !== undefined && { sessions }) });
    const folders = { artifacts: `${FULL}/artifacts`, ...(folder !== undefined && { sessions: folder }) };
    const reading = readBackup({
      backup,
      folder: FULL,
      clock: workspace.clock,
      perform: performTask,
      ...folders,
    });
    const error = await reading.catch((thrown: unknown) => thrown);
    expect(error instanceof Error && "reason" in error && error.reason === "storage.full").toBe(!fits);
  },
);

test("every piece that is read is reported with the size of the file", () => {
  const seen: number[] = [];
  const database = join(workspace.folder, "unpacked.db");
  const { manifest, path, sizeBytes } = whole;
  unpackBackup({ path, database }, (done, total) => {
    expect(total).toBe(sizeBytes);
    seen.push(done);
  });
  const length = manifest?.database.size_bytes ?? 0;
  expect(seen).toHaveLength(Math.ceil(length / PIECE_BYTES));
  expect(seen[0]).toBeGreaterThan(Math.min(length, PIECE_BYTES));
});

test("only the owner can read the unpacked files, and no file stays open", () => {
  const { path } = whole;
  const [bytes, again] = [Buffer.from("artifact"), join(workspace.folder, "again.qmb")];
  const [unpacked, digest] = [join(workspace.folder, "unpacked"), sha256Hex(bytes)];
  const shard = join("artifacts/sha256", digest.slice(0, 2));
  mkdirSync(join(workspace.data, shard), { recursive: true });
  writeFileSync(join(workspace.data, shard, digest), bytes);
  const openBefore = readdirSync("/dev/fd").length;
  const database = join(unpacked, "q.db");
  const {
    database: told,
    artifacts: _,
    format: __,
    sessions: ___,
    ...facts
  } = unpackBackup({ path, database });
  const packing = {
    database,
    target: again,
    partial: `${again}.partial`,
    facts: { ...facts, rows: told.rows },
  };
  packBackup({ ...packing, artifacts: join(workspace.data, "artifacts") });
  readManifest(again);
  unpackBackup({
    path: again,
    database: join(unpacked, "r.db"),
    artifacts: join(unpacked, "artifacts"),
  });
  expect(readdirSync("/dev/fd").length).toBeLessThanOrEqual(openBefore); // the collector may close files of earlier tests
  const modeOf = (name: string) => statSync(join(unpacked, name)).mode & 0o777;
  expect([modeOf("."), modeOf(shard)]).toEqual([0o700, 0o700]);
  expect([modeOf("q.db"), modeOf(join(shard, digest))]).toEqual([0o600, 0o600]);
});

test("files of any size are packed and unpacked to the same bytes", () => {
  const sizes = [0, 1, 511, 512, 513, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES + 1];
  const [from, to] = [join(workspace.folder, "sizes-from"), join(workspace.folder, "sizes-to")];
  const files = sizes.map((size) => {
    const bytes = Buffer.alloc(size, `${size}`);
    const name = memberOf("artifacts", sha256Hex(bytes)).slice("artifacts/".length);
    mkdirSync(join(from, dirname(name)), { recursive: true });
    writeFileSync(join(from, name), bytes);
    return { name, bytes };
  });
  const path = join(workspace.folder, "sizes.qmb");
  const [database, unpacked] = [
    join(workspace.folder, "sizes.db"),
    join(workspace.folder, "sizes-unpacked.db"),
  ];
  const { database: told, artifacts: _, format: __, ...facts } = unpackBackup({ path: whole.path, database });
  const packing = { target: path, partial: `${path}.partial`, facts: { ...facts, rows: told.rows } };
  packBackup({ database, artifacts: from, sessions: from, ...packing });
  unpackBackup({ path, database: unpacked, artifacts: to, sessions: `${to}-sessions` });
  for (const { name, bytes } of files)
    for (const folder of [to, `${to}-sessions`])
      expect(readFileSync(join(folder, name)).equals(bytes)).toBe(true);
});

test("a file that becomes shorter while it is packed fails the backup", () => {
  const [folder, path] = [join(workspace.folder, "shorter"), join(workspace.folder, "shorter.qmb")];
  const bytes = Buffer.alloc(2 * PIECE_BYTES, "x");
  const file = join(folder, memberOf("artifacts", sha256Hex(bytes)).slice("artifacts/".length));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  const database = join(workspace.folder, "shorter.db");
  const { database: told, artifacts: _, format: __, ...facts } = unpackBackup({ path: whole.path, database });
  const packing = { target: path, partial: `${path}.partial`, facts: { ...facts, rows: told.rows } };
  const shorten = (done: number) => {
    if (done > told.size_bytes) truncateSync(file, PIECE_BYTES);
  };
  expect(() => packBackup({ database, artifacts: folder, ...packing }, shorten)).toThrow("became shorter");
});

test("a backup needs space for the captured sessions that this machine has, and counts those in an object store", async () => {
  const directory = placesIn(workspace.data);
  const add = "INSERT INTO session_totals (store, state, artifacts, bytes) VALUES";
  using connection = openConnection(directory.database, {});
  const without = spaceFor(directory, { withSessions: true }).needed;
  connection.run(`${add} ('local', 'current', 2, 1000), ('s3', 'current', 3, 50000)`);
  const needed = [true, false].map((withSessions) => spaceFor(directory, { withSessions }).needed);
  expect(needed).toEqual([without + 1000, without]);
  const target = join(workspace.folder, "counted.qmb");
  const request = {
    kind: "manual",
    directory,
    folder: workspace.folder,
    target,
    withSessions: true,
  } as const;
  const made = { clock: workspace.clock, keyIdsIn: () => [], perform: performTask };
  const { manifest } = await makeBackup({ ...request, ...made });
  expect(manifest).toMatchObject({ sessions_elsewhere: 3, sessions: { count: 0 } });
  connection.run("DELETE FROM session_totals");
});

describe("a backup with inconsistent headers is refused with the place:", () => {
  const changed = (at: (size: number) => number, header: Uint8Array): string => {
    const bytes = readFileSync(whole.path);
    bytes.set(header, at(bytes.length));
    const path = join(workspace.folder, "changed.qmb");
    writeFileSync(path, bytes);
    return path;
  };
  const databaseAt = () => 512 + MANIFEST_BYTES;

  test("a last member of another size", () => {
    const path = changed((size) => size - 4 * 512, tarHeader({ name: SEAL_NAME, sizeBytes: 81 }));
    expect(() => readManifest(path)).toThrow("its manifest was changed");
  });

  test("refuses a backup without the database at its place", () => {
    const path = changed(databaseAt, new Uint8Array(512));
    const database = join(workspace.folder, "none.db");
    expect(() => unpackBackup({ path, database })).toThrow(`there is no member at byte ${databaseAt()}`);
  });
});

test("a manifest ends with a line break, for people who extract it with tar", () => {
  const end = 512 + MANIFEST_BYTES;
  expect(readFileSync(whole.path).toString("latin1", end - 2, end)).toBe(" \n");
});

test("a backup needs space for a copy without free pages, for the packed copy, and for the artifacts", () => {
  const directory = placesIn(workspace.data);
  using connection = openConnection(directory.database, {});
  connection.run("CREATE TABLE filler (bytes BLOB)");
  connection.run("INSERT INTO filler VALUES (randomblob(1000000))");
  connection.run("DROP TABLE filler");
  const target = join(workspace.folder, "copy-to-measure.db");
  copyDatabase(connection, target);
  const { size, mode } = statSync(target);
  expect(mode & 0o777).toBe(0o600);
  const { copy, needed } = spaceFor(directory, { withSessions: false });
  expect(copy).toBeWithin(size, size + 100_000); // the dropped table would be more
  expect(needed).toBe(2 * copy + folderSizeOf(directory.artifacts));
});

test.each([
  ["without tables", "PRAGMA user_version = 1"],
  ["with a table of the name of our history", "CREATE TABLE schema_migrations (other TEXT)"],
  ["with an empty history", "CREATE TABLE schema_migrations (id INTEGER)"],
])("a database of another program, %s, is not recognized", (_what, sql) => {
  const file = join(workspace.folder, `${sha256Hex(sql)}.db`);
  using connection = new Database(file);
  connection.run(sql);
  const nothing = { problems: [], schema: 0, organizationId: undefined, differences: [] };
  expect(inspectDatabase(file)).toMatchObject(nothing);
});
