// A data directory that lost its database is not a new one: every start is refused with instructions to restore the
// data. After a first start that was killed, the next start continues with the installation.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type SetupOptions, setUp } from "../../../src/app/installation/setup.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { holdsInstallation } from "../../../src/platform/database/maintenance/database-owner.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import {
  CHEAP,
  createInstallation,
  createWorkspace,
  runHere,
  type Workspace,
} from "../../support/in-process.ts";
import { temporaryDirectory } from "../../support/world.ts";

let workspace: Workspace;

beforeEach(async () => {
  workspace = await createInstallation();
});
afterEach(() => workspace[Symbol.dispose]());

const database = (): string => join(workspace.data, "quartermaster.db");
const marker = (): string => join(workspace.data, "installation.json");
const markerText = (): string => readFileSync(marker(), "utf8");

function loseDatabase(): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(database() + end, { force: true });
}

/** @returns the refusal under `--json`; undefined if the command succeeded */
async function refusalOf(
  line: string,
): Promise<{ reason: string; hint: string; exit_code: number } | undefined> {
  const { stderr, exitCode } = await workspace.run(`${line} --json`);
  return exitCode === 0 ? undefined : JSON.parse(stderr.trim().split("\n").at(-1) ?? "");
}

const reasonOf = async (line: string): Promise<string | undefined> => (await refusalOf(line))?.reason;

const START = "setup --bootstrap-admin-email root@example.org";

describe("a lost database", () => {
  test("is detected by a marker that exists from the first start and is readable only by the owner", async () => {
    const [organization] = new Database(database()).query("SELECT id FROM organizations").values()[0] ?? [];
    expect(JSON.parse(markerText())).toEqual({
      organization_id: organization,
      created_at: "2026-01-01T00:00:00.000Z",
    });
    expect(statSync(marker()).mode & 0o777).toBe(0o600);
  });

  test("is not replaced by serve, setup or any command, and each names the newest backup and the restore command", async () => {
    await workspace.json("backup create");
    workspace.clock.advance(1_000);
    const { path } = await workspace.json("backup create");
    loseDatabase();
    const command = `quartermaster backup restore ${path} --data-dir ${workspace.data} --confirm data`;
    for (const line of [
      "serve --server-listen 127.0.0.1:0",
      START,
      `${START} --dry-run`,
      "users list",
      "doctor",
    ]) {
      const { stderr, exitCode } = await workspace.run(line);
      expect([line, exitCode]).toEqual([line, 4]);
      expect(stderr).toContain(`is missing or empty, but installation.json shows that one existed`);
      expect(stderr).toContain(command);
    }
    expect(existsSync(database())).toBe(false);
    await workspace.json(command.replace("quartermaster ", "").replace(` --data-dir ${workspace.data}`, ""));
    expect(await reasonOf("users list")).toBeUndefined();
  });

  test.each([
    ["was truncated to zero bytes", () => truncateSync(database(), 0)],
    [
      "has no organization any more",
      () => {
        loseDatabase();
        new Database(database(), { create: true }).run("CREATE TABLE organizations (id, created_at_ms)");
      },
    ],
  ])("is also detected if the file %s", async (_, lose) => {
    loseDatabase();
    writeFileSync(database(), "");
    lose();
    expect(await reasonOf(START)).toBe("data_dir.database_lost");
  });

  test("is detected by a backup alone if there is no marker, even in another folder", async () => {
    const folder = join(workspace.folder, "elsewhere");
    mkdirSync(folder);
    const { path } = await workspace.json(`backup create ${folder}/`);
    rmSync(workspace.data, { recursive: true });
    expect(await refusalOf(`${START} --backup-directory ${folder}`)).toMatchObject({
      reason: "data_dir.database_lost",
      hint: expect.stringContaining(String(path)),
    });
    expect(existsSync(workspace.data)).toBe(false);
    expect(await reasonOf(START)).toBeUndefined();
  });

  test("is reported with a backup from the future only if there is no other, and never with a foreign one", async () => {
    const { path } = await workspace.json("backup create");
    workspace.clock.advance(1_000_000);
    const { path: future } = await workspace.json("backup create");
    workspace.clock.advance(-500_000);
    loseDatabase();
    expect((await refusalOf(START))?.hint).toContain(String(path));
    rmSync(String(path));
    expect((await refusalOf(START))?.hint).toContain(String(future));
    writeFileSync(marker(), JSON.stringify({ organization_id: "another", created_at: "" }));
    expect((await refusalOf(START))?.hint).toStartWith("restore the database from");
  });

  test("can be replaced by a new installation on request", async () => {
    await workspace.json("backup create");
    const before = markerText();
    loseDatabase();
    expect(await reasonOf(`${START} --new --dry-run`)).toBeUndefined();
    expect(markerText()).toBe(before);
    expect(await reasonOf(`${START} --new`)).toBeUndefined();
    expect(markerText()).not.toBe(before);
    expect(await reasonOf("users list")).toBeUndefined();
  });

  test("is not assumed if the database exists, so that --new changes nothing", async () => {
    const before = markerText();
    expect(await workspace.json(`${START} --new`)).toEqual({ changed: false, steps: [] });
    expect(markerText()).toBe(before);
  });
});

