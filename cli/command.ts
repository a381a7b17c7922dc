// The commander subclass that every noun and verb uses. Help shows examples before options, usage errors become DomainErrors,
// and a noun without a verb lists its verbs. exit.ts formats errors.
import { Command, CommanderError, type ErrorOptions, Help } from "commander";
import { DomainError } from "../src/platform/errors.ts";

/** Largest width of help texts, in characters; a narrower terminal reduces it. */
export const HELP_WIDTH = 80;
/** Descriptions start at this column or earlier. A longer option name is printed on its own line. */
const DESCRIPTION_COLUMN_MAX = 34;

interface FoldedOptions {
  isFolded: (heading: string) => boolean;
  /** printed below the other options, instead of the folded ones */
  note: string;
}

/** A command of the tree; `command()` creates children of the same class. */
export class CliCommand extends Command {
  #examples: readonly string[] = [];
  #folded: FoldedOptions = { isFolded: () => false, note: "" };

  constructor(name?: string) {
    super(name);
    // Only the root has a `help` command; verbs have `--help`.
    this.helpCommand(false);
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** @param lines complete command lines that work unchanged; help shows them before the options */
  examples(...lines: string[]): this {
    this.#examples = lines;
    return this;
  }

  /** @returns the lines given to `examples` */
  exampleLines(): readonly string[] {
    return this.#examples;
  }

  /** Options that help does not list. They are accepted, and completion offers them. */
  foldsOptions(folded: FoldedOptions): this {
    this.#folded = folded;
    return this;
  }

  /** Adds options within a chain: `.with(addConfirmOptions)`. */
  with(add: (command: CliCommand) => unknown): this {
    add(this);
    return this;
  }

  /** Adds `--json`. Every command that prints a result calls this. */
  printsJson(): this {
    return this.option("--json", "print JSON; errors are JSON on stderr");
  }

  /** Adds `--json` and `--wide`. Every command that prints a table calls this. */
  printsTable(): this {
    return this.printsJson().option("--wide", "print all columns, exact times and full values");
  }

  /** @returns the full command name: `quartermaster config show` */
  path(): string {
    const names: string[] = [];
    for (let command: Command | null = this; command !== null; command = command.parent)
      names.unshift(command.name());
    return names.join(" ");
  }

  /** @throws DomainError `usage.*`; commander would print its own message and exit */
  override error(message: string, { code = "commander.error" }: ErrorOptions = {}): never {
    const [text = "", suggestion = ""] = message.replace(/^error: /, "").split("\n");
    throw new DomainError("invalid", reasonOf(code), withoutValues(text), {
      hint:
        this.#secretHint(text) ??
        this.#confirmationHint(text) ??
        suggestionHint(suggestion) ??
        `run: ${this.path()} --help`,
    });
  }

  /** A noun without a verb is a request for help: print to stdout and exit with 0. */
  override help(): never {
    return super.help();
  }

  override createHelp(): Help {
    return Object.assign(new ExamplesFirst(this.#examples, this.#folded), this.configureHelp());
  }

  #secretHint(text: string): string | undefined {
    const flag = /'(--[^'=]+)/.exec(text)?.[1];
    const isSecret = this.options.some(({ long }) => long === `${flag}-file`);
    return isSecret
      ? `secrets cannot be passed as arguments; put the secret in a file and pass ${flag}-file PATH`
      : undefined;
  }

  /** Verbs that erase or replace data do not have --yes. */
  #confirmationHint(text: string): string | undefined {
    const isNamed = text.includes("'--yes'") && this.options.some(({ long }) => long === "--confirm");
    return isNamed ? "pass --confirm NAME instead, with the name of what is erased or replaced" : undefined;
  }
}

/** @returns whether commander stopped because it printed help or the version */
export const isAnswered = (error: unknown): boolean =>
  error instanceof CommanderError && error.exitCode === 0;

/** Indentation of each item, and space between its columns: the defaults of commander. */
const INDENT = "  ";
const GAP = 2;

/** Requirement CLI-14: description, usage, examples, then commander's own sections. */
class ExamplesFirst extends Help {
  override showGlobalOptions = true;
  override minWidthToWrap = 20;
  readonly #examples: readonly string[];
  readonly #folded: FoldedOptions;

  constructor(examples: readonly string[], folded: FoldedOptions) {
    super();
    this.#examples = examples;
    this.#folded = folded;
  }

  override formatHelp(command: Command, helper: Help): string {
    const description = this.boxWrap(command.description(), this.helpWidth ?? HELP_WIDTH);
    const { note } = this.#folded;
    return `${description}\n\n${super.formatHelp(command, helper)}${note === "" ? "" : `\n${note}\n`}`;
  }

  override formatItemList(heading: string, items: string[], helper: Help): string[] {
    return this.#folded.isFolded(heading) ? [] : super.formatItemList(heading, items, helper);
  }

  override padWidth(command: Command, helper: Help): number {
    return Math.min(super.padWidth(command, helper), DESCRIPTION_COLUMN_MAX - INDENT.length - GAP);
  }

  override formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    if (helper.displayWidth(term) <= termWidth || description === "")
      return super.formatItem(term, termWidth, description, helper);
    return `${INDENT}${term}\n${super.formatItem("", termWidth, description, helper)}`;
  }

  override commandDescription(): string {
    return ""; // formatHelp prints it above the usage
  }

  override commandUsage(command: Command): string {
    const examples = this.#examples.map((line) => `\n  ${line}`).join("");
    return super.commandUsage(command) + (examples === "" ? "" : `\n\nExamples:${examples}`);
  }
}

/** Converts `commander.unknownOption` to `usage.unknown_option`. */
const reasonOf = (code: string): string =>
  code.replace(/^commander\./, "usage.").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Removes values from commander's messages: the value after `--flag=` or an excess argument may be a misplaced secret. */
const withoutValues = (text: string): string =>
  text.replace(/'(--[^'=]+)=.*'/s, "'$1'").replace(/ but got (\d+): .*$/s, " but got $1");

const suggestionHint = (suggestion: string): string | undefined => {
  const words = /\(Did you mean (.*)\?\)/i.exec(suggestion)?.[1];
  return words === undefined ? undefined : `did you mean ${words}?`;
};
