// `status` and `doctor` (requirements OBS-5, DAT-9, SVC-11, AIR-6): their exact output with and without a running service. Also tests
// that doctor finds each fault, prints its remedy, and changes nothing.

import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { checkReplication, REPLICATION_LAG_MS } from "../../../../src/app/doctor/database.ts";
import { checkOf } from "../../../../src/app/doctor/finding.ts";
import {
  CERTIFICATE_DAYS_MIN,
  checkCertificate,
  checkDiskSpace,
  FREE_SHARE_MIN,
  FREE_SPACE_BYTES_MIN,
} from "../../../../src/app/doctor/machine.ts";
import { startService } from "../../../../src/app/service/service.ts";
import { JOB_OVERDUE_MS } from "../../../../src/domain/system/jobs.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/platform/clock.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { lockForServer, placesIn } from "../../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../../src/platform/database/connection.ts";
import { programSchema } from "../../../../src/platform/database/schema/schema.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { NAMES_SHOWN_MAX } from "../../../../src/platform/text/name-list.ts";
import { readCertificate } from "../../../../src/server/listener/tls.ts";
import { isRoot, NOBODY } from "../../../support/cli/child.ts";
import type { CliResult } from "../../../support/cli/cli.ts";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { createInstallation, createWorkspace, runHere, type Workspace } from "../../../support/in-process.ts";
import { publishOn, reportOn } from "../../../support/installed/installed-clients.ts";
import { createInstalledGateway } from "../../../support/installed/installed-gateway.ts";
import { runJobsOn } from "../../../support/installed/installed-jobs.ts";
import { makeOlder } from "../../../support/installed/older-installation.ts";

const EXAMPLE = join(import.meta.dir, "../../../../src/domain/catalog/example");

/** Replaces parts that differ between machines. */
const replacements = ({ folder }: Workspace) =>
  new Map<string | RegExp, string>([
    [folder, "<folder>"],
    [/[\d.]+ (?:[KMGT]i)?B of [\d.]+ [KMGT]iB free \(\d+ %\)/g, "<room>"],
    [/[\d.]+ [KMGT]iB free, \d+ % of the file system/g, "<room>"],
    // The free space of the disk does not matter to this test.
    [/^warning {2}disk( +.*)\n +-> free some space.*$/gm, "ok       disk$1"],
    [/("check": "disk",\s+"result": ")warning(",\s+"detail": .*\s+"remedy": ).*/g, "$1ok$2null"],
    [/\d+\.\d [KM]iB, write-ahead log [\d.]+ (?:[KM]i)?B/g, "<size>"],
    [/("(?:\w+_)?bytes": )\d+/g, "$1<bytes>"],
    [/schema \d+|\d+(?=, the schema of this program)/g, "<schema>"],
    [/"(database|program)": \d+/g, '"$1": <schema>'],
    [/process \d+/g, "process <id>"],
    [/user id \d+/g, "user id <id>"],
    [/127\.0\.0\.1:\d+/g, "<peer>"],
    [/\d+ files and folders/g, "<n> files and folders"],
  ]);

async function transcript(workspace: Workspace, lines: readonly string[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const line of lines) steps.push({ line, ...(await workspace.run(line)) });
  return steps;
}

/** @returns the findings of one check, from `doctor --json` */
async function found(workspace: Workspace, check: string, options = ""): Promise<unknown[]> {
  return findingsOf(await workspace.run(`doctor --json${options}`), check);
}

function findingsOf({ stdout }: CliResult, check: string): unknown[] {
  const { checks }: { checks: { check: string }[] } = JSON.parse(stdout);
  return checks.filter((finding) => finding.check === check);
}

const failed = (detail: string | RegExp, remedy = ".") => [
  expect.objectContaining({
    result: "failed",
    detail: expect.stringMatching(detail),
    remedy: expect.stringMatching(remedy),
  }),
];

