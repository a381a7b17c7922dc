// Rows of a search as the JSON texts of resources, the two types behind one interface. Finding the rows is
// search-store.ts, and what each shows of other resources is for users and groups themselves.
import type { Connection } from "../../../platform/database/database.ts";
import type { GroupRow, UserRow } from "../model.ts";
import type { View } from "../view.ts";
import type { ResourceTypeName } from "../wire.ts";
import { groupRows, type RowsAsked, type SearchedRows, userRows } from "./search-store.ts";

/** @returns one JSON text for each row, in their order */
export type RenderRows<Row> = (connection: Connection, rows: Row[], view: View) => string[];

export interface Renderers {
  renderUsers: RenderRows<UserRow>;
  renderGroups: RenderRows<GroupRow>;
}

export interface Texts {
  page(asked: RowsAsked, view: View): string[];
  ofSequences(sequences: readonly number[], view: View): string[];
  count(asked: Pick<RowsAsked, "filter" | "organizationId">): number;
}

/** @returns what reads resources through this connection; statements are compiled once for it */
export const textsOver = (
  connection: Connection,
  { renderUsers, renderGroups }: Renderers,
): Readonly<Record<ResourceTypeName, Texts>> => ({
  User: textsOf(userRows(connection), (rows, view) => renderUsers(connection, rows, view)),
  Group: textsOf(groupRows(connection), (rows, view) => renderGroups(connection, rows, view)),
});

function textsOf<Row>(searched: SearchedRows<Row>, render: (rows: Row[], view: View) => string[]): Texts {
  const rendered = (rows: Row[], view: View): string[] => (rows.length === 0 ? [] : render(rows, view));
  return {
    page: (asked, view) => rendered(searched.page(asked), view),
    ofSequences: (sequences, view) => rendered(searched.ofSequences(sequences), view),
    count: (asked) => searched.count(asked),
  };
}
