// The file of a backup: it is complete, no change in it goes unnoticed, and an interrupted backup leaves nothing behind. The
// commands are tested in cli/commands/backup, restoring in restore.test.ts.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Registry } from "prom-client";
import { type Backup, type BackupRequest, makeBackup } from "../../../src/app/backup/backup.ts";
import {
  addBackupMetrics,
  BACKUP_JOB,
  registerBackupJob,
  removeOldBackups,
} from "../../../src/app/backup/jobs.ts";
import { performTask } from "../../../src/app/backup/perform-task.ts";
import { verifyBackup } from "../../../src/app/backup/verify.ts";
import {
  FUTURE_TOLERANCE_MS,
  fileNameOf,
  LEFT_OUT_MAX,
  MANIFEST_BYTES,
  type Manifest,
} from "../../../src/domain/backup/model.ts";
import { type Progress, packBackup } from "../../../src/domain/backup/pack.ts";
import { REMEMBERED_MAX } from "../../../src/domain/backup/service.ts";
import { memberIn, readManifest, unpackBackup } from "../../../src/domain/backup/unpack.ts";
import { DAY_MS, HOUR_MS, toRfc3339 } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { inspectDatabase } from "../../../src/platform/database/maintenance/copy.ts";
import { programSchema } from "../../../src/platform/database/schema/schema.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { OCTAL_SIZE_BYTES_MAX, tarHeader } from "../../../src/platform/files/tar.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../src/platform/scheduler/scheduler.ts";
import { isRoot } from "../../support/cli/child.ts";
import { productCommand, SHORT_LIVED } from "../../support/cli/executable.ts";
import { changeManifest } from "../../support/content/backup-files.ts";
import { createInstallation, type Workspace } from "../../support/in-process.ts";
import { inInstallation } from "../../support/installed/installed-login.ts";

let workspace: Workspace;
let folder: string;
let backup: Backup;

/** Artifacts whose sizes are just below, at and above a tar block. */
const ARTIFACTS = [0, 1, 512, 513, 3_000_000].map((size, index) => Buffer.alloc(size, `artifact ${index}`));

beforeAll(async () => {
  workspace = await createInstallation();
  folder = join(workspace.folder, "backups");
  mkdirSync(folder);
  for (const bytes of ARTIFACTS) putArtifact(bytes);
  backup = await make(IN_THREAD);
});
afterAll(() => workspace[Symbol.dispose]());

test.each([
  [
    "in the folder of another digest",
    (digest: string) => `artifacts/sha256/${digest.startsWith("00") ? "ff" : "00"}/${digest}`,
  ],
  [
    "with a digest in capitals",
    (digest: string) => `artifacts/sha256/${digest.slice(0, 2)}/${digest.toUpperCase()}`,
  ],
  ["without a folder", (digest: string) => `artifacts/sha256/${digest}`],
  ["above the folder of artifacts", (digest: string) => `artifacts/sha256/../${digest}`],
])("DAT-4 a backup with an artifact %s is refused", (what, nameOf) => {
  const path = join(workspace.folder, `${sha256Hex(what)}.qmb`);
  const bytes = readFileSync(backup.path);
  const digest = sha256Hex(ARTIFACTS[1] ?? "");
  const name = `artifacts/sha256/${digest.slice(0, 2)}/${digest}`;
  const at = bytes.indexOf(name);
  expect(bytes.indexOf(name, at + 1)).toBe(-1);
  bytes.set(tarHeader({ name: nameOf(digest), sizeBytes: 1 }), at);
  writeFileSync(path, bytes);
  expect(() => readManifest(path)).not.toThrow();
  expect(() => unpackBackup({ path, database: `${path}.db` })).toThrow("is no artifact");
});

