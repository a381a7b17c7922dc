// The limits of a backup's manifest, the names of its files, and the error text of a full disk.
import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { insufficientDiskSpace } from "../../../src/domain/backup/errors.ts";
import {
  fileNameOf,
  keysPathOf,
  kindOfFile,
  LEFT_OUT_MAX,
  ManifestSchema,
} from "../../../src/domain/backup/model.ts";

const digest = "a".repeat(64);
const MANIFEST = {
  format: 1,
  created_at: "2026-01-01T00:00:00.000Z",
  version: "1.0.0",
  organization_id: "org",
  schema: 0,
  database: { size_bytes: 0, sha256: digest, rows: { users: 0 } },
  artifacts: { count: 0, size_bytes: 0, sha256: digest, left_out: [] },
  sealing_key_ids: [],
};

const leftOut = (count: number) => ({
  artifacts: { ...MANIFEST.artifacts, left_out: Array(count).fill(digest) },
});

test.each<[string, object, boolean]>([
  ["as written", {}, true],
  ["with files of captured sessions", { format: 2 }, true],
  ["of another format", { format: 3 }, false],
  ["of a schema before the first", { schema: -1 }, false],
  ["without a version", { version: "" }, false],
  ["with the shortest version", { version: "1" }, true],
  ["with the longest version", { version: "1".repeat(200) }, true],
  ["with a longer version", { version: "1".repeat(201) }, false],
  ["with the most and longest keys", { sealing_key_ids: Array(1000).fill("k".repeat(64)) }, true],
  ["with more keys", { sealing_key_ids: Array(1001).fill("k") }, false],
  ["with a longer key", { sealing_key_ids: ["k".repeat(65)] }, false],
  ["with the most damaged artifacts", leftOut(LEFT_OUT_MAX), true],
  ["with more of them", leftOut(LEFT_OUT_MAX + 1), false],
])("a manifest %s", (_what, changes, isValid) => {
  expect(Value.Check(ManifestSchema, { ...MANIFEST, ...changes })).toBe(isValid);
});

test("a file is named after its kind and time, and further ones of the same second are numbered", () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  expect(fileNameOf("manual", { atMs, again: 0 })).toBe("backup-20260102T030405Z.qmb");
  expect(fileNameOf("manual", { atMs, again: 1 })).toBe("backup-20260102T030405Z-1.qmb");
  expect(kindOfFile(fileNameOf("scheduled", { atMs, again: 12 }))).toBe("scheduled");
  expect(kindOfFile("any.qmb")).toBe("manual");
  expect(kindOfFile(".qmb.txt")).toBeUndefined();
});

test("the key file has the name of its backup", () => {
  expect(keysPathOf("/a/b.qmb")).toBe("/a/b.qmk");
  expect(keysPathOf("/a/b")).toBe("/a/b.qmk");
  expect(keysPathOf(".qmb.old")).toBe(".qmb.old.qmk");
});

test("a full disk is reported in megabytes", () => {
  const { message } = insufficientDiskSpace("/a", { needed: 10 ** 13, available: 1_250_000 });
  expect(message).toBe("/a has 1.3 MB left, and 10000000.0 MB are needed");
});
