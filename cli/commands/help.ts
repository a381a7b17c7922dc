// `quartermaster help`: the help of any command, and topics that belong to no command (topics.ts).
import { DomainError } from "../../src/domain/errors.ts";
import { CliCommand, HELP_WIDTH } from "../command.ts";
import type { Context } from "../context.ts";
import type { Topic } from "../topic.ts";
import { TOPICS, wrapped } from "../topics.ts";

/** Adds the command to the tree (operator-experience.md CLI-14, CLI-16). */
export function register(program: CliCommand, { stdout }: Context): void {
  const topics = Object.keys(TOPICS).join(", ");
  program
    .addHelpText("after", ({ command }) => (command === program ? topicsText(topics) : ""))
    .command("help")
    .description("Shows the help of a command, or a topic.")
    .examples("quartermaster help config show", "quartermaster help exit-codes")
    .argument("[words...]", `a command, or one of ${topics}`)
    .action(async (words: readonly string[]) => {
      const topic = words.length === 1 ? TOPICS[words[0] ?? ""] : undefined;
      if (topic !== undefined) stdout.write(`${textOf(await topic())}\n`);
      else (await commandAt(program, words)).outputHelp();
    });
}

const textOf = (topic: string | Topic): string => (typeof topic === "string" ? topic : topic.text);

const topicsText = (topics: string): string =>
  `\nTopics of help:\n  ${wrapped(topics, HELP_WIDTH - 2).join("\n  ")}`;

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
  const topics = command.parent === null ? Object.keys(TOPICS) : [];
  const nearest = closest(word, [...command.commands.map((child) => child.name()), ...topics]);
  const isNear = nearest !== undefined && distance(word, nearest) <= Math.max(2, word.length / 3);
  return new DomainError("not_found", "help.not_found", `there is no help on '${word}'`, {
    hint: isNear ? `did you mean ${nearest}?` : `run: ${command.path()} --help`,
  });
}
