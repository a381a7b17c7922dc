// Two builds are identical, and a build without the console is not much smaller. Each build uses all processors for some seconds.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { BROTLI_QUALITY_MAX, browserFiles } from "../../src/server/console/assets/bundle.ts";
import { builtExecutable } from "../support/cli/executable.ts";
import { buildWithoutConsole } from "../support/cli/without-console.ts";
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

const CONSOLE_BYTES_MAX = 3_000_000;

test("CON-138 the executable is at most 3 MB larger than without a console", async () => {
  const folder = temporaryDirectory();
  const without = statSync(await buildWithoutConsole(folder)).size;
  const files = browserFiles(BROTLI_QUALITY_MAX).reduce((sum, { brotli }) => sum + brotli.length, 0);
  const growth = statSync(builtExecutable()).size - without + files;
  expect(growth).toBeGreaterThan(files);
  expect(growth).toBeLessThanOrEqual(CONSOLE_BYTES_MAX);
  rmSync(folder, { recursive: true });
});