test("OBS-5 status and doctor print the same for identical installations", async () => {
  using empty = createWorkspace();
  const none = await transcript(empty, ["status", "doctor --json"]);
  expectGolden("health-none", none, replacements(empty));
  using workspace = await createInstallation();
  const fresh = await transcript(workspace, [
    "status",
    "status --offline-ok",
    "status --offline-ok --json",
    "doctor",
    "doctor --offline-ok",
    "doctor --offline-ok --deep --json",
  ]);
  const config_revision = await publishOn(workspace);
  await reportOn(workspace, [
    { instance_id: "i-1", hostname: "lab-1", config_revision },
    { instance_id: "i-2", hostname: "lab-2", config_revision: null },
  ]);
  await runJobsOn(workspace, ["access-sweep", "gateway-reconcile"]);
  await workspace.json("jobs pause access-sweep");
  workspace.clock.advance(3 * HOUR_MS);
  const used = await transcript(workspace, ["status", "status --json", "doctor"]);
  expectGolden("health", [...fresh, ...used], replacements(workspace));
});

test("status and doctor exit with 6 without a service, with 0 under --offline-ok, and doctor with 7 after a failed check", async () => {
  using workspace = await createInstallation();
  const codes = async () => {
    const lines = ["status", "status --offline-ok", "doctor", "doctor --offline-ok"];
    return Promise.all(lines.map(async (line) => (await workspace.run(line)).exitCode));
  };
  expect(await codes()).toEqual([6, 0, 6, 0]);
  expect((await workspace.run("status")).stderr).toContain(
    "hint:  start it with `systemctl start quartermaster`",
  );
  chmodSync(join(workspace.data, "quartermaster.db"), 0o640);
  expect(await codes()).toEqual([6, 0, 7, 7]);
});

test("status and doctor name the setting if it is no list of connections, and no connection", async () => {
  using workspace = createWorkspace();
  await workspace.run("setup");
  writeFileSync(join(workspace.folder, "q.yaml"), "package_sources:\n  connections: x\n", { mode: 0o600 });
  for (const line of ["status", "doctor"]) {
    const { stdout } = await workspace.run(`${line} --config q.yaml`);
    expect(stdout).toContain("package_sources.connections must be a list of at most 100 connections");
    expect(stdout).not.toMatch(/without an id|1 connection|is disabled/);
  }
});

test("AIR-6 reports an unreachable gateway with the reason and the effects", async () => {
  await using upstream = await createInstalledGateway();
  const { workspace, gateway } = upstream;
  const configuration = `
gateway:
  type: litellm
  url: ${gateway.origin}
  inference_proxy_url: ${gateway.origin}
  provisioner: {type: builtin-litellm, admin_key: sk-0123456789abcdef}
`;
  writeFileSync(join(workspace.folder, "near.yaml"), configuration, { mode: 0o600 });
  const lines = ["status --config near.yaml", "doctor --config near.yaml"];
  const reachable = await transcript(workspace, lines);
  await gateway.stop();
  const gone = await transcript(workspace, [...lines, "status --config near.yaml --json"]);
  expectGolden("health-gateway", [...reachable, ...gone], replacements(workspace));
});

describe("a running service", () => {
  test("OBS-5 status and doctor report its process and uptime, and find no problems", async () => {
    using workspace = await createInstallation();
    const { clock, ids, data } = workspace;
    const flags = { dataDir: data, serverListen: "127.0.0.1:0" };
    const config = loadConfig({ flags, env: {}, cwd: workspace.folder });
    const log = createLog({ level: "error", format: "json", write: () => {}, clock });
    const service = await startService({ config, clock, ids, log, onBootstrap: () => {} });
    try {
      clock.advance(2 * MINUTE_MS);
      expect((await workspace.json("status --offline-ok")).service).toEqual({
        running: true,
        process_id: process.pid,
        since: "2026-01-01T00:00:00.000Z",
        uptime_seconds: 120,
      });
      expect((await workspace.run("status")).stdout).toContain(
        "running since 2026-01-01T00:00:00.000Z (2m), process",
      );
      const { stdout, exitCode } = await workspace.run("doctor --deep");
      expect([exitCode, stdout.match(/^FAILED/gm)]).toEqual([0, null]);
    } finally {
      await service.stop();
    }
    expect((await workspace.json("status --offline-ok")).service).toMatchObject({
      running: false,
      uptime_seconds: null,
    });
  });
});