describe("the marker", () => {
  test("is written at the next start of an installation without one", async () => {
    const before = markerText();
    rmSync(marker());
    expect(await reasonOf("users list")).toBeUndefined();
    expect(await workspace.json(START)).toMatchObject({ steps: [`write ${marker()}`] });
    expect(markerText()).toBe(before);
  });

  test("counts even if unreadable, and is rewritten while the database exists", async () => {
    const before = markerText();
    writeFileSync(marker(), "{");
    await setUpIn(workspace.data);
    expect(JSON.parse(markerText()).organization_id).toBe(JSON.parse(before).organization_id);
    writeFileSync(marker(), "");
    loseDatabase();
    expect(await reasonOf(START)).toBe("data_dir.database_lost");
  });

  test("is updated by a restore into an empty directory and by one from another organization", async () => {
    const { path } = await workspace.json("backup create");
    const { organization_id } = JSON.parse(markerText());
    using other = createWorkspace();
    mkdirSync(other.data, { mode: 0o700 });
    await other.json(`backup restore ${path}`);
    const restored = join(other.data, "installation.json");
    expect(JSON.parse(readFileSync(restored, "utf8")).organization_id).toBe(organization_id);
    writeFileSync(restored, JSON.stringify({ organization_id: "another", created_at: "" }));
    rmSync(join(other.data, "quartermaster.db"));
    await other.json(`backup restore ${path}`);
    expect(JSON.parse(readFileSync(restored, "utf8")).organization_id).toBe(organization_id);
  });
});

const setUpIn = (dataDir: string, { clock = systemClock, ids = systemIds }: Partial<Given> = {}) =>
  setUp({
    config: loadConfig({
      flags: { dataDir, bootstrapAdminPassword: "correct horse battery" },
      env: {},
      cwd: dataDir,
    }),
    clock,
    ids,
    passwordCost: CHEAP.passwordCost,
    baseUrl: () => "",
    onBootstrap: () => {},
  });
type Given = Pick<SetupOptions, "clock" | "ids">;

/** @returns the names and sizes of all files; after most steps they are the same as before */
const stateOf = (data: string): string =>
  readdirSync(data, { recursive: true, withFileTypes: true })
    .map(({ parentPath, name }) => `${name} ${statSync(join(parentPath, name)).size}`)
    .sort()
    .join("\n");

/**
 * Runs a first start and copies its files at each step, as a kill at that moment would leave them. A step is each request for the
 * time, an id or random bytes, which occur in every part of the start.
 * @returns the copies that differ, in their order
 */
async function stepsOfFirstStart(folder: string): Promise<string[]> {
  const data = join(folder, "data");
  const copies = new Map<string, string>();
  const step = <T>(response: T): T => {
    const state = existsSync(data) ? stateOf(data) : "";
    const copy = join(folder, `step-${copies.size}`);
    if (!copies.has(state) && state !== "") cpSync(data, copy, { recursive: true });
    if (!copies.has(state)) copies.set(state, copy);
    return response;
  };
  await setUpIn(data, {
    clock: { nowMs: () => step(systemClock.nowMs()) },
    ids: { uuid: () => step(systemIds.uuid()), bytes: (length) => step(systemIds.bytes(length)) },
  });
  step(undefined);
  return [...copies.values()];
}

describe("a killed first start", () => {
  test("leaves no marker without a database at any step, and the next start succeeds", async () => {
    const folder = temporaryDirectory();
    const copies = await stepsOfFirstStart(folder);
    for (const path of copies) {
      const directory = placesIn(path);
      if (existsSync(directory.marker)) expect(holdsInstallation(directory.database)).toBe(true);
      await setUpIn(path);
      expect(existsSync(directory.marker)).toBe(true);
    }
    expect(copies.length).toBeGreaterThan(5);
    rmSync(folder, { recursive: true });
  });

  test("rolls back the journal of a start that was killed while SQLite wrote the first pages", async () => {
    const data = join(workspace.folder, "journal");
    mkdirSync(data, { mode: 0o700 });
    const script = `
      const db = new (require("bun:sqlite").Database)(${JSON.stringify(join(data, "quartermaster.db"))});
      db.run("CREATE TABLE filler (text)");
      db.run("PRAGMA cache_size=1");
      db.run("BEGIN");
      for (let row = 0; row < 100; row++) db.run("INSERT INTO filler VALUES (hex(randomblob(2000)))");
      process.kill(process.pid, "SIGKILL");`;
    await Bun.spawn([process.execPath, "-e", script]).exited;
    expect(statSync(join(data, "quartermaster.db-journal")).size).toBeGreaterThan(0);
    const { stderr, exitCode } = await runHere([...START.split(" "), "--data-dir", data], { cwd: data });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Set up")]);
  });

  test("overwrites the partial marker of a start that was killed while it wrote it", async () => {
    const whole = markerText();
    for (const part of ["", whole.slice(0, 10), whole]) {
      rmSync(marker(), { force: true });
      writeFileSync(`${marker()}.partial`, part);
      await setUpIn(workspace.data);
      expect(existsSync(`${marker()}.partial`)).toBe(false);
      expect(JSON.parse(markerText()).organization_id).toBe(JSON.parse(whole).organization_id);
    }
  });
});
