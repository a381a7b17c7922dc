// `bun run build [--target bun-linux-arm64]`: compiles the executable into dist/ and writes SHA256SUMS beside it. Builds are
// reproducible: the same commit gives the same bytes. version.ts explains the embedded facts.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { sha256Hex } from "../../platform/ids.ts";
import { BROTLI_QUALITY_MAX, browserFiles, PACKED } from "../../server/console/assets/bundle.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const NAME = "quartermaster";
/** Entry points: the program, and the threads that it starts by path. */
export const ENTRIES = [
  "src/main.ts",
  "src/app/backup/backup-worker.ts",
  "src/app/operations/doctor-worker.ts",
  "src/app/documents/document-worker.ts",
  "src/app/request-logs/log-worker.ts",
  "src/app/transcripts/reader-worker.ts",
  "src/platform/blobs/write-worker.ts",
  "src/platform/database/checkpoint-worker.ts",
];

/**
 * Identifiers are not shortened: Elysia reads the source text of handlers, and shorter names would break them without
 * an error. The executable has all entries in one folder, because shared code starts a thread by a path beside it.
 * Without the two autoload options, an `.env` or `bunfig.toml` in the current folder cannot change what the executable
 * does.
 */
const FLAGS = [
  "--bytecode",
  // Deeper functions are compiled when they are first called: 1.7 MB less on disk for 1 MB more memory, with the same start time.
  "--bytecode-depth=2",
  "--format=esm",
  "--splitting",
  "--entry-naming=[name].[ext]",
  "--asset-naming=[name].[ext]",
  `--loader=${PACKED}:file`,
  "--sourcemap",
  "--minify-whitespace",
  "--minify-syntax",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

export interface BuildOptions {
  /** receives the executables and SHA256SUMS; its previous content is removed */
  readonly directory: string;
  /** further targets, such as `bun-linux-arm64`; their executables have the target in their name */
  readonly targets?: readonly string[];
}

/**
 * Builds for this machine and every further target. The directory does not change until all builds succeed.
 * @throws Error with the compiler's output if a build fails
 */
export function build({ directory, targets = [] }: BuildOptions): void {
  mkdirSync(directory, { recursive: true });
  const work = mkdtempSync(join(directory, ".partial-"));
  try {
    // The target of this machine comes last: the compiler rejects an unknown target immediately, before a build that takes seconds.
    const files = writeBrowserFiles();
    const names = [...targets, undefined].map((target) =>
      compile(join(work, target ?? "native"), { target, files }),
    );
    for (const entry of readdirSync(directory)) {
      if (!work.endsWith(entry)) rmSync(join(directory, entry), { recursive: true });
    }
    for (const { folder, name } of names) renameSync(join(folder, name), join(directory, name));
    const sums = names.map(({ name }) => `${sha256Hex(readFileSync(join(directory, name)))}  ${name}\n`);
    writeFileSync(join(directory, "SHA256SUMS"), sums.join(""));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Every build of a clone uses the same place, because the compiler writes the paths of its inputs into the executable. */
const BROWSER_FILES = join(ROOT, "node_modules/.cache/browser-files");

/** @returns paths of the console's browser files, which the executable contains unchanged */
function writeBrowserFiles(): string[] {
  mkdirSync(BROWSER_FILES, { recursive: true });
  return browserFiles(BROTLI_QUALITY_MAX).map(({ name, brotli }) => {
    const path = join(BROWSER_FILES, name + PACKED);
    // Renamed into place, because another build may be reading the file.
    const partial = `${path}.${process.pid}`;
    writeFileSync(partial, brotli);
    renameSync(partial, path);
    return path;
  });
}

/** The folder also receives source maps; the executable embeds its own copy. */
function compile(
  folder: string,
  { target, files }: { target: string | undefined; files: readonly string[] },
): { folder: string; name: string } {
  const name = target === undefined ? NAME : `${NAME}-${target.replace(/^bun-/, "")}`;
  mkdirSync(folder);
  const facts = Object.entries(definitions()).map(
    ([key, value]) => `--define=${key}=${JSON.stringify(value)}`,
  );
  const aim = target === undefined ? [] : [`--target=${target}`];
  const entries = [...ENTRIES.map((path) => join(ROOT, path)), ...files];
  const outfile = `--outfile=${join(folder, name)}`;
  output([process.execPath, "build", "--compile", ...entries, outfile, ...FLAGS, ...facts, ...aim]);
  return { folder, name };
}

function definitions(): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const seconds = process.env.SOURCE_DATE_EPOCH ?? git("log", "-1", "--format=%ct");
  const time = seconds && new Date(Number(seconds) * 1000).toISOString();
  const isModified = git("status", "--porcelain", "--untracked-files=no") !== "";
  const commit = git("rev-parse", "HEAD");
  return {
    "process.env.NODE_ENV": "production",
    QUARTERMASTER_VERSION: version,
    QUARTERMASTER_COMMIT: commit === undefined ? "unknown" : commit + (isModified ? "-modified" : ""),
    ...(time === undefined ? {} : { QUARTERMASTER_BUILD_TIME: time }),
  };
}

/** @returns undefined if there is no repository, as in an unpacked archive */
function git(...args: string[]): string | undefined {
  try {
    return output(["git", ...args]);
  } catch {
    return undefined;
  }
}

function output(command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: ROOT, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${command.slice(0, 2).join(" ")} failed:\n${stderr}${stdout}`);
  return stdout.toString().trim();
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { target: { type: "string", multiple: true, default: [] } } });
  build({ directory: join(ROOT, "dist"), targets: values.target });
}
