// A copy of the tree in which one file at a time is changed, and tests are run on it. Nothing outside the copy is touched.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Glob, type Subprocess } from "bun";
import type { Mutation } from "./mutations.ts";
import type { Place } from "./places.ts";

export const ROOT = join(import.meta.dir, "../..");
const COPIED = [
  "src",
  "cli",
  "migrations",
  "test",
  "package.json",
  "tsconfig.json",
  "bunfig.toml",
  "README.md",
  "LICENSE",
  "CHANGES.md",
];
/** A mutation that never ends is noticed, too. */
const RUN_TIMEOUT_MS = 180_000;
const TEST_TIMEOUT_MS = 20_000;

/** @returns the files of the tree that fit one of the globs, in order */
export const filesOf = (globs: readonly string[]): string[] =>
  globs.flatMap((glob) => [...new Glob(glob).scanSync(ROOT)].sort());

/** Workplaces whose copy is there and whose tests may run. */
const open = new Set<Workplace>();

/** Without this, an interrupted run, or one that ends itself, would leave its copies and its tests behind. */
export function closeWorkplacesAtExit(): void {
  process.on("exit", () => {
    for (const workplace of open) workplace[Symbol.dispose]();
  });
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
}

export class Workplace implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "quartermaster-mutate-"));
  #child: Subprocess | undefined;

  constructor() {
    open.add(this);
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.#folder, name), { recursive: true });
    mkdirSync(join(this.#folder, "dist"));
    symlinkSync(join(ROOT, "node_modules"), join(this.#folder, "node_modules"));
  }

  /** @returns whether a test of the place fails on the changed file; tests named after the file run first */
  async isCaught(place: Place, file: string, mutation: Mutation): Promise<boolean> {
    const path = join(this.#folder, file);
    const source = readFileSync(path, "utf8");
    writeFileSync(path, source.slice(0, mutation.start) + mutation.text + source.slice(mutation.end));
    try {
      const name = basename(file).replace(/\.tsx?$/, "");
      const tests = filesOf(place.tests);
      const own = tests.filter((test) => basename(test).startsWith(name));
      const others = tests.filter((test) => !own.includes(test));
      for (const some of [own, others]) if (some.length > 0 && !(await this.isGreen(some))) return true;
      return false;
    } finally {
      writeFileSync(path, source);
    }
  }

  /** @param tests files of the tree */
  async isGreen(tests: readonly string[]): Promise<boolean> {
    const child = Bun.spawn(
      [process.execPath, "test", "--bail", "--timeout", String(TEST_TIMEOUT_MS), ...tests],
      {
        cwd: this.#folder,
        stdout: "ignore",
        stderr: "ignore",
        timeout: RUN_TIMEOUT_MS,
        killSignal: "SIGKILL",
      },
    );
    this.#child = child;
    return (await child.exited) === 0;
  }

  [Symbol.dispose](): void {
    open.delete(this);
    this.#child?.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
