// Names places in a policy document for people and for merges: RFC 6901 pointers in which an entry of a list with names
// (packages by id, MCP servers by name) is named, not numbered. Any other list is one value.

import { tokensOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";

/**
 * @param path place of the value in the document
 * @returns its parts by name, in their order; undefined for a value without named parts
 */
export function splitParts(path: readonly string[], value: unknown): Map<string, unknown> | undefined {
  if (isJsonObject(value)) return new Map(Object.entries(value));
  const nameMember = Array.isArray(value) ? nameMemberOf(path) : undefined;
  if (nameMember === undefined || !Array.isArray(value)) return undefined;
  const parts = new Map(value.map((entry: unknown) => [nameOf(entry, nameMember), entry]));
  // A duplicate or missing name would not identify an entry.
  return parts.has(undefined) || parts.size < value.length ? undefined : named(parts);
}

/** Builds the value again from its parts, in the shape of the original. */
export const joinParts = (parts: ReadonlyMap<string, unknown>, like: unknown): unknown =>
  Array.isArray(like) ? [...parts.values()] : Object.fromEntries(parts);

/** The value at a path; undefined if there is none. */
export type ValueAt = (pointer: string) => unknown;

/** @returns a lookup of values by path; it indexes a list once, however many entries are read */
export function changedPlaces(document: unknown): ValueAt {
  const known = new Map<unknown, ReturnType<typeof splitParts>>();
  const partsAt = (above: readonly string[], value: unknown) => {
    if (!known.has(value)) known.set(value, splitParts(above, value));
    return known.get(value);
  };
  return (pointer) => {
    let value = document;
    const above: string[] = [];
    for (const token of tokensOf(pointer)) {
      value = partsAt(above, value)?.get(token);
      above.push(token);
    }
    return value;
  };
}

/** Entries of these lists are compared by this member, not by position. */
function nameMemberOf(path: readonly string[]): "id" | "name" | undefined {
  if (path.length === 1 && path[0] === "packages") return "id";
  return path.length > 1 && path.at(-1) === "mcp" ? "name" : undefined;
}

/** Compares names without white space at their ends. */
function nameOf(entry: unknown, member: string): string | undefined {
  const name = isJsonObject(entry) ? entry[member] : undefined;
  return typeof name === "string" ? name.trim() : undefined;
}

function named(parts: ReadonlyMap<string | undefined, unknown>): Map<string, unknown> {
  return new Map([...parts].flatMap(([name, entry]) => (name === undefined ? [] : [[name, entry]])));
}
