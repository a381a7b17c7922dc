// What the service does about its replica after it was killed: doubts it, and proves it soon.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performTask } from "../../../src/app/backup/perform-task.ts";
import { lockProxyListener } from "../../../src/app/service/divided/division.ts";
import { startService } from "../../../src/app/service/service.ts";
import { findOwnTerm, trustReplica } from "../../../src/app/standby/own-term.ts";
import { isReplicaDoubtful } from "../../../src/app/standby/replica/reset.ts";
import { folderReplica, type ReplicaStore } from "../../../src/app/standby/replica-store.ts";
import { checkRestore } from "../../../src/app/standby/restore-check.ts";
import { followCrash } from "../../../src/app/standby/service-standby.ts";
import {
  RESTORE_CHECK_JOB,
  RestoreCheck,
  type WatchOptions,
  watchReplica,
} from "../../../src/app/standby/watch.ts";
import { AuditLog } from "../../../src/domain/audit/log.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { hasCrashed, lockForServer, placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import type { Job } from "../../../src/platform/scheduler/scheduler.ts";
import { createInstallation, type Workspace } from "../../support/in-process.ts";
import { connect, FIRST } from "../../support/installed/installed-replica.ts";

const OWN = { term: FIRST, holder: "this machine" };
const NO_LOG: Pick<AuditLog, "entryAfter"> = { entryAfter: () => undefined };
const NO_AUDIT = { record: () => {}, recordAll: () => {} };

function partsOf(workspace: Workspace, settings?: string) {
  const { folder, clock, data } = workspace;
  if (settings !== undefined) writeFileSync(join(folder, "standby.yaml"), settings);
  const config = loadConfig({ flags: { config: "standby.yaml", dataDir: data }, env: {}, cwd: folder });
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line), clock });
  return { config, clock, ids: systemIds, log, lines, directory: placesIn(data) };
}

/** A killed process leaves its record beside the lock file. */
function leaveRecord({ data }: Workspace, lock: "server" | "forwarding"): void {
  writeFileSync(join(data, `${lock}.lock`), "");
  writeFileSync(join(data, `${lock}.lock.holder`), "process 1, since 2026-01-01T00:00:00.000Z\n");
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
  leaveRecord(workspace, "server");
  expect(hasCrashed(directory)).toBe(true);
  expect(isReplicaDoubtful(directory)).toBe(true);
});

test("STB-10 the replica is doubted after a crash", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace);
  const { directory, lines, ...start } = partsOf(workspace);
  followCrash(directory, start);
  expect(findOwnTerm(directory)).toHaveProperty("doubtful_since");
  const said = lines.filter((line) => line.includes("standby.replica_doubtful"));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(`quartermaster replica reset --config ${workspace.folder}/standby.yaml`);
  expect(said[0]).toContain(`--data-dir ${workspace.data}`);
  followCrash(directory, { ...start, clock: { nowMs: () => start.clock.nowMs() + 1 } });
  expect(findOwnTerm(directory)?.doubtful_since).toBe(toRfc3339(start.clock.nowMs()));
});

test("STB-10 a crash causes no doubt while the settings have no replica", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace);
  const { directory, lines, ...start } = partsOf(workspace, "data_dir: data\n");
  followCrash(directory, start);
  expect([findOwnTerm(directory), lines]).toEqual([OWN, []]);
});

test.each([true, false])(
  "STB-10 a start doubts the replica only after a crash (%p), even if the start fails",
  async (isAfterCrash) => {
    using workspace = await createInstallation();
    connect(workspace, workspace);
    writeTerm(workspace);
    using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const settings = readFileSync(join(workspace.folder, "standby.yaml"), "utf8");
    const { lines, ...parts } = partsOf(
      workspace,
      `${settings}server: {listen: "127.0.0.1:${taken.port}"}\n`,
    );
    if (isAfterCrash) leaveRecord(workspace, "server");
    await expect(startService({ ...parts, onBootstrap() {} })).rejects.toMatchObject({
      reason: expect.stringMatching(/^listen\./),
    });
    expect(hasCrashed(parts.directory)).toBe(false);
    expect(isReplicaDoubtful(parts.directory)).toBe(isAfterCrash);
  },
);

test("STB-10 the record of a killed forwarding process ends with the start of a service without one", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  const { directory, config, clock } = partsOf(workspace);
  leaveRecord(workspace, "forwarding");
  expect(hasCrashed(directory)).toBe(true);
  lockProxyListener(directory, { config, clock })();
  expect(hasCrashed(directory)).toBe(false);
});

