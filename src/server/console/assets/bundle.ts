// Bundles the console's browser code and style sheet. assets.ts calls it as a macro, so that it runs while the executable is
// built, or once when `serve` runs from source: the executable contains finished files.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** Entry points, relative to `browser/`. release/bundled-packages.ts lists the packages that they contain. */
export const BROWSER_ENTRIES = ["main.ts", "editor/editor.ts", "console.css"];

/** Level 11 saves another 8 % and takes sixteen times as long, at each start from source. */
const BROTLI_QUALITY = 9;

export interface BrowserFile {
  /** `main-1a2b3c4d.js`: contains a digest of the content */
  name: string;
  /** content, compressed with brotli, in base64 */
  brotli: string;
}

/**
 * Paths are relative to the sources, because the bundler's digests cover them: another clone gives the same names.
 * A macro cannot use Bun.build, so the bundler runs as a process.
 * @returns the files, ordered by name: the same bytes for the same sources
 * @throws Error with the bundler's output
 */
export function browserFiles(): BrowserFile[] {
  const folder = mkdtempSync(join(tmpdir(), "quartermaster-browser-"));
  try {
    const cwd = join(import.meta.dir, "../browser");
    const naming = ["--entry-naming=[name]-[hash].[ext]", "--chunk-naming=[name]-[hash].[ext]"];
    const flags = ["--target=browser", "--production", "--splitting", `--outdir=${folder}`, ...naming];
    const entries = BROWSER_ENTRIES.map((entry) => `./${entry}`);
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, "build", ...entries, ...flags], { cwd });
    if (exitCode !== 0) throw new Error(`the browser code cannot be bundled:\n${stderr}`);
    return readdirSync(folder)
      .sort()
      .map((name) => ({ name, brotli: compress(readFileSync(join(folder, name))) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const compress = (bytes: Uint8Array): string =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }).toString(
    "base64",
  );
