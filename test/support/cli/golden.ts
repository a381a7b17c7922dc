// Compares the output of commands with golden files. They are rewritten only with QUARTERMASTER_UPDATE_GOLDEN=1; the difference is
// reviewed like code.
import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CliResult } from "./cli.ts";

const FOLDER = join(import.meta.dir, "../../cli/golden");
const MUST_WRITE = process.env.QUARTERMASTER_UPDATE_GOLDEN === "1";

/** The width of these columns depends on the path of this machine's temporary files. */
const AS_WIDE_AS_A_PATH = /\b(VALUE|PATH) {2,}/g;

/** The command line and its result. */
export interface Step extends CliResult {
  line: string;
}

/** @param replace texts that differ from run to run, and their replacements */
export function expectGolden(
  name: string,
  steps: readonly Step[],
  replace: ReadonlyMap<string | RegExp, string>,
): void {
  let text = steps.map(stepText).join("\n");
  for (const [from, to] of replace) text = text.replaceAll(from, to);
  text = text.replaceAll(AS_WIDE_AS_A_PATH, "$1  ");
  const file = join(FOLDER, `${name}.txt`);
  if (MUST_WRITE) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(text);
}

const stepText = ({ line, stdout, stderr, exitCode }: Step): string =>
  [
    `$ quartermaster ${line}\n`,
    stdout,
    stderr === "" ? "" : `[stderr]\n${stderr}`,
    exitCode === 0 ? "" : `[exit ${exitCode}]\n`,
  ].join("");