test("reports a database with an older schema and does not change it", async () => {
  using workspace = createWorkspace();
  using made = await createInstallation();
  cpSync(made.data, workspace.data, { recursive: true });
  makeOlder(workspace.data, workspace.clock);
  const schema = { database: programSchema() - 1, program: programSchema() };
  expect(await workspace.json("status --offline-ok")).toMatchObject({
    schema,
    policy: null,
    clients: null,
    jobs: null,
  });
  expect(await found(workspace, "schema")).toMatchObject([{ result: "warning" }]);
  expect(await found(workspace, "database")).toEqual(failed("schema is older", "start the service"));
  const older = lockForServer(placesIn(workspace.data), workspace.clock);
  try {
    const remedy = expect.stringMatching(/^an older version of the service runs: stop/);
    expect(await found(workspace, "schema")).toMatchObject([{ result: "warning", remedy }]);
    expect(await found(workspace, "database")).toEqual(
      failed("schema is older", "stop the service, replace"),
    );
  } finally {
    older.release();
  }
  expect(await workspace.json("status --offline-ok")).toMatchObject({ schema });
});

describe("DAT-9 doctor finds", () => {
  interface Fault {
    /** Causes the fault. */
    on(workspace: Workspace): void | Promise<void>;
    check: string;
    detail: RegExp;
    remedy?: string;
    options?: string;
  }

  const writing = ({ data }: Workspace, sql: string): void => {
    const connection = openConnection(join(data, "quartermaster.db"), {});
    connection.run("PRAGMA foreign_keys=OFF");
    connection.run(sql);
    connection.close();
  };
  /** Overwrites the end of the first page of an index of the table. */
  const damage = (file: string, table: string, type = "index"): void => {
    const connection = openConnection(file, {});
    const sql = "SELECT rootpage FROM sqlite_schema WHERE type = ? AND tbl_name = ?";
    const { rootpage } = connection.query<{ rootpage: number }, [string, string]>(sql).get(type, table) ?? {
      rootpage: 0,
    };
    connection.close();
    const pages = readFileSync(file);
    const pageBytes = pages.readUInt16BE(16);
    const from = type === "index" ? rootpage * pageBytes - 16 : (rootpage - 1) * pageBytes;
    writeFileSync(file, pages.fill(0, from, rootpage * pageBytes));
  };
  const withArtifact = async (workspace: Workspace): Promise<string> => {
    cpSync(EXAMPLE, workspace.folder, { recursive: true });
    await workspace.json("catalog seed catalog.yaml");
    const digest = "fb5c2dea998a0ea6d5b6255c9785f4daa6c86ceedf2b9780183ae5d4ccc37228";
    return join(workspace.data, "artifacts/sha256/fb", digest);
  };

  const FAULTS: Readonly<Record<string, Fault>> = {
    "a file that others may read": {
      on: ({ data }) => chmodSync(join(data, "quartermaster.db"), 0o640),
      check: "files",
      detail: /quartermaster\.db/,
      remedy: "rwX,go=",
    },
    "a lost key": {
      on: ({ data }) => rmSync(join(data, "keys"), { recursive: true }),
      check: "database",
      detail: /there is no sealing key/,
      remedy: "put the same key back: from the .qmk file",
    },
    "a damaged key": {
      on: ({ data }) => writeFileSync(join(data, "keys/0001.sealing-key"), "c2hvcnQ=\n"),
      check: "database",
      detail: /the sealing key in .*0001\.sealing-key is not 32 bytes/,
      remedy: "put the same key back: from the .qmk file",
    },
    "a key that others can read": {
      on: ({ data }) => chmodSync(join(data, "keys/0001.sealing-key"), 0o644),
      check: "database",
      detail: /0001\.sealing-key can be read by other users/,
      remedy: "chmod 600",
    },
    "a folder that its owner may not enter": {
      on: ({ data }) => chmodSync(join(data, "artifacts"), 0o200),
      check: "files",
      detail: /wrong owner or permissions: .*artifacts/,
      remedy: "rwX,go=",
    },
    "a damaged page, of the database and not of the clock": {
      on: ({ data }) => damage(join(data, "quartermaster.db"), "audit_entries", "table"),
      check: "database",
      detail: /the database file is damaged, found by the check clock/,
      remedy: "backup restore",
    },
    "an artifact that is missing, with --deep": {
      on: async (workspace) => rmSync(await withArtifact(workspace)),
      check: "artifacts",
      detail: /1 of 1 are damaged or missing: missing sha256:fb5c2dea/,
      remedy: "catalog verify; store the archives again",
      options: " --deep",
    },
    "a certificate that expired": {
      on({ clock, folder }) {
        for (const name of ["localhost.crt", "localhost.key"])
          writeFileSync(join(folder, name), readFileSync(join(import.meta.dir, "../../fixtures", name)), {
            mode: 0o600,
          });
        clock.advance(101 * 365 * DAY_MS);
      },
      check: "certificate",
      detail: /it expired at/,
      remedy: "localhost.crt, then reload the service",
      options: " --server-tls-cert localhost.crt --server-tls-key localhost.key",
    },
    "a key that is not the one under which secrets lie": {
      on({ data }) {
        const file = join(data, "keys/0001.sealing-key");
        writeFileSync(file, `${Buffer.alloc(32, 7).toString("base64")}\n`);
      },
      check: "sealing_keys",
      detail: /missing: [0-9a-f]{12} \(\d+ secrets/,
      remedy: "put the same key back",
    },
    "a folder of artifacts that is gone": {
      on: ({ data }) => rmSync(join(data, "artifacts"), { recursive: true }),
      check: "database",
      detail: /artifacts is missing/,
      remedy: "from the last backup",
    },
    "a clock that moved backwards by more than a minute": {
      on: ({ clock }) => clock.advance(-MINUTE_MS - 1_000),
      check: "clock",
      detail: /61 s before the newest record/,
      remedy: "set the clock",
    },
    "a database of a later program": {
      on: (workspace) =>
        writing(workspace, "INSERT INTO schema_migrations VALUES (999, 'later', 'x', 0, '9.0.0')"),
      check: "schema",
      detail: /999 \(made by version 9\.0\.0\)/,
      remedy: "start version 9.0.0",
    },
    "a file that is no database": {
      on: ({ data }) => writeFileSync(join(data, "quartermaster.db"), "no database".repeat(1_000)),
      check: "schema",
      detail: /not a database/,
      remedy: "backup restore",
    },
    "a destroyed header": {
      on: ({ data }) => {
        const file = join(data, "quartermaster.db");
        writeFileSync(file, readFileSync(file).fill(0, 0, 100));
      },
      check: "database",
      detail: /not a database/,
      remedy: "backup restore",
    },
    "a job that failed": {
      on: (workspace) => runJobsOn(workspace, ["access-sweep", "gateway-reconcile"]),
      check: "jobs",
      detail: /gateway-reconcile failed: .*the disk is full/,
      remedy: "quartermaster jobs run gateway-reconcile",
    },
    "a backup that is too old": {
      async on(workspace) {
        await workspace.json("backup create");
        workspace.clock.advance(DAY_MS + 2 * HOUR_MS + 1);
      },
      check: "backup",
      detail: /the last backup was made at 2026-01-01T00:00:00\.000Z/,
      remedy: "quartermaster backup create",
    },
    "a backup that was deleted": {
      async on(workspace) {
        const { path } = await workspace.json("backup create");
        rmSync(String(path));
      },
      check: "backup",
      detail: /2026-01-01T00:00:00\.000Z is missing or was changed: .*; no other backup exists/,
      remedy: "quartermaster backup create",
    },
    "a folder of backups that is missing": {
      on: () => {},
      check: "backup",
      detail: /backup\.directory is missing/,
      remedy: "mount its disk",
      options: " --backup-directory /nowhere/backups",
    },
    "a certificate that cannot be read": {
      on: () => {},
      check: "certificate",
      detail: /TLS files/,
      remedy: "server.tls_cert",
      options: " --server-tls-cert none.pem --server-tls-key none.key",
    },
    "a damaged page, with --deep": {
      on: ({ data }) => damage(join(data, "quartermaster.db"), "audit_entries"),
      check: "integrity",
      detail: /integrity check of SQLite: /,
      remedy: "backup restore",
      options: " --deep",
    },
    "a reference to nothing, with --deep": {
      on: (workspace) => writing(workspace, "UPDATE users SET organization_id = 'nowhere'"),
      check: "foreign_keys",
      detail: /missing rows: 1, first from users to organizations/,
      remedy: "backup restore",
      options: " --deep",
    },
    "an artifact that was altered, with --deep": {
      on: async (workspace) => writeFileSync(await withArtifact(workspace), "x"),
      check: "artifacts",
      detail: /1 of 1 are damaged or missing: damaged sha256:fb5c2dea/,
      remedy: "catalog verify",
      options: " --deep",
    },
    "an audit log that was altered, with --deep": {
      on: (workspace) => writing(workspace, "UPDATE audit_entries SET action = 'user.remove' WHERE id = 2"),
      check: "audit_log",
      detail: /broken after 1 valid entries/,
      remedy: "audit verify",
      options: " --deep",
    },
  };

  /** Only root can change the owner of a file. */
  const GIVEN_AWAY: Readonly<Record<string, Fault>> = {
    "a file of another owner": {
      on: ({ data }) => chownSync(join(data, "quartermaster.db"), NOBODY, NOBODY),
      check: "files",
      detail: /wrong owner or permissions: .*quartermaster\.db/,
      remedy: "chown -R",
    },
    "a folder of another owner": {
      on: ({ data }) => chownSync(join(data, "artifacts"), NOBODY, NOBODY),
      check: "files",
      detail: /wrong owner or permissions: .*artifacts/,
      remedy: "chown -R",
    },
  };

  test.each(Object.entries({ ...FAULTS, ...(isRoot && GIVEN_AWAY) }))(
    "%s",
    async (_, { on, check, detail, remedy = ".", options = "" }) => {
      using workspace = await createInstallation();
      await on(workspace);
      const doctor = await workspace.run(`doctor --json${options}`);
      expect(findingsOf(doctor, check)).toEqual(failed(detail, remedy));
      expect(doctor).toMatchObject({ exitCode: 7, stderr: expect.stringContaining("checks failed") });
    },
  );
});

test("reports replication with the time of its last progress if the settings enable it", async () => {
  using workspace = await createInstallation();
  const replicated = " --database-replicated yes";
  expect(await found(workspace, "replication")).toEqual([]);
  expect(await found(workspace, "replication", replicated)).toMatchObject([
    { result: "warning", detail: "database.replicated is set, but Litestream has not copied anything" },
  ]);
  const folder = join(workspace.data, ".quartermaster.db-litestream/generations/1/wal");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "00000000.wal"), "copied", { mode: 0o600 });
  const copiedAt = new Date("2026-01-01T12:00:00.000Z");
  utimesSync(join(folder, "00000000.wal"), copiedAt, copiedAt);
  writeFileSync(join(workspace.folder, "replicated.yaml"), "database: {replicated: true}\n");
  const { stdout } = await workspace.run("status --config replicated.yaml --json");
  expect(JSON.parse(stdout).replication).toEqual({ last_progress_at: "2026-01-01T12:00:00.000Z" });
  expect((await workspace.run("status --config replicated.yaml")).stdout).toMatch(
    /^replication +last progress 2026-01-01T12:00:00\.000Z/m,
  );
  writeFileSync(join(workspace.data, "quartermaster.db-wal"), ""); // created by Litestream: doctor reads a copy of both
  utimesSync(join(workspace.data, "quartermaster.db-wal"), copiedAt, copiedAt);
  expect(await found(workspace, "replication", replicated)).toMatchObject([
    { result: "ok", detail: "Litestream last made progress at 2026-01-01T12:00:00.000Z" },
  ]);
});

