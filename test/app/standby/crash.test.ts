// What the service does about its replica after it was killed: doubts it, and proves it soon.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performTask } from "../../../src/app/backup/perform-task.ts";
import { findOwnTerm } from "../../../src/app/standby/own-term.ts";
import { isReplicaDoubtful } from "../../../src/app/standby/replica/reset.ts";
import { folderReplica } from "../../../src/app/standby/replica-store.ts";
import { checkRestore } from "../../../src/app/standby/restore-check.ts";
import { openStandby } from "../../../src/app/standby/service-standby.ts";
import { RESTORE_CHECK_JOB, RestoreCheck, watchReplica } from "../../../src/app/standby/watch.ts";
import { AuditLog } from "../../../src/domain/audit/log.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { hasCrashed, lockForServer, placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import type { Job } from "../../../src/platform/scheduler/scheduler.ts";
import { createInstallation, type Workspace } from "../../support/in-process.ts";
import { connect, FIRST } from "../../support/installed/installed-replica.ts";

const OWN = { term: FIRST, holder: "this machine" };
const NO_AUDIT = { record: () => {}, recordAll: () => {} };

function partsOf(workspace: Workspace) {
  const { folder, clock, data } = workspace;
  const config = loadConfig({ flags: { config: "standby.yaml", dataDir: data }, env: {}, cwd: folder });
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line), clock });
  return { config, clock, ids: systemIds, log, lines, directory: placesIn(data) };
}

const writeTerm = ({ data }: Workspace, more: object = {}): void =>
  writeFileSync(join(data, "standby.json"), JSON.stringify({ ...OWN, ...more }));

test("STB-10 a killed server leaves its record, and one that ends does not", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  const { directory, clock } = partsOf(workspace);
  const lock = lockForServer(directory, clock);
  expect(hasCrashed(directory)).toBe(false);
  lock.release();
  expect(hasCrashed(directory)).toBe(false);
  writeFileSync(join(workspace.data, "server.lock.holder"), "process 1, since 2026-01-01T00:00:00.000Z\n");
  expect(hasCrashed(directory)).toBe(true);
  expect(isReplicaDoubtful(directory)).toBe(true);
});

test.each([true, false])(
  "STB-10 a start doubts the replica only after a crash (%p)",
  async (isAfterCrash) => {
    using workspace = await createInstallation();
    connect(workspace, workspace);
    writeTerm(workspace);
    const { directory, lines, ...start } = partsOf(workspace);
    await using undo = new AsyncDisposableStack();
    await openStandby(directory, { ...start, undo, isAfterCrash });
    expect(findOwnTerm(directory)?.doubtful_since !== undefined).toBe(isAfterCrash);
    const said = lines.filter((line) => line.includes("standby.replica_doubtful"));
    expect(said).toHaveLength(isAfterCrash ? 1 : 0);
    for (const line of said) {
      expect(line).toContain(`quartermaster replica reset --config ${workspace.folder}/standby.yaml`);
      expect(line).toContain(`--data-dir ${workspace.data}`);
    }
  },
);

function jobOf(workspace: Workspace): Job | undefined {
  const { directory, ...parts } = partsOf(workspace);
  const jobs: Job[] = [];
  const scheduler = { register: (job: Job) => void jobs.push(job) };
  const auditLog = { entryAfter: () => undefined };
  watchReplica(scheduler, { ...parts, directory, auditLog, term: FIRST, store: undefined, onTakenOver() {} });
  return jobs.find(({ name }) => name === RESTORE_CHECK_JOB);
}

test("STB-10 the test restore is due at the start while the replica is in doubt", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace);
  expect(jobOf(workspace)).not.toHaveProperty("runsAtStart");
  writeTerm(workspace, { doubtful_since: "2026-01-01T00:00:00.000Z" });
  expect(jobOf(workspace)).toMatchObject({ runsAtStart: true });
});

test("STB-10 a failed test restore puts the replica in doubt, and a successful one ends the doubt", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace);
  const { directory } = partsOf(workspace);
  const replica = join(workspace.folder, "source.db");
  const sound = readFileSync(replica);
  const job = jobOf(workspace);
  writeFileSync(replica, "not a database");
  await expect(job?.run(new AbortController().signal)).rejects.toThrow();
  expect(isReplicaDoubtful(directory)).toBe(true);
  writeFileSync(replica, sound);
  await job?.run(new AbortController().signal);
  expect(isReplicaDoubtful(directory)).toBe(false);
  expect(existsSync(directory.standby)).toBe(true);
});

test("STB-10 a doubtful replica that does not catch up fails the test restore", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace, { doubtful_since: "2026-01-01T00:00:00.000Z" });
  const { directory } = partsOf(workspace);
  using beside = new Database(directory.database);
  beside.query("SELECT 1 FROM users").get(); // opens the file, so that the log stays
  await workspace.json("users create late@example.org --role member");
  const folder = join(workspace.folder, "an empty place");
  const options = { ...partsOf(workspace), store: folderReplica(folder, "file://replica"), term: FIRST };
  const stop = new AbortController().signal;
  const check = new RestoreCheck(
    { ...options, auditLog: { entryAfter: () => undefined }, onTakenOver() {} },
    [],
  );
  await expect(check.run(stop)).rejects.toMatchObject({ reason: "standby.replica_behind" });
  expect(isReplicaDoubtful(directory)).toBe(true);
});

test("STB-10 a replica whose last audit entry is another one fails the test restore", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  const { directory, ...parts } = partsOf(workspace);
  await using db = { ...openAudit(workspace), [Symbol.asyncDispose]: () => opened.close() };
  const opened = db.db;
  const auditLog = {
    entryAfter: (id: number) => {
      const found = db.log.entryAfter(id);
      return found && { ...found, digest: "0".repeat(64) };
    },
  };
  const check = checkRestore({ ...parts, directory, term: FIRST, auditLog, perform: performTask });
  await expect(check).rejects.toMatchObject({ kind: "unverified", reason: "standby.replica_differs" });
});

function openAudit({ data, clock }: Workspace) {
  const db = openDatabase(placesIn(data).database, { replicated: true });
  return { db, log: new AuditLog({ db, clock, audit: NO_AUDIT }) };
}
