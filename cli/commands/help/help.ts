// `quartermaster help`: prints the help of a command, a chapter of the handbook, or an example file (topics.ts).

import { CHAPTERS } from "../../../src/handbook/contents.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { quoted } from "../../../src/platform/text/problem-list.ts";
import { CliCommand, HELP_WIDTH } from "../../command.ts";
import type { Context } from "../../context.ts";
import { hasColor } from "../../output/color.ts";
import { outputFor } from "../../output/output.ts";
import { FILES, TOPICS, wrapped } from "./topics.ts";

/** Line width without a terminal. On a terminal, lines have at most HELP_WIDTH characters. */
const COLUMNS = 80;

export function register(program: CliCommand, context: Context): void {
  program
    .addHelpText("after", ({ command }) => (command === program ? listText() : ""))
    .command("help")
    .description("Shows the help of a command or a chapter of the handbook.")
    .examples("quartermaster help exit-codes", "quartermaster help backups", "quartermaster help --json")
    .argument("[words...]", "a command, a chapter or a topic")
    .printsJson()
    .action((words: readonly string[], _: unknown, command: CliCommand) =>
      show({ program, context, command, words }),
    );
}

interface Request {
  program: CliCommand;
  context: Context;
  command: CliCommand;
  words: readonly string[];
}

async function show(request: Request): Promise<void> {
  const { program, context, command, words } = request;
  const output = outputFor(context, command);
  const [name = ""] = words;
  const file = words.length === 1 ? FILES.get(name) : undefined;
  if (words.length === 0 && output.isJson) output.result({ items: CHAPTERS }, "");
  else if (file !== undefined) output.result({ name, text: await file() }, await file());
  else if (words.length !== 1 || !(await showChapter(request, name))) {
    const found = await commandAt(program, words);
    if (output.isJson) output.result({ name: words.join(" "), text: found.helpInformation() }, "");
    else found.outputHelp();
  }
}

/** Default options of `less` if LESS is not set: quit if the text fits one screen, keep colors, leave the text on the screen. */
const LESS_OPTIONS = "FRX";

/**
 * Prints a text; uses $PAGER or `less` when standard output is a terminal.
 * @param text with a line break at its end
 */
async function printPaged(context: Context, text: string): Promise<void> {
  const { stdout, env } = context;
  const pager = stdout.isTTY === true ? pagerOf(env) : undefined;
  if (pager === undefined) {
    stdout.write(text);
    return;
  }
  context.stopSignal(); // leaves Ctrl-C to the pager
  const child = Bun.spawn(["/bin/sh", "-c", pager], {
    env: { LESS: LESS_OPTIONS, ...env },
    stdin: new Blob([text]),
    stdout: "inherit",
    stderr: "inherit",
  });
  await child.exited;
}

/** @returns the shell command; undefined if PAGER is empty, the terminal is dumb, or no pager is installed */
function pagerOf({ PAGER, TERM, PATH = "" }: Context["env"]): string | undefined {
  if (TERM === "dumb" || PAGER?.trim() === "") return undefined;
  return PAGER ?? (Bun.which("less", { PATH }) === null ? undefined : "less");
}

/** @returns whether a chapter or section with this name exists */
async function showChapter({ context, command }: Request, name: string): Promise<boolean> {
  const { handbookText } = await import("../../../src/handbook/chapters.ts");
  const markdown = handbookText(name);
  if (markdown === undefined) return false;
  const output = outputFor(context, command);
  if (output.isJson) output.result({ name, text: markdown }, "");
  else {
    const { terminalText } = await import("../../../src/handbook/terminal.ts");
    const { stdout, env } = context;
    const columns = stdout.isTTY ? Math.min(stdout.columns || COLUMNS, HELP_WIDTH) : COLUMNS;
    const { color } = command.optsWithGlobals();
    await printPaged(context, terminalText(markdown, { columns, color: hasColor(stdout, env, color) }));
  }
  return true;
}

function listText(): string {
  const width = Math.max(...CHAPTERS.map(({ name }) => name.length)) + 2;
  const chapters = CHAPTERS.map(({ name, about }) => `  ${name.padEnd(width)}${about}`);
  const others = TOPICS.slice(CHAPTERS.length).map(({ name }) => name);
  const topics = wrapped(others.join(", "), HELP_WIDTH - 2).map((line) => `  ${line}`);
  return ["", "Handbook chapters:", ...chapters, "", "Other help topics:", ...topics].join("\n");
}

async function commandAt(program: CliCommand, words: readonly string[]): Promise<CliCommand> {
  let command = program;
  for (const word of words) {
    const child = command.commands.find((candidate) => candidate.name() === word);
    if (!(child instanceof CliCommand)) throw await unknown(command, word);
    command = child;
  }
  return command;
}

async function unknown(command: CliCommand, word: string): Promise<DomainError> {
  const { closest, distance } = await import("fastest-levenshtein");
  const topics = command.parent === null ? TOPICS.map(({ name }) => name) : [];
  const nearest = closest(word, [...command.commands.map((child) => child.name()), ...topics]);
  const isNear = nearest !== undefined && distance(word, nearest) <= Math.max(2, word.length / 3);
  return new DomainError("not_found", "help.not_found", `no help for ${quoted(word)}`, {
    hint:
      nearest === word
        ? `run: ${command.path()} help ${word}`
        : isNear
          ? `did you mean ${nearest}?`
          : `run: ${command.path()} --help`,
  });
}
