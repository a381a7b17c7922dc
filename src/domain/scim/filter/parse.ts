// Entry point for filters and PATCH paths: text in, typed tree out. evaluate.ts and where-store.ts (SQL) evaluate it.
import { scimInvalid } from "../errors.ts";
import { type ResolvedPath, resolvePath, subAttributeOf } from "../schema/attribute-path.ts";
import { RESOURCE_TYPES, type ResourceTypeName } from "../wire.ts";
import type { Filter, PatchTarget } from "./model.ts";
import { parsePathSyntax, parseSyntax, type WrittenPath } from "./syntax.ts";
import { typedElements, typedFilter } from "./typing.ts";

/**
 * @returns the filter of a query on one type
 * @throws ScimError `invalidFilter`
 * @source RFC 7644 section 3.4.2.2
 */
export const parseFilter = (type: ResourceTypeName, text: string): Filter =>
  typedFilter(parseSyntax(text), { type, scope: [type], refusal: "invalidFilter" });

/**
 * @returns the filter of a query on all types, for each type; tests on attributes of only the other type are never true
 * @throws ScimError `invalidFilter`, also for attributes that no type has
 * @source SCIM-59
 */
export function parseFilters(text: string): Readonly<Record<ResourceTypeName, Filter>> {
  const written = parseSyntax(text);
  const typed = (type: ResourceTypeName) =>
    typedFilter(written, { type, scope: RESOURCE_TYPES, refusal: "invalidFilter" });
  return { User: typed("User"), Group: typed("Group") };
}

/**
 * Parses the path of a PATCH operation: an attribute, a sub-attribute, an extension's URN alone, or values of a multi-valued
 * attribute in brackets with an optional sub-attribute.
 * @throws ScimError `invalidPath`, also for unknown names
 * @source RFC 7644 section 3.5.2
 */
export function parseTarget(type: ResourceTypeName, text: string): PatchTarget {
  const written = parsePathSyntax(text);
  const path = resolvePath(type, written.name);
  if (!path) throw scimInvalid("invalidPath", "path names an unknown attribute; see /Schemas");
  if (!written.filter) return { path, elements: undefined, sub: path.sub };
  return elementTarget(written, path);
}

function elementTarget({ filter, sub: name }: WrittenPath, path: ResolvedPath): PatchTarget {
  if (!filter || !path.attribute?.multiValued || path.sub) {
    throw scimInvalid("invalidPath", "path has brackets after an attribute that is not a list");
  }
  const { type, attribute } = path;
  const elements = typedElements(filter, { path, type, scope: [type], refusal: "invalidPath" });
  if (name === undefined) return { path, elements, sub: undefined };
  const sub = subAttributeOf(attribute, name);
  if (!sub) throw scimInvalid("invalidPath", `path names an unknown sub-attribute of ${attribute.name}`);
  return { path: { ...path, sub }, elements, sub };
}
