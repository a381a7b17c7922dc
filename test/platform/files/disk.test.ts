// Sizes of files and folders, and how they are shown.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  bytesText,
  FREE_BYTES_MIN,
  fileSizeOf,
  folderSizeOf,
  isNearlyFull,
} from "../../../src/platform/files/disk.ts";
import { temporaryDirectory } from "../../support/world.ts";

const folder = temporaryDirectory();
afterAll(() => rmSync(folder, { recursive: true }));

test("a folder has the size of the files in it and below, links aside", () => {
  expect(folderSizeOf(folder)).toBe(0);
  mkdirSync(join(folder, "a", "b"), { recursive: true });
  writeFileSync(join(folder, "one"), "1");
  writeFileSync(join(folder, "a", "b", "four"), "1234");
  symlinkSync(join(folder, "a", "b", "four"), join(folder, "link"));
  expect(folderSizeOf(folder)).toBe(5);
  expect(fileSizeOf(join(folder, "one"))).toBe(1);
});

test("what does not exist has no size", () => {
  expect(folderSizeOf(join(folder, "missing"))).toBe(0);
  expect(fileSizeOf(join(folder, "missing"))).toBe(0);
});

test.each([
  [FREE_BYTES_MIN - 1, true],
  [FREE_BYTES_MIN, false],
])("a disk with %i free bytes is nearly full: %p", (availableBytes, isFull) => {
  expect(isNearlyFull({ availableBytes })).toBe(isFull);
});

test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1.0 KiB"],
  [432_013_312, "412.0 MiB"],
  [2 ** 50, "1024.0 TiB"],
])("%i bytes are shown as %s", (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});
