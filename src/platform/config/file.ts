// The configuration file as YAML: finds faults of form and unknown keys, and knows the line of everything in it.
// Which file it is, and which of its values count, is for config/sources.ts; their types are in config/types.ts.
import { dirname } from "node:path";
import { closest } from "fastest-levenshtein";
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import { type Problem, pointerOf } from "../../domain/errors.ts";
import { readSmallFile } from "./read.ts";
import { referenceIn } from "./references.ts";
import { KEYS_WITHOUT_EFFECT, keysOf, SECTIONS, SETTING_NAMES } from "./table.ts";

export const CONFIG_FILE_BYTES_MAX = 2 * 1024 * 1024;
/** one slip in YAML can draw many messages after it; more than these do not help */
export const SYNTAX_PROBLEMS_MAX = 10;

const KEYS: readonly string[] = SETTING_NAMES.flatMap(keysOf);
/** `gateway.provisioner.policy` and whatever else has keys below it */
const GROUPS = new Set([...KEYS, ...KEYS_WITHOUT_EFFECT].flatMap(groupsAbove));
const LEAVES = new Set([...KEYS, ...KEYS_WITHOUT_EFFECT, ...SECTIONS]);
const KNOWN: readonly string[] = [...KEYS, ...GROUPS, ...SECTIONS];

/** The YAML library's own messages quote the file, which may hold secrets; these never do. */
const SYNTAX_ADVICE: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "this key stands twice in the same mapping; keep one",
  TAB_AS_INDENT: "a tab cannot indent YAML; use spaces",
  MULTIPLE_DOCS: "only one document may be in the file; remove the `---` that begins another",
  NON_STRING_KEY: "a key must be plain text",
  TAG_RESOLVE_FAILED: "this tag is not known; remove it",
};

/** @returns `gateway` and `gateway.provisioner` for `gateway.provisioner.type` */
function groupsAbove(key: string): string[] {
  const tokens = key.split(".");
  return tokens.slice(1).map((_, index) => tokens.slice(0, index + 1).join("."));
}

/** A configuration file without faults of form. */
export interface ConfigFile {
  /** absolute */
  readonly path: string;
  /** absolute; relative paths in the file start here */
  readonly folder: string;
  /** anyone on this machine may read it */
  readonly isWorldReadable: boolean;
  /** all of it, references to the environment as they stand */
  readonly content: Readonly<Record<string, unknown>>;
  /** names of the environment variables the file refers to, sections included */
  readonly references: ReadonlySet<string>;
  /** @returns what stands at a dotted key (`server.listen`); undefined where there is nothing or null */
  valueOf(key: string): unknown;
  /** @returns the 1-based line of an RFC 6901 pointer, or of its nearest ancestor in the file */
  lineOf(pointer: string): number;
}

/**
 * Reads and checks the form of the file.
 * @param path absolute
 * @param spelling how the file was named (`--config`), to begin messages with
 * @returns the file, or everything that keeps it from being used; unknown keys are listed beside a usable file
 */
export function readConfigFile(
  path: string,
  spelling: string,
): { readonly file?: ConfigFile; readonly problems: readonly Problem[] } {
  const small = readSmallFile(path, CONFIG_FILE_BYTES_MAX);
  if ("wrong" in small) return { problems: [problemAt(`${spelling}: ${path} ${small.wrong}`, small.line)] };
  const lines = new LineCounter();
  const document = parseDocument(small.text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const problems = syntaxProblems(document, lines);
  if (problems.length > 0) return { problems };
  const root = plainRoot(document);
  if ("wrong" in root) return { problems: [problemAt(root.wrong, root.line)] };
  const file: ConfigFile = {
    path,
    folder: dirname(path),
    isWorldReadable: small.isWorldReadable,
    content: { ...root.value },
    references: referencesIn(document),
    valueOf: (key) => memberAt(root.value, key.split(".")),
    lineOf: (pointer) => lineOf(document, lines, tokensOf(pointer)),
  };
  return { file, problems: unknownKeys(root.value, file) };
}

const problemAt = (detail: string, line?: number): Problem => ({
  pointer: "",
  detail,
  ...(line === undefined ? {} : { line }),
});

function syntaxProblems(document: Document, lines: LineCounter): readonly Problem[] {
  const found = [...document.errors, ...document.warnings].map((error) =>
    problemAt(
      SYNTAX_ADVICE[error.code] ?? `not valid YAML (${error.code.toLowerCase().replaceAll("_", " ")})`,
      lines.linePos(error.pos[0]).line,
    ),
  );
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return;
      found.push(problemAt("this alias has no anchor before it", lines.linePos(alias.range?.[0] ?? 0).line));
    },
  });
  return found.slice(0, SYNTAX_PROBLEMS_MAX);
}

