// Users as answers: looks up what a user shows of other resources, for a whole page at once and only if it is shown
// (scim.md SCIM-70, SCIM-121), and hands it to render.ts.
import type { Connection } from "../../../platform/database/database.ts";
import { locationOf } from "../messages.ts";
import type { ScimAnswer, UserRow } from "../model.ts";
import { userJson } from "../render.ts";
import type { View } from "../view.ts";
import { groupsOfUsers, managersOfUsers, type NamedOfUser } from "./users-store.ts";

/** @returns JSON texts of the users, in their order, each with its groups and its manager */
export function renderUsers(
  connection: Connection,
  rows: readonly UserRow[],
  { view, baseUrl }: { view: View; baseUrl: string },
): string[] {
  const groups = view.shows("groups") ? groupsByUser(connection, rows) : undefined;
  const managers = view.shows("manager") ? managerByUser(connection, rows) : undefined;
  return rows.map((row) => {
    const computed = { groups: groups && (groups.get(row.id) ?? []), manager: managers?.get(row.id) };
    return userJson(row, computed, view, baseUrl);
  });
}

/** @param view undefined where nobody needs the text */
export function userAnswer(
  connection: Connection,
  row: UserRow,
  { view, baseUrl }: { view: View | undefined; baseUrl: string },
): ScimAnswer {
  const { id, version } = row;
  const json = view && renderUsers(connection, [row], { view, baseUrl }).join("");
  return { type: "User", id, version, location: locationOf("User", id, baseUrl), json };
}

const idsOf = (rows: readonly UserRow[]): string[] => rows.map(({ id }) => id);

const groupsByUser = (connection: Connection, rows: readonly UserRow[]): Map<string, NamedOfUser[]> =>
  Map.groupBy(groupsOfUsers(connection, idsOf(rows)), ({ userId }) => userId);

/** Few users of a page name a manager, and often none does: their documents say so at a glance. */
function managerByUser(connection: Connection, rows: readonly UserRow[]): Map<string, NamedOfUser> {
  const naming = rows.filter(({ doc }) => doc.includes('"manager":'));
  const found: readonly NamedOfUser[] = naming.length > 0 ? managersOfUsers(connection, idsOf(naming)) : [];
  return new Map(found.map((manager) => [manager.userId, manager]));
}