test("warns about a backup from the future and a deleted one, and shows the newest existing one", async () => {
  using workspace = await createInstallation();
  await workspace.json("backup create");
  workspace.clock.advance(HOUR_MS);
  const { path } = await workspace.json("backup create");
  rmSync(String(path));
  workspace.clock.advance(HOUR_MS);
  await workspace.json("backup create");
  workspace.clock.advance(-HOUR_MS);
  expect(await found(workspace, "backup")).toMatchObject([
    { result: "ok", detail: expect.stringContaining("the last backup was made at 2026-01-01T00:00:00.000Z") },
    {
      result: "warning",
      detail: expect.stringContaining("2026-01-01T01:00:00.000Z is missing or was changed"),
    },
    { result: "warning", detail: expect.stringContaining("1 have a time in the future and are ignored") },
  ]);
  expect((await workspace.json("status --offline-ok")).backup).toMatchObject({
    created_at: "2026-01-01T01:00:00.000Z",
  });
  workspace.clock.advance(-HOUR_MS);
  expect(await found(workspace, "backup")).toMatchObject([
    { result: "ok" },
    { result: "warning", detail: expect.stringContaining("1 have a time in the future") },
  ]);
  using other = createWorkspace();
  await runHere(["setup", "--data-dir", other.data], { cwd: other.folder });
  other.clock.advance(DAY_MS);
  const foreign = await other.json(`backup create ${join(workspace.data, "backups/foreign.qmb")}`);
  expect(foreign).toMatchObject({ created_at: "2026-01-02T00:00:00.000Z" });
  expect(await found(workspace, "backup")).toMatchObject([
    { result: "ok" },
    { result: "warning", detail: expect.stringContaining("1 have a time in the future") },
  ]);
});

