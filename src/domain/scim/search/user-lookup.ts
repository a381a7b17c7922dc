// Lookups of one user by an attribute that no two users share, which identity providers send most: one compiled statement
// each. search.ts answers every other filter.
import type { Connection } from "../../../platform/database/database.ts";
import type { UserRow } from "../model.ts";
import { findUser, findUserByExternalId, findUserByName } from "../users/users-store.ts";
import type { ListRequest } from "./search-request.ts";

type Find = (connection: Connection, organizationId: string, value: string) => UserRow | undefined;

/** Finds the only user that a filter can match. */
export type UserLookup = (connection: Connection, organizationId: string) => UserRow | undefined;

/** by core attribute */
const FINDERS: ReadonlyMap<string, Find> = new Map([
  ["id", (connection, organizationId, id) => findUser(connection, { organizationId, id })],
  ["userName", findUserByName],
  ["externalId", findUserByExternalId],
]);

/** @returns undefined for other filters, and for pages on which the user is not */
export function userLookupIn({
  filters: { User: filter },
  startIndex,
  limit,
}: ListRequest): UserLookup | undefined {
  if (filter.kind !== "compare" || filter.comparator !== "eq") return undefined;
  if (startIndex > 1 || limit === 0) return undefined;
  const { path, literal } = filter;
  const find = path.extension || path.sub ? undefined : FINDERS.get(path.attribute.name);
  return find && ((connection, organizationId) => find(connection, organizationId, String(literal)));
}