test.each([
  ["digest", { sha256: "0".repeat(64) }],
  ["size", { size_bytes: 1 }],
])("DAT-4 a backup whose manifest has another %s of the artifacts is refused", (what, told) => {
  const path = join(workspace.folder, `told-${what}.qmb`);
  copyFileSync(backup.path, path);
  changeManifest(path, (text) => {
    const manifest = JSON.parse(text);
    return JSON.stringify({ ...manifest, artifacts: { ...manifest.artifacts, ...told } });
  });
  expect(() => unpackBackup({ path, database: `${path}.db` })).toThrow(
    "its artifacts are not those of its manifest",
  );
});

function putArtifact(bytes: Uint8Array): string {
  const digest = sha256Hex(bytes);
  const shard = join(workspace.data, "artifacts/sha256", digest.slice(0, 2));
  mkdirSync(shard, { recursive: true });
  writeFileSync(join(shard, digest), bytes);
  return join(shard, digest);
}

/** The product runs each task in a thread, which takes longer to start than most tests. Only tests that need a thread have one. */
const IN_THREAD = { perform: undefined } as const;

const make = (changes: Partial<BackupRequest> = {}): Promise<Backup> =>
  makeBackup({
    perform: performTask,
    kind: "manual",
    directory: placesIn(workspace.data),
    folder,
    clock: workspace.clock,
    withSessions: false,
    keyIdsIn: () => ["0123456789ab"],
    ...changes,
  });

/** @returns the reason of the refusal */
function refusalOf(path: string): string {
  const database = join(workspace.folder, "unpacked.db");
  try {
    unpackBackup({ path, database });
    return "accepted";
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  } finally {
    rmSync(database, { force: true });
  }
}

type Rows = Backup["manifest"]["database"]["rows"];

/** @returns a backup with valid digests and changed facts about its database */
function packedWith(
  changes: { rows?: Rows; schema?: number; created_at?: string },
  { progress, sessions }: { progress?: Progress; sessions?: string } = {},
): string {
  const [database, target] = [join(workspace.folder, "packed.db"), join(workspace.folder, "packed.qmb")];
  unpackBackup({ path: backup.path, database });
  const { created_at, version, schema, sealing_key_ids, database: told } = backup.manifest;
  const facts = { created_at, version, schema, sealing_key_ids, rows: told.rows, ...changes };
  rmSync(target, { force: true });
  try {
    packBackup(
      {
        database,
        artifacts: placesIn(workspace.data).artifacts,
        target,
        partial: `${target}.part`,
        facts,
        ...(sessions !== undefined && { sessions }),
      },
      progress,
    );
  } finally {
    for (const left of [database, `${target}.part`]) rmSync(left, { force: true });
  }
  return target;
}

