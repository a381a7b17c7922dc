// Common parts of every SCIM message: it is one JSON object, its member names are case-insensitive, and it may name its schema. The
// reader of the message interprets the members.
import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";
import { scimInvalid } from "../errors.ts";

/**
 * @param what name of the message for the error
 * @throws ScimError `invalidSyntax` unless it is an object
 */
export function readObject(raw: unknown, what: string): JsonObject {
  if (!isJsonObject(raw)) throw scimInvalid("invalidSyntax", `${what} must be a JSON object`);
  return raw;
}

/** @returns the members by lower-case name (SCIM-39), in a new map */
export function fieldsOf(object: JsonObject): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) fields.set(name.toLowerCase(), value);
  return fields;
}

/**
 * Checks the `schemas` of a message: an absent one is accepted, and URNs other than the expected one are ignored.
 * @param raw the value of `schemas`
 * @param urn of the message or resource; the comparison ignores case
 * @throws ScimError `invalidSyntax`
 * @source SCIM-38
 */
export function requireSchema(raw: unknown, urn: string): void {
  if (raw === undefined || raw === null || raw === "") return;
  const urns: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  const wanted = urn.toLowerCase();
  if (urns.length === 0 || urns.some((given) => typeof given === "string" && given.toLowerCase() === wanted))
    return;
  throw scimInvalid("invalidSyntax", `schemas must contain ${urn}, or be omitted`);
}
