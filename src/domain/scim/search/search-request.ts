// Parses list requests: page, order, and the filter for the resources of each type. search.ts runs them.
import { scimInvalid } from "../errors.ts";
import { ALWAYS, type Filter } from "../filter/model.ts";
import { parseFilter, parseFilters } from "../filter/parse.ts";
import { filterablePath } from "../filter/typing.ts";
import type { ListParameters } from "../model.ts";
import { type AttributePath, subAttributeOf } from "../schema/attribute-path.ts";
import { RESOURCE_TYPES, type ResourceTypeName } from "../wire.ts";

export const PAGE_DEFAULT = 100;

export type SearchScope = ResourceTypeName | "all";

/** Resources without the attribute come last, or first in descending order. */
interface Order {
  /** undefined for a type without such an attribute */
  readonly keys: Readonly<Record<ResourceTypeName, AttributePath | undefined>>;
  readonly isDescending: boolean;
}

export interface ListRequest {
  readonly types: readonly ResourceTypeName[];
  readonly filters: Readonly<Record<ResourceTypeName, Filter>>;
  /** undefined for the order of creation */
  readonly order: Order | undefined;
  /** 1-based */
  readonly startIndex: number;
  readonly limit: number;
}

/**
 * @param pageMax maximum number of resources on one page
 * @throws ScimError `invalidFilter`, and `invalidValue` for paging and order
 * @source SCIM-61 to SCIM-64
 */
export function readListRequest(
  scope: SearchScope,
  parameters: ListParameters,
  pageMax: number,
): ListRequest {
  const types = scope === "all" ? RESOURCE_TYPES : [scope];
  const problems: string[] = [];
  const startIndex = wholeNumber("startIndex", parameters.startIndex, problems) ?? 1;
  const count = wholeNumber("count", parameters.count, problems) ?? PAGE_DEFAULT;
  const order = readOrder(types, parameters, problems);
  if (problems.length > 0) throw scimInvalid("invalidValue", problems.join("; "));
  return {
    types,
    filters: readFilters(scope, parameters.filter),
    order,
    startIndex: Math.max(startIndex, 1),
    limit: Math.min(Math.max(count, 0), pageMax),
  };
}

function readFilters(scope: SearchScope, text: string | undefined): ListRequest["filters"] {
  if (text === undefined) return { User: ALWAYS, Group: ALWAYS };
  if (scope === "all") return parseFilters(text);
  const filter = parseFilter(scope, text);
  return { User: filter, Group: filter };
}

function wholeNumber(
  name: string,
  value: string | number | undefined,
  problems: string[],
): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "number" || /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN;
  // With any number of digits, because a number beyond every page is also a whole number.
  const bounded = Math.min(Math.max(number, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  if (Number.isInteger(bounded)) return bounded;
  problems.push(`${name} must be a whole number`);
  return undefined;
}

function readOrder(
  types: readonly ResourceTypeName[],
  { sortBy, sortOrder = "ascending" }: ListParameters,
  problems: string[],
): Order | undefined {
  const direction = sortOrder.toLowerCase();
  if (direction !== "ascending" && direction !== "descending")
    problems.push("sortOrder must be ascending or descending");
  if (sortBy === undefined) return undefined;
  const keyOf = (type: ResourceTypeName) => (types.includes(type) ? sortKey(type, sortBy) : undefined);
  const keys = { User: keyOf("User"), Group: keyOf("Group") };
  if (!keys.User && !keys.Group)
    problems.push("sortBy must name an attribute with a simple value, such as userName or name.familyName");
  return { keys, isDescending: direction === "descending" };
}

/** Lists are ordered by their values; other complex attributes have no order. */
function sortKey(type: ResourceTypeName, name: string): AttributePath | undefined {
  const path = filterablePath(type, name);
  if (!path || path.sub || path.attribute.type !== "complex") return path;
  const value = path.attribute.multiValued ? subAttributeOf(path.attribute, "value") : undefined;
  return value && { ...path, sub: value };
}
