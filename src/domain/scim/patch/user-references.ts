// References to users: a provider names a manager or a member by id, by URL, or by both. Only the id is stored.
import type { JsonObject } from "../../../platform/json/json-object.ts";
import { fieldsOf } from "../messages/messages.ts";
import { isUnassigned } from "../schema/values.ts";

/** @returns the last segment of a URL, which is the id; any other value unchanged */
export const idInReference = (raw: unknown): unknown =>
  typeof raw === "string" ? raw.split("/").findLast((segment) => segment !== "") : raw;

/** @returns the parts by lower-case name; a `$ref` without a `value` becomes the value */
export function fieldsWithId(sent: JsonObject): ReadonlyMap<string, unknown> {
  const fields = fieldsOf(sent);
  const id = idInReference(fields.get("$ref"));
  fields.delete("$ref");
  if (isUnassigned(fields.get("value")) && !isUnassigned(id)) fields.set("value", id);
  return fields;
}
