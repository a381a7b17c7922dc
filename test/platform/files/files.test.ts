// Files an operator names: written whole or not at all.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readPieces, replaceFile } from "../../../src/platform/files/files.ts";
import { temporaryDirectory } from "../../support/world.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);

test("a new file is made and an old one replaced, with nothing left beside it", async () => {
  await replaceFile(at("out.yaml"), "one\n");
  await replaceFile(at("out.yaml"), "two\n");
  expect(readFileSync(at("out.yaml"), "utf8")).toBe("two\n");
  expect(readdirSync(folder)).toEqual(["out.yaml"]);
});

test("a symbolic link is refused, and what it leads to stays", async () => {
  writeFileSync(at("target"), "old");
  for (const [link, target] of [
    ["link", "target"],
    ["dangling", "none"],
  ] as const) {
    symlinkSync(at(target), at(link));
    await expect(replaceFile(at(link), "new")).rejects.toMatchObject({ reason: "file.symbolic_link" });
    expect(readlinkSync(at(link))).toBe(at(target));
  }
  expect(readFileSync(at("target"), "utf8")).toBe("old");
  expect(readdirSync(folder).sort()).toEqual(["dangling", "link", "target"]);
});

test("a folder, a device and a missing folder are refused, and nothing is left behind", async () => {
  mkdirSync(at("folder"));
  const write = (path: string) => replaceFile(path, "x");
  await expect(write(at("folder"))).rejects.toMatchObject({ kind: "invalid", reason: "file.not_regular" });
  await expect(write("/dev/null")).rejects.toMatchObject({ reason: "file.not_regular" });
  await expect(write(at("none/out"))).rejects.toMatchObject({
    kind: "not_found",
    reason: "file.missing",
    message: `there is no folder ${at("none")}`,
  });
  expect(readdirSync(folder)).toEqual(["folder"]);
});

test("a file is opened when its first piece is asked for, and never where nobody asks", async () => {
  const pieces = readPieces(at("late.bin"), { offset: 1, length: 3 });
  const unread = readPieces(at("missing.bin"));
  await Bun.sleep(10);
  writeFileSync(at("late.bin"), "01234");
  expect(Buffer.concat(await Array.fromAsync(pieces)).toString()).toBe("123");
  expect(await unread.return(undefined)).toEqual({ done: true, value: undefined });
});
