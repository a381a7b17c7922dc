// Computes the completions of an incomplete command line from the command tree: verbs, options, choices, and whether ids or file
// names are expected. names.ts reads the ids.
import { type Argument, type Command, type Help, Option } from "commander";
import type { NameKind } from "../../../src/app/installation/known-names.ts";
import { SETTING_NAMES, settingOf } from "../../../src/platform/config/table.ts";
import { TOPICS } from "../help/topics.ts";

interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** The position of the cursor. */
export interface Place {
  /** candidates from the command tree, not yet filtered by `typed` */
  readonly candidates: readonly Candidate[];
  /** further candidates that must be read from the data directory or the file system */
  readonly wants?: NameKind | "files";
  /** the part of the word that completion replaces, and the part before it that stays: `--health=` */
  readonly typed: string;
  readonly before: string;
  /** values of the options given so far, by the attribute name of commander */
  readonly given: Readonly<Record<string, string>>;
}

/** Kinds by the placeholder of the argument or option, prefixed with the noun if the placeholder is ambiguous. */
const KINDS: Readonly<Record<string, NameKind | "files">> = {
  file: "files",
  path: "files",
  archive: "files",
  user: "user",
  users: "user",
  actor: "user",
  administrator: "user",
  group: "group",
  client: "client",
  clients: "client",
  session: "session",
  revision: "revision",
  from: "revision",
  to: "revision",
  place: "conflict",
  "artifacts id": "artifact",
  "catalog id": "package",
  "connections id": "connection",
  "invitations id": "invitation",
  "logins id": "login",
  "identities url": "issuer",
  "jobs name": "job",
  "gateway model": "model",
  "scim token": "token",
};

/**
 * @param words the words after the program name; the last one is incomplete and may be empty
 * @returns the completions; none if the words before the cursor are not a valid command line
 */
export function placeAt(program: Command, words: readonly string[]): Place {
  const typed = words.at(-1) ?? "";
  const walk = new Walk(program);
  for (const word of words.slice(0, -1)) walk.pass(word);
  const equals = typed.startsWith("--") && !walk.isPastOptions ? typed.indexOf("=") + 1 : 0;
  if (equals === 0) return { ...walk.here(typed), typed, before: "", given: walk.given };
  const option = walk.optionOf(typed.slice(0, equals - 1));
  const value = option === undefined ? NOTHING : walk.valueOf(option);
  return { ...value, typed: typed.slice(equals), before: typed.slice(0, equals), given: walk.given };
}

type Found = Pick<Place, "candidates" | "wants">;

const NOTHING: Found = { candidates: [] };

/** Follows the command line down the tree, word by word. */
class Walk {
  readonly given: Record<string, string> = {};
  isPastOptions = false;
  #command: Command | undefined;
  #pending: Option | undefined;
  #position = 0;
  /** the words after `help` name commands */
  #isHelp = false;
  readonly #program: Command;

  constructor(program: Command) {
    this.#program = program;
    this.#command = program;
  }

  pass(word: string): void {
    if (this.#pending !== undefined) this.#give(this.#pending, word);
    else if (word === "--" && !this.isPastOptions) this.isPastOptions = true;
    else if (word.startsWith("-") && !this.isPastOptions) this.#passOption(word);
    else this.#passWord(word);
  }

  #give(option: Option, value: string): void {
    this.given[option.attributeName()] = value;
    this.#pending = undefined;
  }

  #passOption(word: string): void {
    const [flag = "", ...rest] = word.split("=");
    const option = this.optionOf(flag);
    if (option?.required !== true) return;
    if (rest.length > 0) this.#give(option, rest.join("="));
    else this.#pending = option;
  }

  #passWord(word: string): void {
    const child = this.#command?.commands.find((command) => command.name() === word);
    if (child?.name() === "help") {
      this.#isHelp = true;
      this.#command = this.#program;
    } else if (child !== undefined) this.#command = child;
    else if (this.#command?.commands.length === 0 && !this.#isHelp) this.#position += 1;
    else this.#command = undefined;
  }

  here(typed: string): Found {
    if (this.#pending !== undefined) return this.valueOf(this.#pending);
    if (this.#command === undefined) return NOTHING;
    if (this.#isHelp) return { candidates: this.#helpCandidates(this.#command) };
    if (typed.startsWith("-") && !this.isPastOptions) return { candidates: this.#options(this.#command) };
    if (this.#command.commands.length > 0) return { candidates: children(this.#command) };
    const declared = this.#command.registeredArguments;
    const argument = declared[this.#position] ?? declared.findLast(({ variadic }) => variadic);
    return argument === undefined ? NOTHING : this.valueOf(argument);
  }

  #helpCandidates(command: Command): readonly Candidate[] {
    const topics = command === this.#program ? TOPICS : [];
    return [...children(command), ...topics.map(({ name, about }) => ({ value: name, about }))];
  }

  optionOf(flag: string): Option | undefined {
    for (let command = this.#command ?? null; command !== null; command = command.parent) {
      const option = command.options.find(({ long, short }) => long === flag || short === flag);
      if (option !== undefined) return option;
    }
    return undefined;
  }

  #options(command: Command): readonly Candidate[] {
    const help = command.createHelp();
    return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
      .filter((option) => option.long !== undefined && this.given[option.attributeName()] === undefined)
      .map(({ long, description }) => ({ value: long ?? "", about: description }));
  }

  valueOf(declared: Option | Argument): Found {
    const placeholder = placeholderOf(declared);
    if (placeholder === "setting") return { candidates: SETTINGS };
    const choices = declared.argChoices ?? (placeholder.includes("|") ? placeholder.split("|") : []);
    const wants = KINDS[`${nounOf(this.#command)} ${placeholder}`] ?? KINDS[placeholder];
    return {
      candidates: choices.map((value) => ({ value, about: "" })),
      ...(wants !== undefined && choices.length === 0 && { wants }),
    };
  }
}

const SETTINGS: readonly Candidate[] = SETTING_NAMES.map((value) => ({ value, about: settingOf(value).doc }));

const children = (command: Command): readonly Candidate[] => {
  const help: Help = command.createHelp();
  return help.visibleCommands(command).map((child) => ({ value: child.name(), about: child.description() }));
};

/** `id` of `--after <id>`, and of an argument `<id>` */
const placeholderOf = (declared: Option | Argument): string =>
  declared instanceof Option ? (/[<[]([^>\]]+)/.exec(declared.flags)?.[1] ?? "") : declared.name();

/** @returns the name of the top-level command that contains `command` */
function nounOf(command: Command | undefined): string {
  if (command?.parent == null) return "";
  return command.parent.parent === null ? command.name() : nounOf(command.parent);
}
