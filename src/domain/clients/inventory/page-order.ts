// The order of a list for rows that are sorted here, because few match: it is the one of SQLite.
import type { PageWindow, Place } from "../../shared/page-steps.ts";
import type { SummaryRow } from "./list-store.ts";

export const placeOf = ({ orderKey, id }: SummaryRow): Place => ({ first: orderKey, second: id });

/** @returns the ids of a page's rows among those of all matching ones, in the order of SQLite */
export function placesOf(
  places: readonly Place[],
  { after, offset, limit, isDescending }: PageWindow & { isDescending: boolean },
): string[] {
  const sign = isDescending ? -1 : 1;
  const inOrder = (one: Place, other: Place): number =>
    sign * (byValue(one.first, other.first) || byBytes(one.second, other.second));
  const sorted = [...places].sort(inOrder);
  const behind = after ? sorted.filter((place) => inOrder(place, after) > 0) : sorted;
  return behind.slice(offset, offset + limit).map(({ second }) => second);
}

const byValue = (one: string | number, other: string | number): number =>
  typeof one === "number" && typeof other === "number" ? one - other : byBytes(String(one), String(other));

const SURROGATE = /[\ud800-\udfff]/;

/** The order of SQLite, which differs from the one of JavaScript for characters outside the basic plane. */
export function byBytes(one: string, other: string): number {
  if (one === other) return 0;
  if (SURROGATE.test(one) || SURROGATE.test(other))
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
}
