// Files that an operator names: written completely or not at all.
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
import {
  openFile,
  openRegularFile,
  readPieces,
  replaceFile,
} from "../../../src/platform/files/operator-files.ts";
import { temporaryDirectory } from "../../support/world.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);

test("creates a new file or replaces an old one, and leaves no other files", async () => {
  await replaceFile(at("out.yaml"), "one\n");
  await replaceFile(at("out.yaml"), "two\n");
  expect(readFileSync(at("out.yaml"), "utf8")).toBe("two\n");
  expect(readdirSync(folder)).toEqual(["out.yaml"]);
});

test("refuses a symbolic link and keeps its target", async () => {
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

test("refuses a folder, a device and a missing folder, and leaves nothing behind", async () => {
  mkdirSync(at("folder"));
  const write = (path: string) => replaceFile(path, "x");
  await expect(write(at("folder"))).rejects.toMatchObject({ kind: "invalid", reason: "file.not_regular" });
  await expect(write("/dev/null")).rejects.toMatchObject({ reason: "file.not_regular" });
  await expect(write(at("none/out"))).rejects.toMatchObject({
    kind: "not_found",
    reason: "file.missing",
    message: `there is no folder ${at("none")}`,
  });
  await expect(write("/proc/out")).rejects.toMatchObject({
    kind: "invalid",
    reason: "file.no_new_files",
    message: "no file can be created in /proc",
  });
  expect(readdirSync(folder)).toEqual(["folder"]);
});

test.each([
  ["symbolic links that lead in a circle", "loop"],
  ["a name that is too long", "n".repeat(300)],
])("refuses a path with %s", async (what, name) => {
  symlinkSync(at("loop"), at("loop"));
  const refused = { kind: "invalid", reason: "file.bad_path", message: `${at(name)} has ${what}` };
  await expect(openFile(at(name))).rejects.toMatchObject(refused);
  expect(() => openRegularFile(at(name))).toThrow(expect.objectContaining(refused));
  await expect(replaceFile(join(at(name), "out"), "x")).rejects.toMatchObject({ reason: "file.bad_path" });
});

test("opens a file when its first piece is requested, and never without a reader", async () => {
  const pieces = readPieces(at("late.bin"), { offset: 1, length: 3 });
  const unread = readPieces(at("missing.bin"));
  await Bun.sleep(10);
  writeFileSync(at("late.bin"), "01234");
  expect(Buffer.concat(await Array.fromAsync(pieces)).toString()).toBe("123");
  expect(await unread.return(undefined)).toEqual({ done: true, value: undefined });
});
