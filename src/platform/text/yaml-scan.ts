// Walks the nodes of a parsed YAML file once, before any alias is expanded. It reports duplicate and reserved keys, aliases
// without an anchor, aliases that expand too far, and nesting beyond the limit.

import { isAlias, isMap, isNode, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from "yaml";
import { pointerOf } from "../errors.ts";
import { changeOf } from "../json/numbers.ts";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  NamedShapes,
  NUMBERED_OBJECT_MEMBERS,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "../json/shapes.ts";
import { NAME_CHARACTERS_MAX, OBJECT_MEMBERS_MAX } from "../json/structure.ts";
import { PROTOTYPE_KEY, RESERVED_KEY } from "./object-reader.ts";
import { type ProblemList, quoted } from "./problem-list.ts";
import { NOT_FINITE } from "./unusable-values.ts";
import { YAML_DEPTH_MAX, type YamlBounds, type YamlSource } from "./yaml-source.ts";

/** limit for anchors and aliases together; the library searches all of them for each alias */
export const YAML_REFERENCES_MAX = 10_000;
/** Limit of the size after all aliases are expanded, as a multiple of bytesMax. A text without aliases cannot reach it. */
export const YAML_EXPANSION_MAX = 2;

/** limit for scalars, mappings, lists and keys after all aliases are expanded; the same as for a JSON body */
export const YAML_VALUES_MAX = 250_000;

/** The size of a node after its aliases are expanded. */
interface Extent {
  readonly size: number;
  readonly values: number;
  readonly largeObjectMembers: number;
  readonly depth: number;
}

/** @returns the length of a key in JSON, without its quotes */
const charactersAsJson = (name: string): number => JSON.stringify(name).length - 2;

const NOTHING: Extent = { size: 1, values: 1, largeObjectMembers: 0, depth: 0 };

/** Recursion is bounded, because the parser has already rejected deeper nesting. */
class Scan {
  readonly #anchors = new Map<string, Extent>();
  readonly #path: string[] = [];
  readonly #shapes = new NamedShapes();
  #references = 0;

  constructor(
    readonly source: YamlSource,
    readonly problems: ProblemList,
    readonly bounds: Pick<YamlBounds, "bytesMax" | "hidesText">,
  ) {}

  get #expandedMax(): number {
    return YAML_EXPANSION_MAX * this.bounds.bytesMax;
  }

  run(): void {
    const { size, values, largeObjectMembers } = this.#measure(this.source.document.contents);
    if (this.#references > YAML_REFERENCES_MAX)
      this.problems.add(
        "",
        `has ${this.#references} anchors and aliases; the limit is ${YAML_REFERENCES_MAX}`,
      );
    if (this.#shapes.size > OBJECT_SHAPES_MAX)
      this.problems.add(
        "",
        `has mappings of ${this.#shapes.size} different shapes; the limit is ${OBJECT_SHAPES_MAX}`,
      );
    if (largeObjectMembers > LARGE_OBJECT_MEMBERS_MAX)
      this.problems.add(
        "",
        `has ${largeObjectMembers} members beyond the first ${SHAPE_MEMBERS_MAX} of its mappings (a mapping with a whole number as a key counts as ${NUMBERED_OBJECT_MEMBERS}); the limit is ${LARGE_OBJECT_MEMBERS_MAX}`,
      );
    if (size > this.#expandedMax)
      this.problems.add("", `grows beyond ${this.#expandedMax} characters when its aliases are replaced`);
    else if (values > YAML_VALUES_MAX)
      this.problems.add("", `has ${values} values and names; the limit is ${YAML_VALUES_MAX}`);
  }

  #report(node: unknown, detail: string): void {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    const isKnown = offset !== undefined && !this.problems.isFull;
    this.problems.add(pointerOf(this.#path), detail, isKnown ? this.source.positionAt(offset) : {});
  }

  #measure(node: unknown): Extent {
    if (!isNode(node)) return NOTHING;
    if (isAlias(node)) return this.#alias(node, node.source);
    if (isScalar(node) && typeof node.value === "number") this.#number(node, node.value);
    const extent = isMap(node)
      ? this.#map(node)
      : isSeq(node)
        ? this.#sum(
            node,
            node.items.map((item, index) => this.#child(String(index), item)),
          )
        : { ...NOTHING, size: 1 + (node.range ? node.range[1] - node.range[0] : 0) };
    if (node.anchor) {
      this.#references += 1;
      this.#anchors.set(node.anchor, extent);
    }
    return extent;
  }

  #number(node: Scalar, value: number): void {
    const change = changeOf(node.source ?? "", value);
    if (change !== undefined) this.#report(node, change);
    else if (!Number.isFinite(value)) this.#report(node, NOT_FINITE);
  }

  #alias(node: Node, anchor: string): Extent {
    this.#references += 1;
    const target = this.#anchors.get(anchor);
    const name = this.bounds.hidesText ? "the alias" : `the alias ${quoted(`*${anchor}`)}`;
    if (!target) this.#report(node, `${name} has no complete anchor before it`);
    return target ?? NOTHING;
  }

  #map(node: YAMLMap): Extent {
    if (node.items.length > OBJECT_MEMBERS_MAX)
      this.#report(node, `has ${node.items.length} members; the limit is ${OBJECT_MEMBERS_MAX}`);
    const seen = new Set<string>();
    const extents = node.items.flatMap(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : "";
      if (charactersAsJson(name) > NAME_CHARACTERS_MAX)
        this.#report(key, `has a key of more than ${NAME_CHARACTERS_MAX} characters`);
      this.#path.push(name);
      if (name === PROTOTYPE_KEY) this.#report(key, RESERVED_KEY);
      if (seen.has(name)) this.#report(key, `the key ${quoted(name)} occurs here a second time`);
      this.#path.pop();
      seen.add(name);
      return [this.#measure(key), this.#child(name, value)];
    });
    const extent = this.#sum(node, extents);
    return { ...extent, largeObjectMembers: extent.largeObjectMembers + this.#shapes.add([...seen]) };
  }

  #child(name: string, node: unknown): Extent {
    this.#path.push(name);
    const extent = this.#measure(node);
    this.#path.pop();
    return extent;
  }

  #sum(node: Node, parts: readonly Extent[]): Extent {
    let size = 1;
    let values = 1;
    let largeObjectMembers = 0;
    let depth = 0;
    for (const part of parts) {
      size += part.size;
      values += part.values;
      largeObjectMembers += part.largeObjectMembers;
      depth = Math.max(depth, part.depth);
    }
    // Reported only at the level that crosses the limit, not at every level above it.
    if (depth === YAML_DEPTH_MAX) this.#report(node, `is nested deeper than ${YAML_DEPTH_MAX} levels`);
    return { size, values, largeObjectMembers, depth: depth + 1 };
  }
}

/** Reports everything that prevents converting the document into values, with pointers from the root of the file. */
export const scanYaml = (
  source: YamlSource,
  problems: ProblemList,
  bounds: Pick<YamlBounds, "bytesMax" | "hidesText">,
): void => new Scan(source, problems, bounds).run();
