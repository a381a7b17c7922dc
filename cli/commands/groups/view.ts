// Formats groups and their members as table columns and text.

import type { MemberView } from "../../../src/domain/scim/groups/group-directory.ts";
import { GROUP_SOURCE, groupDocument } from "../../../src/domain/scim/groups/group-document.ts";
import type { GroupRow } from "../../../src/domain/scim/model.ts";
import { detailsText } from "../../output/details.ts";
import { type Column, tableText } from "../../output/table.ts";

export const GROUP_COLUMNS: readonly Column<GroupRow>[] = [
  { header: "NAME", value: ({ displayName }) => displayName },
  { header: "MEMBERS", value: ({ memberCount }) => memberCount },
  { header: "SOURCE", value: () => GROUP_SOURCE },
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

/** @returns every fact about a group, one per line, and the table of its members */
export function groupText(group: GroupRow, members: readonly MemberView[], nowMs: number): string {
  const facts = detailsText(
    Object.entries(groupDocument(group)).map(([name, value]) => [name.replaceAll("_", " "), value]),
  );
  if (members.length === 0) return facts;
  return `${facts}\n\n${tableText(members, MEMBER_COLUMNS, { wide: true, columns: undefined, nowMs })}`;
}
