// Temporary private folders: removed after the work, and swept after a process was killed.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TemporaryFolders } from "../../../src/platform/files/temporary-folders.ts";
import { temporaryDirectory } from "../../support/world.ts";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

test("a folder is private, and gone after the work", async () => {
  const folders = new TemporaryFolders(join(directory, "work"));
  let path: string;
  {
    await using folder = await folders.create();
    path = folder.path;
    writeFileSync(join(path, "a"), "text");
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(await folders.sweep()).toBe(0);
  }
  expect(existsSync(path)).toBe(false);
});

test("folders of killed processes are removed with the programs that run there, and nothing else (SRC-12)", async () => {
  const killed = `work-4194303-00000000-${crypto.randomUUID()}`;
  mkdirSync(join(directory, killed));
  mkdirSync(join(directory, "other"));
  const left = Bun.spawn(["sleep", "600"], { cwd: join(directory, killed) });
  const folders = new TemporaryFolders(directory);
  expect(await folders.sweep()).toBe(1);
  expect(readdirSync(directory)).toEqual(["other"]);
  await left.exited;
  expect(left.signalCode).toBe("SIGKILL");
  expect(await new TemporaryFolders(join(directory, "absent")).sweep()).toBe(0);
});
