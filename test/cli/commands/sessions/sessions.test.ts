// `sessions` on a data directory, without a service.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkOf } from "../../../../src/app/doctor/finding.ts";
import { sessionStoreFinding } from "../../../../src/app/doctor/session-store.ts";
import { LIFECYCLE_RULE_DELAY_DAYS } from "../../../../src/domain/sessions/limits.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { runCli, runOnTerminal } from "../../../support/cli/cli.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import {
  announceOn,
  captureOn,
  objectPathOf,
  shareOn,
} from "../../../support/installed/installed-sessions.ts";

const BYTES = "the bytes of a captured session";
const DIGEST = sha256Hex(BYTES);

let workspace: Workspace;
let id: string;
beforeEach(async () => {
  workspace = await createInstallation();
  ({ sessionId: id } = await captureOn(workspace, BYTES));
});
afterEach(() => workspace[Symbol.dispose]());

const objectPath = (): string => objectPathOf(workspace, BYTES);
const outcome = async (line: string) => {
  const { exitCode, stdout, stderr } = await workspace.run(line);
  return { exitCode, stdout, stderr };
};

describe("SES-46 sessions list and show", () => {
  test("filter by owner, harness, status, text and day, and print values from clients as text", async () => {
    await workspace.json("users create ana@example.org --role member");
    const more = {
      harness: "claude",
      compatibility_profile: "legacy",
      title: "\u001b[31m red",
      resumable: false,
    };
    const { sessionId } = await captureOn(workspace, "others", { as: "ana@example.org", more });
    const idsOf = async (options: string): Promise<unknown> =>
      Object(await workspace.json(`sessions list${options}`)).items.map((item: { id: string }) => item.id);
    expect(await idsOf("")).toEqual([sessionId, id]);
    expect(await idsOf(" --user ana@example.org")).toEqual([sessionId]);
    expect(await idsOf(" --harness codex")).toEqual([id]);
    expect(await idsOf(" --q RED")).toEqual([sessionId]);
    expect(await idsOf(" --status failed")).toEqual([]);
    expect(await idsOf(" --updated-to 2025-12-31")).toEqual([]);
    expect(await idsOf(" --page 2 --limit 1")).toEqual([id]);
    expect((await workspace.run("sessions list --wide")).stdout).not.toContain("\u001b");
    expect((await workspace.run(`sessions show ${sessionId}`)).stdout).not.toContain("\u001b");
  });

  test("exit with 2 for an invalid day and with 3 for an unknown session or owner", async () => {
    expect(await outcome("sessions list --updated-from yesterday")).toMatchObject({ exitCode: 2 });
    expect(await outcome("sessions show nothing")).toMatchObject({ exitCode: 3 });
    expect(await outcome("sessions list --user nobody@example.org")).toMatchObject({ exitCode: 3 });
  });

  test("show names versions, sharing and recipients", async () => {
    await workspace.json("users create ana@example.org --role member");
    await shareOn(workspace, { sessionId: id, mode: "workspace" });
    expect(await workspace.json(`sessions show ${id}`)).toMatchObject({
      session: { id, user_email: "root@example.org", sharing_mode: "workspace", held_at: null },
      recipients: [{ email: "ana@example.org" }],
      artifacts: [{ sha256: DIGEST, status: "complete", size_bytes: BYTES.length }],
    });
  });
});

describe("SES-46 sessions export", () => {
  test("writes the uploaded bytes to a new file that only the user may read, and is audited", async () => {
    expect(await workspace.json(`sessions export ${id} out.tgz`)).toMatchObject({
      sha256: DIGEST,
      size_bytes: BYTES.length,
    });
    const file = join(workspace.folder, "out.tgz");
    expect(readFileSync(file, "utf8")).toBe(BYTES);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { items } = await workspace.json("audit list --action captured_session.export");
    expect(items).toMatchObject([{ target: id, actor: { label: "olga" } }]);
  });

  test("refuses an existing file and a symbolic link, and changes neither", async () => {
    writeFileSync(join(workspace.folder, "out.tgz"), "mine");
    symlinkSync(join(workspace.folder, "target"), join(workspace.folder, "link.tgz"));
    expect(await outcome(`sessions export ${id} out.tgz`)).toMatchObject({ exitCode: 4 });
    expect(await outcome(`sessions export ${id} link.tgz`)).toMatchObject({ exitCode: 4 });
    expect(readFileSync(join(workspace.folder, "out.tgz"), "utf8")).toBe("mine");
    expect(existsSync(join(workspace.folder, "target"))).toBe(false);
    expect(await outcome(`sessions export ${id} none/out.tgz`)).toMatchObject({ exitCode: 3 });
  });

  test("leaves nothing behind when the stored bytes are damaged or lost", async () => {
    writeFileSync(objectPath(), BYTES.replace("bytes", "BYTES"));
    const before = readdirSync(workspace.folder);
    expect(await outcome(`sessions export ${id} out.tgz`)).toMatchObject({ exitCode: 7 });
    writeFileSync(objectPath(), "shorter");
    expect(await lossesOn(workspace)).toBe(1);
    const lost = await outcome(`sessions export ${id} out.tgz`);
    expect(lost.stderr).toContain("the bytes of this session are lost");
    expect(readdirSync(workspace.folder)).toEqual(before);
  });
});

