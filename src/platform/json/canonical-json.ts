// Writes JSON so that equal values have equal texts for any order of their members (RFC 8785).
import { isJsonObject } from "./json-object.ts";

/**
 * @param value as parsed from JSON; its nesting must be limited by the caller
 * @returns JSON without white space, members sorted by name
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).toSorted();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(",")}}`;
}
