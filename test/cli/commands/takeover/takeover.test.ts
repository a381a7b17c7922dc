// `takeover`, and terms at a start. A folder stands in for the store, and a script for Litestream.
import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { claimTerm } from "../../../../src/app/standby/start.ts";
import { systemClock } from "../../../../src/platform/clock.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { SealingKeyFiles } from "../../../../src/platform/crypto/sealing-keys.ts";
import { placesIn } from "../../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../../src/platform/database/connection.ts";
import { systemIds } from "../../../../src/platform/ids.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { copyOf, createInstallation, createWorkspace, type Workspace } from "../../../support/in-process.ts";
import { connect, FIRST } from "../../../support/installed/installed-replica.ts";
import { createSystemctl } from "../../../support/installed/systemctl.ts";
import { type SftpServer, startSftpServer } from "../../../support/network/sftp-server.ts";

const SETTINGS = "--config standby.yaml";

const recordIn = ({ folder }: Workspace): Record<string, unknown> => {
  const [name = ""] = readdirSync(join(folder, "replica")).filter((file) => file.startsWith("t00000002"));
  return JSON.parse(readFileSync(join(folder, "replica", name), "utf8"));
};

const replaced = ({ folder }: Workspace) =>
  new Map<string | RegExp, string>([
    [folder, "<folder>"],
    [/(t00000002)-[0-9a-f]{6}/g, "$1-<random>"],
    [hostname(), "<machine>"],
  ]);