test("reports an overdue job, even if a killed process still holds its lease", async () => {
  using workspace = await createInstallation();
  const connection = openConnection(join(workspace.data, "quartermaster.db"), {});
  const nowMs = workspace.clock.nowMs();
  const sql = "INSERT INTO jobs (name, next_run_at_ms, lease_owner, lease_until_ms) VALUES (?, ?, ?, ?)";
  connection.run(sql, ["at-the-limit", nowMs - JOB_OVERDUE_MS, null, null]);
  connection.run(sql, ["left-behind", nowMs - JOB_OVERDUE_MS - 1, "dead", nowMs + HOUR_MS]);
  connection.run(sql, ["waiting", nowMs - JOB_OVERDUE_MS - 1, null, null]);
  connection.close();
  const overdue = (name: string) => ({
    result: "warning",
    detail: `${name} was due at 2025-12-31T23:54:59.999Z, and no service runs it`,
    remedy: "start the service, which runs it immediately",
  });
  expect(await found(workspace, "jobs")).toMatchObject([overdue("left-behind"), overdue("waiting")]);
});

test("SVC-11 a clock within the token skew and a paused job are not failures", async () => {
  using workspace = await createInstallation();
  await runJobsOn(workspace, ["access-sweep"]);
  await workspace.json("jobs pause access-sweep");
  workspace.clock.advance(-MINUTE_MS);
  expect((await workspace.run("doctor --offline-ok")).exitCode).toBe(0);
  expect(await found(workspace, "jobs")).toMatchObject([
    { result: "warning", detail: "access-sweep is paused" },
  ]);
});

