// A typed filter: the tree that evaluation, SQL and PATCH share. syntax.ts parses the text, typing.ts creates this tree.
import type { AttributePath, ResolvedPath } from "../schema/attribute-path.ts";
import type { Attribute } from "../schema/schema.ts";

/** Maximum characters of a filter or of the path of a PATCH operation. */
export const FILTER_LENGTH_MAX = 16_384;
/** Maximum number of comparisons, including `pr`. */
export const FILTER_TESTS_MAX = 256;
/** Maximum number of open parentheses and brackets. */
export const FILTER_DEPTH_MAX = 20;

/** `ne` is a negated `eq`: an attribute without a value differs from every literal. */
export type Comparator = "eq" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le";

/** Has a value. */
export interface Presence {
  readonly kind: "present";
  readonly path: AttributePath;
  /** the compared attribute: the sub-attribute if there is one */
  readonly leaf: Attribute;
}

/** Has a value that satisfies the comparison; never true without a value. */
export interface Comparison {
  readonly kind: "compare";
  readonly path: AttributePath;
  readonly leaf: Attribute;
  readonly comparator: Comparator;
  /** text (folded if case-insensitive) or instant in UTC milliseconds; never empty text after `co`, `sw`, `ew` */
  readonly literal: string | boolean | number;
  /** the original text */
  readonly written: string | boolean;
}

/** One value of a multi-valued attribute satisfies all of `filter`, which tests its sub-attributes. */
export interface ElementTest {
  readonly kind: "element";
  readonly path: AttributePath;
  readonly filter: Filter;
}

interface Negation {
  readonly kind: "not";
  readonly part: Filter;
}

/** Without parts, `and` is always true and `or` is never true. */
export interface Junction {
  readonly kind: "and" | "or";
  readonly parts: readonly Filter[];
}

export type Filter = Presence | Comparison | ElementTest | Negation | Junction;

export const ALWAYS: Filter = { kind: "and", parts: [] };
export const NEVER: Filter = { kind: "or", parts: [] };

/** The target of a PATCH operation's path. */
export interface PatchTarget {
  /** names the sub-attribute too: `emails[…].value` has the path of `emails.value` */
  readonly path: ResolvedPath;
  /** selects values of the multi-valued attribute; undefined without brackets */
  readonly elements: Filter | undefined;
  /** the same as `path.sub` */
  readonly sub: Attribute | undefined;
}
