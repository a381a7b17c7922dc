// Parses the text of a configuration file into settings with line numbers, and reports every syntax problem and unknown key.
// Pure functions of plain values: the service runs them in a thread for a large file, a command runs them directly.

import { closest } from "fastest-levenshtein";
import { type Problem, pointerOf } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { ProblemList } from "../text/problem-list.ts";
import type { YamlText } from "../text/yaml-source.ts";
import { readYamlText } from "../text/yaml-text.ts";
import { CONNECTION_KEYS, KEYS_WITHOUT_EFFECT, MAPPED_KEYS } from "./reference-keys.ts";
import { referenceIn } from "./references.ts";
import { keysOf, SECTIONS, SETTING_NAMES } from "./table.ts";

export const CONFIG_FILE_BYTES_MAX = 2 * 1024 * 1024;
/** YAML tokens; the same limit as for a catalog file */
const CONFIG_TOKENS_MAX = 3_000_000;
/** one mistake in YAML can cause many follow-up messages, so only the first ones are reported */
export const SYNTAX_PROBLEMS_MAX = 10;

const KEYS: readonly string[] = SETTING_NAMES.flatMap(keysOf);
const READ_KEYS: readonly string[] = [...KEYS, ...CONNECTION_KEYS, ...MAPPED_KEYS, ...KEYS_WITHOUT_EFFECT];
/** `gateway.provisioner.policy` and every other key that has keys below it */
const GROUPS = new Set(READ_KEYS.flatMap(groupsAbove));
const LEAVES = new Set([...READ_KEYS, ...SECTIONS]);
/** Top-level key of a reference deployment. Its keys are suggested only for unknown keys below it. */
const REFERENCE = "control_api";
const isOfReference = (key: string): boolean => key.split(".")[0] === REFERENCE;
const KNOWN_OF_REFERENCE: readonly string[] = [...LEAVES, ...GROUPS].filter(isOfReference);
const KNOWN: readonly string[] = [...KEYS, ...GROUPS, ...SECTIONS].filter((key) => !isOfReference(key));

/** @returns the prefixes: `gateway` and `gateway.provisioner` for `gateway.provisioner.type` */
function groupsAbove(key: string): string[] {
  const tokens = key.split(".");
  return tokens.slice(1).map((_, index) => tokens.slice(0, index + 1).join("."));
}

/** The value and position of one key of the file. */
export interface FileSetting {
  readonly value: unknown;
  /** 1-based */
  readonly line: number;
}

/** The content of a file without syntax problems. */
export interface ConfigContent {
  /** by dotted key; keys that are absent or null are left out */
  readonly settings: ReadonlyMap<string, FileSetting>;
  /** the section as JSON; undefined if it is absent or null */
  readonly governance: string | undefined;
  readonly hasCatalog: boolean;
  /** the whole file as JSON, with unresolved references to the environment */
  readonly whole: string;
  /** those of the given variables that the file refers to, including its sections */
  readonly references: ReadonlySet<string>;
}

export interface ConfigReading {
  /** undefined if a syntax problem makes the file unusable */
  readonly content?: ConfigContent;
  /** unknown keys are listed even if the content is usable */
  readonly problems: readonly Problem[];
}

/**
 * @param variables names that are set in the environment
 * @param isOver called from time to time while YAML is parsed; true stops the parser
 * @throws DomainError `document.too_slow`
 */
export function readConfiguration(
  { bytes, variables }: { bytes: Uint8Array; variables: readonly string[] },
  isOver?: () => boolean,
): ConfigReading {
  const faults = new ProblemList();
  const { content = null, positionsOf } = readYamlText(bytes, faults, boundsWith(isOver));
  if (faults.count > 0) return { problems: faults.list().slice(0, SYNTAX_PROBLEMS_MAX).map(ofFile) };
  const root = content ?? {};
  if (!isJsonObject(root))
    return {
      problems: [{ pointer: "", detail: "the file must be a mapping of keys such as `server:`", line: 1 }],
    };
  const unknown = new ProblemList();
  reportUnknown(root, [], unknown);
  const problems = unknown.list();
  const positions = positionsOf(problems.map(({ pointer }) => pointer));
  return {
    content: contentOf(root, { positionsOf, variables: new Set(variables) }),
    problems: problems.map((problem, at) => ({ ...problem, line: positions[at]?.line ?? 1 })),
  };
}

