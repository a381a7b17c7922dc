// Which test files run which lines, and how long each takes, so that a mutation is tested first by the tests that can detect it.
import type { Mutation } from "./mutations.ts";
import { filesOf, type TestRun, type Workplace } from "./workplace.ts";

const QUICK_MS = 2_000;

/** Coverage does not include child processes, workers and the compiled file, so no test of a place is left out. */
export class Coverage {
  /** by test file */
  readonly #runs = new Map<string, TestRun>();

  /**
   * Runs each test file alone, and all of them in one process, without any mutation; failing files run once more.
   * @param tests globs of test files
   * @returns the files that fail
   */
  async measure(workplace: Workplace, tests: readonly string[]): Promise<string[]> {
    const files = filesOf(tests);
    for (const test of files) {
      if (this.#runs.has(test)) continue;
      const run = await workplace.measured(test);
      this.#runs.set(test, run.isGreen ? run : await workplace.measured(test)); // a busy machine makes some tests fail once
    }
    const failing = files.filter((test) => !this.#runs.get(test)?.isGreen);
    if (failing.length > 0) return failing;
    const all = this.#quickestFirst(files);
    return (await workplace.isGreen(all)) || (await workplace.isGreen(all)) ? [] : files;
  }

  /** As in a run with a mutation: files in one process affect each other, depending on their order. */
  #quickestFirst(files: readonly string[]): TestGroup {
    const timed = files.map((test) => ({ test, ms: this.#runs.get(test)?.ms ?? 0 }));
    timed.sort((one, other) => one.ms - other.ms);
    return { tests: timed.map(({ test }) => test), ms: timed.reduce((sum, { ms }) => sum + ms, 0) };
  }

  /** A mutation that never ends is detected sooner by a group of fast tests. */
  #startOf(files: readonly string[]): string[] {
    const { tests } = this.#quickestFirst(files);
    return tests.filter((_, at) => at === 0 || this.#quickestFirst(tests.slice(0, at + 1)).ms <= QUICK_MS);
  }

  /**
   * @param tests globs of test files
   * @returns fast tests that run a mutated line, other tests that do, those that run other lines of its file, and the rest; fast
   *   ones first in each
   */
  groupsFor(tests: readonly string[], { file, mutation }: { file: string; mutation: Mutation }): TestGroup[] {
    const ranLines = (test: string) => this.#runs.get(test)?.ranLines.get(file) ?? new Set<number>();
    const files = filesOf(tests);
    const near = files.filter((test) => ranLines(test).size > 0);
    const nearest = near.filter((test) => runsAnyOf(mutation, ranLines(test)));
    const quick = this.#startOf(nearest);
    const groups = [
      quick,
      nearest.filter((test) => !quick.includes(test)),
      near.filter((test) => !nearest.includes(test)),
      files.filter((test) => !near.includes(test)),
    ];
    return groups.filter((group) => group.length > 0).map((group) => this.#quickestFirst(group));
  }
}

export interface TestGroup {
  tests: string[];
  /** duration of the unchanged tests, alone */
  ms: number;
}

function runsAnyOf({ line, lastLine }: Mutation, lines: ReadonlySet<number>): boolean {
  for (let at = line; at <= lastLine; at += 1) if (lines.has(at)) return true;
  return false;
}

/**
 * Reads the records `SF:file`, `DA:line,count` and `end_of_record` of a trace file in the LCOV format.
 * @returns the 1-based lines that ran, by file
 */
export function ranLinesOf(lcov: string): Map<string, Set<number>> {
  const byFile = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const record of lcov.split("\n")) {
    if (record.startsWith("SF:")) {
      lines = new Set();
      byFile.set(record.slice("SF:".length), lines);
    }
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(record) ?? [];
    if (line !== undefined && count !== "0") lines.add(Number(line));
  }
  return byFile;
}
