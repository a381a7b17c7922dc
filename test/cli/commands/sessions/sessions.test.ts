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
import { type Bench, createInstallation } from "../../../support/in-process.ts";
import {
  announceOn,
  captureOn,
  objectPathOf,
  shareOn,
} from "../../../support/installed/installed-sessions.ts";

const BYTES = "the bytes of a captured session";
const DIGEST = sha256Hex(BYTES);

let bench: Bench;
let id: string;
beforeEach(async () => {
  bench = await createInstallation();
  ({ sessionId: id } = await captureOn(bench, BYTES));
});
afterEach(() => bench[Symbol.dispose]());

const objectPath = (): string => objectPathOf(bench, BYTES);
const outcome = async (line: string) => {
  const { exitCode, stdout, stderr } = await bench.run(line);
  return { exitCode, stdout, stderr };
};

describe("SES-46 sessions list and show", () => {
  test("filter by owner, harness, status, text and day, and print what clients chose as text", async () => {
    await bench.json("users create ana@example.org --role member");
    const more = {
      harness: "claude",
      compatibility_profile: "legacy",
      title: "\u001b[31m red",
      resumable: false,
    };
    const { sessionId } = await captureOn(bench, "others", { as: "ana@example.org", more });
    const idsOf = async (options: string): Promise<unknown> =>
      Object(await bench.json(`sessions list${options}`)).items.map((item: { id: string }) => item.id);
    expect(await idsOf("")).toEqual([sessionId, id]);
    expect(await idsOf(" --user ana@example.org")).toEqual([sessionId]);
    expect(await idsOf(" --harness codex")).toEqual([id]);
    expect(await idsOf(" --q RED")).toEqual([sessionId]);
    expect(await idsOf(" --status failed")).toEqual([]);
    expect(await idsOf(" --updated-to 2025-12-31")).toEqual([]);
    expect(await idsOf(" --page 2 --limit 1")).toEqual([id]);
    expect((await bench.run("sessions list --wide")).stdout).not.toContain("\u001b");
    expect((await bench.run(`sessions show ${sessionId}`)).stdout).not.toContain("\u001b");
  });

  test("answer a wrong day with 2 and an unknown session or owner with 3", async () => {
    expect(await outcome("sessions list --updated-from yesterday")).toMatchObject({ exitCode: 2 });
    expect(await outcome("sessions show nothing")).toMatchObject({ exitCode: 3 });
    expect(await outcome("sessions list --user nobody@example.org")).toMatchObject({ exitCode: 3 });
  });

  test("show names versions, sharing and recipients", async () => {
    await bench.json("users create ana@example.org --role member");
    await shareOn(bench, { sessionId: id, mode: "workspace" });
    expect(await bench.json(`sessions show ${id}`)).toMatchObject({
      session: { id, user_email: "root@example.org", sharing_mode: "workspace", held_at: null },
      recipients: [{ email: "ana@example.org" }],
      artifacts: [{ sha256: DIGEST, status: "complete", size_bytes: BYTES.length }],
    });
  });
});

