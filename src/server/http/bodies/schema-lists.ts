// How long the lists of a body may be according to its schema.
import { KindGuard } from "@sinclair/typebox";

/** @param schema of an object @returns the maximum length of each list that has one, by name of the member */
export function listsIn(schema: unknown): ReadonlyMap<string, number> {
  const members = KindGuard.IsObject(schema) ? Object.entries(schema.properties) : [];
  const maxima = members.map(([name, member]) => [name, elementsMaxOf(member)] as const);
  return new Map(maxima.filter(([, elementsMax]) => Number.isFinite(elementsMax)));
}

/** @returns the largest number of elements that the schema allows in a list; Infinity without a maximum, or without a list */
function elementsMaxOf(schema: unknown): number {
  if (KindGuard.IsArray(schema)) return schema.maxItems ?? Infinity;
  if (!KindGuard.IsUnion(schema)) return Infinity;
  const lists = schema.anyOf.filter(KindGuard.IsArray);
  return lists.length > 0 ? Math.max(...lists.map(elementsMaxOf)) : Infinity;
}
