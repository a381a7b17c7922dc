// Groups as they are answered: the members of a whole page come with one query, and with none where they are not shown.
// Large groups are left to group-streams.ts.
import type { Connection } from "../../../platform/database/database.ts";
import { locationOf } from "../messages/messages.ts";
import { groupFrame } from "../messages/render.ts";
import type { View } from "../messages/view.ts";
import type { GroupRow, Named, ScimAnswer, ScimSettings } from "../model.ts";
import { type GroupStreams, WHOLE_GROUP_MEMBERS_MAX } from "./group-streams.ts";
import { membersOfGroups } from "./members-store.ts";

export class GroupViews {
  constructor(
    private readonly settings: ScimSettings,
    private readonly streams: GroupStreams,
  ) {}

  /** @returns the JSON text of each group, in one piece however many its members are */
  render(connection: Connection, rows: readonly GroupRow[], view: View): string[] {
    const members = view.shows("members") ? membersById(connection, rows) : undefined;
    return rows.map((row) => {
      const { before, member, after } = groupFrame(row, view, this.settings.baseUrl());
      const shown = member ? members?.get(row.id)?.map(member) : undefined;
      return `${before}${shown?.join(",") ?? ""}${after}`;
    });
  }

  /** @returns the answer that shows the group */
  answer(
    connection: Connection,
    row: GroupRow,
    { organizationId, view }: { organizationId: string; view: View },
  ): ScimAnswer {
    const isLarge = row.memberCount > WHOLE_GROUP_MEMBERS_MAX && view.shows("members");
    const json = isLarge
      ? this.streams.open({ organizationId, id: row.id, view })
      : this.render(connection, [row], view).join("");
    return { ...this.bare(row), json };
  }

  /** @returns the answer that names the group and its version, and shows nothing */
  bare({ id, version }: GroupRow): ScimAnswer {
    return {
      type: "Group",
      id,
      version,
      location: locationOf("Group", id, this.settings.baseUrl()),
      json: undefined,
    };
  }
}

function membersById(connection: Connection, rows: readonly GroupRow[]): Map<string, Named[]> {
  const filled = rows.filter(({ memberCount }) => memberCount > 0).map(({ id }) => id);
  const members = new Map<string, Named[]>(filled.map((id) => [id, []]));
  if (filled.length === 0) return members;
  for (const { groupId, ...member } of membersOfGroups(connection, filled))
    members.get(groupId)?.push(member);
  return members;
}
