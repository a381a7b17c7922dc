// A filter without its literals, which determines its SQL completely. The literals are bound as values, each named by the position
// of its comparison in the tree.
import { pathText } from "../schema/attribute-path.ts";
import type { Comparison, Filter } from "./model.ts";

export type Bound = string | number | Uint8Array;

export interface Shape {
  /** equal for filters that differ only in literals */
  readonly key: string;
  readonly numbers: ReadonlyMap<Comparison, number>;
  readonly values: Readonly<Record<string, Bound>>;
}

/** Names under which the values of a comparison are bound. */
export const BOUND = {
  value: (number: number): string => `value${number}`,
  /** for `sw`: greater than every text with this prefix */
  limit: (number: number): string => `limit${number}`,
  /** for `ew`, in bytes */
  length: (number: number): string => `length${number}`,
} as const;

/** In SQLite every text is less than a blob. */
const ABOVE_TEXT = new Uint8Array([0xff]);
const CODE_POINT_MAX = 0x10ffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;

export function shapeOf(filter: Filter): Shape {
  const numbers = new Map<Comparison, number>();
  const values: Record<string, Bound> = {};
  const visit = (part: Filter): string => {
    switch (part.kind) {
      case "and":
      case "or":
        return `${part.kind}(${part.parts.map(visit).join()})`;
      case "not":
        return `not(${visit(part.part)})`;
      case "element":
        return `${pathText(part.path)}[${visit(part.filter)}]`;
      case "present":
        return `${pathText(part.path)} pr`;
      case "compare":
        bind(part, numbers.size, values);
        numbers.set(part, numbers.size);
        return `${pathText(part.path)} ${part.comparator}`;
    }
  };
  const key = `${visit(filter)}`;
  return { key, numbers, values };
}

function bind({ comparator, literal }: Comparison, number: number, values: Record<string, Bound>): void {
  const value = typeof literal === "boolean" ? Number(literal) : literal;
  const isEnd = comparator === "ew" && typeof value === "string";
  const bytes = isEnd ? Buffer.from(value) : undefined;
  values[BOUND.value(number)] = bytes ?? value;
  if (bytes) values[BOUND.length(number)] = bytes.length;
  if (comparator === "sw") values[BOUND.limit(number)] = prefixUpperBound(String(value));
}

/** @returns the least text that follows every text with this prefix (SCIM-128) */
export function prefixUpperBound(start: string): Bound {
  const points = Array.from(start, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === CODE_POINT_MAX) points.pop();
  const last = points.pop();
  if (last === undefined) return ABOVE_TEXT;
  return String.fromCodePoint(...points, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1);
}
