// Rows of a search as the JSON texts of resources, the two types behind one interface. Finding the rows is
// search-store.ts, and what each shows of other resources is for users and groups themselves.
import type { Connection } from "../../../platform/database/database.ts";
import { locationOf } from "../messages/messages.ts";
import type { View } from "../messages/view.ts";
import type { GroupRow, ScimSettings, ShownUserRow } from "../model.ts";
import type { ResourceTypeName } from "../wire.ts";
import { groupRows, type RowsAsked, type SearchedRows, userRows } from "./search-store.ts";

/** @returns one JSON text for each row, in their order */
export type RenderRows<Row> = (connection: Connection, rows: Row[], view: View) => string[];

export interface Renderers {
  renderUsers: RenderRows<ShownUserRow>;
  renderGroups: RenderRows<GroupRow>;
  settings: Pick<ScimSettings, "baseUrl">;
}

export interface Texts {
  page(asked: Omit<RowsAsked, "groupsUrl">, view: View): string[];
  ofSequences(sequences: readonly number[], view: View): string[];
  count(asked: Pick<RowsAsked, "filter" | "organizationId">): number;
}

/** @returns what reads resources through this connection; statements are compiled once for it */
export const textsOver = (
  connection: Connection,
  { renderUsers, renderGroups, settings }: Renderers,
): Readonly<Record<ResourceTypeName, Texts>> => ({
  User: textsOf(userRows(connection), (...shown) => renderUsers(connection, ...shown), settings),
  Group: textsOf(groupRows(connection), (...shown) => renderGroups(connection, ...shown), settings),
});

function textsOf<Row>(
  searched: SearchedRows<Row>,
  render: (rows: Row[], view: View) => string[],
  { baseUrl }: Pick<ScimSettings, "baseUrl">,
): Texts {
  const groupsUrl = (view: View) => (view.shows("groups") ? locationOf("Group", "", baseUrl()) : undefined);
  const rendered = (rows: Row[], view: View): string[] => (rows.length === 0 ? [] : render(rows, view));
  return {
    page: (asked, view) => rendered(searched.page({ ...asked, groupsUrl: groupsUrl(view) }), view),
    ofSequences: (sequences, view) => rendered(searched.ofSequences(sequences, groupsUrl(view)), view),
    count: (asked) => searched.count(asked),
  };
}
