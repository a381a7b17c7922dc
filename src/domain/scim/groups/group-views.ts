// Groups as JSON text: the members of a whole page are read with one query, or not at all if they are not shown. Large groups are
// read in slices, and the work yields after each.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { groupFrame, type Shown } from "../messages/render.ts";
import type { View } from "../messages/view.ts";
import type { GroupRow } from "../model.ts";
import type { GivePiece } from "./group-streams.ts";
import { memberSlice, membersOfGroups } from "./members-store.ts";

/** Maximum number of members that are read in one query, over all groups of a response. */
export const WHOLE_GROUP_MEMBERS_MAX = 5_000;
export const SLICE_MEMBERS = 1_000;

/** @returns whether the groups show so many members that the response takes several turns of the event loop */
export const areLarge = (rows: readonly GroupRow[], view: View): boolean =>
  rows.reduce((sum, { memberCount }) => sum + memberCount, 0) > WHOLE_GROUP_MEMBERS_MAX &&
  view.shows("members");

/** @returns the JSON text of each group, in their order; in one step unless the groups are large */
export function* renderGroups(
  connection: Connection,
  rows: readonly GroupRow[],
  shown: Shown,
): Steps<string[]> {
  const texts: string[] = [];
  if (areLarge(rows, shown.view)) {
    for (const row of rows) {
      const pieces: string[] = [];
      yield* groupPieces(connection, row, { ...shown, give: (piece) => pieces.push(piece) });
      texts.push(pieces.join(""));
      yield;
    }
    return texts;
  }
  const members = shown.view.shows("members") ? membersById(connection, rows, shown) : undefined;
  for (const row of rows) {
    const frame = groupFrame(row, shown);
    const list = frame.members?.(members?.get(row.id) ?? "[]") ?? "";
    texts.push(`${frame.before}${list}${frame.after}`);
  }
  return texts;
}

/** @param give receives the JSON text of the group in pieces, one for each slice of its members, with the commas between them */
export function* groupPieces(
  connection: Connection,
  row: GroupRow,
  { give, ...shown }: Shown & { give: GivePiece },
): Steps<void> {
  const { before, members, after } = groupFrame(row, shown);
  give(before);
  let last: number | null = 0;
  while (members && last !== null) {
    const request = { groupId: row.id, after: last, limit: SLICE_MEMBERS, baseUrl: shown.baseUrl };
    const slice = memberSlice(connection, request);
    const text = members(slice.members);
    if (text !== "" && last > 0) give(","); // joined to the text, it would copy the text, and the garbage is collected twice as often
    if (text !== "") give(text);
    last = slice.last;
    yield;
  }
  give(after);
}

function membersById(
  connection: Connection,
  rows: readonly GroupRow[],
  { baseUrl }: Shown,
): ReadonlyMap<string, string> {
  const ids = rows.filter(({ memberCount }) => memberCount > 0).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  return new Map(
    membersOfGroups(connection, { ids, baseUrl }).map((group) => [group.groupId, group.members]),
  );
}
