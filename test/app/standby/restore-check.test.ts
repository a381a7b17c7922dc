// The daily test restore, with a folder as the store and a script that replaces Litestream.
import { expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performTask } from "../../../src/app/backup/perform-task.ts";
import { CHECK_LAG_MS, checkRestore } from "../../../src/app/standby/restore-check.ts";
import { AuditLog } from "../../../src/domain/audit/log.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createInstallation, type Workspace } from "../../support/in-process.ts";
import { connect, FIRST } from "../../support/installed/installed-replica.ts";

async function check(workspace: Workspace, term = FIRST) {
  const { folder, clock, data } = workspace;
  const config = loadConfig({ flags: { config: "standby.yaml", dataDir: data }, env: {}, cwd: folder });
  const directory = placesIn(data);
  const db = openDatabase(directory.database, { replicated: true });
  const auditLog: Pick<AuditLog, "entryAfter"> = {
    entryAfter: (id) => AuditLog.prototype.entryAfter.call(new AuditLog({ db, clock, audit: NO_AUDIT }), id),
  };
  try {
    const ids = systemIds;
    return await checkRestore({ config, clock, ids, directory, term, auditLog, perform: performTask });
  } finally {
    await db.close();
  }
}

const NO_AUDIT = { record: () => {}, recordAll: () => {} };
const leftovers = ({ data }: Workspace) => readdirSync(data).filter((name) => name.startsWith("restoring"));

test("STB-2 the replica is restored, verified and compared, and no files remain", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  expect(await check(workspace)).toMatchObject({ id: 3 });
  expect(leftovers(workspace)).toEqual([]);
});

test("STB-2 a replica that lacks an older audit entry fails the check", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  await workspace.json("users create tail@example.org --role member");
  workspace.clock.advance(CHECK_LAG_MS);
  expect(await check(workspace)).toMatchObject({ id: 3 });
  workspace.clock.advance(1);
  expect(check(workspace)).rejects.toMatchObject({ kind: "unverified", reason: "standby.replica_old" });
});

test("STB-2 a replica that cannot be restored fails the check with Litestream's message", async () => {
  using workspace = await createInstallation();
  connect(workspace, workspace);
  await expect(check(workspace, "t00000009-aaaaaa")).rejects.toMatchObject({
    reason: "standby.restore_failed",
    message: expect.stringContaining("another term"),
  });
  writeFileSync(join(workspace.folder, "source.db"), "not a database");
  await expect(check(workspace)).rejects.toThrow();
  rmSync(join(workspace.folder, "litestream"));
  await expect(check(workspace)).rejects.toMatchObject({ reason: "standby.no_litestream" });
  expect(leftovers(workspace)).toEqual([]);
});
