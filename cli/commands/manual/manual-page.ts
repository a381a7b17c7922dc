// Generates the manual page as troff with man(7) macros. The texts come from the command tree, the settings table and the help
// topics.
import type { Argument, Option } from "commander";
import {
  fileKeyOf,
  flagOf,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  variableOf,
} from "../../../src/platform/config/table.ts";
import { CliCommand } from "../../command.ts";
import { isSettingGroup } from "../../input/setting-options.ts";
import { PROSE, type Prose } from "../help/topics.ts";

/** @returns the page for section 1, with a line break at the end; deterministic for a tree and version */
export function manualPage(program: CliCommand, version: string): string {
  const lines = [
    `.TH QUARTERMASTER 1 "" "quartermaster ${plain(version)}" "Quartermaster"`,
    ".ad l",
    ...section("NAME", [`quartermaster \\- ${sentence(program.description())}`]),
    ...section("SYNOPSIS", [".B quartermaster", "<command> [<verb>] [<options>] [<arguments>]"]),
    ...section("GLOBAL OPTIONS", program.createHelp().visibleOptions(program).flatMap(optionLines)),
    ...section("COMMANDS", leavesOf(program).flatMap(commandLines)),
    ...section("SETTINGS", [SETTINGS_INTRODUCTION, ...SETTING_NAMES.flatMap(settingLines)]),
    ...section("ENVIRONMENT", proseLines(PROSE.environment)),
    ...section("EXIT STATUS", proseLines(PROSE["exit-codes"])),
    ...section("FILES", proseLines(PROSE.files)),
    ...section("OUTPUT", proseLines(PROSE.formatting)),
  ];
  return `${lines.join("\n")}\n`;
}

const SETTINGS_INTRODUCTION =
  "Each is shown as in the file, followed by its flag and its environment variable.";

const section = (title: string, lines: readonly string[]): string[] => [`.SH ${title}`, ...lines];

/** Converts a description to the form of whatis(1): no initial capital, no period. */
const sentence = (description: string): string =>
  plain(description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, ""));

function leavesOf(command: CliCommand): CliCommand[] {
  const children = command.createHelp().visibleCommands(command);
  if (children.length === 0) return [command];
  return children.flatMap((child) => (child instanceof CliCommand ? leavesOf(child) : []));
}

function commandLines(command: CliCommand): string[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  const settings = options.filter(({ helpGroupHeading }) => isSettingGroup(helpGroupHeading));
  return [
    `.SS ${plain(`${command.path()} ${command.usage()}`)}`,
    plain(command.description()),
    ...command.registeredArguments.flatMap(argumentLines),
    ...options.filter((option) => !settings.includes(option)).flatMap(optionLines),
    ...settingsLine(settings),
    ".PP",
    ".EX",
    ...command.exampleLines().map((line) => plain(line)),
    ".EE",
  ];
}

/** Names the settings that the command accepts as options. */
function settingsLine(options: readonly Option[]): string[] {
  if (options.length === 0) return [];
  const takesAll = options.length > SETTING_NAMES.length;
  const names = options.map(({ long }) => long).join(", ");
  const text = takesAll
    ? "Every setting is also an option: see SETTINGS."
    : `Settings (see SETTINGS): ${names}.`;
  return [".PP", plain(text)];
}

const argumentLines = (argument: Argument): string[] =>
  definition(`<${argument.name()}>`, argument.description);

const optionLines = ({ flags, description }: Option): string[] => definition(flags, description);

function settingLines(name: SettingName): string[] {
  const { type, doc, credential, ...setting } = settingOf(name);
  const key = credential === undefined ? name : fileKeyOf(name);
  const fallback = setting.default === undefined ? "" : `; default: ${setting.default || "none"}`;
  const meaning = credential === undefined ? doc : `file that contains the ${doc}; credential: ${credential}`;
  return [
    ...definition(key, `${meaning}${fallback}`),
    ".br",
    plain(`${flagOf(key)} <${type.placeholder}>`),
    ".br",
    plain(variableOf(key)),
  ];
}

const proseLines = (prose: Prose): string[] =>
  prose.flatMap((part) =>
    typeof part === "string"
      ? [".PP", ...part.split("\n").map(plain)]
      : part.flatMap(([term, meaning]) => definition(term, meaning)),
  );

const definition = (term: string, meaning: string): string[] => [
  ".TP",
  `\\fB${plain(term)}\\fR`,
  plain(meaning),
];

/** Start of an option, or of a word with underscores. */
const NAME = /(?<![\w-])(?:--\w|\w+_)/g;

/**
 * Escapes text for troff: hyphens and quotes can be copied from the page as ASCII (groff_man_style(7)), names are not
 * hyphenated, and no line starts with a troff request.
 */
function plain(text: string): string {
  const escaped = text
    .replaceAll("\\", "\\e")
    .replaceAll(NAME, "\\%$&")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti");
  return escaped.startsWith(".") ? `\\&${escaped}` : escaped;
}
