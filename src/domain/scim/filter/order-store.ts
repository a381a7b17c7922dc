// The SQL of an order: the storage of the sort value, and the placement of ties and missing values.
import { type SQL, sql } from "drizzle-orm";
import type { AttributePath } from "../schema/attribute-path.ts";
import { operandOf, rowsOf } from "./operands-store.ts";

/**
 * @param path names a sub-attribute if the attribute is complex
 * @returns the sort value, folded if case-insensitive; for a list, the sort value of the primary or else the first value
 * @source SCIM-61
 */
export function sortKeySql(path: AttributePath): SQL {
  if (!path.attribute.multiValued) return operandOf({ path }).expression;
  return rowsOf(path).first(path.sub ?? path.attribute);
}

/** @returns whether an index has the resources of an organization in this order */
export const isOrderIndexed = (path: AttributePath): boolean =>
  !path.attribute.multiValued && operandOf({ path }).isOrdered === true;

/** @returns whether the sort value is in the table of revisions; see `namesRevision` */
export const isOfRevision = (path: AttributePath): boolean =>
  !path.attribute.multiValued && operandOf({ path }).isOfRevision === true;

/**
 * @param sequence column with the order of creation, which breaks ties
 * @returns terms of ORDER BY; each is reversed if `isBackwards`
 */
export function orderOf(
  path: AttributePath | undefined,
  sequence: SQL,
  { isDescending, isBackwards }: { isDescending: boolean; isBackwards: boolean },
): SQL[] {
  const tie = isBackwards ? sql`${sequence} DESC` : sequence;
  if (!path) return [tie];
  const direction = isDescending !== isBackwards ? sql` DESC NULLS FIRST` : sql` ASC NULLS LAST`;
  const key = sql`${sortKeySql(path)}${direction}`;
  const isUnique = !path.attribute.multiValued && operandOf({ path }).isUnique;
  return isUnique ? [key] : [key, tie];
}
