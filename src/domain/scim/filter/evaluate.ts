// Evaluates a filter on a resource in memory. where-store.ts must give the same result in SQL.

import type { ScimObject, ScimValue } from "../model.ts";
import { elementsOf, partsOf } from "../schema/document.ts";
import type { Attribute } from "../schema/schema.ts";
import { foldCase } from "../schema/values.ts";
import type { Comparator, Comparison, ElementTest, Filter, Presence } from "./model.ts";

interface Values {
  of(test: Presence | Comparison): ScimValue | undefined;
  elementsOf(test: ElementTest): readonly ScimObject[];
}

/**
 * @param resource a complete resource as responses show it: with id, meta, and groups or members
 * @source SCIM-53 to SCIM-58
 */
export function matches(filter: Filter, resource: ScimObject): boolean {
  const attributeOf = ({ path }: Presence | Comparison | ElementTest): ScimValue | undefined =>
    (path.extension ? partsOf(resource[path.extension.id]) : resource)[path.attribute.name];
  return holds(filter, {
    of: (test) => (test.path.sub ? partsOf(attributeOf(test))[test.path.sub.name] : attributeOf(test)),
    elementsOf: (test) => elementsOf(attributeOf(test)),
  });
}

/**
 * @param filter of `parseTarget`, about one value of a multi-valued attribute
 * @param element that value
 */
export const matchesElement = (filter: Filter, element: ScimObject): boolean =>
  holds(filter, { of: ({ leaf }) => element[leaf.name], elementsOf: () => [] });

function holds(filter: Filter, values: Values): boolean {
  switch (filter.kind) {
    case "and":
      return filter.parts.every((part) => holds(part, values));
    case "or":
      return filter.parts.some((part) => holds(part, values));
    case "not":
      return !holds(filter.part, values);
    case "element":
      return values.elementsOf(filter).some((element) => matchesElement(filter.filter, element));
    case "present":
      return isAssigned(values.of(filter));
    case "compare":
      return compares(filter, values.of(filter));
  }
}

function isAssigned(value: ScimValue | undefined): boolean {
  if (value === undefined || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function compares({ leaf, comparator, literal }: Comparison, value: ScimValue | undefined): boolean {
  const operand = operandOf(leaf, value);
  if (typeof operand === "string" && typeof literal === "string") {
    return TEXT_COMPARATORS[comparator](operand, literal);
  }
  if (typeof operand === "number" && typeof literal === "number") {
    return ordered(comparator, operand - literal);
  }
  return operand !== undefined && operand === literal;
}

/** @returns the compared values; undefined if not assigned */
function operandOf(leaf: Attribute, value: ScimValue | undefined): string | boolean | number | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string" || value === "") return undefined;
  if (leaf.type === "dateTime") return Date.parse(value);
  return leaf.caseExact ? value : foldCase(value);
}

const orderedText = (comparator: Comparator) => (value: string, literal: string) =>
  ordered(comparator, byCodePoint(value, literal));

const TEXT_COMPARATORS: Readonly<Record<Comparator, (value: string, literal: string) => boolean>> = {
  eq: (value, literal) => value === literal,
  co: (value, literal) => value.includes(literal),
  sw: (value, literal) => value.startsWith(literal),
  ew: (value, literal) => value.endsWith(literal),
  gt: orderedText("gt"),
  ge: orderedText("ge"),
  lt: orderedText("lt"),
  le: orderedText("le"),
};

/** UTF-8 orders by code points, JavaScript by UTF-16 units. */
const byCodePoint = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

function ordered(comparator: Comparator, difference: number): boolean {
  switch (comparator) {
    case "gt":
      return difference > 0;
    case "ge":
      return difference >= 0;
    case "lt":
      return difference < 0;
    case "le":
      return difference <= 0;
    default:
      return difference === 0;
  }
}
