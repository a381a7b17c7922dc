// Bundles the console's browser code and style sheet: once while the executable is built, which contains the finished files, or
// when a service that runs from source loads the console.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** Entry points, relative to `browser/`. release/bundled-packages.ts lists the packages that they contain. */
export const BROWSER_ENTRIES = ["main.ts", "editor/editor.ts", "console.css"];

/** For an executable: saves another 8 % and takes sixteen times as long as the usual level. */
export const BROTLI_QUALITY_MAX = constants.BROTLI_MAX_QUALITY;
/** For a service that runs from source. */
const BROTLI_QUALITY = 9;

/** Ends the name of a file in the executable; no other embedded file has it. */
export const PACKED = ".br";

export interface BrowserFile {
  /** `main-1a2b3c4d.js`: contains a digest of the content */
  name: string;
  /** content, compressed with brotli */
  brotli: Uint8Array<ArrayBuffer>;
}

/**
 * Paths are relative to the sources, because the bundler's digests cover them: another clone gives the same names.
 * The bundler runs as a process, because the caller needs the files at once.
 * @param quality of brotli
 * @returns the files, ordered by name: the same bytes for the same sources
 * @throws Error with the bundler's output
 */
export function browserFiles(quality = BROTLI_QUALITY): BrowserFile[] {
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
      .map((name) => ({ name, brotli: compress(readFileSync(join(folder, name)), quality) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const compress = (bytes: Uint8Array, quality: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