test("names what stands in the place of the disk reserve, and what to do", async () => {
  using workspace = await createInstallation();
  const reserve = join(workspace.data, "disk-reserve");
  expect(await found(workspace, "disk_reserve")).toMatchObject([{ result: "ok", detail: "none yet" }]);
  writeFileSync(reserve, Buffer.alloc(2 ** 20), { mode: 0o600 });
  expect(await found(workspace, "disk_reserve")).toMatchObject([
    { result: "ok", detail: "1.0 MiB kept for sign-ins and deletions" },
  ]);
  rmSync(reserve);
  symlinkSync("elsewhere", reserve);
  expect(await found(workspace, "disk_reserve")).toMatchObject([
    {
      result: "failed",
      detail: `${reserve} is a symbolic link, so it reserves no disk space`,
      remedy: expect.stringContaining("remove it"),
    },
  ]);
});

describe("limits of doctor", () => {
  const check = checkOf("x");
  const LARGE = 100 * FREE_SPACE_BYTES_MIN;

  test.each([
    [FREE_SPACE_BYTES_MIN - 1, FREE_SPACE_BYTES_MIN, "failed"],
    [FREE_SPACE_BYTES_MIN, FREE_SPACE_BYTES_MIN, "ok"],
    [FREE_SPACE_BYTES_MIN + 1, FREE_SPACE_BYTES_MIN + 1, "ok"],
    [FREE_SHARE_MIN * LARGE - 1, LARGE, "warning"],
    [FREE_SHARE_MIN * LARGE, LARGE, "ok"],
    [FREE_SHARE_MIN * LARGE + 1, LARGE, "ok"],
  ] as const)("%i bytes of %i are %s", (availableBytes, sizeBytes, result) => {
    expect(checkDiskSpace(check, { availableBytes, sizeBytes }).result).toBe(result);
  });

  test.each([
    [undefined, "ok"],
    [REPLICATION_LAG_MS - 1, "ok"],
    [REPLICATION_LAG_MS, "ok"],
    [REPLICATION_LAG_MS + 1, "failed"],
  ] as const)(
    "replication with a log that was written %p ms after its last progress is %s",
    (lag, result) => {
      const lastWriteMs = lag === undefined ? undefined : 1_000 + lag;
      expect(checkReplication(check, { lastProgressMs: 1_000, lastWriteMs }).result).toBe(result);
    },
  );

  test.each([
    [-1, "failed"],
    [0, "warning"],
    [CERTIFICATE_DAYS_MIN * DAY_MS - 1, "warning"],
    [CERTIFICATE_DAYS_MIN * DAY_MS, "ok"],
  ] as const)("a certificate %i ms before its end is %s", (ms, result) => {
    const fixture = (name: string) => join(import.meta.dir, "../../fixtures", name);
    using workspace = createWorkspace();
    const files = { cert: fixture("localhost.crt"), key: join(workspace.folder, "localhost.key") };
    cpSync(fixture("localhost.key"), files.key);
    chmodSync(files.key, 0o600);
    const { expiresAtMs } = readCertificate(files);
    expect(checkCertificate(check, files, expiresAtMs - ms).result).toBe(result);
  });

  test.each([
    [NAMES_SHOWN_MAX - 1, ""],
    [NAMES_SHOWN_MAX, ""],
    [NAMES_SHOWN_MAX + 1, ", and 1 more"],
  ])("names %i files that others may read, up to the maximum", async (amount, more) => {
    using workspace = await createInstallation();
    for (let index = 0; index < amount; index += 1)
      writeFileSync(join(workspace.data, `exposed-${index}`), "", { mode: 0o644 });
    const [finding] = await found(workspace, "files");
    const { detail = "" }: { detail?: string } = Object(finding);
    expect(detail.match(/exposed-\d/g)).toHaveLength(Math.min(amount, NAMES_SHOWN_MAX));
    const last = `exposed-${Math.min(amount, NAMES_SHOWN_MAX) - 1} (mode 0644, of user id ${process.getuid?.()})`;
    expect(detail.endsWith(`${last}${more}`)).toBe(true);
  });

  test("accepts a backup that is up to 26 hours old, or two hours older than the backup period", async () => {
    using workspace = await createInstallation();
    await workspace.json("backup create");
    workspace.clock.advance(DAY_MS + 2 * HOUR_MS);
    expect(await found(workspace, "backup")).toMatchObject([{ result: "ok" }]);
    workspace.clock.advance(DAY_MS);
    expect(await found(workspace, "backup", " --backup-every-hours 48")).toMatchObject([{ result: "ok" }]);
    workspace.clock.advance(1);
    expect(await found(workspace, "backup", " --backup-every-hours 48")).toMatchObject([
      { result: "failed" },
    ]);
  });
});

