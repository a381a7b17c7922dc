// Users as answers: looks up what a user shows of other resources, for a whole page at once and only if it is shown
// (SCIM-70, SCIM-121), and hands it to render.ts.
import type { Connection } from "../../../platform/database/database.ts";
import { locationOf } from "../messages/messages.ts";
import { userJson } from "../messages/render.ts";
import type { View } from "../messages/view.ts";
import type { ScimAnswer, ShownUserRow, UserRow } from "../model.ts";
import { groupsOfUser, managersOfUsers, type NamedOfUser } from "./users-store.ts";

/** @returns JSON texts of the users, in their order, each with its manager */
export function renderUsers(
  connection: Connection,
  rows: readonly ShownUserRow[],
  { view, baseUrl }: { view: View; baseUrl: string },
): string[] {
  const managers = view.shows("manager") ? managerByUser(connection, rows) : undefined;
  return rows.map((row) => userJson(row, { manager: managers?.get(row.id), view, baseUrl }));
}

/** @param view undefined where nobody needs the text */
export function userAnswer(
  connection: Connection,
  row: UserRow,
  { view, baseUrl }: { view: View | undefined; baseUrl: string },
): ScimAnswer {
  const { id, version } = row;
  const json =
    view &&
    renderUsers(connection, [shownRow(connection, row, { view, baseUrl })], { view, baseUrl }).join("");
  return { type: "User", id, version, location: locationOf("User", id, baseUrl), json };
}

function shownRow(
  connection: Connection,
  row: UserRow,
  { view, baseUrl }: { view: View; baseUrl: string },
): ShownUserRow {
  const groupsUrl = locationOf("Group", "", baseUrl);
  return {
    ...row,
    groups: view.shows("groups") ? groupsOfUser(connection, { id: row.id, groupsUrl }) : null,
  };
}

const NOBODY: ReadonlyMap<string, NamedOfUser> = new Map();

/** Few users of a page name a manager, and often none does: their documents say so at a glance. */
function managerByUser(connection: Connection, rows: readonly UserRow[]): ReadonlyMap<string, NamedOfUser> {
  const naming = rows.filter(({ doc }) => doc.includes('"manager":'));
  if (naming.length === 0) return NOBODY;
  const ids = naming.map(({ id }) => id);
  return new Map(managersOfUsers(connection, ids).map((manager) => [manager.userId, manager]));
}