function jobsOf(workspace: Workspace, { auditLog = NO_LOG, store }: Partial<WatchOptions> = {}): Job[] {
  const { directory, ...parts } = partsOf(workspace);
  const jobs: Job[] = [];
  const scheduler = { register: (job: Job) => void jobs.push(job) };
  watchReplica(scheduler, { ...parts, directory, auditLog, term: FIRST, store, onTakenOver() {} });
  return jobs;
}

const jobOf = (workspace: Workspace, auditLog = NO_LOG): Job | undefined =>
  jobsOf(workspace, { auditLog }).find(({ name }) => name === RESTORE_CHECK_JOB);

test("STB-2 a replica is watched if the service can read it, and always restored for a test", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  const namesWith = (store: ReplicaStore | undefined) => jobsOf(workspace, { store }).map(({ name }) => name);
  expect(namesWith(undefined)).toEqual([RESTORE_CHECK_JOB]);
  const readable = folderReplica(join(workspace.folder, "replica"), "file://replica");
  expect(namesWith(readable)).toEqual(["replica-watch", RESTORE_CHECK_JOB]);
});

test("STB-10 the test restore is due once for each doubt, also one that the forwarding process records later", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace);
  const { directory, ...parts } = partsOf(workspace);
  await using audit = openAudit(workspace);
  const watched = { auditLog: audit.log, term: FIRST, store: undefined, onTakenOver() {} };
  const check = new RestoreCheck({ ...parts, ...watched, directory }, []);
  const due = () => [jobOf(workspace)?.isUrgent?.(), check.isUrgent];
  expect(due()).toEqual([false, false]);
  leaveRecord(workspace, "forwarding");
  expect(hasCrashed(directory)).toBe(true);
  followCrash(directory, parts);
  expect(due()).toEqual([true, true]);
  const replica = join(workspace.folder, "source.db");
  const sound = readFileSync(replica);
  writeFileSync(replica, "not a database");
  await expect(check.run(new AbortController().signal)).rejects.toThrow();
  expect(due()).toEqual([true, false]);
  writeFileSync(replica, sound);
  await check.run(new AbortController().signal);
  expect(due()).toEqual([false, false]);
  followCrash(directory, { ...parts, clock: { nowMs: () => parts.clock.nowMs() + 1 } });
  expect(due()).toEqual([true, true]);
});

test("STB-10 a test restore does not end a doubt that began during it", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace, { doubtful_since: "2026-01-01T00:00:01.000Z" });
  const { directory } = partsOf(workspace);
  trustReplica(directory, "2026-01-01T00:00:00.000Z");
  expect(findOwnTerm(directory)?.doubtful_since).toBe("2026-01-01T00:00:01.000Z");
  trustReplica(directory, "2026-01-01T00:00:01.000Z");
  expect(findOwnTerm(directory)?.doubtful_since).toBeUndefined();
});

test("STB-10 a failed test restore puts the replica in doubt, and a successful one ends the doubt", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  writeTerm(workspace);
  const { directory } = partsOf(workspace);
  const replica = join(workspace.folder, "source.db");
  const sound = readFileSync(replica);
  await using audit = openAudit(workspace);
  const job = jobOf(workspace, audit.log);
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
  const check = new RestoreCheck({ ...options, auditLog: NO_LOG, onTakenOver() {} }, []);
  await expect(check.run(stop)).rejects.toMatchObject({ reason: "standby.replica_behind" });
  expect(isReplicaDoubtful(directory)).toBe(true);
});

test.each(["another digest", "no entry", "a later entry"])(
  "STB-10 the last audit entry of the restored replica is compared with the database, which has %s",
  async (case_) => {
    using workspace = await createInstallation();
    connect(workspace, workspace);
    const { directory, ...parts } = partsOf(workspace);
    await using audit = openAudit(workspace);
    const auditLog = {
      entryAfter: (id: number) => {
        const found = audit.log.entryAfter(id);
        if (found === undefined || case_ === "no entry") return undefined;
        return { ...found, digest: "0".repeat(64), id: case_ === "a later entry" ? found.id + 1 : found.id };
      },
    };
    const check = checkRestore({ ...parts, directory, term: FIRST, auditLog, perform: performTask });
    if (case_ === "a later entry")
      await check; // retention has removed the entry
    else
      await expect(check).rejects.toMatchObject({
        kind: "unverified",
        reason: "standby.replica_differs",
        message: "the database does not contain the audit entry 3 of the restored replica",
      });
  },
);

function openAudit({ data, clock }: Workspace) {
  const db = openDatabase(placesIn(data).database, { replicated: true });
  const log = new AuditLog({ db, clock, audit: NO_AUDIT });
  return { log, [Symbol.asyncDispose]: () => db.close() };
}
