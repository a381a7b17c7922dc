// Filters that name values instead of searching for them: PATCH creates new values from them, and removes members by id.
import type { ScimValue } from "../model.ts";
import type { Attribute } from "../schema/schema.ts";
import type { Filter } from "./model.ts";

/**
 * @param filter of `parseTarget`
 * @returns the unfolded values that an element must have to match, by sub-attribute; undefined unless the filter consists only of
 * `eq` joined by `and`, without contradiction
 * @source SCIM-75 and SCIM-76
 */
export function equalities(filter: Filter): ReadonlyMap<Attribute, ScimValue> | undefined {
  const found = new Map<Attribute, { literal: unknown; written: ScimValue }>();
  for (const part of filter.kind === "and" ? filter.parts : [filter]) {
    if (part.kind !== "compare" || part.comparator !== "eq") return undefined;
    const { leaf, literal, written } = part;
    const known = found.get(leaf);
    if (known && known.literal !== literal) return undefined;
    found.set(leaf, { literal, written });
  }
  return new Map([...found].map(([leaf, { written }]) => [leaf, written]));
}

/**
 * @param filter of `parseTarget`
 * @returns the ids of `value eq "…"`, also of several joined by `or`; undefined for any other filter
 * @source SCIM-79
 */
export function membersNamed(filter: Filter): readonly string[] | undefined {
  const ids: string[] = [];
  for (const part of filter.kind === "or" ? filter.parts : [filter]) {
    if (part.kind !== "compare" || part.comparator !== "eq" || part.leaf.name !== "value") return undefined;
    ids.push(String(part.written));
  }
  return ids;
}
