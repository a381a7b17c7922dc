// Restoring a backup: replaced, kept and refused data. A restore that is interrupted at any moment leaves one complete
// database. test/cli/golden has the exact output.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { processContext } from "../../../cli/context.ts";
import { registerReplacedJob } from "../../../src/app/backup/jobs.ts";
import { removeReplacedDatabases } from "../../../src/app/backup/replaced-databases.ts";
import { readManifest } from "../../../src/domain/backup/unpack.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { REPLACED_KEPT_DAYS } from "../../../src/platform/config/settings/service.ts";
import {
  assertPassphraseLength,
  decryptKeys,
  encryptKeys,
  PASSPHRASE_LENGTH_MIN,
} from "../../../src/platform/crypto/key-file.ts";
import { lockForServer, placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { finishSwap, stagingIn, swapIn } from "../../../src/platform/database/maintenance/data-swap.ts";
import { programSchema, restoreCommand } from "../../../src/platform/database/schema/schema.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../src/platform/scheduler/scheduler.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { changeManifest } from "../../support/content/backup-files.ts";
import { copyOf, createInstallation, runHere, type Workspace } from "../../support/in-process.ts";
import { inInstallation, logInOn } from "../../support/installed/installed-login.ts";
import { makeOlder, OLDER_SCHEMA } from "../../support/installed/older-installation.ts";

/**
 * Each test works on a copy of one installation. A process that had a database open keeps connections to it in its compiled
 * statements, and a restore is refused while a connection exists.
 */
let master: Workspace;
let workspace: Workspace;
/** made when root@example.org was the only user */
let backup: string;

const BACKUP = "backups/backup-20260101T000000Z.qmb";
const BEFORE = ["root@example.org"];
const AFTER = ["later@example.org", "root@example.org"];
const restore = "--confirm data";

beforeAll(async () => {
  master = await createInstallation();
  await master.json("backup create");
  await master.json("users create later@example.org --role member");
});
afterAll(() => master[Symbol.dispose]());
beforeEach(() => {
  takeCopyOf(master);
});
afterEach(() => workspace[Symbol.dispose]());

/** Continues with a copy of the installation; `backup` is its backup. */
function moveToCopy(): void {
  using used = workspace;
  takeCopyOf(used);
}

function takeCopyOf(other: Workspace): void {
  workspace = copyOf(other);
  backup = join(workspace.data, BACKUP);
}

function emails(): unknown[] {
  using connection = openConnection(join(workspace.data, "quartermaster.db"), { readonly: true });
  return connection.query("SELECT email FROM users ORDER BY email").values().flat();
}

/** @returns exit code, and the reason of the refusal */
async function outcomeOf(line: string): Promise<string> {
  const { stderr, exitCode } = await workspace.run(`${line} --json`);
  const said = stderr.trim().split("\n").at(-1) ?? "";
  return exitCode === 0 ? "0" : `${exitCode} ${JSON.parse(said).reason}`;
}

const names = (): string[] => readdirSync(workspace.data).filter((name) => /^(restor|replaced)/.test(name));

/** Changes the database like another program. */
function change(sql: string, file = join(workspace.data, "quartermaster.db")): void {
  using database = new Database(file, { readwrite: true });
  database.run(sql);
}

describe("a restore", () => {
  test("DAT-4 restores the backup, keeps the former data, and its undo command restores that", async () => {
    const { undo, replaced } = await workspace.json(`backup restore ${backup} ${restore}`);
    expect(emails()).toEqual(BEFORE);
    expect(readdirSync(String(replaced))).toEqual(["quartermaster.db"]);
    const [, file] =
      /^quartermaster backup restore (\S+) --data-dir \S+ --confirm data$/.exec(String(undo)) ?? [];
    const name = String(replaced).split("/").at(-1) ?? "";
    expect(file).toBe(join(workspace.data, name, "quartermaster.db"));
    moveToCopy();
    await workspace.json(`backup restore ${join(workspace.data, name, "quartermaster.db")} ${restore}`);
    expect(emails()).toEqual(AFTER);
    expect(names()).toHaveLength(2);
  });

  test("DAT-4 leaves no write-ahead log of the former database beside the new one", async () => {
    for (const end of ["-wal", "-shm"]) {
      const path = join(workspace.data, `quartermaster.db${end}`);
      rmSync(path, { force: true }); // a connection of this process may still have the file mapped
      writeFileSync(path, "");
    }
    await workspace.json(`backup restore ${backup} ${restore}`);
    expect(readdirSync(workspace.data).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  });

  test("works for a damaged database and sets all of it aside", async () => {
    rmSync(join(workspace.data, "quartermaster.db"));
    writeFileSync(join(workspace.data, "quartermaster.db"), "not a database any more");
    const { replaced } = await workspace.json(`backup restore ${backup} ${restore}`);
    expect(emails()).toEqual(BEFORE);
    expect(readFileSync(join(String(replaced), "quartermaster.db"), "utf8")).toStartWith("not a database");
  });

  test("is recorded in the audit log of the restored database, whose chain stays valid", async () => {
    await workspace.json(`backup restore ${backup} ${restore} --revoke-logins`);
    const { stdout } = await workspace.run("audit list --json");
    const { created_at, database } = readManifest(backup);
    const [revoked, restored] = JSON.parse(stdout).items;
    expect([revoked.action, restored.action]).toEqual(["logins.revoke_all", "backup.restore"]);
    expect(restored.after).toEqual({ created_at, database_sha256: database.sha256 });
    expect((await workspace.run("audit verify")).exitCode).toBe(0);
  });

  test("DAT-5 restore --revoke-logins ends every login in the backup", async () => {
    await logInOn(workspace);
    await workspace.json("backup create logins.qmb");
    moveToCopy();
    const { revoked } = await workspace.json(`backup restore logins.qmb ${restore} --revoke-logins`);
    expect(revoked).toEqual({ login_sessions: 1, grants: 1, device_logins: 1, password_links: 0 });
    const { items } = await workspace.json("logins list");
    expect(JSON.stringify(items)).not.toMatch(/"(active|pending|approved)"/);
  });

  test("restores artifacts, including one damaged and one lost since the backup", async () => {
    cpSync(join(import.meta.dir, "../../../src/domain/catalog/example"), workspace.folder, {
      recursive: true,
    });
    await workspace.json("catalog seed catalog.yaml");
    await workspace.json("backup create artifacts.qmb");
    moveToCopy();
    const shards = join(workspace.data, "artifacts/sha256");
    const [damaged = "", lost = ""] = readdirSync(shards);
    for (const name of readdirSync(join(shards, damaged)))
      writeFileSync(join(shards, damaged, name), "damaged");
    rmSync(join(shards, lost), { recursive: true });
    await workspace.json(`backup restore artifacts.qmb ${restore}`);
    expect(await outcomeOf("catalog verify")).toBe("0");
    expect(statSync(join(shards, lost)).mode & 0o777).toBe(0o700);
  });

  test("DAT-6 migrates a backup of an older schema to the schema of the program", async () => {
    makeOlder(workspace.data, workspace.clock);
    expect(await workspace.json("backup create older.qmb")).toMatchObject({ schema: OLDER_SCHEMA });
    moveToCopy();
    const restored = await workspace.json(`backup restore older.qmb ${restore}`);
    expect(restored).toMatchObject({ schema: programSchema() });
    expect(emails()).toEqual(AFTER);
  });

  test("DAT-6 reports that the copy from before an upgrade is upgraded again, and how to downgrade", async () => {
    makeOlder(workspace.data, workspace.clock);
    const made = await workspace.json("migrate up");
    moveToCopy();
    const copy = join(workspace.data, "backups", basename(String(made.copy)));
    const way = `schema ${OLDER_SCHEMA} will be upgraded to ${programSchema()}, which version development cannot open. To go back to version development, install its executable and run: quartermaster backup restore ${copy} --data-dir ${workspace.data} --confirm data`;
    const { details } = await workspace.json(`backup restore ${copy} --dry-run`);
    expect(details).toContainEqual(`Its ${way}`);
    const { stdout, stderr } = await workspace.run(`backup restore ${copy} ${restore} --json`);
    expect(JSON.parse(stdout)).toMatchObject({ schema: programSchema(), upgraded_from: OLDER_SCHEMA });
    expect(stderr).toContain(way);
  });

  test("does not create a data directory on its own", async () => {
    const elsewhere = join(workspace.folder, "elsewhere");
    const line = `backup restore ${backup} --json --data-dir ${elsewhere}`;
    const run = (more: string) =>
      runHere(`${line} ${more}`.trim().split(" "), {
        cwd: workspace.folder,
        clock: workspace.clock,
        ids: workspace.ids,
      });
    const plan = JSON.parse((await run("--dry-run")).stdout);
    expect(plan.action).toStartWith(`create the data directory ${elsewhere}, and restore into it the backup`);
    expect((await run("")).exitCode).toBe(2);
    expect((await run("--confirm other")).exitCode).toBe(2);
    expect(existsSync(elsewhere)).toBe(false);
    expect((await run("--confirm elsewhere")).exitCode).toBe(0);
    expect(existsSync(join(elsewhere, "quartermaster.db"))).toBe(true);
  });

  test("DAT-6 an upgrade by any command is reported with the copy that was made", async () => {
    makeOlder(workspace.data, workspace.clock);
    const upgraded = `upgraded the database from schema ${OLDER_SCHEMA} to ${programSchema()}; copy before the upgrade: `;
    const rename = "organization rename Other --yes";
    expect((await workspace.run(rename)).stderr).toStartWith(upgraded);
    expect((await workspace.run("users list")).stderr).toBe("");
  });

  test.each([
    ...["users list", "users show root@example.org", "identities list", "invitations list", "groups list"],
    ...["logins list", "clients list", "keys list", "signing-keys list", "sealing-keys list", "jobs list"],
    ...[
      "gateway models list",
      "gateway usage",
      "gateway logs list",
      "gateway logs export --jsonl --out days",
    ],
    ...["catalog list", "policy show", "policy history", "audit list", "audit verify", "organization show"],
    ...["scim status", "scim tokens list", "sso show", "organization rename Other --dry-run"],
  ])("DAT-6 `%s` upgrades nothing, and explains how to upgrade", async (line) => {
    makeOlder(workspace.data, workspace.clock);
    const { exitCode, stdout, stderr } = await workspace.run(line);
    expect([exitCode, stdout]).toEqual([4, ""]);
    expect(stderr).toContain(
      "start the service, or run `quartermaster migrate up`; then run this command again",
    );
    expect(await workspace.json("migrate status")).toMatchObject({ database_schema: OLDER_SCHEMA });
  });

  test("DAT-7 restores the copy that an upgrade made like a backup", async () => {
    makeOlder(workspace.data, workspace.clock);
    const leftOver = join(workspace.data, "backups/before-upgrade-schema-1.db.999999999.partial-journal");
    writeFileSync(leftOver, "of an upgrade that was killed");
    const { copy } = await workspace.json("migrate up");
    expect(existsSync(leftOver)).toBe(false);
    moveToCopy();
    change("UPDATE users SET email = 'changed@example.org'");
    await workspace.json(
      `backup restore ${join(workspace.data, "backups", basename(String(copy)))} ${restore}`,
    );
    expect(emails()).toEqual(AFTER);
  });
});

test("DAT-4 the undo command is quoted for a shell for any folder name", () => {
  const command = restoreCommand("/srv/a backup.db", "/srv/it's");
  const { stdout } = Bun.spawnSync(["sh", "-c", `quartermaster() { printf '%s\\n' "$@"; }; ${command}`]);
  expect(stdout.toString().trim().split("\n")).toEqual([
    "backup",
    "restore",
    "/srv/a backup.db",
    "--data-dir",
    "/srv/it's",
    "--confirm",
    "it's",
  ]);
});

describe("a restore is refused", () => {
  afterEach(() => {
    expect(emails()).toEqual(AFTER);
    expect(names()).toEqual([]);
  });

  test("DAT-4 refuses a restore while the service runs", async () => {
    const lock = lockForServer(placesIn(workspace.data), workspace.clock);
    expect(await outcomeOf(`backup restore ${backup} ${restore}`)).toBe("4 data_dir.in_use");
    const { details } = await workspace.json(`backup restore ${backup} --dry-run`);
    expect(details).toContain("A service is running on this directory. Stop it first.");
    lock.release();
  });

  test("DAT-8 refuses a restore while another program such as replication has the database open", async () => {
    using other = openConnection(join(workspace.data, "quartermaster.db"), { readonly: true });
    other.query("SELECT count(*) FROM users").get();
    expect(await outcomeOf(`backup restore ${backup} ${restore}`)).toBe("6 data_dir.busy");
  });

  test("DAT-5 refuses a backup of a newer program and names that version", async () => {
    const path = backup;
    changeManifest(path, (text) =>
      text.replace(`"schema": ${programSchema()}`, '"schema": 999').replace("development", "9.1.0-rc.1."),
    );
    expect(await outcomeOf(`backup restore ${path} ${restore}`)).toBe("4 schema.newer");
    const { stderr } = await workspace.run(`backup restore ${path} ${restore}`);
    expect(stderr).toContain("restore it with version 9.1.0-rc.1. or newer");
  });

  test("DAT-4 refuses a damaged backup without any change", async () => {
    const bytes = readFileSync(backup);
    bytes[200_000] = (bytes[200_000] ?? 0) ^ 1;
    writeFileSync(backup, bytes);
    expect(await outcomeOf(`backup restore ${backup} ${restore}`)).toBe("7 backup.damaged");
  });

  test("CLI-8 refuses a restore without the name of the replaced installation or with a different name", async () => {
    expect(await outcomeOf(`backup restore ${backup}`)).toBe("2 confirmation.no_terminal");
    expect(await outcomeOf(`backup restore ${backup} --confirm other`)).toBe("2 confirmation.wrong_name");
    expect((await workspace.run(`backup restore ${backup} --dry-run`)).exitCode).toBe(0);
  });

  test("refuses a restore after an interruption before the swap", async () => {
    const stop = new AbortController();
    stop.abort(new Error("Ctrl-C"));
    expect(
      (await workspace.run(`backup restore ${backup} ${restore}`, { signal: stop.signal })).exitCode,
    ).toBe(1);
  });

  test("refuses a restore after an interruption while the database that was read is being prepared", async () => {
    const stop = new AbortController();
    /** The audit entry is written into the new database, in the folder next to the data. */
    const isBeingPrepared = () =>
      readdirSync(workspace.data, { recursive: true }).some((path) =>
        /^restoring-.+\.db-wal$/.test(String(path)),
      );
    const nowMs = () => {
      if (isBeingPrepared()) stop.abort(new Error("Ctrl-C"));
      return workspace.clock.nowMs();
    };
    const args = `backup restore ${backup} ${restore} --data-dir ${workspace.data}`.split(" ");
    const options = { cwd: workspace.folder, clock: { nowMs }, ids: workspace.ids, signal: stop.signal };
    expect((await runHere(args, options)).exitCode).toBe(1);
    expect(stop.signal.aborted).toBe(true);
  });
});

describe("DAT-4 an interrupted restore", () => {
  /** A data directory with a new database that is ready, and with the written plan of the swap. */
  function planned() {
    const directory = placesIn(workspace.data);
    const staging = stagingIn(directory, "01940000-0000-7000-8000-00000000abcd");
    const fresh = join(staging, "quartermaster.db");
    using connection = openConnection(directory.database, { readonly: true });
    connection.query("VACUUM INTO ?").run(fresh);
    change("UPDATE users SET email = 'restored@example.org' WHERE email = 'later@example.org'", fresh);
    const aside = join(workspace.data, "replaced-20260101T000000Z");
    const plan = { staging: staging.split("/").at(-1), aside: "replaced-20260101T000000Z" };
    writeFileSync(join(workspace.data, "restore.json"), JSON.stringify(plan), { mode: 0o600 });
    return { directory, staging, fresh, aside };
  }
  const RESTORED = ["restored@example.org", "root@example.org"];

  const moments: readonly (readonly [string, (state: ReturnType<typeof planned>) => void])[] = [
    ["before anything was moved", () => {}],
    ["when the old database was moved", ({ directory, aside }) => moveOld(directory.database, aside)],
    [
      "and the log of the old one was not",
      ({ directory, aside }) => moveOld(directory.database, aside, [""]),
    ],
    [
      "when the new database was moved",
      ({ directory, aside, fresh }) => {
        moveOld(directory.database, aside);
        renameSync(fresh, directory.database);
      },
    ],
    [
      "when only the plan was left",
      ({ directory, aside, fresh, staging }) => {
        moveOld(directory.database, aside);
        renameSync(fresh, directory.database);
        rmSync(staging, { recursive: true });
      },
    ],
  ];

  function moveOld(database: string, aside: string, ends = ["", "-wal", "-shm"]): void {
    mkdirSync(aside);
    for (const end of ends)
      if (existsSync(database + end)) renameSync(database + end, join(aside, `quartermaster.db${end}`));
  }

  test.each(["status --offline-ok", "migrate status", "backup create x.qmb"])(
    "is also finished by %s",
    async (line) => {
      const { directory, aside } = planned();
      moveOld(directory.database, aside);
      expect(await outcomeOf(line)).toBe("0");
      expect(emails()).toEqual(RESTORED);
    },
  );

  test.each(moments)("%s is finished by the next command", async (_, cut) => {
    cut(planned());
    expect(await outcomeOf("users list")).toBe("0");
    expect(emails()).toEqual(RESTORED);
    expect(names()).toEqual(["replaced-20260101T000000Z"]);
    expect(existsSync(join(workspace.data, "replaced-20260101T000000Z/quartermaster.db"))).toBe(true);
  });

  test("undoes a restore without a written plan at the next start, under the lock", async () => {
    const { directory, staging } = planned();
    rmSync(join(workspace.data, "restore.json"));
    expect(finishSwap(directory)).toBe(false);
    expect(existsSync(staging)).toBe(false);
    expect(emails()).toEqual(AFTER);
  });

  test("waits for a restore that continues in another process", async () => {
    planned();
    const lock = lockForServer(placesIn(workspace.data), workspace.clock);
    expect(await outcomeOf("users list")).toBe("6 data_dir.restoring");
    lock.release();
    expect(await outcomeOf("users list")).toBe("0");
    expect(emails()).toEqual(RESTORED);
  });

  test("refuses an unreadable plan with instructions", async () => {
    writeFileSync(join(workspace.data, "restore.json"), "{");
    expect(await outcomeOf("users list")).toBe("4 data_dir.restore_unreadable");
    rmSync(join(workspace.data, "restore.json"));
    expect(emails()).toEqual(AFTER);
  });

  test("does not reuse an existing folder for the former database", () => {
    const directory = placesIn(workspace.data);
    mkdirSync(join(workspace.data, "replaced-20260101T000000Z"));
    const staging = stagingIn(directory, "01940000-0000-7000-8000-00000000abcd");
    cpSync(directory.database, join(staging, "quartermaster.db"));
    expect(swapIn(directory, { staging, stamp: "20260101T000000Z" })).toEndWith(
      "replaced-20260101T000000Z-1",
    );
  });
});

describe("DAT-3 keys", () => {
  const withKeys = "--keys moved.qmk --passphrase-file passphrase";
  const passphrase = "correct horse battery\n";
  let carrier: Workspace;

  beforeAll(async () => {
    carrier = copyOf(master);
    writeFileSync(join(carrier.folder, "passphrase"), passphrase, { mode: 0o600 });
    await carrier.json("catalog bundle-key");
    await carrier.json("backup create moved.qmb --with-keys --passphrase-file passphrase");
  });
  afterAll(() => carrier[Symbol.dispose]());
  beforeEach(() => {
    for (const name of ["passphrase", "moved.qmb", "moved.qmk"])
      cpSync(join(carrier.folder, name), join(workspace.folder, name));
  });

  test("move in a second file and decrypt the data on another machine", async () => {
    rmSync(workspace.data, { recursive: true });
    const plan = await workspace.json("backup restore moved.qmb --dry-run");
    expect(JSON.stringify(plan)).toContain("is missing");
    expect(existsSync(workspace.data)).toBe(false);
    expect(await outcomeOf(`backup restore moved.qmb ${withKeys}`)).toBe("2 confirmation.no_terminal");
    expect(existsSync(workspace.data)).toBe(false);
    const response = await workspace.json(`backup restore moved.qmb ${withKeys} ${restore}`);
    expect(response).toMatchObject({ replaced: null, undo: null, missing_sealing_key_ids: [] });
    expect(await workspace.json("sealing-keys list")).toMatchObject({
      items: [{ state: "active", total: 1 }],
    });
    const [own, former] = [workspace, carrier].map(({ data }) => join(data, "keys/bundle-signing-key.pem"));
    expect(readFileSync(own ?? "", "utf8")).toBe(readFileSync(former ?? "", "utf8"));
    expect(statSync(join(workspace.folder, "moved.qmk")).mode & 0o777).toBe(0o600);
  });

  test("backs up the keys of an installation that signs no bundles, and the restore creates no signing key", async () => {
    await workspace.json("backup create plain.qmb --with-keys --passphrase-file passphrase");
    moveToCopy();
    await workspace.json(
      "backup restore plain.qmb --keys plain.qmk --passphrase-file passphrase --confirm data",
    );
    expect(existsSync(join(workspace.data, "keys/bundle-signing-key.pem"))).toBe(false);
  });

  test("cause a warning if they are missing", async () => {
    rmSync(workspace.data, { recursive: true });
    mkdirSync(workspace.data, { mode: 0o700 });
    const { stderr, exitCode } = await workspace.run("backup restore moved.qmb");
    expect(stderr).toMatch(/^warning: The sealing key \w{12} is missing/);
    expect(exitCode).toBe(0);
  });

  test("do not replace a different key with the same name", async () => {
    const name = join(workspace.data, "keys/0001.sealing-key");
    const other = Buffer.alloc(32, "other").toString("base64");
    writeFileSync(name, other);
    await workspace.json(`backup restore moved.qmb ${withKeys} ${restore}`);
    expect(readFileSync(name, "utf8")).toBe(other);
    const { items } = await workspace.json("sealing-keys list");
    expect(items).toMatchObject([{ state: "old", total: 1 }, { state: "active" }]);
  });

  test("do not open with a wrong passphrase, after a change, or at an excessive cost", async () => {
    const keys = join(workspace.folder, "moved.qmk");
    const text = readFileSync(keys, "utf8");
    const opening = () => outcomeOf(`backup restore moved.qmb ${withKeys} ${restore}`);
    const changed = text.replace(/"sealed": "(.)/, (_, first) => `"sealed": "${first === "A" ? "B" : "A"}`);
    writeFileSync(keys, changed);
    expect(await opening()).toBe("7 keys.wrong_passphrase");
    writeFileSync(keys, text.replace(/"n": \d+/, '"n": 2097152'));
    expect(await opening()).toBe("7 keys.unreadable");
    writeFileSync(keys, text);
    writeFileSync(join(workspace.folder, "passphrase"), "correct horse batterx\n");
    expect(await opening()).toBe("7 keys.wrong_passphrase");
    expect(emails()).toEqual(AFTER);
  });

  test("need the derivation cost that OWASP recommends, unless a lower one is requested", () => {
    const passphrase = new Secret("correct horse battery");
    const kept = { sealing: [], bundleSigning: null };
    const file = encryptKeys(kept, { passphrase, ids: systemIds });
    expect(JSON.parse(file)).toMatchObject({ n: 131_072, r: 8, p: 1 });
    expect(decryptKeys(file, passphrase)).toEqual(kept);
    expect(processContext().passphraseCost).toBeUndefined();
  });

  test.each([
    ["below", PASSPHRASE_LENGTH_MIN - 1, false],
    ["at", PASSPHRASE_LENGTH_MIN, true],
    ["above", PASSPHRASE_LENGTH_MIN + 1, true],
  ])("accept or refuse a passphrase %s the minimum length: of %d characters", (_, length, isTaken) => {
    const check = () => assertPassphraseLength(new Secret("x".repeat(length)));
    if (isTaken) expect(check).not.toThrow();
    else expect(check).toThrow("fewer than");
  });

  test("writes keys only on request, and only if the passphrase file is private", async () => {
    expect(await outcomeOf("backup create --passphrase-file passphrase")).toBe("2 usage.without_keys");
    chmodSync(join(workspace.folder, "passphrase"), 0o644);
    const create = "backup create --with-keys --passphrase-file passphrase";
    expect(await outcomeOf(create)).toBe("2 secret.exposed");
    expect(readdirSync(join(workspace.data, "backups"))).toHaveLength(1);
  });

  test("does not overwrite the keys of an earlier backup", async () => {
    rmSync(join(workspace.folder, "moved.qmb"));
    const create = "backup create moved.qmb --with-keys --passphrase-file passphrase";
    expect(await outcomeOf(create)).toBe("4 backup.exists");
    expect(existsSync(join(workspace.folder, "moved.qmb"))).toBe(false);
  });
});

describe("data that a restore has replaced", () => {
  const DAYS = 3;

  /** Restores at the time of the clock. @returns the folder with the former data */
  async function replaceData(): Promise<string> {
    const { replaced } = await workspace.json(`backup restore ${backup} ${restore}`);
    return String(replaced);
  }

  test("is removed by a job of the service with an audit entry", async () => {
    const replaced = await replaceData();
    moveToCopy();
    const folder = join(workspace.data, basename(replaced));
    const { clock, ids } = workspace;
    const config = loadConfig({
      flags: { dataDir: workspace.data, backupKeepReplaced: "3" },
      env: {},
      cwd: "/",
    });
    await inInstallation(workspace, async (installation) => {
      const { db, domain, organizationId } = installation;
      const log = createLog({ level: "error", format: "json", write: () => {}, clock });
      const scheduler = createScheduler({ db, clock, ids, log });
      const actor = { kind: "system", id: null, label: "service", organizationId } as const;
      registerReplacedJob(scheduler, installation, { actor, clock, config, log });
      await scheduler.runDue();
      for (const isThere of [true, false]) {
        clock.advance(2 * DAY_MS);
        await scheduler.runDue();
        expect(existsSync(folder)).toBe(isThere);
      }
      const [entry] = domain.auditLog.list(organizationId, {}).items;
      expect(entry).toMatchObject({ action: "backup.remove", target: folder });
    });
  });

  test.each([
    [REPLACED_KEPT_DAYS.min - 1, false],
    [REPLACED_KEPT_DAYS.min, true],
    [REPLACED_KEPT_DAYS.max, true],
    [REPLACED_KEPT_DAYS.max + 1, false],
  ])("may be kept for %d days: %p", (days, isAllowed) => {
    const load = () =>
      loadConfig({ flags: { backupKeepReplaced: String(days) }, env: {}, cwd: "/" }).get(
        "backup.keep_replaced",
      );
    if (isAllowed) expect(load()).toBe(days);
    else expect(load).toThrow();
  });

  test("is listed until its removal", async () => {
    const replaced = await replaceData();
    const { items } = await workspace.json(`backup list --backup-keep-replaced ${DAYS}`);
    expect(items).toContainEqual(
      expect.objectContaining({
        kind: "replaced",
        path: join(replaced, "quartermaster.db"),
        created_at: "2026-01-01T00:00:00.000Z",
        kept_until: "2026-01-04T00:00:00.000Z",
      }),
    );
  });

  test.each([
    ["just before", DAYS * DAY_MS - 1, true],
    ["at", DAYS * DAY_MS, false],
    ["after", DAYS * DAY_MS + 1, false],
    ["and from the future", -DAY_MS, true],
  ])("%s its last day: exists after the job", async (_, laterMs, isThere) => {
    const replaced = await replaceData();
    const other = join(workspace.data, "replaced-by-hand");
    mkdirSync(other);
    const nowMs = workspace.clock.nowMs() + laterMs;
    const removed = removeReplacedDatabases(placesIn(workspace.data), { keepDays: DAYS, nowMs });
    expect([existsSync(replaced), removed]).toEqual(isThere ? [true, []] : [false, [replaced]]);
    expect(existsSync(other)).toBe(true);
  });
});