describe("SES-46 sessions export to stdout", () => {
  test("writes the bytes and nothing else, and leaves no file", async () => {
    const { exitCode, stdout, stderr } = await workspace.run(`sessions export ${id} -`);
    expect([exitCode, stdout]).toEqual([0, BYTES]);
    expect(stderr).toContain(DIGEST);
    expect(readdirSync(workspace.folder)).toEqual(["data"]);
  });

  test("refuses a terminal, and a JSON document beside the bytes", async () => {
    const args = ["sessions", "export", id, "-", "--data-dir", workspace.data];
    const { screen, exitCode } = await runOnTerminal(args);
    expect([exitCode, screen]).toEqual([2, expect.stringContaining("cannot be shown on a terminal")]);
    expect(await outcome(`sessions export ${id} - --json`)).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test("ends with 7 if the bytes are damaged, and records it", async () => {
    writeFileSync(objectPath(), BYTES.replace("bytes", "BYTES"));
    expect(await outcome(`sessions export ${id} -`)).toMatchObject({ exitCode: 7 });
    expect(await lossesOn(workspace)).toBe(1);
  });
});

test("SES-46 sessions export reports an empty file name and an unusable folder", async () => {
  const empty = await runCli(["sessions", "export", id, "", "--data-dir", workspace.data]);
  expect([empty.exitCode, empty.stderr]).toEqual([2, expect.stringContaining("name of the file is empty")]);
  const proc = await outcome(`sessions export ${id} /proc/x`);
  expect([proc.exitCode, proc.stderr]).toEqual([
    2,
    expect.stringContaining("no file can be created in /proc"),
  ]);
});

describe("SES-46 sessions remove, hold and release", () => {
  test("remove deletes rows and bytes, and its dry run changes nothing", async () => {
    expect((await workspace.run(`sessions remove ${id} --dry-run`)).stdout).toContain("No changes made.");
    expect(existsSync(objectPath())).toBe(true);
    expect(await workspace.json(`sessions remove ${id} --yes`)).toMatchObject({
      changed: true,
      session: { id },
    });
    expect(existsSync(objectPath())).toBe(false);
    expect(await outcome(`sessions remove ${id} --yes`)).toMatchObject({ exitCode: 3 });
  });

  test("SES-44 remove refuses a held session with 4 until it is released", async () => {
    expect(await workspace.json(`sessions hold ${id}`)).toMatchObject({ changed: true });
    expect(await workspace.json(`sessions hold ${id}`)).toMatchObject({ changed: false });
    expect(await outcome(`sessions remove ${id} --yes`)).toMatchObject({ exitCode: 4 });
    expect(await workspace.json(`sessions release ${id}`)).toMatchObject({ changed: true });
    expect(await workspace.json(`sessions release ${id}`)).toMatchObject({ changed: false });
    expect(await workspace.json(`sessions remove ${id} --yes`)).toMatchObject({ changed: true });
  });
});

describe("SES-46 sessions revoke", () => {
  test("ends the sharing of one session", async () => {
    await shareOn(workspace, { sessionId: id, mode: "workspace" });
    const { sessionId: other } = await captureOn(workspace, "other", { more: { session_id: "other" } });
    await shareOn(workspace, { sessionId: other, mode: "workspace" });
    expect(await workspace.json(`sessions revoke ${id} --yes`)).toEqual({ changed: true, sessions: 1 });
    expect(await workspace.json(`sessions revoke ${id} --yes`)).toEqual({ changed: false, sessions: 0 });
    const modeOf = async (one: string) =>
      Object(await workspace.json(`sessions show ${one}`)).session.sharing_mode;
    expect([await modeOf(id), await modeOf(other)]).toEqual(["private", "workspace"]);
  });

  test("ends the sharing of every session of an owner", async () => {
    await shareOn(workspace, { sessionId: id, mode: "workspace" });
    expect(await workspace.json("sessions revoke --owner root@example.org --yes")).toEqual({
      changed: true,
      sessions: 1,
    });
  });

  test("requires a session or an owner, not both", async () => {
    for (const line of ["sessions revoke --yes", `sessions revoke ${id} --owner root@example.org --yes`])
      expect(await outcome(line)).toMatchObject({ exitCode: 2 });
    expect(await outcome("sessions revoke nothing --yes")).toMatchObject({ exitCode: 3 });
  });
});

describe("SES-46 SES-40 sessions apply", () => {
  test("shows the number of changed deadlines, and of those that have passed", async () => {
    workspace.clock.set(workspace.clock.nowMs() + 2 * DAY_MS);
    const shorter = "--config shorter.yaml";
    writeFileSync(
      join(workspace.folder, "shorter.yaml"),
      "sessions: {retention_days: 1, superseded_days: 0}\n",
    );
    const plan = (await workspace.run(`sessions apply --dry-run ${shorter}`)).stdout;
    expect(plan).toContain("Would change the deadline of 1 version:");
    expect(plan).toContain("1 version will be past the deadline");
    expect(await workspace.json("sessions apply --yes")).toEqual({ changed: false, versions: 0 });
    expect(await workspace.json(`sessions apply --yes ${shorter}`)).toEqual({ changed: true, versions: 1 });
    expect(await workspace.json(`sessions apply --yes ${shorter}`)).toEqual({ changed: false, versions: 0 });
  });
});

describe("SES-46 doctor and status", () => {
  const findingOf = async (options = "") => {
    const { checks } = JSON.parse((await workspace.run(`doctor --offline-ok --json${options}`)).stdout);
    return checks.find(({ check }: { check: string }) => check === "session_store");
  };

  test("distinguish stored bytes from announced ones", async () => {
    await announceOn(workspace, "never to arrive", { session_id: "announced" });
    const { captured_sessions: kept } = await workspace.json("status --offline-ok");
    expect(kept).toEqual({
      store: "local",
      usable: true,
      versions: 1,
      bytes: BYTES.length,
      announced: { uploads: 1, bytes: 15 },
      without_bytes: 0,
    });
    const text = "1 version, 31 B; 1 upload of 15 B announced";
    expect(await findingOf()).toMatchObject({ result: "ok", detail: expect.stringContaining(text) });
    expect((await workspace.run("status --offline-ok")).stdout).toContain(text);
  });

  test("name the number of sessions without bytes", async () => {
    rmSync(objectPath());
    await workspace.run("sessions verify");
    const { captured_sessions: kept } = await workspace.json("status --offline-ok");
    expect(kept).toMatchObject({ without_bytes: 1 });
    expect((await workspace.run("status --offline-ok")).stdout).toContain("1 without bytes");
    expect(await findingOf()).toMatchObject({
      result: "warning",
      detail: expect.stringContaining("1 session has no bytes"),
    });
  });

  test("doctor fails when sessions are in a store that is not configured", async () => {
    using database = new Database(join(workspace.data, "quartermaster.db"));
    database.run("UPDATE session_artifacts SET store = 's3'");
    expect(await findingOf()).toMatchObject({
      result: "failed",
      detail: expect.stringContaining("not configured"),
    });
  });

  const GIB = 1024 ** 3;
  const statusOf = (more: { availableBytes?: number; totalBytesMax?: number }) => {
    const { availableBytes = 500 * GIB, totalBytesMax } = more;
    const kept = { versions: 1, bytes: 60, announced: { uploads: 1, bytes: 40 } };
    const space = { availableBytes, sizeBytes: 10 * GIB };
    return sessionStoreFinding(checkOf("session_store"), {
      kept,
      withoutBytes: 0,
      store: "local",
      space,
      totalBytesMax,
    }).result;
  };

  test("SES-45 doctor names the age after which a lifecycle rule of the bucket may remove objects", async () => {
    await workspace.json(`sessions remove ${id} --yes`);
    writeFileSync(join(workspace.folder, "key"), "not-asked", { mode: 0o600 });
    const files = "access_key_id_file: key, secret_access_key_file: key";
    const store = `blobs: {store: s3, s3: {endpoint: 'http://127.0.0.1:9', region: x, bucket: sessions, ${files}}}`;
    const net = `a lifecycle rule of the bucket must not remove objects before ${7 + LIFECYCLE_RULE_DELAY_DAYS} days`;
    writeFileSync(
      join(workspace.folder, "store.yaml"),
      `${store}\nsessions: {retention_days: 7, superseded_days: 7}\n`,
    );
    expect(await findingOf(" --config store.yaml")).toMatchObject({ detail: expect.stringContaining(net) });
    expect(await findingOf()).toMatchObject({ detail: expect.not.stringContaining("lifecycle") });
  });

  test("doctor warns when the quota or the free space refuses uploads", () => {
    expect([99, 100, 101].map((totalBytesMax) => statusOf({ totalBytesMax }))).toEqual([
      "warning",
      "warning",
      "ok",
    ]);
    expect([GIB - 1, GIB, GIB + 1].map((availableBytes) => statusOf({ availableBytes }))).toEqual([
      "warning",
      "warning",
      "ok",
    ]);
  });
});

test("SES-37 users erase lists the sessions of a person and deletes their bytes immediately", async () => {
  const erase = "users erase ana@example.org";
  await workspace.json("users create ana@example.org --role member");
  await captureOn(workspace, "of ana", { as: "ana@example.org", more: { session_id: "hers" } });
  const file = objectPathOf(workspace, "of ana");
  expect((await workspace.run(`${erase} --dry-run`)).stdout).toContain("captured sessions: 1");
  expect(existsSync(file)).toBe(true);
  expect(await workspace.json(`${erase} --confirm ana@example.org`)).toMatchObject({
    rows: { captured_sessions: 1 },
    session_objects: 1,
  });
  expect(existsSync(file)).toBe(false);
  expect(existsSync(objectPath())).toBe(true);
});

describe("SES-46 sessions verify", () => {
  const verified = async (options = "") => {
    const { exitCode, stdout } = await workspace.run(`sessions verify --json${options}`);
    return [exitCode, JSON.parse(stdout)];
  };

  test("names missing and damaged objects, and exits with 7", async () => {
    expect(await verified()).toEqual([
      0,
      { items: [], checked: 1, bytes: BYTES.length, lost: 0, recovered: 0, dry_run: false },
    ]);
    writeFileSync(objectPath(), BYTES.replace("bytes", "BYTES"));
    expect(await verified()).toMatchObject([7, { items: [{ session_id: id, fault: "differs" }] }]);
    rmSync(objectPath());
    expect(await verified()).toMatchObject([7, { items: [{ session_id: id, fault: "missing" }] }]);
  });

  test("SES-57 damaged bytes of equal size stay lost until a good upload or a whole file", async () => {
    const damaged = BYTES.replace("bytes", "BYTES");
    writeFileSync(objectPath(), damaged);
    expect(await verified(" --dry-run")).toMatchObject([7, { lost: 1, dry_run: true }]);
    expect([await lossesOn(workspace), await lostIn(workspace)]).toEqual([0, 0]);
    expect(await verified()).toMatchObject([7, { lost: 1, dry_run: false }]);
    expect(await verified()).toMatchObject([7, { lost: 0 }]);
    expect([await lossesOn(workspace), await lostIn(workspace)]).toEqual([1, 1]);
    expect((await workspace.run(`sessions export ${id} out.tgz`)).stderr).toContain(
      "bytes of this session are lost",
    );
    writeFileSync(objectPath(), BYTES);
    expect(await verified(" --dry-run")).toMatchObject([0, { recovered: 1 }]);
    expect(await verified()).toMatchObject([0, { recovered: 1 }]);
    const { items } = await workspace.json("audit list --action captured_session.recover");
    expect(items).toMatchObject([{ target: id, actor: { label: "olga" } }]);
    expect([await lostIn(workspace), (await verified())[1]]).toMatchObject([0, { recovered: 0 }]);
    writeFileSync(objectPath(), damaged);
    await verified();
    expect((await captureOn(workspace, BYTES)).sessionId).toBe(id);
    expect(await workspace.json(`sessions export ${id} out.tgz`)).toMatchObject({ sha256: DIGEST });
    expect(readFileSync(objectPath(), "utf8")).toBe(BYTES);
  });
});

const lossesOn = async (own: Workspace): Promise<number> =>
  Object(await own.json("audit list --action captured_session.lose")).items.length;

/** @returns how many versions of the session are lost */
const lostIn = async (own: Workspace): Promise<number> => {
  using database = new Database(join(own.data, "quartermaster.db"), { readonly: true });
  return Object(database.query("SELECT count(lost_at_ms) AS lost FROM session_artifacts").get()).lost;
};
