// Backups of captured sessions: with and without their files, and the report of a restore about missing ones.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { spaceFor } from "../../../../src/app/backup/backup.ts";
import { FORMAT } from "../../../../src/domain/backup/model.ts";
import { packBackup } from "../../../../src/domain/backup/pack.ts";
import { readManifest, unpackBackup } from "../../../../src/domain/backup/unpack.ts";
import { placesIn } from "../../../../src/platform/data-directory/data-directory.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { copyOf, createInstallation, type Workspace } from "../../../support/in-process.ts";
import { captureOn, objectPathOf } from "../../../support/installed/installed-sessions.ts";

const [BYTES, OTHER] = ["the bytes of a captured session", "other bytes"];
const YES = "--backup-sessions yes";

let master: Workspace;
let workspace: Workspace;
let id: string;
beforeAll(async () => {
  master = await createInstallation();
  ({ sessionId: id } = await captureOn(master, BYTES));
  await captureOn(master, OTHER, { more: { session_id: "other" } });
});
afterAll(() => master[Symbol.dispose]());
beforeEach(() => {
  workspace = copyOf(master);
});
afterEach(() => workspace[Symbol.dispose]());

const paths = () => [BYTES, OTHER].map((bytes) => objectPathOf(workspace, bytes));

async function restore(file: string) {
  {
    using used = workspace;
    workspace = copyOf(used);
  }
  const { captured_sessions: sessions } = await workspace.json(`backup restore ${file} --confirm data`);
  return sessions;
}

test("SES-39 a backup has no files of sessions by default, and prints a note about it", async () => {
  expect(await workspace.json("backup create all.qmb")).toMatchObject({
    captured_sessions: { count: 2, files_included: false, files: null, in_object_store: 0 },
  });
  const text = "2 captured sessions with no files (backup.sessions)";
  expect((await workspace.run("backup verify all.qmb")).stdout).toContain(text);
  expect(readManifest(join(workspace.folder, "all.qmb")).format).toBe(FORMAT.plain);
});

test("SES-39 a backup with backup.sessions restores the files", async () => {
  const { size_bytes: plain } = Object(await workspace.json("backup create plain.qmb"));
  const made = Object(await workspace.json(`backup create all.qmb ${YES}`));
  const files = { count: 2, size_bytes: BYTES.length + OTHER.length, left_out: [] };
  expect(made.captured_sessions).toMatchObject({ count: 2, files_included: true, files });
  expect(made.size_bytes).toBe(plain + 2 * 1024); // header and one block each
  expect((await workspace.run("backup verify all.qmb")).stdout).toContain("2 captured sessions with 2 files");
  expect(readManifest(join(workspace.folder, "all.qmb")).format).toBe(FORMAT.withSessions);
  rmSync(join(workspace.data, "sessions"), { recursive: true });
  expect(await restore("all.qmb")).toEqual({ without_bytes: 0, in_object_store: 0 });
  expect(paths().map((path) => readFileSync(path, "utf8"))).toEqual([BYTES, OTHER]);
  expect(await workspace.json("sessions verify")).toMatchObject({ checked: 2, items: [] });
  expect(readdirSync(workspace.data).filter((name) => name.startsWith("restoring-"))).toEqual([]);
});

test("SES-39 a restore replaces a damaged file, and keeps files that the backup lacks", async () => {
  await workspace.json(`backup create all.qmb ${YES}`);
  writeFileSync(paths()[0] ?? "", BYTES.toUpperCase());
  await captureOn(workspace, "a later session", { more: { session_id: "later" } });
  await restore("all.qmb");
  expect(readFileSync(paths()[0] ?? "", "utf8")).toBe(BYTES);
  expect(existsSync(objectPathOf(workspace, "a later session"))).toBe(true);
});

test("SES-39 after a restore a session without bytes is lost until its next upload", async () => {
  await workspace.json("backup create all.qmb");
  const [path = "", other = ""] = paths();
  rmSync(path);
  writeFileSync(other, "shorter");
  expect(await restore("all.qmb")).toEqual({ without_bytes: 2, in_object_store: 0 });
  const { items } = await workspace.json("audit list --action captured_session.lose");
  expect(items).toMatchObject([{ after: { versions: 2, cause: "restore" } }]);
  expect(await workspace.json("status --offline-ok")).toMatchObject({
    captured_sessions: { without_bytes: 2 },
  });
  const { exitCode, stderr } = await workspace.run(`sessions export ${id} out.tgz`);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining("a new upload of it restores them")]);
  expect((await captureOn(workspace, BYTES)).sessionId).toBe(id);
  expect(await workspace.json(`sessions export ${id} out.tgz`)).toMatchObject({ sha256: sha256Hex(BYTES) });
  expect(await workspace.json("status --offline-ok")).toMatchObject({
    captured_sessions: { without_bytes: 1 },
  });
});

