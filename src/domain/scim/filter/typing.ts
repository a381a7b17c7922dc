// Resolves names and literals: finds each attribute, checks that the operator fits its type, and converts the literal. Multi-valued
// attributes become element tests here, so later stages see only one shape.
import { type ScimError, scimInvalid } from "../errors.ts";
import { type AttributePath, pathText, resolvePath, subAttributeOf } from "../schema/attribute-path.ts";
import type { Attribute, AttributeType } from "../schema/schema.ts";
import { foldCase } from "../schema/values.ts";
import type { ResourceTypeName } from "../wire.ts";
import { ALWAYS, type Filter, type Junction, NEVER } from "./model.ts";
import type { Literal, Operator, Refusal, Written, WrittenElement, WrittenTest } from "./syntax.ts";

/** Maximum characters of a client's name in an error. */
const NAME_LENGTH_SHOWN = 80;

const OF_TEXT: readonly Operator[] = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"];
const OPERATORS_OF: Readonly<Record<AttributeType, readonly Operator[]>> = {
  string: OF_TEXT,
  reference: OF_TEXT,
  boolean: ["eq", "ne"],
  binary: ["eq", "ne"],
  dateTime: ["eq", "ne", "gt", "ge", "lt", "le"],
  complex: [],
};

const LITERAL_OF: Readonly<Record<AttributeType, string>> = {
  string: "text in double quotes",
  reference: "text in double quotes",
  binary: "text in double quotes",
  boolean: "true or false",
  dateTime: 'an instant such as "2026-01-31T12:00:00Z"',
  complex: "a sub-attribute",
};

export interface Reading {
  type: ResourceTypeName;
  /** all queried types; a test on an attribute that only another type has is never true for this type */
  scope: readonly ResourceTypeName[];
  refusal: Refusal;
}

const negated = (part: Filter): Filter => ({ kind: "not", part });

/**
 * @returns the filter for resources of `type`
 * @throws ScimError of the kind in `reading`, for unknown and hidden attributes and for comparisons that their types forbid
 * @source SCIM-52 to SCIM-59
 */
export const typedFilter = (written: Written, reading: Reading): Filter =>
  new Typing(reading).filter(written);

/**
 * @param written a filter within brackets
 * @param path of a multi-valued attribute
 * @returns the filter for its single values
 * @throws ScimError of the kind `reading.refusal`
 */
export const typedElements = (
  written: Written,
  { path, ...reading }: Reading & { path: AttributePath },
): Filter => new Typing(reading).within(path).filter(written);

/** @returns the attribute if a filter or an order may name it */
export function filterablePath(type: ResourceTypeName, name: string): AttributePath | undefined {
  const path = resolvePath(type, name);
  return path?.attribute?.filterable && path.sub?.filterable !== false ? path : undefined;
}

class Typing {
  /** @param parent the attribute of the enclosing brackets: names are sub-attributes of it */
  constructor(
    readonly reading: Reading,
    readonly parent?: AttributePath,
  ) {}

  within(path: AttributePath): Typing {
    return new Typing(this.reading, path);
  }

  filter(written: Written): Filter {
    switch (written.kind) {
      case "present":
        return this.#presence(written.name);
      case "test":
        return this.#test(written);
      case "element":
        return this.#element(written);
      case "not":
        return negated(this.filter(written.part));
      default:
        return joined(
          written.kind,
          written.parts.map((part) => this.filter(part)),
        );
    }
  }

