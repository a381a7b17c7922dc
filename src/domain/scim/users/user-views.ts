// Users in responses: reads the groups and managers of a whole page together, and only if they are shown (SCIM-70, SCIM-121);
// render.ts renders them.
import type { Connection } from "../../../platform/database/database.ts";
import { locationOf } from "../messages/messages.ts";
import { namesManager, type Shown, userJson } from "../messages/render.ts";
import type { View } from "../messages/view.ts";
import type { ScimResponse, UserRow } from "../model.ts";
import { groupsOfUsers, managersOfUsers, type NamedOfUser } from "./users-store.ts";

/** @returns JSON texts of the users, in their order, each with its groups and its manager */
export function renderUsers(connection: Connection, rows: readonly UserRow[], shown: Shown): string[] {
  if (rows.length === 0) return [];
  const { view } = shown;
  const sequences = rows.map(({ sequence }) => sequence);
  const groups = view.shows("groups") ? groupsOfUsers(connection, sequences) : [];
  const managers = view.shows("manager") ? managerByUser(connection, rows) : NOBODY;
  return rows.map((row, at) => userJson(row, { groups: groups[at], manager: managers.get(row.id) }, shown));
}

/** @param view undefined if the text is not needed */
export function userResponse(
  connection: Connection,
  row: UserRow,
  { view, baseUrl }: { view: View | undefined; baseUrl: string },
): ScimResponse {
  const { id, version } = row;
  const json = view && renderUsers(connection, [row], { view, baseUrl }).join("");
  return { type: "User", id, version, location: locationOf("User", id, baseUrl), json };
}

const NOBODY: ReadonlyMap<string, NamedOfUser> = new Map();

/** Few users of a page name a manager, often none, which a text search of their documents shows. */
function managerByUser(connection: Connection, rows: readonly UserRow[]): ReadonlyMap<string, NamedOfUser> {
  const naming = rows.filter(namesManager);
  if (naming.length === 0) return NOBODY;
  const ids = naming.map(({ id }) => id);
  return new Map(managersOfUsers(connection, ids).map((manager) => [manager.userId, manager]));
}