test("SES-39 a restore reports sessions without bytes and versions that it did not check", async () => {
  using database = new Database(join(workspace.data, "quartermaster.db"));
  database.run("UPDATE session_artifacts SET store = 's3' WHERE session_id <> ?", [id]);
  database.close();
  const made = await workspace.run(`backup create all.qmb ${YES}`);
  expect(made.stdout).toContain(
    "2 captured sessions with 2 files, 1 version in the object store not included",
  );
  rmSync(join(workspace.folder, "all.qmb"));
  await workspace.json("backup create all.qmb");
  for (const path of paths()) rmSync(path);
  using copy = copyOf(workspace);
  const { stderr } = await copy.run("backup restore all.qmb --confirm data");
  expect(stderr).toContain("1 captured session without bytes: a download answers 410");
  expect(stderr).toContain("1 version of captured sessions in the object store");
});

test("SES-39 a damaged file is left out of the backup and named, and a partial one does not count", async () => {
  const [path = ""] = paths();
  writeFileSync(path, BYTES.toUpperCase());
  writeFileSync(join(workspace.data, "sessions", `put-1-0a1b2c3d-${crypto.randomUUID()}`), "partial");
  const { exitCode, stdout, stderr } = await workspace.run(`backup create all.qmb ${YES} --json`);
  expect([exitCode, stderr]).toEqual([8, expect.stringContaining("quartermaster sessions verify")]);
  const left_out = [sha256Hex(BYTES)];
  expect(JSON.parse(stdout).captured_sessions.files).toMatchObject({ count: 1, left_out });
  expect(await workspace.run("backup verify all.qmb")).toMatchObject({ exitCode: 0 });
});

test("SES-39 a changed, missing or foreign file of a session makes the backup damaged", async () => {
  await workspace.json(`backup create all.qmb ${YES}`);
  const whole = readFileSync(join(workspace.folder, "all.qmb"));
  const verdictOf = async (change: (bytes: Buffer) => void): Promise<string> => {
    const bytes = Buffer.from(whole);
    change(bytes);
    writeFileSync(join(workspace.folder, "changed.qmb"), bytes);
    const { exitCode, stderr } = await workspace.run("backup verify changed.qmb");
    return `${exitCode} ${stderr}`;
  };
  const at = whole.indexOf(OTHER);
  expect(await verdictOf((bytes) => bytes.write("OTHER", at))).toMatch(
    /^7 .*captured session .* has different bytes/,
  );
  const name = whole.indexOf("sessions/sha256/");
  expect(await verdictOf((bytes) => bytes.write("artifact", name))).toMatch(/^7 /);
  const count = whole.indexOf('"count": 2');
  expect(await verdictOf((bytes) => bytes.write('"count": 1', count))).toMatch(/^7 /);
});

test("SES-39 a backup needs space for the stored files, and leaves out a file that retention removes during the backup", async () => {
  const directory = placesIn(workspace.data);
  const needed = (withSessions: boolean) => spaceFor(directory, { withSessions }).needed;
  expect(needed(true) - needed(false)).toBe(BYTES.length + OTHER.length);
  await workspace.json(`backup create all.qmb ${YES}`);
  const database = join(workspace.folder, "unpacked.db");
  const all = unpackBackup({ path: join(workspace.folder, "all.qmb"), database });
  const { format: _, artifacts: __, sessions: ___, database: told, ...facts } = all;
  const [first = "", second = ""] = ofOneFolder();
  const target = join(workspace.folder, "again.qmb");
  const request = { ...directory, database, target, partial: `${target}.partial` };
  const { manifest } = packBackup({ ...request, facts: { ...facts, rows: told.rows } }, () => {
    if (readFileSync(`${target}.partial`).includes(first))
      rmSync(objectPathOf(workspace, second), { force: true });
  });
  expect(manifest.sessions).toMatchObject({ count: 3, left_out: [] });
  expect(existsSync(objectPathOf(workspace, second))).toBe(false);
  expect(await workspace.run("backup verify again.qmb")).toMatchObject({ exitCode: 0 });
});

/** @returns two stored texts whose files are in one folder, in their order there */
function ofOneFolder(): string[] {
  const texts = Array.from({ length: 1_000 }, (_, index) => `text ${index}`);
  const shardOf = (text: string) => sha256Hex(text).slice(0, 2);
  const pair = texts.filter((text) => shardOf(text) === shardOf("text 0")).slice(0, 2);
  for (const text of pair) {
    mkdirSync(dirname(objectPathOf(workspace, text)), { recursive: true });
    writeFileSync(objectPathOf(workspace, text), text);
  }
  return pair.sort((one, other) => (sha256Hex(one) < sha256Hex(other) ? -1 : 1));
}

test("SES-39 the list of backups names the number of their session files", async () => {
  await workspace.json("backup create plain.qmb");
  await workspace.json(`backup create all.qmb ${YES}`);
  const { items } = await workspace.json(`backup list --backup-directory ${workspace.folder}`);
  const filesOf = ({ name, session_files }: { name: string; session_files: unknown }) => [
    name,
    session_files,
  ];
  expect(Object.fromEntries(Object(items).map(filesOf))).toEqual({ "plain.qmb": null, "all.qmb": 2 });
});
