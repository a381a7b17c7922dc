// Code blocks of the documentation: finds them in Markdown, replaces placeholders from a named table, and runs or validates each
// block according to its tag. `run`: the test executes it. `check`: the test validates it, in the way that the next word names.
// `manual`: neither is possible, for the given reason.
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { YAML } from "bun";
import type { Command } from "commander";
import { processContext } from "../../../cli/context.ts";
import { programFor } from "../../../cli/program.ts";
import { SHORT_LIVED } from "./executable.ts";

/** A block as a document prints it. */
export interface PrintedBlock {
  tag: string;
  language: string;
  text: string;
}

/** A text of the document, its replacement in a test, and the reason for the replacement. */
export type Placeholder = readonly [text: string, replacement: string, why: string];

/** Folders that exist on a fresh Debian 12, where an operator can install files. */
export const FOLDERS_OF_DEBIAN: readonly string[] = ["usr/local/bin", "etc/systemd/system"];

/** Where blocks of one document are executed, one after another. */
export interface Workplace {
  directory: string;
  /** comes first in PATH */
  bin: string;
  placeholders: readonly Placeholder[];
}

const FENCE = /^( *)```(\S*) ?(.*)\n((?:(?! *```).*\n)*) *```$/gm;
const TAG = /^(?:run|check(?: (?:policy|catalog|harness-file))?|manual: \S.*\S)$/;

/** @returns the fenced blocks of a Markdown text */
export function blocksOfMarkdown(markdown: string): PrintedBlock[] {
  return [...markdown.matchAll(FENCE)].map(([, indent = "", language = "", tag = "", text = ""]) => ({
    tag,
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

/** Fails for a block that has no tag, or is `manual` without a reason. */
export function expectTags(blocks: readonly PrintedBlock[]): void {
  expect(blocks.filter(({ tag }) => !TAG.test(tag))).toEqual([]);
}

/** Fails for a placeholder that no block has, so that unused replacements are noticed. */
export function expectPlaceholdersUsed(blocks: readonly PrintedBlock[], { placeholders }: Workplace): void {
  const all = blocks.map(({ text }) => text).join("\n");
  expect(placeholders.filter(([text]) => !all.includes(text))).toEqual([]);
}

/**
 * Executes the `run` blocks in order, and validates all others.
 * @returns the output of the `run` blocks, one text for each
 */
export async function expectBlocksTrue(blocks: readonly PrintedBlock[], place: Workplace): Promise<string[]> {
  expectTags(blocks);
  expectPlaceholdersUsed(blocks, place);
  await expectShell(
    blocks.filter(({ language }) => language === "sh").map(({ text }) => text),
    place,
  );
  const printed: string[] = [];
  for (const block of blocks) {
    const text = resolved(block.text, place);
    if (block.tag === "run") printed.push(await runBlock(text, place));
    if (block.language === "yaml") await expectYaml({ ...block, text }, place);
    if (block.language === "json") expect(JSON.parse(text)).toBeObject();
  }
  return printed;
}

const resolved = (text: string, { placeholders }: Workplace): string =>
  placeholders.reduce((before, [from, to]) => before.replaceAll(from, to), text);

/** Each command must succeed, as for a reader who stops at the first error. `bash -e` ignores a failure before `&&`. */
async function runBlock(text: string, place: Workplace): Promise<string> {
  const script = text.replaceAll(" && ", "\n");
  const { output, exitCode } = await execute(["bash", "-euo", "pipefail", "-c", script], place);
  expect({ text, exitCode, output: exitCode === 0 ? "" : output }).toEqual({ text, exitCode: 0, output: "" });
  return output;
}

/** Not `spawnSync`: a service that a block calls may forward to this process. */
async function execute(command: string[], { directory, bin }: Workplace) {
  const child = Bun.spawn(command, {
    cwd: directory,
    env: { PATH: `${bin}:${process.env.PATH}`, ...SHORT_LIVED },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { output: stdout + stderr, exitCode };
}

/** One shell starts a shell for each text, because starting one from this process takes ten times as long. */
const READ_EACH = 'for text in "$@"; do bash -n -c "$text" || exit; done';

async function expectShell(texts: readonly string[], place: Workplace): Promise<void> {
  const read = await execute(["bash", "-c", READ_EACH, "bash", ...texts], place);
  expect(read).toEqual({ output: "", exitCode: 0 });
  expect(texts.flatMap(unknownWordsIn)).toEqual([]);
}

/** Commands that validate a YAML file, by the word after `check`; without a word it is a configuration of the service. */
const JUDGES: Readonly<Record<string, readonly string[]>> = {
  check: ["quartermaster config check --config block.yaml"],
  "check policy": ["quartermaster policy check block.yaml"],
  "check catalog": ["quartermaster catalog seed block.yaml --dry-run"],
  "check harness-file": [
    "quartermaster catalog bundle-key > block.pub",
    "quartermaster harnesses sign block.yaml",
    "quartermaster harnesses check block.yaml --trust block.pub",
  ],
};

async function expectYaml({ tag, text }: PrintedBlock, place: Workplace): Promise<void> {
  expect(YAML.parse(text)).toBeObject();
  if (JUDGES[tag] === undefined) return;
  writeFileSync(join(place.directory, "block.yaml"), text);
  const script = JUDGES[tag].join(" && ");
  const { output, exitCode } = await execute(["bash", "-euc", script], place);
  expect({ text, exitCode, output: exitCode === 0 ? "" : output }).toEqual({ text, exitCode: 0, output: "" });
}

/** @returns the commands and options of `quartermaster` lines that the command tree lacks */
export function unknownWordsIn(text: string): string[] {
  const lines = text.replaceAll("\\\n", " ").split(/\n|&&|\|\||[|;]/);
  return lines
    .map((line) =>
      line
        .replace(/(?:^|\s)#.*$|>.*$/g, "")
        .trim()
        .split(/\s+/),
    )
    .filter(([program]) => program === "quartermaster")
    .flatMap(([, ...words]) => unknownIn(words));
}

/** Built once, because building all nouns and options takes longer than checking a block. */
let program: Command | undefined;

function unknownIn(words: readonly string[]): string[] {
  program ??= programFor(processContext());
  let command = program;
  for (const word of words) {
    const child = command.commands.find((candidate) => candidate.name() === word);
    if (child === undefined) break;
    command = child;
  }
  if (command.commands.length > 0) return [words.join(" ")];
  const options = [...command.options, ...program.options].map(({ long }) => long);
  return words
    .filter((word) => word.startsWith("--"))
    .map((word) => word.replace(/=.*/, ""))
    .filter((word) => !options.includes(word));
}
