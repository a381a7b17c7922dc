// `groups list` and `groups show`.
import { groupDocument, memberDocument } from "../../../src/domain/scim/groups/group-document.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printPages, readPages } from "../../output/list-pages.ts";
import { GROUP_COLUMNS, groupText } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, actor } = call;
  const listing = { columns: GROUP_COLUMNS, json: groupDocument, empty: "no groups" };
  await printPages(call, (query) => domain.scim.directory.list(actor.organizationId, query), listing);
}

export async function show({ domain, actor, output, context, args: [reference = ""] }: Call): Promise<void> {
  const { directory } = domain.scim;
  const group = directory.show(actor.organizationId, reference);
  // Reads all pages; the warning below mentions members, unlike that of readPages.
  const whole = { text: () => undefined, output: { warning: () => {} } };
  const { items, total } = readPages(whole, (query) => directory.members(group.id, query));
  if (items.length < total) output.warning(`showing the first ${items.length} of ${total} members`);
  const document = { ...groupDocument(group), members: items.map(memberDocument) };
  output.result(document, groupText(group, items, context.clock.nowMs()));
}
