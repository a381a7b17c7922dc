// `bulkId:x` is a placeholder for the id of the resource that another operation of the request creates. It is a reference only
// where an id is expected: in the path of an operation, and in attributes that refer to a resource, as a value or in a value filter
// of a PATCH. Elsewhere it is ordinary text. run.ts knows the ids.
import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";
import { FILTER_LENGTH_MAX } from "../filter/model.ts";
import { fieldsOf } from "../messages/messages.ts";
import { type AttributePath, pathText, type ResolvedPath, resolvePath } from "../schema/attribute-path.ts";
import { PATCH_OP, type ResourceTypeName } from "../wire.ts";
import type { BulkOperation } from "./model.ts";

const PREFIX = "bulkId:";

const isNamed = (key: string, name: string): boolean => key.toLowerCase() === name;

/**
 * Returns the id of a reference; undefined omits the reference and the element that contains it.
 * @param attribute path of the attribute with the reference, empty in the path of an operation
 */
export type Lookup = (bulkId: string, attribute: string) => string | undefined;

type Place = Pick<BulkOperation, "method" | "target" | "data">;

/** @returns the bulkIds that an operation refers to */
export function referencesOf(operation: Place): ReadonlySet<string> {
  const found = new Set<string>();
  replaceReferences(operation, (bulkId) => {
    found.add(bulkId);
    return undefined;
  });
  return found;
}

/**
 * Replaces references with ids.
 * @returns the id in the path, empty if there is none, and the data; both unchanged without a reference
 * @source SCIM-106 and SCIM-108
 */
export function replaceReferences(
  { method, target, data }: Place,
  lookup: Lookup,
): { id: string; data: JsonObject | undefined } {
  const id = idIn(target?.id ?? "", lookup, "") ?? "";
  if (!target || !data) return { id, data };
  const search = { type: target.type, lookup };
  if (method !== "PATCH") return { id, data: inBody(data, search) };
  const inOperations = (key: string, value: unknown) =>
    isNamed(key, "operations") && Array.isArray(value)
      ? value.map((operation) => inOperation(operation, search))
      : value;
  return { id, data: mapMembers(data, inOperations) };
}

/**
 * @param lookup of the references that were omitted from a creation
 * @returns a PATCH message that adds them
 */
export function addReferences(operation: Place, lookup: Lookup): JsonObject {
  const added = new Map<string, JsonObject>();
  replaceReferences(operation, (bulkId, path) => {
    const id = lookup(bulkId, path);
    if (id !== undefined) added.set(`${path} ${id}`, { op: "add", path, value: { value: id } });
    return id;
  });
  return { schemas: [PATCH_OP], Operations: [...added.values()] };
}

interface Search {
  type: ResourceTypeName;
  lookup: Lookup;
}

/** Names in a body are attribute paths. */
const inBody = (body: JsonObject, search: Search): JsonObject =>
  mapMembers(body, (name, value) => at(resolvePath(search.type, name), value, search));

/** The members of an extension's object continue its URN. */
function at(path: ResolvedPath | undefined, value: unknown, search: Search): unknown {
  if (!path) return value;
  if (path.attribute) return refersToResource(path) ? inValue(value, search.lookup, nameOf(path)) : value;
  const inside = (name: string) => resolvePath(search.type, `${path.extension.id}:${name}`);
  return isJsonObject(value) ? mapMembers(value, (name, part) => at(inside(name), part, search)) : value;
}

function inOperation(operation: unknown, search: Search): unknown {
  if (!isJsonObject(operation)) return operation;
  const text = fieldsOf(operation).get("path") ?? "";
  if (typeof text !== "string") return operation;
  const path = resolvePath(search.type, text.replace(/\[.*$/s, "").trim());
  return mapMembers(operation, (name, value) => {
    if (isNamed(name, "path") && path && refersToResource(path))
      return inFilters(text, search.lookup, nameOf(path));
    if (!isNamed(name, "value")) return value;
    return text === "" && isJsonObject(value) ? inBody(value, search) : at(path, value, search);
  });
}

/** @returns whether the attribute, or its `value`, holds ids of resources: it is settable and has a sibling `$ref` */
function refersToResource(path: ResolvedPath): path is AttributePath {
  const { attribute, sub } = path;
  if (!attribute || attribute.mutability === "readOnly" || (sub && sub.name !== "value")) return false;
  return attribute.subAttributes?.some(({ name }) => name === "$ref") ?? false;
}

const nameOf = (path: AttributePath): string => pathText({ ...path, sub: undefined });

/** As lenient as the parsing of values: plain text, an object, or a list of them. */
function inValue(value: unknown, lookup: Lookup, attribute: string): unknown {
  if (typeof value === "string") return idIn(value, lookup, attribute);
  if (Array.isArray(value))
    return value.flatMap((element) => {
      const replaced = inValue(element, lookup, attribute);
      return replaced === undefined ? [] : [replaced];
    });
  if (!isJsonObject(value)) return value;
  const replaced = mapMembers(value, (key, part) =>
    isNamed(key, "value") ? inValue(part, lookup, attribute) : part,
  );
  return Object.keys(replaced).length < Object.keys(value).length ? undefined : replaced;
}

/** Also matches unterminated text, because searching again from each of its quotes would take seconds. */
const JSON_TEXT = /"(?:[^"\\]|\\.)*(?:"|\\?$)/gs;

/** A longer path is not searched, because parsing refuses it. */
function inFilters(path: string, lookup: Lookup, attribute: string): string {
  if (path.length > FILTER_LENGTH_MAX || !path.includes(`"${PREFIX}`)) return path;
  return path.replace(JSON_TEXT, (literal) => {
    const bulkId = referenceIn(decoded(literal));
    const id = bulkId === undefined ? undefined : lookup(bulkId, attribute);
    return id === undefined ? literal : JSON.stringify(id);
  });
}

/** Invalid JSON text is left to the parser of paths. */
function decoded(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return "";
  }
}

const referenceIn = (text: string): string | undefined =>
  text.startsWith(PREFIX) ? text.slice(PREFIX.length) : undefined;

function idIn(text: string, lookup: Lookup, attribute: string): string | undefined {
  const bulkId = referenceIn(text);
  return bulkId === undefined ? text : lookup(bulkId, attribute);
}

/** Removes members that become undefined. */
const mapMembers = (object: JsonObject, change: (key: string, value: unknown) => unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => {
      const changed = change(key, value);
      return changed === undefined ? [] : [[key, changed] as const];
    }),
  );
