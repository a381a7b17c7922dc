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

const GROUP = "Settings:";

/** Adds `--config` and `--data-dir`, for a command that only has to find the data directory. */
export const addDirectoryOptions = (command: CliCommand): CliCommand => addOptionsOf(command, ["data_dir"]);

/** Adds `--config` and the options of the named settings. */
export const addOptionsOf = (command: CliCommand, names: readonly SettingName[]): CliCommand =>
  addOptions(command, [CONFIG_OPTION, ...settingOptions(names)]);

/** Adds `--config`, one option per setting (secrets only as `-file`), and `--catalog` as a short form of `--catalog-file`. */
export function addSettingOptions(command: CliCommand): CliCommand {
  const catalog = new Option("--catalog <path>", "short for --catalog-file");
  addOptions(command, [CONFIG_OPTION, ...settingOptions()]);
  return command.addOption(catalog.conflicts("catalogFile").helpGroup(GROUP));
}

/**
 * Loads the settings of a command and prints their warnings to stderr.
 * @throws DomainError `config.invalid`; each problem in the file has the file name
 */
export async function loadSettings(context: Context, command: CliCommand): Promise<Config> {
  const { configPath, loadConfig } = await import("../../src/platform/config/config.ts");
  const options: Record<string, unknown> = command.optsWithGlobals();
  const flags = { ...options, catalogFile: options.catalogFile ?? options.catalog };
  const inputs = { flags, env: context.env, cwd: context.cwd };
  const config = await withFileContext(configPath(inputs)?.path, () => loadConfig(inputs));
  for (const warning of config.warnings) outputFor(context, command).warning(warning);
  return config;
}

function addOptions(command: CliCommand, options: readonly SettingOption[]): CliCommand {
  for (const { flags, doc, defaultText } of options) {
    const fallback = defaultText === "" ? "" : ` (default: ${defaultText})`;
    command.addOption(new Option(flags, `${doc}${fallback}`).helpGroup(GROUP));
  }
  return command;
}