  #presence(name: string): Filter {
    const path = this.#find(name);
    if (!path) return NEVER;
    const leaf = path.sub ?? path.attribute;
    return this.#ofValues(path, leaf.multiValued ? ALWAYS : { kind: "present", path, leaf });
  }

  #test({ name, operator, literal }: WrittenTest): Filter {
    const found = this.#find(name);
    if (!found) return NEVER;
    const path = comparedPath(found);
    const leaf = path.sub ?? path.attribute;
    const operators = OPERATORS_OF[leaf.type];
    if (!operators.includes(operator)) {
      throw this.#refuse(
        `cannot use ${operator} on ${pathText(path)}; use ${["pr", ...operators].join(", ")}`,
      );
    }
    const value = operandOf(leaf, literal);
    if (value === undefined)
      throw this.#refuse(`must compare ${pathText(path)} with ${LITERAL_OF[leaf.type]}`);
    const isPart = operator === "co" || operator === "sw" || operator === "ew";
    if (isPart && value === "") return this.#ofValues(path, { kind: "present", path, leaf });
    const written = typeof value === "boolean" ? value : String(literal);
    const comparator = operator === "ne" ? "eq" : operator;
    const comparison: Filter = { kind: "compare", path, leaf, comparator, literal: value, written };
    return this.#ofValues(path, operator === "ne" ? negated(comparison) : comparison);
  }

  #element({ name, filter }: WrittenElement): Filter {
    const path = this.#find(name);
    if (!path) return NEVER;
    const { attribute } = path;
    if (path.sub || attribute.type !== "complex") {
      throw this.#refuse(`has brackets after ${pathText(path)}, which has no sub-attributes`);
    }
    const inner = this.within(path).filter(filter);
    if (attribute.multiValued) return { kind: "element", path, filter: inner };
    return joined("and", [{ kind: "present", path, leaf: attribute }, inner]);
  }

  /** Outside brackets a test on a multi-valued attribute is true if it is true for any one value (SCIM-54). */
  #ofValues(path: AttributePath, filter: Filter): Filter {
    if (this.parent || !path.attribute.multiValued) return filter;
    return { kind: "element", path: { ...path, sub: undefined }, filter };
  }

  /** @returns undefined if only another type of the scope has the attribute */
  #find(name: string): AttributePath | undefined {
    if (this.parent) return this.#findWithin(this.parent, name);
    const { type, scope } = this.reading;
    const path = filterablePath(type, name);
    if (path || scope.some((other) => filterablePath(other, name))) return path;
    throw this.#refuse(`names ${shown(name)}, which is not a filterable attribute; see /Schemas`);
  }

  #findWithin(parent: AttributePath, name: string): AttributePath {
    const sub = subAttributeOf(parent.attribute, name);
    if (sub?.filterable) return { ...parent, sub };
    const of = pathText(parent);
    throw this.#refuse(
      `names ${shown(name)}, which is not a filterable sub-attribute of ${of}; see /Schemas`,
    );
  }

  #refuse(problem: string): ScimError {
    const { refusal } = this.reading;
    return scimInvalid(refusal, `${refusal === "invalidPath" ? "path" : "filter"} ${problem}`);
  }
}

/** A comparison of a complex attribute uses its `value` (SCIM-54). */
function comparedPath(path: AttributePath): AttributePath {
  if (path.sub || path.attribute.type !== "complex") return path;
  return { ...path, sub: subAttributeOf(path.attribute, "value") };
}

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9})\d*)?(Z|([+-])([01]\d|2[0-3]):([0-5]\d))?$/i;
const MINUTE_MS = 60_000;

/**
 * @param text RFC 3339; UTC without an offset; digits below a millisecond are dropped
 * @returns UTC milliseconds; undefined for anything else, such as a day that does not exist
 * @source SCIM-57
 */
function instantOf(text: string): number | undefined {
  const [, day, time, fraction = "", , sign, hours = "0", minutes = "0"] = INSTANT.exec(text) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const local = Date.parse(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${day}T${time}`)) return undefined;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return sign === "-" ? local + offsetMs : local - offsetMs;
}

/** @returns undefined for a literal that the attribute's type does not have */
function operandOf({ type, caseExact }: Attribute, literal: Literal): Literal | undefined {
  if (type === "boolean") return booleanOf(literal);
  if (typeof literal !== "string") return undefined;
  if (type === "dateTime") return instantOf(literal);
  return caseExact ? literal : foldCase(literal);
}

/** Entra writes booleans as text (SCIM-56). */
function booleanOf(literal: Literal): boolean | undefined {
  if (typeof literal === "boolean") return literal;
  const word = String(literal).toLowerCase();
  return word === "true" || word === "false" ? word === "true" : undefined;
}

/** Parentheses between equal junctions have no effect: their parts form one list. */
const joined = (kind: Junction["kind"], parts: readonly Filter[]): Filter => ({
  kind,
  parts: parts.flatMap((part) => (part.kind === kind ? part.parts : [part])),
});

const shown = (name: string): string =>
  name.length > NAME_LENGTH_SHOWN ? `${name.slice(0, NAME_LENGTH_SHOWN)}…` : name;
