// The commander command every noun and verb is made of: help with examples before options, usage errors as DomainErrors,
// a bare noun that lists its verbs. What an error is shown as is for exit.ts.
import { Command, CommanderError, type ErrorOptions, Help } from "commander";
import { DomainError } from "../src/platform/errors.ts";

/** width of help texts where there is no terminal */
export const HELP_WIDTH = 100;

/** A command of the tree; `command()` makes children of the same class. */
export class CliCommand extends Command {
  #examples: readonly string[] = [];

  constructor(name?: string) {
    super(name);
    // `help` is a command of the root alone; a verb's help is `--help`.
    this.helpCommand(false);
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** @param lines whole command lines that work as they are, shown before the options */
  examples(...lines: string[]): this {
    this.#examples = lines;
    return this;
  }

  /** @returns what `examples` was given */
  exampleLines(): readonly string[] {
    return this.#examples;
  }

  /** Adds `--json`, for every command that prints. */
  printsJson(): this {
    return this.option("--json", "print JSON; errors are JSON on stderr");
  }

  /** Adds `--json` and `--wide`, for every command that prints a table. */
  printsTable(): this {
    return this.printsJson().option("--wide", "print exact times and whole values");
  }

  /** @returns the command with all above it: `quartermaster config show` */
  path(): string {
    const names: string[] = [];
    for (let command: Command | null = this; command !== null; command = command.parent)
      names.unshift(command.name());
    return names.join(" ");
  }

  /** @throws DomainError `usage.*` in place of commander's own message and exit */
  override error(message: string, { code = "commander.error" }: ErrorOptions = {}): never {
    const [text = "", suggestion = ""] = message.replace(/^error: /, "").split("\n");
    throw new DomainError("invalid", reasonOf(code), withoutValues(text), {
      hint: this.#secretHint(text) ?? suggestionHint(suggestion) ?? `run: ${this.path()} --help`,
    });
  }

  /** A noun without its verb is a question, not a mistake: the answer is on stdout, the exit code 0. */
  override help(): never {
    return super.help();
  }

  override createHelp(): Help {
    return Object.assign(new ExamplesFirst(this.#examples), this.configureHelp());
  }

  #secretHint(text: string): string | undefined {
    const flag = /'(--[^'=]+)/.exec(text)?.[1];
    const isSecret = this.options.some(({ long }) => long === `${flag}-file`);
    return isSecret
      ? `a secret is never an argument; put it in a file and name it with ${flag}-file`
      : undefined;
  }
}

/** @returns whether commander only wanted to end because help or the version was printed */
export const isAnswered = (error: unknown): boolean =>
  error instanceof CommanderError && error.exitCode === 0;

/** CLI-14: one sentence, usage, examples, then the rest as commander has it. */
class ExamplesFirst extends Help {
  override showGlobalOptions = true;
  readonly #examples: readonly string[];

  constructor(examples: readonly string[]) {
    super();
    this.#examples = examples;
  }

  override formatHelp(command: Command, helper: Help): string {
    return `${command.description()}\n\n${super.formatHelp(command, helper)}`;
  }

  override commandDescription(): string {
    return ""; // already said above the usage
  }

  override commandUsage(command: Command): string {
    const examples = this.#examples.map((line) => `\n  ${line}`).join("");
    return super.commandUsage(command) + (examples === "" ? "" : `\n\nExamples:${examples}`);
  }
}

/** `commander.unknownOption` becomes `usage.unknown_option` */
const reasonOf = (code: string): string =>
  code.replace(/^commander\./, "usage.").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What follows `--flag=`, and arguments nobody asked for, may be a secret in the wrong place. */
const withoutValues = (text: string): string =>
  text.replace(/'(--[^'=]+)=.*'/s, "'$1'").replace(/ but got (\d+): .*$/s, " but got $1");

const suggestionHint = (suggestion: string): string | undefined => {
  const words = /\(Did you mean (.*)\?\)/i.exec(suggestion)?.[1];
  return words === undefined ? undefined : `did you mean ${words}?`;
};
