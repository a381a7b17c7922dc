// A copy of the tree in which one file at a time is changed, and tests are run on it. Nothing outside the copy is
// changed.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob, type Subprocess } from "bun";
import { ranLinesOf, type TestGroup } from "./coverage.ts";
import type { Mutation } from "./mutations.ts";

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
/** A mutation that never ends is detected, too: after this time, and this many times the duration of the unchanged tests. */
const RUN_TIMEOUT_MS = 20_000;
const RUN_TIMEOUT_FACTOR = 5;
const MEASURED_TIMEOUT_MS = 180_000;
/** As in `bun run test`: a shorter limit makes tests fail on a busy machine, which would count as a detection. */
const TEST_TIMEOUT_MS = 60_000;

/** @returns the files of the tree that match one of the globs, each once, in order */
export const filesOf = (globs: readonly string[]): string[] => [
  ...new Set(globs.flatMap((glob) => [...new Glob(glob).scanSync(ROOT)].sort())),
];

/** The result of one test file without any mutation. */
export interface TestRun {
  isGreen: boolean;
  ms: number;
  /** 1-based, by source file */
  ranLines: ReadonlyMap<string, ReadonlySet<number>>;
}

/** Workplaces whose copy exists and whose tests may run. */
const open = new Set<Workplace>();

/** Without this, an interrupted run, or one that exits early, would leave its copies and its tests behind. */
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

  /** @returns whether a test fails with the changed file; a group that runs too long fails, too */
  async isCaught(file: string, mutation: Mutation, groups: readonly TestGroup[]): Promise<boolean> {
    const path = join(this.#folder, file);
    const source = readFileSync(path, "utf8");
    writeFileSync(path, source.slice(0, mutation.start) + mutation.text + source.slice(mutation.end));
    try {
      for (const group of groups) if (!(await this.isGreen(group))) return true;
      return false;
    } finally {
      writeFileSync(path, source);
    }
  }

  /** @param test a file of the tree, which runs alone */
  async measured(test: string): Promise<TestRun> {
    const folder = join(this.#folder, "coverage");
    const begunAt = performance.now();
    const options = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${folder}`];
    const isGreen = await this.#passes([test], { timeout: MEASURED_TIMEOUT_MS, options });
    const ms = Math.ceil(performance.now() - begunAt);
    const report = join(folder, "lcov.info");
    const ranLines = ranLinesOf(existsSync(report) ? readFileSync(report, "utf8") : "");
    rmSync(folder, { recursive: true, force: true });
    return { isGreen, ms, ranLines };
  }

  async isGreen({ tests, ms }: TestGroup): Promise<boolean> {
    return this.#passes(tests, { timeout: RUN_TIMEOUT_MS + RUN_TIMEOUT_FACTOR * ms });
  }

  /** @param tests files of the tree; a leading `./` makes the runner keep their order */
  async #passes(
    tests: readonly string[],
    { timeout, options = [] }: { timeout: number; options?: readonly string[] },
  ): Promise<boolean> {
    const paths = tests.map((test) => `./${test}`);
    const child = Bun.spawn(
      [process.execPath, "test", "--bail", "--timeout", String(TEST_TIMEOUT_MS), ...options, ...paths],
      { cwd: this.#folder, stdout: "ignore", stderr: "ignore", timeout, killSignal: "SIGKILL" },
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
