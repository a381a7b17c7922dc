// Parses untrusted YAML or JSON text into one plain value, with line numbers. A text beyond the limits yields problems and never
// a value. Callers validate the value.

import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
import { type Problem, tokensOf } from "../errors.ts";
import { findViolation } from "../json/structure.ts";
import { jsonLines } from "./json-lines.ts";
import { type Position, ProblemList } from "./problem-list.ts";
import { positionsIn } from "./text-positions.ts";
import { type OrdinaryYaml, readOrdinaryYaml } from "./yaml-events.ts";
import { scanYaml, YAML_VALUES_MAX } from "./yaml-scan.ts";
import {
  decodeText,
  parseYaml,
  tooSlow,
  YAML_DEPTH_MAX,
  type YamlBounds,
  type YamlSource,
} from "./yaml-source.ts";

export interface YamlText {
  /** the value of the text, null for an empty text; undefined if it could not be parsed */
  readonly content: unknown;
  /** @param pointer from the root @returns the 1-based line of the value, or of its nearest existing ancestor */
  lineOf(pointer: string): number | undefined;
  /** @returns the same with the column; empty for a text that could not be parsed */
  positionOf(pointer: string): Position;
  /** @returns the same as `lineOf` for many pointers at once; does not parse JSON as YAML */
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
      ...placesIn(text, bounds),
      linesOf: (pointers) => jsonLines(text, pointers.map(tokensOf)),
    };
  const plain = text.replace(/^\ufeff/, "");
  const ordinary = readOrdinaryYaml(plain, bounds);
  if (bounds.isOver?.()) throw tooSlow();
  if (ordinary) return { content: ordinary.content, ...ordinaryPlaces(plain, ordinary, bounds) };
  const source = parseYaml(text, problems, bounds);
  if (source) scanYaml(source, problems, bounds);
  const isSound = source && problems.count === problemsBefore;
  const positionOf: YamlText["positionOf"] = (pointer) => (source && positionAt(source, pointer)) ?? {};
  const lineOf: YamlText["lineOf"] = (pointer) => positionOf(pointer).line;
  return {
    content: isSound ? valuesIn(source.document, problems, bounds) : undefined,
    lineOf,
    positionOf,
    linesOf: (pointers) => pointers.map(lineOf),
  };
};

const withoutLines: Omit<YamlText, "content"> = {
  lineOf: () => undefined,
  positionOf: () => ({}),
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
const placesIn = (text: string, bounds: YamlBounds): Pick<YamlText, "lineOf" | "positionOf"> => {
  let source: YamlSource | undefined | null = null;
  const positionOf: YamlText["positionOf"] = (pointer) => {
    if (source === null) source = parseYaml(text, new ProblemList(), bounds);
    return (source && positionAt(source, pointer)) ?? {};
  };
  return { positionOf, lineOf: (pointer) => positionOf(pointer).line };
};

const ordinaryPlaces = (
  text: string,
  { offsetOf }: OrdinaryYaml,
  bounds: YamlBounds,
): Omit<YamlText, "content"> => {
  const others = placesIn(text, bounds);
  let positionAt: ReturnType<typeof positionsIn> | undefined;
  const positionOf: YamlText["positionOf"] = (pointer) => {
    const offset = offsetOf(pointer);
    if (offset === undefined) return others.positionOf(pointer);
    positionAt ??= positionsIn(text);
    return positionAt(offset);
  };
  const lineOf: YamlText["lineOf"] = (pointer) => positionOf(pointer).line;
  return { positionOf, lineOf, linesOf: (pointers) => pointers.map(lineOf) };
};

/** A part of a text; `positionOf` takes pointers that start at `root`. */
export interface LocatedPart {
  readonly root: string;
  positionOf(pointer: string): Position;
}

/** @param problems with pointers into the part @returns the same with pointers into the whole text, and positions */
export const locate = ({ root, positionOf }: LocatedPart, problems: readonly Problem[]): Problem[] =>
  problems.map(({ pointer, detail }) => ({ pointer: root + pointer, detail, ...positionOf(pointer) }));

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

const positionAt = ({ document, positionAt }: YamlSource, pointer: string): Position | undefined => {
  let node: unknown = document.contents;
  let offset = offsetOf(node);
  for (const token of tokensOf(pointer)) {
    const child = childOf(document, node, token);
    if (!child) break;
    node = child.value;
    offset = offsetOf(child.start) ?? offset;
  }
  return offset === undefined ? undefined : positionAt(offset);
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