describe("SES-46 sessions export", () => {
  test("writes the uploaded bytes to a new file that only the user may read, and is audited", async () => {
    expect(await bench.json(`sessions export ${id} out.tgz`)).toMatchObject({
      sha256: DIGEST,
      size_bytes: BYTES.length,
    });
    const file = join(bench.folder, "out.tgz");
    expect(readFileSync(file, "utf8")).toBe(BYTES);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { items } = await bench.json("audit list --action captured_session.export");
    expect(items).toMatchObject([{ target: id, actor: { label: "olga" } }]);
  });

  test("refuses a file that exists and a symbolic link, and leaves both as they are", async () => {
    writeFileSync(join(bench.folder, "out.tgz"), "mine");
    symlinkSync(join(bench.folder, "target"), join(bench.folder, "link.tgz"));
    expect(await outcome(`sessions export ${id} out.tgz`)).toMatchObject({ exitCode: 4 });
    expect(await outcome(`sessions export ${id} link.tgz`)).toMatchObject({ exitCode: 4 });
    expect(readFileSync(join(bench.folder, "out.tgz"), "utf8")).toBe("mine");
    expect(existsSync(join(bench.folder, "target"))).toBe(false);
    expect(await outcome(`sessions export ${id} none/out.tgz`)).toMatchObject({ exitCode: 3 });
  });

  test("leaves nothing behind when the stored bytes are damaged or lost", async () => {
    writeFileSync(objectPath(), BYTES.replace("bytes", "BYTES"));
    const before = readdirSync(bench.folder);
    expect(await outcome(`sessions export ${id} out.tgz`)).toMatchObject({ exitCode: 7 });
    writeFileSync(objectPath(), "shorter");
    expect(await lossesOn(bench)).toBe(1);
    const lost = await outcome(`sessions export ${id} out.tgz`);
    expect(lost.stderr).toContain("the bytes of this session are lost");
    expect(readdirSync(bench.folder)).toEqual(before);
  });
});