describe("a backup", () => {
  test("DAT-1 has a manifest with version, schema, rows, and the SHA-256 of database and artifacts", () => {
    const { fileBytes, ...manifest } = readManifest(backup.path);
    expect(manifest).toEqual(backup.manifest);
    expect(fileBytes).toBe(statSync(backup.path).size);
    expect(manifest).toMatchObject({ version: "development", schema: programSchema() });
    expect(manifest.created_at).toBe("2026-01-01T00:00:00.000Z");
    expect(manifest.database.rows).toMatchObject({ users: 1, organizations: 1, backups: 0 });
    expect(manifest.artifacts).toMatchObject({ count: ARTIFACTS.length, left_out: [] });
    expect(manifest.sealing_key_ids).toEqual(["0123456789ab"]);
  });

  test("DAT-1 has the row count of every table as SQLite itself counts", () => {
    const database = join(workspace.folder, "counted.db");
    unpackBackup({ path: backup.path, database });
    using connection = new Database(database, { readonly: true });
    const names = connection
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
      )
      .all()
      .map(({ name }) => name);
    const counts = names.map((name) => [
      name,
      connection.query(`SELECT count(*) FROM "${name}"`).values()[0]?.[0],
    ]);
    expect(backup.manifest.database.rows).toEqual(Object.fromEntries(counts));
    expect(names.length).toBeGreaterThan(20);
    rmSync(database);
  });

  test.each([
    ["one row more", (rows: Rows) => ({ ...rows, users: (rows.users ?? 0) + 1 })],
    ["one row less", (rows: Rows) => ({ ...rows, users: (rows.users ?? 0) - 1 })],
    ["a table more", (rows: Rows) => ({ ...rows, others: 0 })],
    ["a table less", ({ users: _, ...rows }: Rows) => rows],
    ["no tables", () => ({})],
    [
      "the counts of two tables exchanged",
      (rows: Rows) => ({ ...rows, users: rows.backups ?? 0, backups: rows.users ?? 0 }),
    ],
  ])("DAT-2 is refused if its manifest says %s", (_what, change) => {
    const path = packedWith({ rows: change(backup.manifest.database.rows) });
    expect(refusalOf(path)).toBe("backup.damaged");
  });

  test.each([-1, 1])("DAT-2 is refused if its manifest has a different schema (%d)", (step) => {
    expect(refusalOf(packedWith({ schema: backup.manifest.schema + step }))).toBe("backup.damaged");
  });

  test("packed by hand with correct facts is accepted", () => {
    expect(refusalOf(packedWith({}))).toBe("accepted");
  });

  test("refuses a backup with a foreign member among the artifacts", () => {
    const path = packedWith({});
    const bytes = readFileSync(path);
    const at = bytes.indexOf("artifacts/sha256/");
    const { sizeBytes = 0 } = memberIn(bytes.subarray(at, at + 512)) ?? {};
    bytes.set(tarHeader({ name: "notes.txt", sizeBytes }), at);
    writeFileSync(path, bytes);
    expect(refusalOf(path)).toBe("backup.damaged");
  });

  test("reports its progress to the end", () => {
    const seen: [number, number][] = [];
    packedWith({}, { progress: (done, total) => seen.push([done, total]) });
    const [last] = seen.slice(-1);
    const total = backup.manifest.database.size_bytes + backup.manifest.artifacts.size_bytes;
    expect(last).toEqual([total, total]);
    expect(seen.map(([done]) => done)).toEqual(seen.map(([done]) => done).toSorted((a, b) => a - b));
  });

  test("includes the bytes of sessions in the progress of a backup", () => {
    const seen: [number, number][] = [];
    const { sessions } = placesIn(workspace.data);
    const bytes = Buffer.from("a captured session");
    const file = join(sessions, "sha256", sha256Hex(bytes).slice(0, 2), sha256Hex(bytes));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    packedWith({}, { sessions, progress: (done, total) => seen.push([done, total]) });
    const total = backup.manifest.database.size_bytes + backup.manifest.artifacts.size_bytes + bytes.length;
    expect(seen.at(-1)).toEqual([total, total]);
    rmSync(file);
  });

  test("leaves out a captured session that disappears before it is packed, and fails for an unreadable one", () => {
    const { sessions } = placesIn(workspace.data);
    const stored = ["one", "two"].map((text) => {
      const digest = sha256Hex(Buffer.from(text));
      const file = join(sessions, "sha256", digest.slice(0, 2), digest);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    });
    const [first = "", second = ""] = stored.toSorted();
    const bytesBefore = backup.manifest.database.size_bytes + backup.manifest.artifacts.size_bytes;
    const removeSecond = (done: number) => {
      if (done > bytesBefore) rmSync(second, { force: true, recursive: true });
    };
    const { sessions: kept } = readManifest(packedWith({}, { sessions, progress: removeSecond }));
    expect(kept).toMatchObject({ count: 1, left_out: [] });
    mkdirSync(second);
    expect(() => packedWith({}, { sessions })).toThrow("is not a regular file");
    for (const file of [first, second]) rmSync(file, { recursive: true });
  });

  test("is a tar archive that tar unpacks to identical bytes", () => {
    const target = join(workspace.folder, "by-hand");
    mkdirSync(target);
    const { status } = spawnSync("tar", ["-xf", backup.path, "-C", target]);
    expect(status).toBe(0);
    expect(sha256Hex(readFileSync(join(target, "quartermaster.db")))).toBe(backup.manifest.database.sha256);
    for (const bytes of ARTIFACTS) {
      const digest = sha256Hex(bytes);
      const path = join(target, "artifacts/sha256", digest.slice(0, 2), digest);
      expect(sha256Hex(readFileSync(path))).toBe(digest);
    }
    const sealed = spawnSync("sha256sum", ["-c", "manifest.sha256"], { cwd: target, encoding: "utf8" });
    expect(sealed.stdout).toBe("manifest.json: OK\n");
  });

  test("has members with the time of its creation", () => {
    const path = packedWith({ created_at: "2026-01-01T00:00:07.999Z" });
    const { stdout } = spawnSync("tar", ["--utc", "--full-time", "-tvf", path], { encoding: "utf8" });
    const times = stdout
      .trim()
      .split("\n")
      .map((line) => /\d\d:\d\d:\d\d/.exec(line)?.[0]);
    expect(new Set(times)).toEqual(new Set(["00:00:07"]));
  });

  test("DAT-1 is readable only by its owner and leaves no other file", () => {
    expect(statSync(backup.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("DAT-3 contains no sealing key", () => {
    const bytes = readFileSync(backup.path);
    for (const name of readdirSync(join(workspace.data, "keys"))) {
      const key = readFileSync(join(workspace.data, "keys", name), "utf8").trim();
      expect(bytes.includes(key)).toBe(false);
      expect(bytes.includes(Buffer.from(key, "base64"))).toBe(false);
    }
  });

  test("DAT-1 shows one point in time during writes and does not block them", async () => {
    await inInstallation(workspace, async ({ domain, organizationId }) => {
      const actor = { kind: "system", id: null, label: "service", organizationId } as const;
      let isMade = false;
      const target = join(folder, "busy.qmb");
      const making = make({ target, ...IN_THREAD }).finally(() => {
        isMade = true;
      });
      let written = 0;
      while (!isMade) {
        await domain.backups.recordRemoved(actor, [`${written}`]);
        written += 1;
      }
      const { rows } = (await making).manifest.database;
      expect(written).toBeGreaterThan(10);
      expect(rows.audit_entries).toBeLessThan((backup.manifest.database.rows.audit_entries ?? 0) + written);
      expect(refusalOf(target)).toBe("accepted");
    });
  });

  test("records the size of a database of more than 8 GiB so that it can be read", () => {
    for (const sizeBytes of [OCTAL_SIZE_BYTES_MAX, OCTAL_SIZE_BYTES_MAX + 1, 2 ** 43]) {
      const header = Buffer.from(tarHeader({ name: "quartermaster.db", sizeBytes }));
      expect(memberIn(header)).toEqual({ name: "quartermaster.db", sizeBytes });
    }
  });

  test("omits and reports a damaged artifact so that backups continue", async () => {
    const texts = Array.from({ length: 50 }, (_, at) => `soon to be damaged: ${at}`);
    const [last = ""] = texts.toSorted((one, other) => (sha256Hex(one) > sha256Hex(other) ? -1 : 1));
    const path = putArtifact(Buffer.from(last));
    writeFileSync(path, Buffer.alloc(20_000)); // longer than what follows the artifacts
    const made = await make({ target: join(folder, "left-out.qmb") });
    rmSync(path);
    expect(made.manifest.artifacts).toMatchObject({
      count: ARTIFACTS.length,
      left_out: [path.split("/").at(-1) ?? ""],
    });
    expect(refusalOf(made.path)).toBe("accepted");
    expect(statSync(made.path).size).toBe(made.sizeBytes);
    expect(2 * LEFT_OUT_MAX * 66).toBeLessThan(MANIFEST_BYTES / 2);
  });
});

describe("an invalid backup", () => {
  const copy = () => {
    const path = join(workspace.folder, "changed.qmb");
    copyFileSync(backup.path, path);
    return path;
  };

  function flipped(at: number): string {
    const path = copy();
    const bytes = readFileSync(path);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    return refusalOf(path);
  }

  test("DAT-4 is refused after a change of any bit", () => {
    const size = statSync(backup.path).size;
    const database = 512 + MANIFEST_BYTES;
    const edges = [
      0,
      100,
      512,
      600,
      database - 1,
      database,
      database + 512,
      size - 1,
      size - 512,
      size - 1100,
    ];
    const spread = Array.from({ length: 40 }, (_, step) => Math.floor((step / 40) * size));
    const accepted = [...edges, ...spread].filter((at) => !/^backup\./.test(flipped(at)));
    expect(accepted).toEqual([]);
  });

  test("DAT-4 is refused after truncation at any length or with bytes appended", () => {
    const size = statSync(backup.path).size;
    for (const length of [
      0,
      511,
      512,
      513,
      512 + MANIFEST_BYTES,
      200_000,
      size - 1,
      size - 512,
      size - 1024,
    ]) {
      const path = copy();
      truncateSync(path, length);
      expect([length, refusalOf(path)]).toEqual([length, expect.stringMatching(/^backup\./)]);
    }
    const path = copy();
    truncateSync(path, size + 512);
    expect(refusalOf(path)).toBe("backup.damaged");
  });

  test("is refused if it was never a backup or does not exist", () => {
    const path = join(workspace.folder, "letter.qmb");
    writeFileSync(path, "Dear operator, ".repeat(10_000));
    expect(refusalOf(path)).toBe("backup.unreadable");
    expect(refusalOf(workspace.folder)).toBe("file.not_regular");
    expect(refusalOf(join(workspace.folder, "none.qmb"))).toBe("file.missing");
  });

  test("DAT-4 may be a damaged copy of the database alone, and an intact copy is accepted", async () => {
    const path = join(workspace.folder, "alone.db");
    unpackBackup({ path: backup.path, database: path });
    const { manifest, schema, rows } = await verifyBackup(path, { clock: workspace.clock });
    expect({ manifest, schema, rows }).toEqual({
      manifest: undefined,
      schema: programSchema(),
      rows: backup.manifest.database.rows,
    });
    const connection = new Database(path);
    connection.run("PRAGMA foreign_keys = OFF");
    connection.run("DELETE FROM organizations");
    connection.close();
    await expect(verifyBackup(path, { clock: workspace.clock, perform: performTask })).rejects.toThrow(
      "fails the integrity check",
    );
    rmSync(path);
  });

  test("DAT-4 leaves no files after verification, even if it fails", async () => {
    const path = copy();
    expect(await verifyBackup(path, { clock: workspace.clock, perform: performTask })).toMatchObject({
      schema: programSchema(),
    });
    truncateSync(path, 200_000);
    await expect(verifyBackup(path, { clock: workspace.clock, perform: performTask })).rejects.toThrow(
      "truncated",
    );
    expect(readdirSync(workspace.folder).filter((name) => name.startsWith(".verifying"))).toEqual([]);
  });
});

describe("making a backup", () => {
  test("leaves no files when a backup is stopped", async () => {
    const stopped = new AbortController();
    const target = join(folder, "stopped.qmb");
    const making = make({ target, signal: stopped.signal, ...IN_THREAD });
    stopped.abort(new Error("stop"));
    await expect(making).rejects.toThrow("stop");
    await making.catch(() => {});
    expect(readdirSync(folder).filter((name) => name.startsWith("stopped"))).toEqual([]);
  });

  test("removes the files of a killed process and keeps those of a running one", async () => {
    const leftover = join(folder, "backup-old.qmb.999999999.partial");
    const other = join(folder, "backup-now.qmb.1.copy.partial");
    for (const path of [leftover, other]) writeFileSync(path, "half");
    await make({ target: join(folder, "clear.qmb") });
    expect([existsSync(leftover), existsSync(other)]).toEqual([false, true]);
    rmSync(other);
  });

  test("reports no progress after its end", async () => {
    let reports = 0;
    await make({
      ...IN_THREAD,
      target: join(folder, "reported.qmb"),
      onProgress: () => {
        reports += 1;
      },
    });
    const before = reports;
    await Bun.sleep(150);
    expect([before > 0, reports]).toEqual([true, before]);
  });

  test("creates only the folder in the data directory, because another disk may be unmounted", async () => {
    const missing = join(workspace.folder, "unmounted");
    for (const target of [join(missing, "x.qmb"), undefined])
      await expect(make({ target, folder: missing })).rejects.toMatchObject({
        reason: "file.missing",
        message: `there is no folder ${missing}`,
      });
    expect(existsSync(missing)).toBe(false);
    const { backups } = placesIn(workspace.data);
    rmSync(backups, { recursive: true, force: true });
    expect((await make({ folder: backups })).path).toStartWith(backups);
    expect(statSync(backups).mode & 0o777).toBe(0o700);
  });

  test("refuses a dangling link and the key file of an earlier backup as its target", async () => {
    const link = join(folder, "link.qmb");
    symlinkSync("/none", link);
    await expect(make({ target: link })).rejects.toMatchObject({ reason: "backup.exists" });
    const { path } = await make();
    rmSync(path);
    writeFileSync(path.replace(/qmb$/, "qmk"), "keys that are still needed");
    expect((await make()).path).not.toBe(path);
  });

  test("refuses an existing file and a path inside a file as its target", async () => {
    await expect(make({ target: backup.path })).rejects.toThrow("already");
    for (const below of ["x.qmb", "folder/x.qmb"])
      await expect(make({ target: join(backup.path, below) })).rejects.toThrow(/is not a folder|no folder/);
  });

  test("refuses to back up a damaged database and reports SQLite's finding", async () => {
    const directory = placesIn(join(workspace.folder, "damaged"));
    mkdirSync(directory.path);
    copyFileSync(join(workspace.data, "quartermaster.db"), directory.database);
    const bytes = readFileSync(directory.database);
    bytes.fill(0xff, 8192, 40_960);
    writeFileSync(directory.database, bytes);
    const making = make({ directory, target: join(folder, "damaged.qmb") });
    await expect(making).rejects.toThrow(/damaged|malformed/);
    await making.catch(() => {});
    expect(existsSync(join(folder, "damaged.qmb"))).toBe(false);
  });
});

test("an index that disagrees with its table is reported as damage, even if every page is readable", () => {
  const file = join(workspace.folder, "index.db");
  {
    using connection = new Database(file);
    connection.run("CREATE TABLE a (b)");
    connection.run("CREATE INDEX c ON a (b)");
    connection.run("INSERT INTO a VALUES ('indexed')");
  }
  const bytes = readFileSync(file);
  bytes.write("damaged", bytes.lastIndexOf("indexed"));
  writeFileSync(file, bytes);
  expect(inspectDatabase(file)).toEqual({
    sizeBytes: statSync(file).size,
    problems: ["row 1 missing from index c"],
    schema: 0,
    rows: {},
    organizationId: undefined,
    differences: [],
  });
});

test("DAT-1 a backup of a database with a dangling reference is refused with both ends of the reference", async () => {
  const directory = placesIn(join(workspace.folder, "dangling"));
  mkdirSync(directory.path);
  copyFileSync(join(workspace.data, "quartermaster.db"), directory.database);
  using connection = new Database(directory.database);
  connection.run("PRAGMA foreign_keys=OFF");
  connection.run("DELETE FROM organizations");
  const making = make({ directory, target: join(folder, "dangling.qmb") });
  await expect(making).rejects.toThrow(/a reference to a missing row, from \w+ to organizations/);
});

/** Runs a shell script with a small disk on /mnt, in its own mount namespace. */
const onSmallDisk = (script: string, ...args: string[]) =>
  spawnSync(
    "unshare",
    [
      ...(isRoot ? [] : ["--map-root-user"]),
      ...["--mount", "sh", "-c", `mount -t tmpfs -o size=600k none /mnt && ${script}`, "sh"],
      ...args,
    ],
    { encoding: "utf8", env: { ...process.env, ...SHORT_LIVED } },
  );
const canMount = onSmallDisk("true").status === 0;

test.if(canMount)("DAT-2 a disk without space for a backup is reported before any write", () => {
  const line = [...productCommand(), "backup", "create", "/mnt/a.qmb", "--data-dir", workspace.data];
  const { stdout, stderr } = onSmallDisk('"$@"; echo "exit $?"; ls -A /mnt', ...line);
  expect(stdout).toBe("exit 1\n");
  expect(stderr).toMatch(/^error: \/mnt has 0\.\d MB left, and \d+\.\d MB are needed$/m);
});

describe("scheduled backups", () => {
  const OURS = "ours";
  const place = (name: string): string => {
    const path = join(workspace.folder, name);
    mkdirSync(path);
    return path;
  };

  /** A small backup of one organization, made at the time in its manifest. */
  function add(inFolder: string, made: { atMs: number; owner?: string; name?: string }): string {
    const { atMs, owner = OURS, name = fileNameOf("scheduled", { atMs, again: 0 }) } = made;
    const target = join(inFolder, name);
    copyFileSync(backup.path, target);
    changeManifest(target, (text) =>
      JSON.stringify({ ...JSON.parse(text), created_at: toRfc3339(atMs), organization_id: owner }),
    );
    return target;
  }

  const isOurs = ({ organization_id }: Manifest): boolean => organization_id === OURS;
  const days = (count: number) => count * DAY_MS;
  const remove = (inFolder: string, { keep, nowMs }: { keep: number; nowMs: number }) =>
    removeOldBackups(inFolder, { keep, nowMs, made: "", isOurs });

  test.each([
    [2, 2],
    [3, 3],
    [4, 3],
  ])("backup.keep 3 keeps of %d scheduled backups the newest %d", (made, kept) => {
    const folder = place(`kept-${made}`);
    const paths = Array.from({ length: made }, (_, day) => add(folder, { atMs: days(day) }));
    const manual = add(folder, { atMs: 0, name: "backup-19700101T000000Z.qmb" });
    expect(remove(folder, { keep: 3, nowMs: days(made) })).toEqual(paths.slice(0, made - kept));
    expect(readdirSync(folder)).toHaveLength(kept + 1);
    expect(existsSync(manual)).toBe(true);
  });

  test("sorts backups by the time in their manifest, not by their name", () => {
    const folder = place("renamed");
    const old = add(folder, { atMs: 0, name: fileNameOf("scheduled", { atMs: days(9), again: 0 }) });
    add(folder, { atMs: days(1), name: fileNameOf("scheduled", { atMs: 0, again: 0 }) });
    expect(remove(folder, { keep: 1, nowMs: days(10) })).toEqual([old]);
  });

  test("keeps current backups beside backups from the future, which count once their time is reached", () => {
    const folder = place("future");
    const real = [1, 2].map((day) => add(folder, { atMs: days(day) }));
    const future = [300, 301, 302].map((day) => add(folder, { atMs: days(day) }));
    expect(remove(folder, { keep: 2, nowMs: days(3) })).toEqual([]);
    expect(remove(folder, { keep: 2, nowMs: days(300) - FUTURE_TOLERANCE_MS - 1 })).toEqual([]);
    expect(remove(folder, { keep: 2, nowMs: days(300) - FUTURE_TOLERANCE_MS })).toEqual(real.slice(0, 1));
    expect(remove(folder, { keep: 2, nowMs: days(400) })).toEqual([future[0] ?? "", ...real.slice(1)]);
  });

  test("ignores foreign files, unreadable files and pipes", () => {
    const folder = place("shared");
    const ours = add(folder, { atMs: days(1) });
    add(folder, { atMs: days(2), owner: "another" });
    writeFileSync(join(folder, fileNameOf("scheduled", { atMs: days(3), again: 0 })), "");
    truncateSync(add(folder, { atMs: days(4) }), 300_000);
    mkdirSync(join(folder, fileNameOf("scheduled", { atMs: days(5), again: 0 })));
    spawnSync("mkfifo", [join(folder, fileNameOf("scheduled", { atMs: days(6), again: 0 }))]);
    expect(remove(folder, { keep: 1, nowMs: days(7) })).toEqual([]);
    add(folder, { atMs: days(7) });
    expect(remove(folder, { keep: 1, nowMs: days(7) })).toEqual([ours]);
    expect(readdirSync(folder)).toHaveLength(6);
  });

  test("DAT-2 a job creates scheduled backups, limits their number, audits them, and exposes them in the metrics", async () => {
    await inInstallation(workspace, async (installation) => {
      const { db, domain, organizationId } = installation;
      const { clock, ids } = workspace;
      const log = createLog({ level: "error", format: "json", write: () => {}, clock });
      const metrics = new Registry();
      const actor = { kind: "system", id: null, label: "service", organizationId } as const;
      const flags = {
        dataDir: workspace.data,
        backupDirectory: join(workspace.folder, "daily"),
        backupKeep: "2",
      };
      mkdirSync(flags.backupDirectory);
      const config = loadConfig({ flags, env: {}, cwd: workspace.folder });
      const scheduler = createScheduler({ db, clock, ids, log, metrics });
      registerBackupJob(scheduler, installation, { actor, clock, config, log });
      addBackupMetrics(metrics, domain);
      await scheduler.runDue();
      expect(await metrics.metrics()).toContain("backup_last_success_timestamp_seconds 0\n");
      for (let day = 0; day < 3; day++) {
        clock.advance(DAY_MS + HOUR_MS);
        await scheduler.runDue();
      }
      const atMs = clock.nowMs();
      expect(await metrics.metrics()).toContain(`backup_last_success_timestamp_seconds ${atMs / 1000}\n`);
      expect(readdirSync(flags.backupDirectory)).toHaveLength(2);
      expect(domain.backups.last()).toMatchObject({ kind: "scheduled", createdAtMs: atMs });
      expect(domain.jobs.list().find(({ name }) => name === BACKUP_JOB)?.outcome).toBe("succeeded");
      const actions = domain.auditLog.list(organizationId, {}).items.map(({ action }) => action);
      expect(actions.slice(0, 4)).toEqual([
        "backup.remove",
        "backup.create",
        "backup.create",
        "backup.create",
      ]);
    });
  });

  test("attributes backups without an owner in the manifest to the installation that logged them", async () => {
    await inInstallation(workspace, async ({ domain, organizationId }) => {
      const { organization_id, ...older } = backup.manifest;
      expect(organization_id).toBe(organizationId);
      expect(domain.backups.isOurs(organizationId, backup.manifest)).toBe(true);
      expect(domain.backups.isOurs("another", backup.manifest)).toBe(false);
      expect(domain.backups.isOurs(organizationId, older)).toBe(false);
      const actor = { kind: "system", id: null, label: "service", organizationId } as const;
      await domain.backups.recordMade(actor, backup);
      expect(domain.backups.isOurs(organizationId, older)).toBe(true);
    });
  });

  test(`remembers the newest ${REMEMBERED_MAX} backups`, async () => {
    await inInstallation(workspace, async ({ domain, organizationId }) => {
      const actor = { kind: "system", id: null, label: "service", organizationId } as const;
      const { manifest: _, ...made } = backup;
      const before = 200;
      for (let index = 0; index < before; index++)
        await domain.backups.recordMade(actor, {
          ...made,
          createdAtMs: made.createdAtMs + DAY_MS * 100 + index,
        });
    });
    using connection = openConnection(join(workspace.data, "quartermaster.db"), { readonly: true });
    expect(connection.query("SELECT count(*) FROM backups").values()).toEqual([[REMEMBERED_MAX]]);
  });
});
