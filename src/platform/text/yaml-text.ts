// Parses untrusted YAML or JSON text into one plain value, with line numbers. A text beyond the limits yields problems and never
// a value. Callers validate the value.

import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
import { type Problem, tokensOf } from "../errors.ts";
import { readJsonDocument } from "../json/json-document.ts";
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
  type YamlText,
} from "./yaml-source.ts";

/** Parses a text within limits of size, time and nesting. Reports problems of the text itself, with line numbers. */
export const readYamlText = (bytes: Uint8Array, problems: ProblemList, bounds: YamlBounds): YamlText => {
  const text = decodeText(bytes, problems, bounds)?.replace(/^\ufeff/, "");
  if (text === undefined) return { content: undefined, positionsOf: (pointers) => pointers.map(() => ({})) };
  const json = readJsonDocument(text, problems, JSON_LIMITS);
  if (json) return json;
  const ordinary = readOrdinaryYaml(text, bounds);
  if (bounds.isOver?.()) throw tooSlow();
  if (ordinary) return { content: ordinary.content, positionsOf: ordinaryPositions(text, ordinary, bounds) };
  return readAnyYaml(text, problems, bounds);
};

const JSON_LIMITS = { depthMax: YAML_DEPTH_MAX, valuesMax: YAML_VALUES_MAX };

const readAnyYaml = (text: string, problems: ProblemList, bounds: YamlBounds): YamlText => {
  const problemsBefore = problems.count;
  const source = parseYaml(text, problems, bounds);
  if (source) scanYaml(source, problems, bounds);
  const isSound = source && problems.count === problemsBefore;
  return {
    content: isSound ? valuesIn(source.document, problems) : undefined,
    positionsOf: (pointers) => pointers.map((pointer) => (source && positionAt(source, pointer)) ?? {}),
  };
};

/** Parses the text once more only if the fast reader does not know a position. */
const ordinaryPositions = (
  text: string,
  { offsetOf }: OrdinaryYaml,
  bounds: YamlBounds,
): YamlText["positionsOf"] => {
  let positionOf: ((offset: number) => Position) | undefined;
  let source: YamlSource | undefined | null = null;
  return (pointers) =>
    pointers.map((pointer) => {
      const offset = offsetOf(pointer);
      if (offset === undefined) {
        if (source === null) source = parseYaml(text, new ProblemList(), bounds);
        return (source && positionAt(source, pointer)) ?? {};
      }
      positionOf ??= positionsIn(text);
      return positionOf(offset);
    });
};

/**
 * @param root pointer from the root of the text to the part
 * @param problems with pointers from the root of the part
 * @returns the same problems with pointers from the root of the text, and positions
 */
export const locate = (
  { positionsOf }: Pick<YamlText, "positionsOf">,
  root: string,
  problems: readonly Problem[],
): Problem[] => {
  const pointers = problems.map(({ pointer }) => root + pointer);
  const positions = positionsOf(pointers);
  return problems.map(({ detail }, at) => ({ pointer: pointers[at] ?? root, detail, ...positions[at] }));
};

const valuesIn = (document: Document.Parsed, problems: ProblemList): unknown => {
  try {
    // yaml-scan.ts has already limited the expansion; the library's own limit would reject legitimate reuse.
    return document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    const isMerge = error instanceof Error && error.message.startsWith("Merge sources");
    problems.add("", `cannot be read as YAML: ${isMerge ? "<< merges only mappings" : "unknown fault"}`);
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

/** @returns the node of a member or item, and the node where it begins: the key of a member */
const childOf = (document: Document.Parsed, parent: unknown, token: string) => {
  const node = isAlias(parent) ? parent.resolve(document) : parent;
  if (isSeq(node)) {
    const item = node.items[Number(token)];
    return item === undefined ? undefined : { value: item, start: item };
  }
  const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === token) : undefined;
  return pair && { value: pair.value, start: pair.key };
};
