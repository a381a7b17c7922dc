// `users erase`: later backups contain no data of the person, not even in free pages, and restore with an intact audit
// log. test/domain/erasure tests the erased data.
import { expect, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, createWorkspace } from "../../../support/in-process.ts";
import { guessOn, inviteOn } from "../../../support/installed/installed-login.ts";

const ANA = "ana@example.org";

test("a later backup contains no data of the person, and restores with an intact audit log", async () => {
  using workspace = await createInstallation();
  await workspace.json(`users create ${ANA} --role admin`);
  await inviteOn(workspace, { inviter: ANA, emails: ["bob@example.org"] });
  await guessOn(workspace, ANA);
  await workspace.json("backup create before.qmb");
  await workspace.json(`users erase ${ANA} --confirm ${ANA}`);
  await workspace.json("backup create after.qmb");
  const bytesOf = (name: string) => readFileSync(join(workspace.folder, name)).toString("latin1");
  expect(bytesOf("before.qmb")).toContain(ANA);
  expect(bytesOf("after.qmb")).not.toContain(ANA);
  expect(await workspace.json("backup verify after.qmb")).toMatchObject({ intact: true });
  using copy = createWorkspace(); // a copy, because this process may still have the original open
  cpSync(workspace.data, copy.data, { recursive: true });
  await copy.json(`backup restore ${join(workspace.folder, "after.qmb")} --confirm data`);
  expect(await copy.json("audit verify")).toMatchObject({ verified: true });
  expect((await copy.run(`users show ${ANA}`)).exitCode).toBe(3);
});

test("shows what will be erased, asks for the address, and distinguishes an erased person from an unknown one", async () => {
  using workspace = await createInstallation();
  await workspace.json(`users create ${ANA} --role member`);
  const planned = await workspace.json(`users erase ${ANA} --dry-run`);
  expect(planned).toMatchObject({ dry_run: true, action: `erase ${ANA} permanently` });
  expect(await workspace.run(`users erase ${ANA} --confirm other@example.org`)).toMatchObject({
    exitCode: 2,
  });
  expect(await workspace.json("users list --status active")).toMatchObject({ total: 2 });
  await workspace.json(`users erase ${ANA.toUpperCase()} --confirm ${ANA}`);
  expect(await workspace.json("users list")).toMatchObject({ total: 1 });
  expect(await workspace.run(`users erase ${ANA} --confirm ${ANA}`)).toMatchObject({ exitCode: 3 });
});

test("an erasure interrupted while reading the log changes nothing", async () => {
  using workspace = await createInstallation();
  await workspace.json(`users create ${ANA} --role member`);
  const signal = AbortSignal.abort(new Error("interrupted"));
  expect((await workspace.run(`users erase ${ANA} --confirm ${ANA}`, { signal })).exitCode).toBe(1);
  expect(await workspace.json("users list --status active")).toMatchObject({ total: 2 });
});

test("restoring a removed user prints a warning, but not after an erasure", async () => {
  using workspace = await createInstallation();
  const create = () => workspace.run(`users create ${ANA} --role member`);
  expect((await create()).stderr).toStartWith(`created ${ANA}`);
  await workspace.json(`users remove ${ANA} --yes`);
  workspace.clock.advance(1);
  const restored = (await create()).stderr;
  expect(restored).toContain(`restored ${ANA}`);
  expect(restored).toContain(`quartermaster users erase ${ANA}`);
  await workspace.json(`users erase ${ANA} --confirm ${ANA}`);
  expect((await create()).stderr).toStartWith(`created ${ANA}`);
});