/** An empty file is an empty mapping. */
function plainRoot(document: Document): { value: object } | { wrong: string; line: number } {
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null))
    return { value: {} };
  if (!isMap(document.contents))
    return { wrong: "the file must be a mapping of keys such as `server:`", line: 1 };
  try {
    return { value: document.toJS() };
  } catch {
    return { wrong: "aliases multiply the file beyond reason; write the values out", line: 1 };
  }
}

function referencesIn(document: Document): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    Scalar: (_, scalar) => {
      const name = referenceIn(scalar.value);
      if (name !== undefined) names.add(name);
    },
  });
  return names;
}

function memberAt(root: object, tokens: readonly string[]): unknown {
  let value: unknown = root;
  for (const token of tokens)
    value = isMapping(value) && Object.hasOwn(value, token) ? value[token] : undefined;
  return value ?? undefined;
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const unknownKeys = (root: object, file: ConfigFile): readonly Problem[] => strangersIn(root, [], file);

function strangersIn(mapping: object, above: readonly string[], file: ConfigFile): readonly Problem[] {
  return Object.entries(mapping).flatMap(([member, value]) => {
    const tokens = [...above, member];
    const key = member.includes(".") ? undefined : tokens.join(".");
    if (key === undefined || !GROUPS.has(key))
      return key !== undefined && LEAVES.has(key) ? [] : [unknownKey(tokens, file)];
    if (value === null) return [];
    return isMapping(value) ? strangersIn(value, tokens, file) : [groupExpected(tokens, file)];
  });
}

function groupExpected(tokens: readonly string[], file: ConfigFile): Problem {
  const pointer = pointerOf(tokens);
  return {
    pointer,
    detail: `${tokens.join(".")}: must be a mapping of settings`,
    line: file.lineOf(pointer),
  };
}

function unknownKey(tokens: readonly string[], file: ConfigFile): Problem {
  const pointer = pointerOf(tokens);
  const key = tokens.join(".");
  const [member, group] = key.split(".").reverse();
  return {
    pointer,
    detail: KNOWN.includes(key)
      ? `${key}: keys are nested; write \`${member}:\` below \`${group}:\``
      : `${key}: no such key; the nearest is ${nearestKey(tokens)}`,
    line: file.lineOf(pointer),
  };
}

/** A key in the wrong place is nearer to its right place than to anything spelled alike. */
function nearestKey(tokens: readonly string[]): string {
  const moved = KEYS.find((key) => key.endsWith(`.${tokens.at(-1)}`));
  return moved ?? closest(tokens.join("."), KNOWN);
}

const tokensOf = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

function lineOf(document: Document, lines: LineCounter, tokens: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const token of tokens) {
    const child = childOf(isAlias(node) ? node.resolve(document) : node, token);
    if (child === undefined) break;
    node = child.value;
    offset = child.offset;
  }
  return lines.linePos(offset).line;
}

function childOf(node: unknown, token: string): { value: unknown; offset: number } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === token);
    return isScalar(pair?.key) ? { value: pair.value, offset: pair.key.range?.[0] ?? 0 } : undefined;
  }
  const item = isSeq(node) ? node.items[Number(token)] : undefined;
  return isScalar(item) || isMap(item) || isSeq(item) || isAlias(item)
    ? { value: item, offset: item.range?.[0] ?? 0 }
    : undefined;
}
