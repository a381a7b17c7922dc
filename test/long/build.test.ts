// Two builds are the same. Each takes some seconds of all processors.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { builtExecutable } from "../support/cli/executable.ts";
import { temporaryDirectory } from "../support/world.ts";

test("CON-155 a build replaces the folder's content with the executable and its checksum, identical for every folder", () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "stale"), "");
  build({ directory: folder });
  expect(readdirSync(folder).toSorted()).toEqual(["SHA256SUMS", "quartermaster"]);
  const digest = sha256Hex(readFileSync(join(folder, "quartermaster")));
  expect(readFileSync(join(folder, "SHA256SUMS"), "utf8")).toBe(`${digest}  quartermaster\n`);
  expect(digest).toBe(sha256Hex(readFileSync(builtExecutable())));
  rmSync(folder, { recursive: true });
});
