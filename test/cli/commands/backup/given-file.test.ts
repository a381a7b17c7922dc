// The names that `backup list` prints, passed to `backup verify` and `backup restore`.
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInstallation } from "../../../support/in-process.ts";

test("a name from backup list leads to the file in the backup folder, and never to another file", async () => {
  using workspace = await createInstallation();
  const { path } = Object(await workspace.json("backup create"));
  const name = String(path).split("/").at(-1) ?? "";
  expect(existsSync(path)).toBe(true);
  for (const line of [`backup verify ${name}`, `backup restore ${name} --dry-run`]) {
    const { stderr, exitCode } = await workspace.run(line);
    expect([stderr, exitCode]).toEqual([
      `error: there is no file ${join(workspace.folder, name)}\nhint:  did you mean ${path}?\nrun:   <run>\n`,
      3,
    ]);
  }
  expect((await workspace.run("backup verify nothing.qmb")).stderr).toContain("hint:  check the path\n");
  expect((await workspace.run(`backup verify other/${name}`)).stderr).toContain("hint:  check the path\n");
  writeFileSync(join(workspace.folder, name), "no backup");
  expect(await workspace.run(`backup verify ${name}`)).toMatchObject({ exitCode: 7 });
});
