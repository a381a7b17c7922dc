// Unknown attributes in requests: they are ignored and counted, so that an operator can see why a sent value is absent
// (SCIM-41). Known names that cannot be set, such as `id`, are not counted.

import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { resolvePath } from "../schema/attribute-path.ts";
import { ENDPOINTS, RESOURCE_TYPES, type ResourceTypeName } from "../wire.ts";
import { fieldsOf } from "./envelope.ts";

/**
 * @param method in any letter case
 * @param body parsed JSON, possibly of the wrong shape
 * @returns how many names of attributes in it are unknown: of a PATCH, in values without a path
 */
export function countIgnored(type: ResourceTypeName, method: string, body: unknown): number {
  if (!isJsonObject(body)) return 0;
  if (method.toUpperCase() !== "PATCH") return unknownNames(type, body);
  return operationsIn(body).reduce((sum, operation) => {
    const value = operation.get("value");
    return sum + (!operation.get("path") && isJsonObject(value) ? unknownNames(type, value) : 0);
  }, 0);
}

/** @returns the same for all operations of a bulk request, one in each step */
export function* countIgnoredInBulk(body: unknown): Steps<number> {
  let sum = 0;
  for (const operation of isJsonObject(body) ? operationsIn(body) : []) {
    const [path, method] = [String(operation.get("path")), String(operation.get("method"))];
    const type = RESOURCE_TYPES.find((name) => path.startsWith(ENDPOINTS[name]));
    if (type) sum += countIgnored(type, method, operation.get("data"));
    yield;
  }
  return sum;
}

function operationsIn(body: JsonObject): ReadonlyMap<string, unknown>[] {
  const list = fieldsOf(body).get("operations");
  return Array.isArray(list) ? list.filter(isJsonObject).map(fieldsOf) : [];
}

function unknownNames(type: ResourceTypeName, object: JsonObject, prefix = ""): number {
  return Object.entries(object).reduce((sum, [name, value]) => {
    const path = resolvePath(type, prefix + name.replace(/\[.*$/s, ""));
    if (!path) return sum + 1;
    const isExtension = path.attribute === undefined && isJsonObject(value);
    return isExtension ? sum + unknownNames(type, value, `${path.extension.id}:`) : sum;
  }, 0);
}