describe("doctor changes nothing in the data directory", () => {
  /** Names, sizes, modes, modification times and contents of all files, -wal and -shm included. */
  const stateOf = ({ data }: Workspace) => {
    const names = readdirSync(data, { recursive: true }).map(String).sort();
    return ["", ...names].map((name) => {
      const path = join(data, name);
      const { size, mode, mtimeMs } = statSync(path);
      const bytes = statSync(path).isFile() ? Bun.hash(readFileSync(path)) : 0n;
      return [name, size, mode, mtimeMs, bytes].join(" ");
    });
  };
  const expectUnchanged = async (workspace: Workspace) => {
    const before = stateOf(workspace);
    for (const line of ["doctor", "doctor --deep"]) await workspace.run(line);
    expect(stateOf(workspace)).toEqual(before);
  };

  test("changes nothing after the service has stopped", async () => {
    using workspace = await createInstallation();
    const connection = openConnection(join(workspace.data, "quartermaster.db"), {});
    connection.run("PRAGMA wal_checkpoint(TRUNCATE)");
    using idle = createWorkspace();
    cpSync(workspace.data, idle.data, { recursive: true });
    expect(statSync(join(idle.data, "quartermaster.db-wal")).size).toBe(0);
    await expectUnchanged(idle);
    connection.close(true); // the last connection that closes the database removes its log
    expect(existsSync(join(workspace.data, "quartermaster.db-wal"))).toBe(false);
    await expectUnchanged(workspace);
    rmSync(join(workspace.data, "server.lock"), { force: true });
    await expectUnchanged(workspace);
  });

  test("changes nothing after a process was killed, and sees its last commits", async () => {
    using workspace = await createInstallation();
    const connection = openConnection(join(workspace.data, "quartermaster.db"), {});
    connection.run("INSERT INTO jobs (name, next_run_at_ms, paused) VALUES ('killed', 0, 1)");
    using killed = createWorkspace();
    cpSync(workspace.data, killed.data, { recursive: true });
    connection.close();
    expect(statSync(join(killed.data, "quartermaster.db-wal")).size).toBeGreaterThan(0);
    await expectUnchanged(killed);
    expect(await found(killed, "jobs")).toMatchObject([{ result: "warning", detail: "killed is paused" }]);
  });

  test("changes nothing if the keys or the artifacts are missing", async () => {
    using workspace = await createInstallation();
    rmSync(join(workspace.data, "keys"), { recursive: true });
    rmSync(join(workspace.data, "artifacts"), { recursive: true });
    await expectUnchanged(workspace);
  });

  test("changes nothing while an interrupted restore is pending, and reports it", async () => {
    using workspace = await createInstallation();
    writeFileSync(join(workspace.data, "restore.json"), "{}", { mode: 0o600 });
    await expectUnchanged(workspace);
    expect(await workspace.run("doctor")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining("was interrupted or is in progress"),
    });
  });
});

test("doctor reads a key passed as a systemd credential, like serve", async () => {
  using workspace = await createInstallation();
  const credentials = join(workspace.folder, "credentials");
  mkdirSync(credentials);
  renameSync(join(workspace.data, "keys/0001.sealing-key"), join(credentials, "sealing-key"));
  expect(await found(workspace, "database")).toEqual(
    failed("there is no sealing key", "CREDENTIALS_DIRECTORY=/run/credentials"),
  );
  const { stdout } = await runHere(["doctor", "--json", "--data-dir", workspace.data], {
    cwd: workspace.folder,
    clock: workspace.clock,
    ids: workspace.ids,
    env: { CREDENTIALS_DIRECTORY: credentials },
  });
  expect(JSON.parse(stdout).healthy).toBe(true);
});
