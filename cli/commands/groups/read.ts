// `groups list` and `groups show`.
import type { MemberView } from "../../../src/domain/scim/groups/group-directory.ts";
import {
  GROUP_SOURCE,
  groupDocument,
  memberDocument,
} from "../../../src/domain/scim/groups/group-document.ts";
import type { GroupRow } from "../../../src/domain/scim/model.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText } from "../../output/details.ts";
import { printPages, readPages } from "../../output/list-pages.ts";
import { type Column, tableText } from "../../output/table.ts";

const GROUP_COLUMNS: readonly Column<GroupRow>[] = [
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
function groupText(group: GroupRow, members: readonly MemberView[], nowMs: number): string {
  const facts = detailsText(
    Object.entries(groupDocument(group)).map(([name, value]) => [name.replaceAll("_", " "), value]),
  );
  if (members.length === 0) return facts;
  return `${facts}\n\n${tableText(members, MEMBER_COLUMNS, { wide: true, columns: undefined, nowMs })}`;
}

export async function list(call: Call): Promise<void> {
  const { domain, actor } = call;
  const listing = { columns: GROUP_COLUMNS, json: groupDocument, empty: "no groups" };
  await printPages(call, (query) => domain.scim.directory.list(actor.organizationId, query), listing);
}

export async function show({ domain, actor, output, context, args: [reference = ""] }: Call): Promise<void> {
  const { directory } = domain.scim;
  const group = directory.show(actor.organizationId, reference);
  // Reads all pages. Unlike the warning of readPages, the one below mentions members.
  const whole = { text: () => undefined, output: { warning: () => {} } };
  const { items, total } = readPages(whole, (query) => directory.members(group.id, query));
  if (items.length < total) output.warning(`showing the first ${items.length} of ${total} members`);
  const document = { ...groupDocument(group), members: items.map(memberDocument) };
  output.result(document, groupText(group, items, context.clock.nowMs()));
}
