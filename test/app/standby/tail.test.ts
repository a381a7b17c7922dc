// Data of a former machine that the active machine lacks, counted by kind. Both are states of one installation.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endOfLog } from "../../../src/app/standby/log-end.ts";
import { restoredEnd, tailAfter, tailText } from "../../../src/app/standby/tail.ts";
import type { RestoredEnd } from "../../../src/app/standby/terms.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { createInstallation, type Workspace } from "../../support/in-process.ts";
import { publishOn, reportOn } from "../../support/installed/installed-clients.ts";
import { logInOn } from "../../support/installed/installed-login.ts";
import { captureOn } from "../../support/installed/installed-sessions.ts";

/** The record of a machine that restores the current database. */
function restoredFrom(workspace: Workspace): RestoredEnd {
  const file = join(workspace.folder, `restored-${Bun.randomUUIDv7()}.db`);
  using database = new Database(join(workspace.data, "quartermaster.db"));
  database.run("VACUUM INTO ?", [file]);
  return restoredEnd(file, endOfLog(file));
}

const tailOf = ({ data }: Workspace, restored: RestoredEnd) => tailAfter(placesIn(data), restored);
const KNOWN = { instance_id: "0198a4a0-0000-7000-8000-000000000001" };
const NEW = { instance_id: "0198a4a0-0000-7000-8000-000000000002" };

test("STB-7 the tail has reports, sessions, sign-ins, logins, users and policy revisions, also of the time of the newest restored ones", async () => {
  using workspace = await createInstallation();
  const login = await reportOn(workspace, [KNOWN]);
  const restored = restoredFrom(workspace);
  expect(tailOf(workspace, restored)).toBeUndefined();
  await reportOn(workspace, [NEW], login);
  await publishOn(workspace);
  await workspace.json("users create tail@example.org --role member");
  await logInOn(workspace);
  await captureOn(workspace, '{"type":"user"}\n');
  expect(tailOf(workspace, restored)).toMatchObject({
    rows: { reports: 1, captured_sessions: 1, sign_ins: 1, logins: 1, users: 1, policy_revisions: 2 },
    audit: { entries: expect.any(Number) },
  });
});

test("STB-7 a report that replaced a restored one is in the tail, and audit entries are not needed for that", async () => {
  using workspace = await createInstallation();
  const login = await reportOn(workspace, [KNOWN]);
  const restored = restoredFrom(workspace);
  workspace.clock.advance(1);
  await reportOn(workspace, [{ ...KNOWN, hostname: "moved" }], login);
  const tail = tailOf(workspace, restored);
  expect(tail).toEqual({ audit: undefined, rows: { reports: 1 } });
  expect(tailText(tail)).toBe("this machine has data that the other one lacks: 1 workstation report");
});

test("STB-7 the record of an earlier version counts audit entries only", async () => {
  using workspace = await createInstallation();
  const { newest: _, ...restored } = restoredFrom(workspace);
  await workspace.json("users create tail@example.org --role member");
  expect(tailOf(workspace, restored)).toMatchObject({ audit: { entries: 1 }, rows: {} });
});

test("STB-7 data of another installation and a damaged database are named as such", async () => {
  using workspace = await createInstallation();
  const restored = restoredFrom(workspace);
  expect(tailText(tailOf(workspace, { ...restored, audit_digest: "0" }))).toBe(
    "the databases of the two machines have nothing in common",
  );
  writeFileSync(join(workspace.data, "quartermaster.db"), "no database");
  expect(tailText(tailOf(workspace, restored))).toContain("the database of this machine cannot be read");
});
