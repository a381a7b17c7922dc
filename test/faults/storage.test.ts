// A disk that fails under the running service: full, and with an error in the middle of a commit. Acknowledged changes are kept,
// refused ones leave nothing, reads continue, and writes resume when the cause is gone. The disk is a small one in the service's
// own mount namespace, so that no other process of the machine loses space. The error is EFBIG, caused by a file size limit that is
// set from outside (prlimit) while the service ignores SIGXFSZ.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { SHORT_LIVED } from "../support/cli/executable.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../support/installed/prepared-installation.ts";
import { canMount, fill, onSmallDisk } from "../support/installed/small-disk.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/world.ts";

const TOKEN = "a-token-of-the-identity-provider";
/** the size of an installation, and FREE_BYTES_MIN that stay free */
const DISK = "32m";
/** a write needs some pages, so this is more than the free space in the write-ahead log */
const WRITES_MAX = 300;
const AT_ONCE = 10;

describe.if(canMount)("a service whose disk fails", () => {
  const [directory, prepared] = [temporaryDirectory(), temporaryDirectory()];
  const data = join(directory, "data");
  const outcomes = { acknowledged: [] as string[], refused: [] as string[] };
  let service: RunningService;
  /** the small disk, as this process sees it */
  let disk: string;
  let names = 0;

  beforeAll(async () => {
    await prepareInstallation(join(prepared, "data"));
    const start = `cp -r '${prepared}/data' '${data}' && trap '' XFSZ && exec "$@" 2>'${directory}/log'`;
    service = await startService({
      command: onSmallDisk(directory, DISK, start),
      args: ["--data-dir", data, "--log-level", "debug"],
      env: { PATH: process.env.PATH ?? "", QUARTERMASTER_SCIM_TOKEN: TOKEN },
    });
    disk = join("/proc", String(service.pid), "root", directory);
    await writes(5);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    for (const folder of [directory, prepared]) rmSync(folder, { recursive: true });
  });

  const scim = (path: string, body?: unknown): Promise<Response> =>
    fetch(`${service.baseUrl}/scim/v2${path}`, {
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/scim+json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });

  /** Provisions users in parallel. @returns the statuses */
  async function writes(count: number): Promise<number[]> {
    const one = async () => {
      const userName = `user-${names++}@example.org`;
      const { status } = await scim("/Users", {
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
        userName,
      });
      outcomes[status === 201 ? "acknowledged" : "refused"].push(userName);
      return status;
    };
    return await Promise.all(Array.from({ length: count }, one));
  }

  /** @returns the statuses other than 201, of the first round that had one */
  async function writeUntilRefused(): Promise<number[]> {
    for (let round = 0; round < WRITES_MAX / AT_ONCE; round++) {
      const refused = (await writes(AT_ONCE)).filter((status) => status !== 201);
      if (refused.length > 0) return refused;
    }
    return [];
  }

  async function signIn(): Promise<{ status: number; reason: unknown; detail: unknown; cookie: string }> {
    const credentials = { email: ADMIN_EMAIL, password: ADMIN_PASSWORD };
    const response = await fetch(`${service.baseUrl}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(credentials),
    });
    const { reason, detail } = await response.json();
    const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    return { status: response.status, reason, detail, cookie };
  }

  async function expectReading(): Promise<void> {
    expect((await fetch(`${service.baseUrl}/health`)).status).toBe(200);
    const filter = encodeURIComponent(`userName eq "${outcomes.acknowledged[0]}"`);
    expect(await (await scim(`/Users?filter=${filter}`)).json()).toMatchObject({ totalResults: 1 });
  }

  /** Nothing is written in the meantime. SQLite itself would not use a path into another mount namespace. */
  function openCopy(): Database {
    for (const name of ["quartermaster.db", "quartermaster.db-wal"])
      copyFileSync(join(disk, "data", name), join(directory, name));
    return new Database(join(directory, "quartermaster.db"));
  }

  /** Writing works again, every acknowledged change and no refused one is stored, and the file is intact. */
  async function expectNothingLost(): Promise<void> {
    expect(await writes(AT_ONCE)).toEqual(Array(AT_ONCE).fill(201));
    using database = openCopy();
    const emails = database
      .query("SELECT email FROM users WHERE email LIKE 'user-%' ORDER BY email")
      .values();
    expect(emails.flat()).toEqual(outcomes.acknowledged.toSorted());
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  }

  const statuses = (...paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await fetch(service.baseUrl + path)).status));

  test("reports itself unhealthy on a full disk, shows signed-in callers the reason, and recovers on its own", async () => {
    const { cookie } = await signIn();
    expect(await statuses("/ready", "/health/object-storage")).toEqual([200, 200]);
    const ballast = join(disk, "ballast");
    fill(ballast);
    expect(await statuses("/ready", "/health/object-storage")).toEqual([503, 503]);
    expect(await (await fetch(`${service.baseUrl}/ready`)).json()).toMatchObject({
      detail: "not ready: disk",
    });
    const response = await fetch(`${service.baseUrl}/health/dependencies`, { headers: { cookie } });
    const { checks }: { checks: { error?: string }[] } = await response.json();
    const full = "the disk has less than 16.0 MiB free";
    const store = `${full}: artifacts can be read, and new ones may be refused`;
    const database = `${full}: reads continue, and writes may be refused`;
    expect(checks.map(({ error }) => error)).toEqual([database, store, store]);
    rmSync(ballast);
    expect(await statuses("/ready", "/health/object-storage")).toEqual([200, 200]);
  });

  test("answers 507 on a full disk, and recovers on its own when there is space", async () => {
    const ballast = join(disk, "ballast");
    fill(ballast);
    expect(new Set(await writeUntilRefused())).toEqual(new Set([507]));
    expect(await signIn()).toMatchObject({
      status: 507,
      reason: "storage.full",
      detail:
        "the disk is full, nothing was changed; an operator of this service finds the cause with `quartermaster doctor`",
    });
    await expectReading();
    rmSync(ballast);
    await expectNothingLost();
    expect(await signIn()).toMatchObject({ status: 200 });
  });

  test("answers 503 if writes fail, and recovers on its own when they succeed", async () => {
    const { size } = statSync(join(disk, "data/quartermaster.db-wal"));
    limitFiles(service.pid, String(size));
    expect(new Set(await writeUntilRefused())).toEqual(new Set([503]));
    expect(await signIn()).toMatchObject({ status: 503, reason: "storage.failed" });
    await expectReading();
    limitFiles(service.pid, "unlimited");
    await expectNothingLost();
  });

  test("continues to log while its log is on the same disk, and stops cleanly", async () => {
    const { headers } = await fetch(`${service.baseUrl}/health`);
    const log = join(disk, "log");
    while (!readFileSync(log, "utf8").includes(headers.get("x-request-id") ?? "none")) await Bun.sleep(1);
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
  });

  test("refuses to start on a full disk with the reason, and starts when there is space", () => {
    const place = join(directory, "other");
    mkdirSync(place);
    const elsewhere = join(place, "data");
    const script = [
      `cp -r '${prepared}/data' '${elsewhere}'`,
      `head -c 100m /dev/zero 2>/dev/null >'${place}/ballast'`,
      `"$@" serve --data-dir '${elsewhere}' --server-listen 127.0.0.1:0`,
      "echo $?",
      `truncate -s -4096 '${place}/ballast'`, // enough to take the lock, and not to name its holder
      `"$@" serve --data-dir '${elsewhere}' --server-listen 127.0.0.1:0`,
      "echo $?",
      `"$@" doctor --data-dir '${elsewhere}' | sed -n '/^FAILED/,/->/p' >'${directory}/findings'`,
      `rm '${place}/ballast'`,
      `"$@" users list --data-dir '${elsewhere}' --json`,
    ].join("; ");
    const [command = "", ...args] = onSmallDisk(place, DISK, script);
    const { stdout, stderr } = spawnSync(command, args, {
      env: { PATH: process.env.PATH, ...SHORT_LIVED },
      encoding: "utf8",
    });
    const refused = "error: the disk is full, nothing was changed\nhint:  free some space ";
    expect(stderr.split(refused)).toHaveLength(3);
    expect(readFileSync(join(directory, "findings"), "utf8")).toMatch(
      /^FAILED {3}disk .*4.0 KiB free.*\n +-> free some space/m,
    );
    const [first, second, ...users] = stdout.trim().split("\n");
    expect([first, second]).toEqual(["1", "1"]); // systemd tries again after this code
    expect(users.join("")).toContain("admin@example.com");
  });
});

/** The soft limit on the size of the files that a process writes. */
function limitFiles(pid: number, bytes: string): void {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  if (status !== 0) throw new Error(String(stderr));
}

test("one of two servers that start in an empty directory simultaneously serves, and the other one names it", async () => {
  const directory = temporaryDirectory();
  const start = () => startService({ args: ["--data-dir", directory] });
  const [first, second] = await Promise.allSettled([start(), start()]);
  const [serving, refused] = first.status === "fulfilled" ? [first, second] : [second, first];
  if (serving.status === "rejected") throw serving.reason;
  await using service = serving.value;
  expect(refused.status === "rejected" && String(refused.reason)).toMatch(
    new RegExp(`ended with 4 before .*is in use by another server \\(process ${service.pid}, since`, "s"),
  );
  expect((await fetch(`${service.baseUrl}/ready`)).status).toBe(200);
  rmSync(directory, { recursive: true });
});
