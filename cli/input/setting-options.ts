// Adds the options for settings to commands, and loads the settings. src/platform/config/table.ts defines the settings;
// config.ts resolves their values.
import { Option } from "commander";
import type { Config } from "../../src/platform/config/config.ts";
import {
  CONFIG_OPTION,
  type SettingName,
  type SettingOption,
  settingOptions,
} from "../../src/platform/config/table.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { withFileContext } from "../exit.ts";
import { outputFor } from "../output/output.ts";

/** Heading in help above the options of settings; the manual page has its own section for them. */
const GROUP = "Settings:";
const GROUP_PATTERN = /^(?:.+ )?settings:$/i;

/** @returns whether an option with this heading is a setting */
export const isSettingGroup = (heading: string | undefined): boolean => GROUP_PATTERN.test(heading ?? "");

const GENERAL = "General settings:";

/** Headings for a command that takes every setting, with the first words of their flags. */
const GROUPS = {
  [GENERAL]: ["config", "data", "bootstrap", "database", "keys"],
  "Server settings:": ["server"],
  "Log and metrics settings:": ["log", "metrics"],
  "Backup settings:": ["backup"],
  "Console settings:": ["console"],
  "Catalog and policy settings:": ["catalog", "harnesses", "package", "policy", "sources"],
  "Retention settings:": ["clients", "invitations", "audit"],
  "Session and object store settings:": ["blobs", "sessions"],
  "Second machine settings:": ["standby"],
  "Trace settings:": ["tracing"],
  "Identity and SCIM settings:": ["identity", "scim"],
  "Access settings:": ["access"],
  "Limit settings:": ["limits"],
  "Gateway settings:": ["gateway"],
} satisfies Record<string, readonly string[]>;

type Group = keyof typeof GROUPS;

const GROUP_OF_WORD: ReadonlyMap<string, string> = new Map(
  Object.entries(GROUPS).flatMap(([group, words]) => words.map((word) => [word, group] as const)),
);

/** @param flags of a setting: `--server-listen <address>` */
const groupOf = (flags: string): string => GROUP_OF_WORD.get(/^--([a-z]+)/.exec(flags)?.[1] ?? "") ?? GROUP;

/** Adds `--config` and `--data-dir`, for a command that only has to find the data directory. */
export const addDirectoryOptions = (command: CliCommand): CliCommand => addOptionsOf(command, ["data_dir"]);

/** Adds `--config` and the options of the named settings. */
export const addOptionsOf = (command: CliCommand, names: readonly SettingName[]): CliCommand =>
  addOptions(command, [CONFIG_OPTION, ...settingOptions(names)]);

/** Like addSettingOptions, but help lists only the general settings and these, so that the options of the command stand out. */
export const addFoldedSettingOptions = (command: CliCommand, ...shown: readonly Group[]): CliCommand =>
  addSettingOptions(command).foldsOptions({
    isFolded: (heading) => isSettingGroup(heading) && ![GENERAL, ...shown].some((group) => group === heading),
    note: "Every setting is also an option: quartermaster serve --help lists them.",
  });

/** Adds `--config`, one option per setting (secrets only as `-file`), and `--catalog` as a short form of `--catalog-file`. */
export function addSettingOptions(command: CliCommand): CliCommand {
  const catalog = new Option("--catalog <path>", "short for --catalog-file");
  addOptions(command, [CONFIG_OPTION, ...settingOptions()], groupOf);
  return command.addOption(catalog.conflicts("catalogFile").helpGroup(groupOf(catalog.flags)));
}

/**
 * Loads the settings of a command and prints their warnings to stderr.
 * @throws DomainError `config.invalid`; each problem in the file has the file name
 */
export async function loadSettings(context: Context, command: CliCommand): Promise<Config> {
  const config = await readSettings(context, command);
  printWarnings(config, context, command);
  return config;
}

export function printWarnings({ warnings }: Config, context: Context, command: CliCommand): void {
  for (const warning of warnings) outputFor(context, command).warning(warning);
}

/** Loads the settings of a command without printing anything. @throws as `loadSettings` */
export async function readSettings(context: Context, command: CliCommand): Promise<Config> {
  const { configPath, loadConfig } = await import("../../src/platform/config/config.ts");
  const options: Record<string, unknown> = command.optsWithGlobals();
  const flags = { ...options, catalogFile: options.catalogFile ?? options.catalog };
  const inputs = { flags, env: context.env, cwd: context.cwd };
  return await withFileContext(configPath(inputs)?.path, () => loadConfig(inputs));
}

function addOptions(
  command: CliCommand,
  options: readonly SettingOption[],
  groupFor: (flags: string) => string = () => GROUP,
): CliCommand {
  for (const { flags, doc, defaultText, choices } of options) {
    const fallback = defaultText === "" ? "" : ` (default: ${defaultText})`;
    const option = new Option(flags, `${doc}${fallback}`).helpGroup(groupFor(flags));
    // For help and completion only. Loading the settings reports an invalid value, together with all other problems.
    if (choices) option.argChoices = [...choices];
    command.addOption(option);
  }
  return command;
}