/** @returns the 1-based line of each RFC 6901 pointer, or of its nearest ancestor in the file */
export function configurationLines(
  { bytes, pointers }: { bytes: Uint8Array; pointers: readonly string[] },
  isOver?: () => boolean,
): (number | undefined)[] {
  const { positionsOf } = readYamlText(bytes, new ProblemList(), boundsWith(isOver));
  return positionsOf(pointers).map(({ line }) => line);
}

const boundsWith = (isOver: (() => boolean) | undefined) => ({
  bytesMax: CONFIG_FILE_BYTES_MAX,
  tokensMax: CONFIG_TOKENS_MAX,
  hidesText: true,
  isOver,
});

/** The YAML reader's messages begin with a verb, so this prepends the key. */
const ofFile = ({ pointer, detail, line }: Problem): Problem => ({
  pointer,
  detail: pointer === "" ? `the file ${detail}` : `${pointer.slice(1).replaceAll("/", ".")}: ${detail}`,
  ...(line !== undefined && { line }),
});

function contentOf(
  root: JsonObject,
  { positionsOf, variables }: Pick<YamlText, "positionsOf"> & { variables: ReadonlySet<string> },
): ConfigContent {
  const keys = READ_KEYS.filter((key) => memberAt(root, key) !== undefined);
  const positions = positionsOf(keys.map((key) => pointerOf(key.split("."))));
  const references = new Set<string>();
  collectReferences(root, variables, references);
  const { governance, package_catalog } = root;
  return {
    settings: new Map(
      keys.map((key, at) => [key, { value: memberAt(root, key), line: positions[at]?.line ?? 1 }]),
    ),
    governance: governance === null ? undefined : JSON.stringify(governance),
    hasCatalog: (package_catalog ?? undefined) !== undefined,
    whole: JSON.stringify(root),
    references,
  };
}

function collectReferences(value: unknown, variables: ReadonlySet<string>, found: Set<string>): void {
  const name = referenceIn(value);
  if (name !== undefined && variables.has(name)) found.add(name);
  if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) collectReferences(member, variables, found);
}

function memberAt(root: JsonObject, key: string): unknown {
  let value: unknown = root;
  for (const token of key.split("."))
    value = isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
  return value ?? undefined;
}

function reportUnknown(mapping: JsonObject, above: readonly string[], problems: ProblemList): void {
  for (const [member, value] of Object.entries(mapping)) {
    const tokens = [...above, member];
    const key = member.includes(".") ? undefined : tokens.join(".");
    if (key !== undefined && LEAVES.has(key)) continue;
    // Finding the nearest key is slow, and problems beyond the limit are only counted.
    if (key === undefined || !GROUPS.has(key))
      problems.add(pointerOf(tokens), problems.isFull ? "" : unknownKey(tokens));
    else if (isJsonObject(value)) reportUnknown(value, tokens, problems);
    else if (value !== null) problems.add(pointerOf(tokens), `${key}: must be a mapping of settings`);
  }
}

function unknownKey(tokens: readonly string[]): string {
  const key = tokens.join(".");
  const [member, group] = key.split(".").reverse();
  return KNOWN.includes(key)
    ? `${key}: keys are nested; write \`${member}:\` below \`${group}:\``
    : `${key}: no such key; the nearest is ${nearestKey(tokens)}`;
}

/** Prefers a known key with the same last part, because a key in the wrong section is more likely than a misspelling. */
function nearestKey(tokens: readonly string[]): string {
  if (tokens[0] === REFERENCE) return closest(tokens.join("."), KNOWN_OF_REFERENCE);
  const moved = KEYS.find((key) => key.endsWith(`.${tokens.at(-1)}`));
  return moved ?? closest(tokens.join("."), KNOWN);
}

export interface ConfigTasks {
  readConfiguration: typeof readConfiguration;
  configurationLines: typeof configurationLines;
}

export const CONFIG_TASKS: ConfigTasks = { readConfiguration, configurationLines };

/** Runs one task, in this thread or in another. */
export type RunConfigTask = <Name extends keyof ConfigTasks>(
  name: Name,
  request: Parameters<ConfigTasks[Name]>[0],
) => Promise<ReturnType<ConfigTasks[Name]>>;
