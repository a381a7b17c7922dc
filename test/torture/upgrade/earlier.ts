// Earlier versions of the product, checked out from the history of the repository: for each schema the last commit that had it.
// They run from their sources, with the packages of their lock file.
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { migrations } from "../../../migrations/index.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const DIGITS = 4;

export interface EarlierVersion {
  schema: number;
  command: readonly string[];
  /** whether its `serve` has an option */
  knows(flag: string): boolean;
}

/** @param count maximum number, spread from the first to the last @returns earlier schemas */
export function earlierSchemas(count: number | undefined): number[] {
  const all = migrations.slice(0, -1).map(({ id }) => id);
  if (count === undefined || count >= all.length) return all;
  const step = (all.length - 1) / Math.max(count - 1, 1);
  return Array.from({ length: count }, (_, index) => all[Math.round(index * step)] ?? 1);
}

/**
 * Unpacks the last version with a schema into a folder, and installs its packages once per lock file.
 * @returns undefined if its migrations were still changed afterwards, so that no database of it can be in use
 * @throws Error with the output of git or bun
 */
export function unpackEarlier(schema: number, folder: string): EarlierVersion | undefined {
  const file = `migrations/${String(schema + 1).padStart(DIGITS, "0")}_*.sql`;
  const added = run(ROOT, "git", "log", "--diff-filter=A", "--format=%H", "-1", "--", file).trim();
  if (added === "")
    throw new Error(`the history has no commit that adds ${file}; fetch all of it: git fetch --unshallow`);
  const place = join(folder, `schema-${schema}`);
  mkdirSync(place);
  run(ROOT, "sh", "-c", `git archive ${added}^ -- . ':!test' | tar -x -C '${place}'`);
  if (!hasSameMigrations(place, schema)) return undefined;
  const modules = join(folder, `packages-${sha256Hex(run(place, "cat", "bun.lock")).slice(0, 12)}`);
  if (!existsSync(modules)) {
    mkdirSync(modules);
    for (const name of ["package.json", "bun.lock"]) copyFileSync(join(place, name), join(modules, name));
    run(modules, process.execPath, "install", "--frozen-lockfile", "--production", "--silent");
  }
  symlinkSync(join(modules, "node_modules"), join(place, "node_modules"));
  const command = [process.execPath, join(place, "src/main.ts")];
  const help = run(place, ...command, "serve", "--help");
  return { schema, command, knows: (flag) => help.includes(flag) };
}

const hasSameMigrations = (place: string, schema: number): boolean =>
  migrations
    .filter(({ id }) => id <= schema)
    .every(({ id, name, sql }) => {
      const file = join(place, "migrations", `${String(id).padStart(DIGITS, "0")}_${name}.sql`);
      return existsSync(file) && readFileSync(file, "utf8") === sql;
    });

function run(cwd: string, ...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
  return stdout.toString();
}
