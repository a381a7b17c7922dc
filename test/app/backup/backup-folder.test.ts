// The list of a folder of backups, and its order.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listBackups } from "../../../src/app/backup/backup-folder.ts";
import { DomainError } from "../../../src/platform/errors.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "found-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (...names: string[]): void => {
  for (const name of names) writeFileSync(join(folder, name), "x");
};
const found = (): string[] => listBackups(folder).map(({ name }) => name);

test("backups are listed newest first, then by name, and those without a time last", () => {
  put(
    "b.qmb",
    "a.qmb",
    "before-upgrade-schema-2-20260102T000000Z.db",
    "before-upgrade-schema-1-20260102T000000Z.db",
  );
  put("before-upgrade-schema-3-20260101T000000Z.db", "before-upgrade-schema-4-20260103T000000Z.db");
  expect(found()).toEqual([
    "before-upgrade-schema-4-20260103T000000Z.db",
    "before-upgrade-schema-1-20260102T000000Z.db",
    "before-upgrade-schema-2-20260102T000000Z.db",
    "before-upgrade-schema-3-20260101T000000Z.db",
    "a.qmb",
    "b.qmb",
  ]);
});

test("files with other names are ignored, and unreadable backups are listed with their problem", () => {
  put("note.txt", "a.qmb.partial", "before-upgrade-schema-x-20260102T000000Z.db", "a.qmb");
  expect(listBackups(folder)).toMatchObject([{ name: "a.qmb", kind: "manual", sizeBytes: 1 }]);
  expect(listBackups(folder)[0]?.problem).toBeString();
});

test("a file that the disk cannot read is listed with its problem, like the others", () => {
  symlinkSync("/proc/self/mem", join(folder, "b.qmb")); // reading its first bytes is an input/output error
  put("a.qmb");
  expect(found()).toEqual(["a.qmb", "b.qmb"]);
  expect(listBackups(folder)[1]?.problem).toContain("EIO");
});

test("a file that disappears during listing is not listed", () => {
  symlinkSync(join(folder, "removed.qmb"), join(folder, "b.qmb"));
  put("a.qmb");
  expect(found()).toEqual(["a.qmb"]);
});

test("a missing folder has no backups, and a file in its place is refused", () => {
  expect(listBackups(join(folder, "none"))).toEqual([]);
  put("file");
  expect(() => listBackups(join(folder, "file"))).toThrow(DomainError);
});
