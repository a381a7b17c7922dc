// A YAML or JSON text from outside as one plain value, and the line of each place in it: hostile text ends in problems,
// never in a value. What the value must be is for whoever asked to judge.

import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
import type { Problem } from "../errors.ts";
import { jsonLines } from "./json-lines.ts";
import { findViolation } from "./json-structure.ts";
import { ProblemList } from "./problem-list.ts";
import { scanYaml, YAML_VALUES_MAX } from "./yaml-scan.ts";
import { decodeText, parseYaml, YAML_DEPTH_MAX, type YamlBounds, type YamlSource } from "./yaml-source.ts";

export interface YamlText {
  /** what the text holds, null when that is nothing; undefined when it could not be read */
  readonly content: unknown;
  /** @returns the 1-based line of a place, or of the nearest place around it that exists; pointers start at the root */
  lineOf(pointer: string): number | undefined;
  /** @returns the same for many places at once; of JSON they are found without reading it as YAML */
  linesOf(pointers: readonly string[]): (number | undefined)[];
}

/** Reads a text within bounds of size, time and nesting; what is wrong with the text itself is reported, with lines. */
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

/** @returns the member names and item indices of an RFC 6901 pointer */
const tokensOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

const JSON_START = /^\ufeff?[ \t\r\n]*[[{]/;
/** with such an exponent or length a number may be infinite */
const HUGE_IN_JSON = /\d[eE]\+?\d{3}|\d{309}/;
const PROTOTYPE_IN_JSON = /__proto__|\\u005f/i;

/**
 * JSON is YAML, and is read a hundred times as fast by the runtime.
 * @returns undefined for what is no JSON, and for what YAML is to tell the fault of
 */
const valueOfJson = (text: string): unknown => {
  if (!JSON_START.test(text) || PROTOTYPE_IN_JSON.test(text) || HUGE_IN_JSON.test(text)) return undefined;
  const plain = text.replace(/^\ufeff/, "");
  if (findViolation(plain, { depthMax: YAML_DEPTH_MAX, valuesMax: YAML_VALUES_MAX })) return undefined;
  try {
    return JSON.parse(plain);
  } catch {
    return undefined; // read as YAML it is sound, or its fault is told with its line
  }
};

/** Lines are asked for where there are problems only. */
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
    // The scan has counted what the aliases amount to; the library's own count would refuse honest reuse.
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

/** @returns the node of a member or item, and the one it begins with: a member begins with its key */
const childOf = (document: Document.Parsed, parent: unknown, token: string) => {
  const node = isAlias(parent) ? parent.resolve(document) : parent;
  if (isSeq(node)) {
    const item = node.items[Number(token)];
    return item === undefined ? undefined : { value: item, start: item };
  }
  const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === token) : undefined;
  return pair && { value: pair.value, start: pair.key };
};