test("STB-6 takeover", async () => {
  using active = await createInstallation();
  using passive = createWorkspace();
  connect(passive, active);
  mkdirSync(passive.data, { mode: 0o700 });
  const steps: Step[] = [];
  const run = async (line: string) => void steps.push({ line, ...(await passive.run(line)) });
  await run(`takeover ${SETTINGS}`);
  await run(`takeover ${SETTINGS} --dry-run`);
  cpSync(join(active.data, "keys"), join(passive.data, "keys"), { recursive: true });
  await run(`takeover ${SETTINGS} --dry-run`);
  await run(`takeover ${SETTINGS} --old-machine-is-off`);
  expectGolden("takeover", steps, replaced(passive));
  expect(recordIn(passive)).toMatchObject({
    from_term: FIRST,
    machine: hostname(),
    restored: { audit_id: expect.any(Number), audit_digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const entries = (await passive.json("audit list --action standby.take_over")) as { items?: unknown[] };
  expect(JSON.stringify(entries)).toContain("standby.take_over");
});

test("STB-6 takeover keeps the machine's former data aside, and --json reports everything", async () => {
  using original = await createInstallation();
  connect(original, original);
  await original.json("users create tail@example.org --role member"); // not in the replica
  using active = copyOf(original);
  connect(active, original);
  const refused = await active.run(`takeover ${SETTINGS} --old-machine-is-off`);
  expect(refused.exitCode).toBe(2);
  const line = `takeover ${SETTINGS} --old-machine-is-off --confirm data --json`;
  const step = { line, ...(await active.run(line)) };
  expectGolden("takeover-json", [step], replaced(active).set(/replaced-\w+/g, "replaced-<time>"));
  const { replaced: aside } = JSON.parse(step.stdout);
  expect(existsSync(join(aside, "quartermaster.db"))).toBe(true);
  expect((await active.run("users list")).stdout).not.toContain("tail@example.org");
});

describe("STB-6 takeover by root on a machine with the units", () => {
  const UNITS = ["quartermaster", "quartermaster-litestream"];
  const LINE = `takeover ${SETTINGS} --old-machine-is-off --confirm data`;
  const asRoot = (workspace: Workspace, systemd: { failure?: string } = {}) => ({
    userId: 0,
    env: { PATH: createSystemctl(workspace.folder, { installed: UNITS, ...systemd }) },
  });
  const started = ({ folder }: Workspace) => join(folder, "started");
  const hasStarted = (workspace: Workspace) => existsSync(started(workspace));

  test("starts them at the end, as the plan announces", async () => {
    using active = await createInstallation();
    connect(active, active);
    const plan = await active.run(`takeover ${SETTINGS} --dry-run`, asRoot(active));
    expect(plan.stdout).toContain(
      "At the end the takeover starts quartermaster and quartermaster-litestream, unless",
    );
    expect(hasStarted(active)).toBe(false);
    const { stdout, exitCode } = await active.run(LINE, asRoot(active));
    expect([stdout.split("\n").at(-2), exitCode]).toEqual([
      "started quartermaster and quartermaster-litestream",
      0,
    ]);
    expect(readFileSync(started(active), "utf8")).toBe(`enable --now ${UNITS.join(" ")}\n`);
  });

  test("starts nothing with --no-start, for another user, or while a sealing key is missing", async () => {
    using active = await createInstallation();
    connect(active, active);
    const next = { started: false, next: expect.stringContaining("systemctl enable --now quartermaster ") };
    expect(await active.json(`${LINE} --no-start`, asRoot(active))).toMatchObject(next);
    using second = copyOf(active);
    connect(second, active);
    expect(await second.json(LINE, { ...asRoot(second), userId: 1000 })).toMatchObject(next);
    rmSync(join(second.data, "keys"), { recursive: true });
    new SealingKeyFiles(join(second.data, "keys"), systemIds).first();
    expect(await second.json(LINE, asRoot(second))).toMatchObject(next);
    expect([active, second].filter(hasStarted)).toEqual([]);
  });

  test("reports the restored data and the next step even when the service does not start", async () => {
    using active = await createInstallation();
    connect(active, active);
    const { stdout, stderr, exitCode } = await active.run(LINE, asRoot(active, { failure: "Job failed." }));
    expect(stdout).toContain("this machine has begun term t00000002");
    expect(stdout).toContain("next: systemctl enable --now quartermaster quartermaster-litestream");
    expect(stderr).toContain("error: this machine took over, but Job failed.");
    expect(stderr).toContain("journalctl -u quartermaster");
    expect(exitCode).toBe(6);
  });
});

test("STB-6 takeover names newer terms that it cannot restore", async () => {
  using active = await createInstallation();
  connect(active, active);
  writeFileSync(join(active.folder, "replica", "t00000002-bbbbbb.json"), "");
  const text = "The newer term t00000002-bbbbbb has no replica";
  expect((await active.run(`takeover ${SETTINGS} --dry-run`)).stdout).toContain(text);
  const taken = await active.run(`takeover ${SETTINGS} --old-machine-is-off --confirm data`);
  expect(taken.stderr).toContain(text);
});

test("STB-6 a replica that Litestream cannot restore changes nothing", async () => {
  using active = await createInstallation();
  connect(active, active);
  rmSync(join(active.folder, "source.db"));
  const line = `takeover ${SETTINGS} --old-machine-is-off --confirm data`;
  const { exitCode, stderr } = await active.run(line);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 6,
    stderr: expect.stringContaining("Litestream cannot restore"),
  });
  expect(readdirSync(active.data).filter((name) => /^(restor|replaced)/.test(name))).toEqual([]);
});

test("STB-6 a damaged replica does not end the term of the other machine, and the error has a remedy", async () => {
  using active = await createInstallation();
  connect(active, active);
  const source = join(active.folder, "source.db");
  const bytes = readFileSync(source);
  writeFileSync(source, bytes.fill(0xaa, 20 * 4096, 24 * 4096));
  const { exitCode, stderr } = await active.run(`takeover ${SETTINGS} --old-machine-is-off --confirm data`);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 7,
    stderr: expect.stringContaining("nothing was changed: if the data of the other machine is intact"),
  });
  expect(readdirSync(join(active.folder, "replica"))).toEqual([FIRST]);
  expect(readdirSync(active.data).filter((name) => /^(restor|replaced)/.test(name))).toEqual([]);
});

