// Resolves one setting from its sources, in order of precedence. Ordinary settings: flag, environment, file, default. Secrets:
// credential of the service manager, secret file, environment (with a warning), file. config/types.ts has the types of values.
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Problem, pointerOf } from "../errors.ts";
import { isJsonObject } from "../json/json-object.ts";
import { Secret } from "../secret.ts";
import type { ConfigFile } from "./file.ts";
import { mappedKeyOf } from "./reference-keys.ts";
import { referenceIn } from "./references.ts";
import { readSmallFile, type Unreadable } from "./small-file.ts";
import { attributeOf, fileKeyOf, flagOf, keysOf, type SettingName, settingOf, variableOf } from "./table.ts";
import { path as pathType } from "./types.ts";

export const SECRET_FILE_BYTES_MAX = 64 * 1024;

/** The external sources of settings, without the configuration file. */
export interface ConfigInputs {
  /** as parsed by commander, with members such as `serverListen`; members that are not settings are ignored */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** absolute; relative paths in flags and environment are resolved against it */
  readonly cwd: string;
}

export type Origin = "flag" | "environment" | "credential" | "secret file" | FileOrigin | "default";
/** the line; also the key if it belongs to a reference deployment */
type FileOrigin = `file:${number}` | `file:${number} (${string})`;

export interface Resolution {
  readonly value: unknown;
  /** for `config show`; `set` for a secret */
  readonly text: string;
  readonly origin: Origin;
}

/** The inputs and the parsed file. Resolving settings appends to `problems` and `warnings`. */
export interface Sources extends ConfigInputs {
  readonly file: ConfigFile | undefined;
  readonly problems: Problem[];
  readonly warnings: string[];
}

/** A value given for a setting: `raw`, or in `wrong` the reason why it could not be read. */
interface Candidate {
  /** dotted; ends in `_file` for a secret file */
  readonly key: string;
  /** what the user wrote: `--server-listen`, `QUARTERMASTER_SERVER_LISTEN`, `server.listen` */
  readonly spelling: string;
  readonly origin: Origin;
  readonly folder: string;
  readonly line?: number;
  readonly raw?: unknown;
  readonly wrong?: string;
  /** environment variable that contained the value */
  readonly variable?: string;
}

/** @returns the variable's text; a blank variable counts as absent */
export function variableIn(env: ConfigInputs["env"], name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === "" ? undefined : value;
}

/** @returns a folder named by the service manager; the first one of a colon-separated list (systemd.exec(5), RuntimeDirectory=) */
export const folderIn = (env: ConfigInputs["env"], name: string): string | undefined =>
  variableIn(env, name)?.split(":")[0];

/** Uses the first source that has the setting. An invalid value there is a problem; later sources do not replace it. */
export function resolveSetting(name: SettingName, sources: Sources): Resolution {
  const candidate =
    settingOf(name).credential === undefined ? ordinary(name, sources) : secret(name, sources);
  return candidate === undefined ? fallback(name, sources) : settle(name, candidate, sources);
}

function settle(name: SettingName, candidate: Candidate, sources: Sources): Resolution {
  const { origin, raw, wrong, folder } = candidate;
  const reading = wrong === undefined ? settingOf(name).type.read(raw, folder) : { wrong };
  if (!("wrong" in reading)) return { ...reading, origin };
  sources.problems.push({
    pointer: pointerOf(candidate.key.split(".")),
    detail: `${candidate.spelling}: ${reading.wrong}`,
    ...(candidate.line === undefined ? {} : { line: candidate.line }),
  });
  return { value: undefined, text: "unset", origin };
}

function fallback(name: SettingName, sources: Sources): Resolution {
  const setting = settingOf(name);
  const variable = setting.defaultVariable;
  const raw = (variable && folderIn(sources.env, variable)) ?? setting.default;
  if (raw === undefined) return { value: undefined, text: "unset", origin: "default" };
  const spelling = variable ?? name;
  return settle(name, { key: name, spelling, origin: "default", folder: sources.cwd, raw }, sources);
}

const ordinary = (key: string, sources: Sources): Candidate | undefined =>
  fromFlag(key, sources) ?? fromEnvironment(key, sources) ?? fromFile(key, sources);

function fromFlag(key: string, { flags, cwd }: Sources): Candidate | undefined {
  const raw = flags[attributeOf(key)];
  return raw === undefined ? undefined : { key, spelling: flagOf(key), origin: "flag", folder: cwd, raw };
}

function fromEnvironment(key: string, { env, cwd }: Sources): Candidate | undefined {
  const variable = variableOf(key);
  const raw = variableIn(env, variable);
  return raw === undefined
    ? undefined
    : { key, spelling: variable, origin: "environment", folder: cwd, raw, variable };
}

const fromFile = (key: string, sources: Sources): Candidate | undefined =>
  inFile(key, sources) ?? mappedInFile(key, sources);

function mappedInFile(key: string, sources: Sources): Candidate | undefined {
  const mapped = mappedKeyOf(key);
  const found = mapped === undefined ? undefined : inFile(mapped, sources);
  return found && { ...found, origin: `file:${found.line ?? 1} (${mapped})` };
}

