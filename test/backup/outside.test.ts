// Backups that come from outside: files that only look like one, and databases that this program did not make.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { productCommand } from "../support/executable.ts";
import { type Bench, createInstallation } from "../support/in-process.ts";

let bench: Bench;
let backup: string;

beforeAll(async () => {
  bench = await createInstallation();
  backup = join(bench.folder, "made.qmb");
  await bench.json(`backup create ${backup}`);
});
afterAll(() => bench[Symbol.dispose]());

describe("DAT-4 a named pipe", () => {
  const PATIENCE_MS = 20_000;
  const inChild = (line: string) =>
    spawnSync(productCommand()[0] ?? "", [...line.split(" "), "--json", "--data-dir", bench.data], {
      encoding: "utf8",
      timeout: PATIENCE_MS,
      killSignal: "SIGKILL",
    });

  test.each(["verify", "restore --confirm data"])(
    "is refused by `backup %s`, which does not wait",
    (verb) => {
      const pipe = join(bench.folder, `pipe-${verb.split(" ")[0]}`);
      spawnSync("mkfifo", [pipe]);
      const { status, stderr } = inChild(`backup ${verb} ${pipe}`);
      expect([status, JSON.parse(stderr).reason]).toEqual([2, "file.not_regular"]);
    },
  );

  test("in the folder of backups is listed with its problem", () => {
    const folder = join(bench.folder, "with-pipe");
    mkdirSync(folder);
    spawnSync("mkfifo", [join(folder, "backup-20260101T000000Z.qmb")]);
    const { status, stdout } = inChild(`backup list --backup-directory ${folder}`);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).items[0].problem).toEndWith("is not a regular file");
  });
});

test("DAT-4 a backup that was cut short is listed with its problem, though its beginning is whole", async () => {
  const folder = join(bench.folder, "cut-short");
  mkdirSync(folder);
  const path = join(folder, "scheduled-20260101T000000Z.qmb");
  copyFileSync(backup, path);
  truncateSync(path, statSync(path).size - 512);
  const { items } = await bench.json(`backup list --backup-directory ${folder}`);
  expect(JSON.stringify(items)).toContain("is damaged: its end is missing");
});