test("STB-6 a takeover without Litestream does not end the term of the other machine", async () => {
  using active = await createInstallation();
  connect(active, active);
  rmSync(join(active.folder, "litestream"));
  const { exitCode, stderr } = await active.run(`takeover ${SETTINGS} --old-machine-is-off --confirm data`);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 6,
    stderr: expect.stringContaining("install Litestream"),
  });
  expect(readdirSync(join(active.folder, "replica"))).toEqual([FIRST]);
});

test("STB-6 a takeover while Litestream has the database open does not end the term of the other machine", async () => {
  using active = await createInstallation();
  connect(active, active);
  using litestream = openConnection(join(active.data, "quartermaster.db"), { readonly: true });
  litestream.run("BEGIN");
  litestream.query("SELECT count(*) FROM users").get();
  const line = `takeover ${SETTINGS} --old-machine-is-off --confirm data`;
  const { exitCode, stderr } = await active.run(line);
  expect(await active.run(`${line} --dry-run`)).toMatchObject({ exitCode, stdout: "" });
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 6,
    stderr: expect.stringContaining(
      "stop `serve --only proxy` and replication, such as the unit quartermaster-litestream",
    ),
  });
  expect(readdirSync(join(active.folder, "replica"))).toEqual([FIRST]);
});

test("STB-6 takeover names the sealing keys that the data needs and this machine lacks", async () => {
  using active = await createInstallation();
  using other = copyOf(active);
  connect(other, active);
  rmSync(join(other.data, "keys"), { recursive: true });
  const { id } = new SealingKeyFiles(join(other.data, "keys"), systemIds).first();
  const { missing_sealing_key_ids: ids } = await other.json(
    `takeover ${SETTINGS} --old-machine-is-off --confirm data`,
  );
  expect(ids).toEqual([expect.stringMatching(/^[\w-]+$/)]);
  expect(ids).not.toContain(id);
});

test("STB-6 takeover without a replica asks for that setting first", async () => {
  using active = await createInstallation();
  const { exitCode, stderr } = await active.run("takeover");
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/standby.replica is not set\nhint: +set standby.replica, or /),
  });
});

describe("STB-7 a start", () => {
  const claim = (workspace: Workspace) => {
    const lines: string[] = [];
    const log = createLog({
      level: "info",
      format: "json",
      write: (line) => void lines.push(line),
      clock: systemClock,
    });
    const config = loadConfig({ flags: { config: "standby.yaml" }, env: {}, cwd: workspace.folder });
    return claimTerm(placesIn(workspace.data), { config, clock: systemClock, ids: systemIds, log });
  };

  test("begins the first term in an empty store, and keeps it", async () => {
    using workspace = await createInstallation();
    connect(workspace, workspace);
    rmSync(join(workspace.folder, "replica"), { recursive: true });
    const own = await claim(workspace);
    expect(own?.term).toMatch(/^t00000001-[0-9a-f]{6}$/);
    expect(await claim(workspace)).toEqual(own);
  });

  test("refuses to start a machine without a term where another one replicates", async () => {
    using workspace = await createInstallation();
    connect(workspace, workspace);
    expect(claim(workspace)).rejects.toMatchObject({ kind: "conflict", reason: "standby.other_machine" });
  });

  test("a former machine that becomes active again compares its data with the data restored from it", async () => {
    using former = await createInstallation();
    connect(former, former);
    writeFileSync(join(former.data, "standby.json"), JSON.stringify({ term: FIRST, holder: "former" }));
    using other = copyOf(former);
    const settings = readFileSync(join(former.folder, "standby.yaml"), "utf8");
    writeFileSync(join(other.folder, "standby.yaml"), settings);
    const line = `takeover ${SETTINGS} --old-machine-is-off --confirm data --json`;
    const { term } = JSON.parse((await other.run(line)).stdout);
    await other.json("users create later@example.org --role member");
    connect(former, other, term);
    expect(JSON.parse((await former.run(line)).stdout)).toMatchObject({
      from_term: term,
      replaced: expect.stringContaining("replaced-"),
      tail_of_replaced: null,
    });
  });

  test("refuses to start the former machine and reports the data that only this machine has", async () => {
    using former = await createInstallation();
    connect(former, former);
    writeFileSync(join(former.data, "standby.json"), JSON.stringify({ term: FIRST, holder: "former" }));
    expect(await claim(former)).toMatchObject({ term: FIRST });
    using other = copyOf(former);
    const settings = readFileSync(join(former.folder, "standby.yaml"), "utf8");
    writeFileSync(join(other.folder, "standby.yaml"), settings);
    await other.json(`takeover ${SETTINGS} --old-machine-is-off --confirm data`);
    await former.json("users create tail@example.org --role member");
    expect(claim(former)).rejects.toMatchObject({
      kind: "conflict",
      reason: "standby.taken_over",
      message: expect.stringMatching(
        /took over at .* accepts no change; .* lacks: 1 audit entry \(up to \d+, from .*\), 1 new or changed user$/,
      ),
    });
  });
});