/** @returns a problem for each setting whose value in the file contradicts the reference deployment's key for it */
export function conflictingSources(name: SettingName, sources: Sources): readonly Problem[] {
  const mapped = mappedInFile(name, sources);
  if (mapped === undefined) return [];
  const value = readingOf(name, mapped);
  return keysOf(name).flatMap((key) => {
    const found = inFile(key, sources);
    const own = found && key !== name ? fromSecretFile(found) : found;
    if (own === undefined || isSameValue(readingOf(name, own), value)) return [];
    const { line, spelling } = own;
    const detail = `${spelling} contradicts ${mapped.key} in line ${mapped.line}; remove one of them`;
    return [{ pointer: pointerOf(key.split(".")), detail, ...(line !== undefined && { line }) }];
  });
}

function readingOf(name: SettingName, { wrong, raw, folder }: Candidate): unknown {
  const reading = wrong === undefined ? settingOf(name).type.read(raw, folder) : { wrong };
  return "wrong" in reading ? undefined : reading.value;
}

/** Compares secrets by their text, which a structural comparison cannot see. */
export const isSameValue = (one: unknown, other: unknown): boolean =>
  one instanceof Secret && other instanceof Secret
    ? one.reveal() === other.reveal()
    : isDeepStrictEqual(one, other);

function inFile(key: string, { file, env }: Sources): Candidate | undefined {
  const setting = file?.settingAt(key);
  if (file === undefined || setting === undefined) return undefined;
  const { value: given, line } = setting;
  const variable = referenceIn(given);
  const missing = new Set<string>();
  return {
    key,
    spelling: key,
    origin: `file:${line}`,
    folder: file.folder,
    line,
    raw: expand(given, env, missing),
    ...(variable === undefined ? {} : { variable }),
    ...(missing.size === 0 ? {} : { wrong: `refers to ${[...missing].join(", ")}, which is not set` }),
  };
}

/** Replaces each reference with the variable's text, also inside lists and mappings. */
function expand(raw: unknown, env: ConfigInputs["env"], missing: Set<string>): unknown {
  if (Array.isArray(raw)) return raw.map((item) => expand(item, env, missing));
  if (isJsonObject(raw))
    return Object.fromEntries(Object.entries(raw).map(([key, item]) => [key, expand(item, env, missing)]));
  const variable = referenceIn(raw);
  if (variable === undefined) return raw;
  const value = variableIn(env, variable);
  if (value === undefined) missing.add(variable);
  return value;
}

function secret(name: SettingName, sources: Sources): Candidate | undefined {
  const inFile = ordinary(fileKeyOf(name), sources);
  return (
    fromCredential(name, sources) ??
    (inFile && fromSecretFile(inFile)) ??
    plainSecret(name, fromEnvironment(name, sources) ?? fromFile(name, sources), sources)
  );
}

/** See LoadCredential= in systemd.exec(5). A credential that was not passed has no file. */
function fromCredential(name: SettingName, { env, cwd }: Sources): Candidate | undefined {
  const credential = settingOf(name).credential;
  const folder = variableIn(env, "CREDENTIALS_DIRECTORY");
  if (credential === undefined || folder === undefined) return undefined;
  const content = readSecretFile(resolve(cwd, join(folder, credential)));
  if ("wrong" in content && content.isMissing) return undefined;
  const found =
    "wrong" in content && content.isForbidden
      ? { wrong: `${content.wrong}; run the command as root, or as the user of the service` }
      : content;
  return { key: name, spelling: `credential ${credential}`, origin: "credential", folder, ...found };
}

function fromSecretFile(named: Candidate): Candidate {
  const reading = named.wrong === undefined ? pathType.read(named.raw, named.folder) : { wrong: named.wrong };
  const content = "wrong" in reading ? reading : readSecretFile(reading.value);
  return { ...named, origin: "secret file", ...content };
}

/** @returns the secret without the line break at its end, or why the file cannot be used, with its path */
export function readSecretFile(path: string): { raw: string } | Omit<Unreadable, "line"> {
  const small = readSmallFile(path, SECRET_FILE_BYTES_MAX);
  if ("wrong" in small) {
    const { wrong, isMissing = false, isForbidden = false } = small;
    return { wrong: `${path} ${wrong}`, isMissing, isForbidden };
  }
  return small.isWorldReadable
    ? { wrong: `everyone on this machine can read ${path}; ${exposedRemedy(path, small.text)}` }
    : { raw: small.text.replace(/\r?\n$/, "") };
}

/**
 * Suggests no chmod for a file such as /etc/passwd, which was named by mistake and which others need to read. A secret is
 * one line, or a key or certificate in PEM.
 */
const exposedRemedy = (path: string, text: string): string =>
  text.trim().includes("\n") && !text.includes("-----BEGIN ")
    ? "it has several lines and does not look like a secret: name the file of the secret"
    : `run: chmod 600 ${path}`;

function plainSecret(
  name: SettingName,
  plain: Candidate | undefined,
  { file, warnings }: Sources,
): Candidate | undefined {
  if (plain?.variable !== undefined) {
    const better = `${variableOf(fileKeyOf(name))} or the systemd credential ${settingOf(name).credential}`;
    warnings.push(
      `${plain.variable} passes a secret in the environment, where other processes may see it; use ${better}`,
    );
    return plain;
  }
  return plain && file?.isWorldReadable
    ? {
        ...plain,
        wrong: `everyone on this machine can read this secret; run: chmod 600 ${file.path}`,
      }
    : plain;
}
