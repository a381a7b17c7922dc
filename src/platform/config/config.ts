// Loads the settings: finds the file, resolves every setting of config/table.ts, and reports all problems together. Flags,
// environment and working folder are arguments; this file does not read process.* or print.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { closest } from "fastest-levenshtein";
import { DomainError, type Problem } from "../errors.ts";
import type { RunConfigTask } from "./content.ts";
import {
  type ConfigFile,
  type FileReading,
  type NamedFile,
  readConfigFile,
  readConfigFileWith,
} from "./file.ts";
import { proxyModeOf } from "./proxy-rules.ts";
import { isGatewayDetail, missingSettings, warningsFor } from "./rules.ts";
import {
  type ConfigInputs,
  conflictingSources,
  folderIn,
  isSameValue,
  type Origin,
  type Resolution,
  resolveSetting,
  type Sources,
  variableIn,
} from "./sources.ts";
import { keysOf, SETTING_NAMES, type SettingName, settingOf, type Values, variableOf } from "./table.ts";

const CONFIG_VARIABLE = "QUARTERMASTER_CONFIG";
const VARIABLES: readonly string[] = [CONFIG_VARIABLE, ...SETTING_NAMES.flatMap(keysOf).map(variableOf)];

/** The settings in effect. Its members are private, so that printing it cannot show a secret, even one inside a section. */
export class Config {
  readonly #resolutions: ReadonlyMap<SettingName, Resolution>;
  readonly #file: ConfigFile | undefined;
  readonly #inputs: ConfigInputs;
  readonly #warnings: readonly string[];

  constructor(
    resolutions: ReadonlyMap<SettingName, Resolution>,
    source: ConfigInputs & Pick<Sources, "file" | "warnings">,
  ) {
    this.#resolutions = resolutions;
    this.#file = source.file;
    this.#inputs = source;
    this.#warnings = source.warnings;
  }

  /** @returns the value, with the type from the table */
  get<Name extends SettingName>(name: Name): Values[Name] {
    // The setting's own type produced this value, which the map's type cannot express.
    return this.#resolutions.get(name)?.value as Values[Name];
  }

  /** @returns whether a source other than the default has the setting */
  has(name: SettingName): boolean {
    return this.rowOf(name).origin !== "default";
  }

  /** @returns the sources of the settings, including secrets, so that a thread can load the same settings */
  sources(): ConfigInputs {
    const { flags, env, cwd } = this.#inputs;
    return { flags, env, cwd };
  }