describe("SES-46 sessions export to stdout", () => {
  test("writes the bytes and nothing else, and leaves no file", async () => {
    const { exitCode, stdout, stderr } = await bench.run(`sessions export ${id} -`);
    expect([exitCode, stdout]).toEqual([0, BYTES]);
    expect(stderr).toContain(DIGEST);
    expect(readdirSync(bench.folder)).toEqual(["data"]);
  });

  test("refuses a terminal, and a JSON document beside the bytes", async () => {
    const args = ["sessions", "export", id, "-", "--data-dir", bench.data];
    const { screen, exitCode } = await runOnTerminal(args);
    expect([exitCode, screen]).toEqual([2, expect.stringContaining("cannot be shown on a terminal")]);
    expect(await outcome(`sessions export ${id} - --json`)).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test("ends with 7 if the bytes are damaged, and records it", async () => {
    writeFileSync(objectPath(), BYTES.replace("bytes", "BYTES"));
    expect(await outcome(`sessions export ${id} -`)).toMatchObject({ exitCode: 7 });
    expect(await lossesOn(bench)).toBe(1);
  });
});

test("SES-46 sessions export names an empty file name and a folder that takes no files", async () => {
  const empty = await runCli(["sessions", "export", id, "", "--data-dir", bench.data]);
  expect([empty.exitCode, empty.stderr]).toEqual([2, expect.stringContaining("name of the file is empty")]);
  const proc = await outcome(`sessions export ${id} /proc/x`);
  expect([proc.exitCode, proc.stderr]).toEqual([
    2,
    expect.stringContaining("no file can be created in /proc"),
  ]);
});

describe("SES-46 sessions remove, hold and release", () => {
  test("remove deletes rows and bytes, and its dry run changes nothing", async () => {
    expect((await bench.run(`sessions remove ${id} --dry-run`)).stdout).toContain("No changes made.");
    expect(existsSync(objectPath())).toBe(true);
    expect(await bench.json(`sessions remove ${id} --yes`)).toMatchObject({ changed: true, session: { id } });
    expect(existsSync(objectPath())).toBe(false);
    expect(await outcome(`sessions remove ${id} --yes`)).toMatchObject({ exitCode: 3 });
  });

  test("SES-44 remove refuses a held session with 4 until it is released", async () => {
    expect(await bench.json(`sessions hold ${id}`)).toMatchObject({ changed: true });
    expect(await bench.json(`sessions hold ${id}`)).toMatchObject({ changed: false });
    expect(await outcome(`sessions remove ${id} --yes`)).toMatchObject({ exitCode: 4 });
    expect(await bench.json(`sessions release ${id}`)).toMatchObject({ changed: true });
    expect(await bench.json(`sessions release ${id}`)).toMatchObject({ changed: false });
    expect(await bench.json(`sessions remove ${id} --yes`)).toMatchObject({ changed: true });
  });
});

describe("SES-46 sessions revoke", () => {
  test("ends the sharing of one session", async () => {
    await shareOn(bench, { sessionId: id, mode: "workspace" });
    const { sessionId: other } = await captureOn(bench, "other", { more: { session_id: "other" } });
    await shareOn(bench, { sessionId: other, mode: "workspace" });
    expect(await bench.json(`sessions revoke ${id} --yes`)).toEqual({ changed: true, sessions: 1 });
    expect(await bench.json(`sessions revoke ${id} --yes`)).toEqual({ changed: false, sessions: 0 });
    const modeOf = async (one: string) =>
      Object(await bench.json(`sessions show ${one}`)).session.sharing_mode;
    expect([await modeOf(id), await modeOf(other)]).toEqual(["private", "workspace"]);
  });

  test("ends the sharing of every session of an owner", async () => {
    await shareOn(bench, { sessionId: id, mode: "workspace" });
    expect(await bench.json("sessions revoke --owner root@example.org --yes")).toEqual({
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
  test("says how many deadlines change, and how many of those are over", async () => {
    bench.clock.set(bench.clock.nowMs() + 2 * DAY_MS);
    const shorter = "--config shorter.yaml";
    writeFileSync(join(bench.folder, "shorter.yaml"), "sessions: {retention_days: 1, superseded_days: 0}\n");
    const plan = (await bench.run(`sessions apply --dry-run ${shorter}`)).stdout;
    expect(plan).toContain("Would change the deadline of 1 version:");
    expect(plan).toContain("1 version will be past the deadline");
    expect(await bench.json("sessions apply --yes")).toEqual({ changed: false, versions: 0 });
    expect(await bench.json(`sessions apply --yes ${shorter}`)).toEqual({ changed: true, versions: 1 });
    expect(await bench.json(`sessions apply --yes ${shorter}`)).toEqual({ changed: false, versions: 0 });
  });
});

describe("SES-46 doctor and status", () => {
  const findingOf = async (options = "") => {
    const { checks } = JSON.parse((await bench.run(`doctor --offline-ok --json${options}`)).stdout);
    return checks.find(({ check }: { check: string }) => check === "session_store");
  };

  test("distinguish stored bytes from announced ones", async () => {
    await announceOn(bench, "never to arrive", { session_id: "announced" });
    const { captured_sessions: kept } = await bench.json("status --offline-ok");
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
    expect((await bench.run("status --offline-ok")).stdout).toContain(text);
  });

  test("name the number of sessions without bytes", async () => {
    rmSync(objectPath());
    await bench.run("sessions verify");
    const { captured_sessions: kept } = await bench.json("status --offline-ok");
    expect(kept).toMatchObject({ without_bytes: 1 });
    expect((await bench.run("status --offline-ok")).stdout).toContain("1 without bytes");
    expect(await findingOf()).toMatchObject({
      result: "warning",
      detail: expect.stringContaining("1 session has no bytes"),
    });
  });

  test("doctor fails when sessions are in a store that is not configured", async () => {
    using database = new Database(join(bench.data, "quartermaster.db"));
    database.run("UPDATE session_artifacts SET store = 's3'");
    expect(await findingOf()).toMatchObject({
      result: "failed",
      detail: expect.stringContaining("not configured"),
    });
  });

  const GIB = 1024 ** 3;
  const judged = (more: { availableBytes?: number; totalBytesMax?: number }) => {
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

  test("SES-45 doctor says from which age on a lifecycle rule of the bucket may remove objects", async () => {
    await bench.json(`sessions remove ${id} --yes`);
    writeFileSync(join(bench.folder, "key"), "not-asked", { mode: 0o600 });
    const files = "access_key_id_file: key, secret_access_key_file: key";
    const store = `blobs: {store: s3, s3: {endpoint: 'http://127.0.0.1:9', region: x, bucket: sessions, ${files}}}`;
    const net = `a lifecycle rule of the bucket must not remove objects before ${7 + LIFECYCLE_RULE_DELAY_DAYS} days`;
    writeFileSync(
      join(bench.folder, "store.yaml"),
      `${store}\nsessions: {retention_days: 7, superseded_days: 7}\n`,
    );
    expect(await findingOf(" --config store.yaml")).toMatchObject({ detail: expect.stringContaining(net) });
    expect(await findingOf()).toMatchObject({ detail: expect.not.stringContaining("lifecycle") });
  });

  test("doctor warns when the quota or the free space refuses uploads", () => {
    expect([99, 100, 101].map((totalBytesMax) => judged({ totalBytesMax }))).toEqual([
      "warning",
      "warning",
      "ok",
    ]);
    expect([GIB - 1, GIB, GIB + 1].map((availableBytes) => judged({ availableBytes }))).toEqual([
      "warning",
      "warning",
      "ok",
    ]);
  });
});

test("SES-37 users erase lists the sessions of a person and deletes their bytes at once", async () => {
  const erase = "users erase ana@example.org";
  await bench.json("users create ana@example.org --role member");
  await captureOn(bench, "of ana", { as: "ana@example.org", more: { session_id: "hers" } });
  const file = objectPathOf(bench, "of ana");
  expect((await bench.run(`${erase} --dry-run`)).stdout).toContain("captured sessions: 1");
  expect(existsSync(file)).toBe(true);
  expect(await bench.json(`${erase} --confirm ana@example.org`)).toMatchObject({
    rows: { captured_sessions: 1 },
    session_objects: 1,
  });
  expect(existsSync(file)).toBe(false);
  expect(existsSync(objectPath())).toBe(true);
});

describe("SES-46 sessions verify", () => {
  const verified = async (options = "") => {
    const { exitCode, stdout } = await bench.run(`sessions verify --json${options}`);
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

  test("SES-57 damaged bytes of equal size are lost from then on, until a good upload or a whole file", async () => {
    const damaged = BYTES.replace("bytes", "BYTES");
    writeFileSync(objectPath(), damaged);
    expect(await verified(" --dry-run")).toMatchObject([7, { lost: 1, dry_run: true }]);
    expect([await lossesOn(bench), await lostIn(bench)]).toEqual([0, 0]);
    expect(await verified()).toMatchObject([7, { lost: 1, dry_run: false }]);
    expect(await verified()).toMatchObject([7, { lost: 0 }]);
    expect([await lossesOn(bench), await lostIn(bench)]).toEqual([1, 1]);
    expect((await bench.run(`sessions export ${id} out.tgz`)).stderr).toContain(
      "bytes of this session are lost",
    );
    writeFileSync(objectPath(), BYTES);
    expect(await verified(" --dry-run")).toMatchObject([0, { recovered: 1 }]);
    expect(await verified()).toMatchObject([0, { recovered: 1 }]);
    const { items } = await bench.json("audit list --action captured_session.recover");
    expect(items).toMatchObject([{ target: id, actor: { label: "olga" } }]);
    expect([await lostIn(bench), (await verified())[1]]).toMatchObject([0, { recovered: 0 }]);
    writeFileSync(objectPath(), damaged);
    await verified();
    expect((await captureOn(bench, BYTES)).sessionId).toBe(id);
    expect(await bench.json(`sessions export ${id} out.tgz`)).toMatchObject({ sha256: DIGEST });
    expect(readFileSync(objectPath(), "utf8")).toBe(BYTES);
  });
});

const lossesOn = async (own: Bench): Promise<number> =>
  Object(await own.json("audit list --action captured_session.lose")).items.length;

/** @returns how many versions of the session are lost */
const lostIn = async (own: Bench): Promise<number> => {
  using database = new Database(join(own.data, "quartermaster.db"), { readonly: true });
  return Object(database.query("SELECT count(lost_at_ms) AS lost FROM session_artifacts").get()).lost;
};
