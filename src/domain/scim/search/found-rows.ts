// Renders the rows that a search found, of both types behind one interface. search-store.ts has the SQL.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { areLarge, renderGroups } from "../groups/group-views.ts";
import type { Shown } from "../messages/render.ts";
import type { View } from "../messages/view.ts";
import type { GroupRow, UserRow } from "../model.ts";
import { renderUsers } from "../users/user-views.ts";
import type { ResourceTypeName } from "../wire.ts";
import { groupRows, type RowsRequest, type SearchedRows, userRows } from "./search-store.ts";

export type FoundRow = { type: "User"; row: UserRow } | { type: "Group"; row: GroupRow };

export type FoundRows = Pick<SearchedRows<FoundRow>, "page" | "ofSequences" | "count">;

/** @returns the rows of each type on this connection; statements are compiled once for it */
export function rowsOver(connection: Connection): Readonly<Record<ResourceTypeName, FoundRows>> {
  const users = (row: UserRow) => ({ type: "User", row }) as const;
  const groups = (row: GroupRow) => ({ type: "Group", row }) as const;
  return { User: tagged(userRows(connection), users), Group: tagged(groupRows(connection), groups) };
}

const tagged = <Row>(rows: SearchedRows<Row>, tag: (row: Row) => FoundRow): FoundRows => ({
  page: (request: RowsRequest) => rows.page(request).map(tag),
  ofSequences: (sequences) => rows.ofSequences(sequences).map(tag),
  count: (request) => rows.count(request),
});

const usersIn = (found: readonly FoundRow[]): UserRow[] =>
  found.filter((each) => each.type === "User").map(({ row }) => row);
const groupsIn = (found: readonly FoundRow[]): GroupRow[] =>
  found.filter((each) => each.type === "Group").map(({ row }) => row);

/** @returns whether it takes several turns of the event loop to render the rows */
export const needsSeveralTurns = (found: readonly FoundRow[], view: View): boolean =>
  areLarge(groupsIn(found), view);

/** @returns JSON texts of the resources, in their order; in one step unless groups are large */
export function* renderFound(
  connection: Connection,
  found: readonly FoundRow[],
  shown: Shown,
): Steps<string[]> {
  const users = renderUsers(connection, usersIn(found), shown).values();
  const groups = (yield* renderGroups(connection, groupsIn(found), shown)).values();
  return found.map(({ type }) => (type === "User" ? users : groups).next().value ?? "");
}
