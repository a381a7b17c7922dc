// `replica reset` on a database whose log has commits, with and without a program that reads the log.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { createInstallation, createWorkspace, type Workspace } from "../../../support/in-process.ts";

const databaseIn = ({ data }: Workspace): string => join(data, "quartermaster.db");

/** A program that has the database open, so that the log stays when a command ends. */
function openBeside(workspace: Workspace): Database {
  const database = new Database(databaseIn(workspace));
  database.run("PRAGMA wal_autocheckpoint=0");
  database.run("CREATE TABLE beside (text TEXT)");
  return database;
}

const logBytes = (workspace: Workspace): number => statSync(`${databaseIn(workspace)}-wal`).size;

test("STB-10 replica reset empties the log, unless a program reads it", async () => {
  using workspace = await createInstallation();
  using beside = openBeside(workspace);
  expect(logBytes(workspace)).toBeGreaterThan(0);
  const steps: Step[] = [];
  const run = async (line: string) => void steps.push({ line, ...(await workspace.run(line)) });
  beside.run("BEGIN");
  beside.query("SELECT * FROM beside").all();
  await run("replica reset");
  expect(logBytes(workspace)).toBeGreaterThan(0);
  beside.run("ROLLBACK");
  await run("replica reset --if-doubtful");
  expect(logBytes(workspace)).toBeGreaterThan(0);
  await run("replica reset");
  expect(logBytes(workspace)).toBe(0);
  await run("replica reset --if-doubtful --json");
  expectGolden("replica-reset", steps, new Map([[workspace.folder, "<folder>"]]));
});

test.each(["server.lock.holder", "forwarding.lock.holder"])(
  "STB-10 replica reset --if-doubtful empties the log if a killed process left %s, and keeps a commit that only the log has",
  async (left) => {
    using workspace = await createInstallation();
    using beside = openBeside(workspace);
    const index = `${databaseIn(workspace)}-shm`;
    const before = readFileSync(index).subarray(0, 96);
    beside.run("INSERT INTO beside VALUES ('cut off')");
    writeFileSync(index, Buffer.concat([before, readFileSync(index).subarray(96)]));
    writeFileSync(join(workspace.data, left), "process 1, since 2026-01-01T00:00:00.000Z\n");
    const { stdout } = await workspace.run("replica reset --if-doubtful");
    expect(stdout).toContain("complete copy");
    expect(logBytes(workspace)).toBe(0);
    expect(beside.query("SELECT text FROM beside").all()).toEqual([{ text: "cut off" }]);
  },
);

test("STB-10 replica reset --if-doubtful empties the log while the replica is in doubt", async () => {
  using workspace = await createInstallation();
  using _beside = openBeside(workspace);
  const own = { term: "t00000001-aaaaaa", holder: "a", doubtful_since: "2026-01-01T00:00:00.000Z" };
  writeFileSync(join(workspace.data, "standby.json"), JSON.stringify(own));
  await workspace.run("replica reset --if-doubtful");
  expect(logBytes(workspace)).toBe(0);
});

test("STB-10 replica reset says that the settings have no replica, and does its work", async () => {
  using workspace = await createInstallation();
  using _beside = openBeside(workspace);
  const run = (replicated: string) =>
    workspace.run("replica reset", { env: { QUARTERMASTER_DATABASE_REPLICATED: replicated } });
  expect((await run("no")).stderr).toContain("no replica is set here");
  expect(logBytes(workspace)).toBe(0);
  expect((await run("yes")).stderr).toBe("");
});

test("STB-10 replica reset names a missing database, and --if-doubtful has nothing to do", async () => {
  using workspace = createWorkspace();
  expect(await workspace.run("replica reset")).toMatchObject({ exitCode: 3 });
  expect(await workspace.run("replica reset --if-doubtful")).toMatchObject({ exitCode: 0 });
});