  /** @returns the text of an environment variable that a setting names; a blank variable counts as absent */
  variable(name: string): string | undefined {
    return variableIn(this.#inputs.env, name);
  }

  /**
   * Reads the current file, for the functions below. The settings in effect do not change.
   * @throws DomainError `document.*`
   */
  async readFileAgain(run: RunConfigTask): Promise<FileReading> {
    const named = this.#named;
    return named === undefined ? NO_FILE : await readConfigFileWith(run, named, variablesIn(this.#inputs));
  }

  /**
   * @returns the file; undefined if the service runs without one
   * @throws DomainError `config.invalid` if the file cannot be parsed
   */
  fileIn({ file, problems }: FileReading): ConfigFile | undefined {
    if (file === undefined && problems.length > 0) throw invalid(problems, this.#named?.path);
    return file;
  }

  /**
   * @returns the value of the setting with the new content of the file
   * @throws DomainError `config.invalid`
   */
  valueIn<Name extends SettingName>(reading: FileReading, name: Name): Values[Name] {
    const sources = sourcesOf(this.#inputs, reading);
    const { value } = resolveSetting(name, sources);
    if (sources.problems.length > 0) throw invalid(sources.problems, this.#named?.path);
    return value as Values[Name];
  }

  /**
   * @returns the settings from the same sources with the new content of the file
   * @throws DomainError `config.invalid`
   */
  reloadedFrom(reading: FileReading): Config {
    return resolveConfig(this.#inputs, this.#named, reading);
  }

  /** names the file in effect, even one found by default: if it was removed since, reading it must fail */
  get #named(): NamedFile | undefined {
    return (
      configPath(this.#inputs) ??
      (this.file === undefined ? undefined : { path: this.file, spelling: "--config" })
    );
  }

  /** @returns the names of the settings whose value differs from `former` */
  changedSince(former: Config): readonly SettingName[] {
    return SETTING_NAMES.filter((name) => !isSameValue(this.get(name), former.get(name)));
  }

  /** @returns one row of `config show` */
  rowOf(name: SettingName): ConfigRow {
    const { text: given = "unset", origin = "default" } = this.#resolutions.get(name) ?? {};
    const text = (origin === "default" && this.#dependentDefault(name)) || given;
    return { key: name, value: text, origin, doc: settingOf(name).doc };
  }

  /** @returns the effective value of an unset setting, if other settings determine it */
  #dependentDefault(name: SettingName): string | undefined {
    return name === "gateway.proxy.mode" && this.has("gateway.type") ? proxyModeOf(this) : undefined;
  }

  /** absolute path of the file in effect */
  get file(): string | undefined {
    return this.#file?.path;
  }

  /** warnings for the operator about settings that work but are not advisable */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** the file in effect, with the sections that other parts of the program parse */
  get content(): ConfigFile | undefined {
    return this.#file;
  }
}

export interface ConfigRow {
  readonly key: SettingName;
  /** `set` or `unset` for a secret; `unset` for a setting without a value */
  readonly value: string;
  readonly origin: Origin;
  readonly doc: string;
}

/**
 * Reads every setting from flags, environment, credentials and the configuration file.
 * @throws DomainError `config.invalid` with one problem for each mistake in any source
 */
export function loadConfig(inputs: ConfigInputs): Config {
  const named = configPath(inputs);
  return resolveConfig(
    inputs,
    named,
    named === undefined ? NO_FILE : readConfigFile(named, variablesIn(inputs)),
  );
}

const NO_FILE: FileReading = { problems: [] };

const sourcesOf = (inputs: ConfigInputs, { file, problems }: FileReading): Sources => ({
  ...inputs,
  file,
  problems: [...problems],
  warnings: [],
});

const variablesIn = ({ env }: ConfigInputs): readonly string[] =>
  Object.keys(env).filter((name) => variableIn(env, name) !== undefined);

function resolveConfig(inputs: ConfigInputs, named: NamedFile | undefined, reading: FileReading): Config {
  const sources = sourcesOf(inputs, reading);
  const { file } = reading;
  const resolutions = resolveAll(sources);
  const config = new Config(resolutions, sources);
  sources.problems.push(...SETTING_NAMES.flatMap((name) => conflictingSources(name, sources)));
  sources.problems.push(...unknownVariables(sources));
  // A file that could not be read may contain the missing settings.
  if (named === undefined || file !== undefined) sources.problems.push(...missingSettings(config));
  if (sources.problems.length > 0) throw invalid(sources.problems, named?.path);
  sources.warnings.push(...warningsFor(config, file));
  return config;
}

/** While gateway mode is off, its detail settings are ignored, including their problems. */
function resolveAll(sources: Sources): ReadonlyMap<SettingName, Resolution> {
  const isOff = resolveSetting("gateway.type", { ...sources, problems: [] }).origin === "default";
  const ignored = { ...sources, problems: [], warnings: [] };
  return new Map(
    SETTING_NAMES.map((name) => [
      name,
      resolveSetting(name, isOff && isGatewayDetail(name) ? ignored : sources),
    ]),
  );
}

/** @returns one row per setting, in the order of the table, for `config show` */
export const describe = (config: Config): readonly ConfigRow[] =>
  SETTING_NAMES.map((name) => config.rowOf(name));

/** @returns the absolute path of the configuration file, and the option or variable that named it; undefined without a file */
export function configPath({ flags, env, cwd }: ConfigInputs): NamedFile | undefined {
  const { config } = flags;
  if (typeof config === "string") return { path: resolve(cwd, config), spelling: "--config" };
  const variable = variableIn(env, CONFIG_VARIABLE);
  if (variable !== undefined) return { path: resolve(cwd, variable), spelling: CONFIG_VARIABLE };
  const folder = folderIn(env, "CONFIGURATION_DIRECTORY");
  const path = resolve(cwd, join(folder ?? "", "quartermaster.yaml"));
  return folder !== undefined && existsSync(path)
    ? { path, spelling: "$CONFIGURATION_DIRECTORY" }
    : undefined;
}

/** The file may refer to a variable of any name. */
function unknownVariables({ env, file }: Sources): readonly Problem[] {
  return Object.keys(env)
    .filter((name) => name.startsWith("QUARTERMASTER_") && variableIn(env, name) !== undefined)
    .filter((name) => !VARIABLES.includes(name) && !file?.references.has(name))
    .map((name) => ({
      pointer: "",
      detail: `${name}: no such setting; the nearest is ${closest(name, VARIABLES)}`,
    }));
}

function invalid(problems: readonly Problem[], path: string | undefined): DomainError {
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  const where = path === undefined ? "" : ` (file: ${path})`;
  return new DomainError("invalid", "config.invalid", `the configuration has ${count}${where}`, {
    hint: "correct each problem; `quartermaster config check` tests the result without starting anything",
    problems,
  });
}
