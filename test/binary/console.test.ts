// The console's browser files inside the executable: built, complete, and independent of the folder of the build.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { bundledPackages } from "../../src/app/release/bundled-packages.ts";
import { BUNDLES } from "../../src/app/release/release.ts";
import {
  BROTLI_QUALITY_MAX,
  type BrowserFile,
  browserFiles,
} from "../../src/server/console/assets/bundle.ts";
import { CONSOLE_ASSETS_PATH } from "../../src/server/console/frame/navigation.ts";
import { prepareInstallation } from "../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../support/running-service.ts";

const ROOT = join(import.meta.dir, "../..");
const BUNDLER = "src/server/console/assets/bundle.ts";
/** The browser code shares modules with the pages. */
const SOURCES = ["src/server/console"];

let directory: string;
let service: RunningService;
const files = browserFiles(BROTLI_QUALITY_MAX);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  const empty = join(directory, "empty");
  mkdirSync(empty);
  await prepareInstallation(join(directory, "data"));
  service = await startService({ args: ["--data-dir", join(directory, "data")], cwd: empty });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const ask = ({ name }: BrowserFile, headers: Record<string, string>) =>
  fetch(`${service.baseUrl}${CONSOLE_ASSETS_PATH}/${name}`, { headers, decompress: false });

describe("CON-155 the executable", () => {
  test("serves every browser file from an empty directory, compressed and plain, and answers 304", async () => {
    for (const file of files) {
      const packed = await ask(file, { "accept-encoding": "br" });
      expect([packed.status, packed.headers.get("content-encoding")]).toEqual([200, "br"]);
      expect(await packed.bytes()).toEqual(file.brotli);
      const plain = await ask(file, { "accept-encoding": "identity" });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(Buffer.from(await plain.bytes())).toEqual(brotliDecompressSync(file.brotli));
      for (const [response, encoding] of [
        [packed, "br"],
        [plain, "identity"],
      ] as const) {
        const etag = response.headers.get("etag") ?? "";
        expect(etag).toMatch(/^"[^"]+"$/);
        const again = await ask(file, { "accept-encoding": encoding, "if-none-match": etag });
        expect([again.status, await again.text()]).toEqual([304, ""]);
      }
    }
    expect(readdirSync(join(directory, "empty"))).toEqual([]);
  });
});

test("CON-155 another folder with the same sources gives the same browser files", async () => {
  const copy = join(directory, "copy");
  const packages = await bundledPackages(
    ROOT,
    BUNDLES.filter(({ target }) => target === "browser"),
  );
  // A package may import another one of its scope that the bundler finds and then leaves out.
  const folders = new Set(packages.map(({ name }) => name.split("/")[0]));
  for (const path of [...SOURCES, ...[...folders].map((name) => `node_modules/${name}`)])
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  const elsewhere: { browserFiles: typeof browserFiles } = await import(join(copy, BUNDLER));
  expect(elsewhere.browserFiles(BROTLI_QUALITY_MAX)).toEqual(files);
});
