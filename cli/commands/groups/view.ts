// Formats groups and their members as table columns, text and JSON.

import type { MemberView } from "../../../src/domain/scim/groups/group-directory.ts";
import type { GroupRow } from "../../../src/domain/scim/model.ts";
import { detailsText, timeOf } from "../../output/details.ts";
import { type Column, tableText } from "../../output/table.ts";

/** Provisioning source of every group: only identity providers create groups. Users have the same member. */
const SOURCE = "scim";

export const GROUP_COLUMNS: readonly Column<GroupRow>[] = [
  { header: "NAME", value: ({ displayName }) => displayName },
  { header: "MEMBERS", value: ({ memberCount }) => memberCount },
  { header: "SOURCE", value: () => SOURCE },
  { header: "EXTERNAL ID", value: ({ externalId }) => externalId },
  { header: "UPDATED", value: ({ updatedAtMs }) => new Date(updatedAtMs) },
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "CREATED", value: ({ createdAtMs }) => new Date(createdAtMs), isWide: true },
];

const MEMBER_COLUMNS: readonly Column<MemberView>[] = [
  { header: "USER NAME", value: ({ userName }) => userName },
  { header: "SHOWN AS", value: ({ label }) => label },
  { header: "ACTIVE", value: ({ active }) => (active ? "yes" : "no") },
  { header: "ID", value: ({ id }) => id, isWhole: true },
];

export const groupDocument = (group: GroupRow) => ({
  id: group.id,
  display_name: group.displayName,
  external_id: group.externalId,
  member_count: group.memberCount,
  provisioning_source: SOURCE,
  created_at: timeOf(group.createdAtMs),
  updated_at: timeOf(group.updatedAtMs),
});

export const memberDocument = ({ id, userName, label, active }: MemberView) => ({
  id,
  user_name: userName,
  label,
  active,
});

/** @returns every fact about a group, one per line, and the table of its members */
export function groupText(group: GroupRow, members: readonly MemberView[], nowMs: number): string {
  const facts = detailsText(
    Object.entries(groupDocument(group)).map(([name, value]) => [name.replaceAll("_", " "), value]),
  );
  if (members.length === 0) return facts;
  return `${facts}\n\n${tableText(members, MEMBER_COLUMNS, { wide: true, columns: undefined, nowMs })}`;
}
