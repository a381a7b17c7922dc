// Parses untrusted YAML or JSON text into one plain value, with line numbers. A text beyond the limits yields problems and never
// a value. Callers validate the value.

import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
import { type Problem, tokensOf } from "../errors.ts";
import { jsonLines } from "./json-lines.ts";
import { findViolation } from "./json-structure.ts";
import { ProblemList } from "./problem-list.ts";
import { scanYaml, YAML_VALUES_MAX } from "./yaml-scan.ts";
import { decodeText, parseYaml, YAML_DEPTH_MAX, type YamlBounds, type YamlSource } from "./yaml-source.ts";

export interface YamlText {
  /** the value of the text, null for an empty text; undefined if it could not be parsed */
  readonly content: unknown;
  /** @param pointer from the root @returns the 1-based line of the value, or of its nearest existing ancestor */
  lineOf(pointer: string): number | undefined;
  /** @returns the same for many pointers at once; does not parse JSON as YAML */
  linesOf(pointers: readonly string[]): (number | undefined)[];
}

/** Parses a text within limits of size, time and nesting. Reports problems of the text itself, with line numbers. */
export const readYamlText = (bytes: Uint8Array, problems: ProblemList, bounds: YamlBounds): YamlText => {
  const problemsBefore = problems.count;
  const text = decodeText(bytes, problems, bounds);
  if (text === undefined) return { content: undefined, ...withoutLines };
  const json = valueOfJson(text);
  if (json !== undefined)
    return {
      content: json,
      lineOf: linesOf(text, bounds),
      linesOf: (pointers) => jsonLines(text, pointers.map(tokensOf)),
    };
  const source = parseYaml(text, problems, bounds);
  if (source) scanYaml(source, problems, bounds);
  const isSound = source && problems.count === problemsBefore;
  const lineOf: YamlText["lineOf"] = (pointer) => source && lineAt(source, pointer);
  return {
    content: isSound ? valuesIn(source.document, problems, bounds) : undefined,
    lineOf,
    linesOf: (pointers) => pointers.map(lineOf),
  };
};

const withoutLines: Pick<YamlText, "lineOf" | "linesOf"> = {
  lineOf: () => undefined,
  linesOf: (pointers) => pointers.map(() => undefined),
};

const JSON_START = /^\ufeff?[ \t\r\n]*[[{]/;
/** a number with such an exponent or length may overflow to infinity */
const HUGE_IN_JSON = /\d[eE]\+?\d{3}|\d{309}/;
const PROTOTYPE_IN_JSON = /__proto__|\\u005f/i;

/**
 * Parses JSON with the runtime's parser, which is a hundred times as fast as the YAML library.
 * @returns undefined for a text that is not JSON, or whose problems the YAML reader should report
 */
const valueOfJson = (text: string): unknown => {
  if (!JSON_START.test(text) || PROTOTYPE_IN_JSON.test(text) || HUGE_IN_JSON.test(text)) return undefined;
  const plain = text.replace(/^\ufeff/, "");
  if (findViolation(plain, { depthMax: YAML_DEPTH_MAX, valuesMax: YAML_VALUES_MAX })) return undefined;
  try {
    return JSON.parse(plain);
  } catch {
    return undefined; // the YAML reader accepts it, or reports the problem with its line
  }
};

/** Parses lazily, because lines are needed only for problems. */
const linesOf = (text: string, bounds: YamlBounds): YamlText["lineOf"] => {
  let source: YamlSource | undefined | null = null;
  return (pointer) => {
    if (source === null) source = parseYaml(text, new ProblemList(), bounds);
    return source && lineAt(source, pointer);
  };
};

/** A part of a text; `lineOf` takes pointers that start at `root`. */
export interface LocatedPart {
  readonly root: string;
  lineOf(pointer: string): number | undefined;
}

/** @param problems with pointers into the part @returns the same with pointers into the whole text, and lines */
export const locate = ({ root, lineOf }: LocatedPart, problems: readonly Problem[]): Problem[] =>
  problems.map(({ pointer, detail }) => {
    const line = lineOf(pointer);
    return { pointer: root + pointer, detail, ...(line === undefined ? {} : { line }) };
  });

const valuesIn = (
  document: Document.Parsed,
  problems: ProblemList,
  { hidesText = false }: Pick<YamlBounds, "hidesText">,
): unknown => {
  try {
    // yaml-scan.ts has already limited the expansion; the library's own limit would reject legitimate reuse.
    return document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    const fault = error instanceof Error && !hidesText ? error.message : "unknown fault";
    problems.add("", `cannot be read as YAML: ${fault}`);
    return undefined;
  }
};

const lineAt = ({ document, lineAt }: YamlSource, pointer: string): number | undefined => {
  let node: unknown = document.contents;
  let offset = offsetOf(node);
  for (const token of tokensOf(pointer)) {
    const child = childOf(document, node, token);
    if (!child) break;
    node = child.value;
    offset = offsetOf(child.start) ?? offset;
  }
  return offset === undefined ? undefined : lineAt(offset);
};

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** @returns the node of a member or item, and its first node: a member begins with its key */
const childOf = (document: Document.Parsed, parent: unknown, token: string) => {
  const node = isAlias(parent) ? parent.resolve(document) : parent;
  if (isSeq(node)) {
    const item = node.items[Number(token)];
    return item === undefined ? undefined : { value: item, start: item };
  }
  const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === token) : undefined;
  return pair && { value: pair.value, start: pair.key };
};
