// Loads the settings: finds the file, resolves every setting of config/table.ts, and reports all problems at once.
// Knows no process.*: flags, environment and working folder are arguments. Prints nothing.
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

/** The settings in force. Its members are private, so that printing it shows no secret, not even one in a section. */
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

  /** @returns the value, in the type the table gives the setting */
  get<Name extends SettingName>(name: Name): Values[Name] {
    // Each resolution was made by the type of this very setting; a map of all of them cannot say so.
    return this.#resolutions.get(name)?.value as Values[Name];
  }

  /** @returns whether any source has the setting, whatever the default */
  has(name: SettingName): boolean {
    return this.rowOf(name).origin !== "default";
  }

  /** @returns text of an environment variable that a setting names; blank counts as absent */
  variable(name: string): string | undefined {
    return variableIn(this.#inputs.env, name);
  }

  /**
   * Reads the file as it is now, for the functions below; what is in force stays what it was.
   * @throws DomainError `document.*`
   */
  async readFileAgain(run: RunConfigTask): Promise<FileReading> {
    const named = this.#named;
    return named === undefined ? NO_FILE : await readConfigFileWith(run, named, variablesIn(this.#inputs));
  }

  /**
   * @returns the file; undefined where the service runs without one
   * @throws DomainError `config.invalid` where its form keeps it from being used
   */
  fileIn({ file, problems }: FileReading): ConfigFile | undefined {
    if (file === undefined && problems.length > 0) throw invalid(problems, this.#named?.path);
    return file;
  }

  /**
   * @returns the value that the setting has with the file as it was read again
   * @throws DomainError `config.invalid`
   */
  valueIn<Name extends SettingName>(reading: FileReading, name: Name): Values[Name] {
    const sources = sourcesOf(this.#inputs, reading);
    const { value } = resolveSetting(name, sources);
    if (sources.problems.length > 0) throw invalid(sources.problems, this.#named?.path);
    return value as Values[Name];
  }

  /**
   * @returns the settings as the very same sources have them now, with the file as it was read again
   * @throws DomainError `config.invalid`
   */
  reloadedFrom(reading: FileReading): Config {
    return resolveConfig(this.#inputs, this.#named, reading);
  }

  /** a file that has been removed since is missed, also where it was found without being named */
  get #named(): NamedFile | undefined {
    return (
      configPath(this.#inputs) ??
      (this.file === undefined ? undefined : { path: this.file, spelling: "--config" })
    );
  }

  /** @returns names of the settings whose value is another than in `former` */
  changedSince(former: Config): readonly SettingName[] {
    return SETTING_NAMES.filter((name) => !isSameValue(this.get(name), former.get(name)));
  }

  /** @returns one row of `config show` */
  rowOf(name: SettingName): ConfigRow {
    const { text = "unset", origin = "default" } = this.#resolutions.get(name) ?? {};
    return { key: name, value: text, origin, doc: settingOf(name).doc };
  }

  /** absolute path of the file in force */
  get file(): string | undefined {
    return this.#file?.path;
  }

  /** sentences for the operator about what works but is unwise */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** the file in force, with the sections that are handed on as they are */
  get content(): ConfigFile | undefined {
    return this.#file;
  }
}

export interface ConfigRow {
  readonly key: SettingName;
  /** `set` or `unset` for a secret; `unset` where there is no value */
  readonly value: string;
  readonly origin: Origin;
  readonly doc: string;
}

/**
 * Reads every setting from flags, environment, credentials and the configuration file.
 * @throws DomainError `config.invalid` with one problem for everything that is wrong in any source
 * @source operator-experience.md CLI-11, CLI-12, SVC-5
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
  // A file that could not be read may hold what is missing.
  if (named === undefined || file !== undefined) sources.problems.push(...missingSettings(config));
  if (sources.problems.length > 0) throw invalid(sources.problems, named?.path);
  sources.warnings.push(...warningsFor(config, file));
  return config;
}

/** While gateway mode is off nothing of its details counts, not even what is wrong with them. */
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

/** @returns the file that is in force (absolute) and how it was named; undefined where no file is */
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

/** A variable the file itself refers to is known, whatever its name. */
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
  return new DomainError("invalid", "config.invalid", `The configuration has ${count}${where}.`, {
    hint: "correct each of them; `quartermaster config check` tests the result without starting anything",
    problems,
  });
}