/** Replaces the folder of `connect` with a file server that has the same files. */
async function connectOverSftp(workspace: Workspace): Promise<SftpServer> {
  const server = await startSftpServer(workspace.folder);
  writeFileSync(join(workspace.folder, "sftp-key"), server.privateKey, { mode: 0o600 });
  const text = readFileSync(join(workspace.folder, "standby.yaml"), "utf8");
  const sftp = `sftp_key_file: sftp-key, sftp_host_key: "${server.hostKey}"}`;
  const settings = text
    .replace(/"file:.*?"/, `"sftp://qm@127.0.0.1:${server.port}/replica"`)
    .replace(/\}\n$/, `, ${sftp}\n`);
  writeFileSync(join(workspace.folder, "standby.yaml"), settings);
  return server;
}

test("STB-9 takeover restores a replica on a file server, and records its term there", async () => {
  using active = await createInstallation();
  connect(active, active);
  await using _server = await connectOverSftp(active);
  await active.json("users create tail@example.org --role member"); // not in the replica
  const taken = await active.json(`takeover ${SETTINGS} --old-machine-is-off --confirm data`);
  expect(taken).toMatchObject({ from_term: FIRST, tail_of_replaced: { audit_entries: 1, users: 1 } });
  expect(recordIn(active)).toMatchObject({ from_term: FIRST, restored: { audit_id: expect.any(Number) } });
});

test("STB-9 doctor and config check read the position of a replica on a file server, and it is listed as a destination", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeFileSync(join(workspace.data, "standby.json"), JSON.stringify({ term: FIRST, holder: "x" }));
  await using server = await connectOverSftp(workspace);
  const doctor = await workspace.run(`doctor --offline-ok ${SETTINGS}`);
  expect(doctor.stdout).toContain("the replica is complete up to 2026-01-01T00:00:00.000Z");
  rmSync(join(workspace.folder, "replica"), { recursive: true });
  const { stderr } = await workspace.run(`config check ${SETTINGS}`);
  expect(stderr).toContain("warning: the store has no files of this database");
  const { stdout } = await workspace.run(`config show --outgoing ${SETTINGS}`);
  expect(stdout).toContain(`sftp://127.0.0.1:${server.port}`);
});

test("STB-2 config check and doctor report a replica that does not advance", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeFileSync(
    join(workspace.data, "standby.json"),
    JSON.stringify({ term: "t00000001-bbbbbb", holder: "x" }),
  );
  rmSync(join(workspace.folder, "replica"), { recursive: true });
  const { stderr } = await workspace.run(`config check ${SETTINGS}`);
  expect(stderr).toContain("warning: the store has no files of this database; check that Litestream runs");
  const doctor = await workspace.run(`doctor --offline-ok ${SETTINGS}`);
  expect(doctor.stdout).toContain("the store has no files of this database");
  expect(doctor.stdout).toContain("the replica has not been restored for a test yet");
});
