// `policy draft list`, `show`, `export`, `publish` and `discard`: drafts of administrators.
import { documentYaml } from "../../../src/domain/governance/document/yaml.ts";
import {
  COMMENTS_LOST,
  changesIn,
  type Draft,
  isWithoutChanges,
  LAST_VALID_TEXT,
  mayHaveComments,
  type Review,
  typedProblems,
} from "../../../src/domain/governance/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { timeOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";
import { changeLines, numberText } from "./view.ts";

type Row = Pick<Draft, "id" | "ownerId" | "baseRevision" | "isShared" | "version" | "savedAtMs"> & {
  owner: string;
};

const COLUMNS: readonly Column<Row>[] = [
  { header: "ADMINISTRATOR", value: ({ owner }) => owner },
  { header: "SAVED", value: ({ savedAtMs }) => new Date(savedAtMs) },
  { header: "SHARED", value: ({ isShared }) => (isShared ? "yes" : "no") },
  { header: "BASE", value: ({ baseRevision }) => baseRevision },
];

const documentOf = ({ id, ownerId, owner, baseRevision, isShared, version, savedAtMs }: Row) => ({
  id,
  owner_id: ownerId,
  owner,
  base_revision: baseRevision,
  shared: isShared,
  version,
  saved_at: timeOf(savedAtMs),
});

export async function list({ domain, actor, output }: Call): Promise<void> {
  const { users } = domain.identity;
  const rows = domain.governance.drafts
    .list(actor.organizationId)
    .map((draft) => ({ ...draft, owner: users.find(actor.organizationId, draft.ownerId).email }));
  output.list(rows, { columns: COLUMNS, json: documentOf, empty: "no administrator has a draft" });
}

export async function show(call: Call): Promise<void> {
  const { output, actor, domain } = call;
  const { draft, owner } = draftOf(call, call.args[0] ?? "");
  const review = await domain.governance.draftPublishing.review(actor, draft);
  output.result(
    { ...documentOf({ ...draft, owner }), ...reviewDocument(review) },
    [...linesOf(review, draft), `on ${numberText(review.base)}`].join("\n"),
  );
}

export async function exportDraft(call: Call): Promise<void> {
  const { draft, owner } = draftOf(call, call.args[0] ?? "");
  warnOfProblems(call, draft);
  const { document, audiences } = draft;
  const json = { ...documentOf({ ...draft, owner }), document, package_audiences: audiences };
  call.output.result(json, documentYaml(document).trimEnd());
}

export async function publish(call: Call): Promise<void> {
  const { actor, command, context, domain, output, text } = call;
  const { draftPublishing } = domain.governance;
  const { draft, owner } = draftOf(call, call.args[0] ?? "");
  const review = await draftPublishing.review(actor, draft);
  const wanted = { action: `publish the draft of ${owner}`, details: linesOf(review, draft) };
  if (!(await isConfirmed(context, command, wanted))) return;
  const publication = { draft: draft.id, version: draft.version, comment: text("comment") };
  const { revision, isPublished } = await draftPublishing.publish(actor, publication);
  const done = isPublished
    ? `published ${numberText(revision)}`
    : `unchanged: the draft matches ${numberText(revision)}`;
  const json = { changed: isPublished, revision: revision.id, number: revision.sequence };
  const changes = changesIn(review.changes);
  output.result({ ...json, changes }, [...changeLines(changes), done].join("\n"));
}

export async function discard(call: Call): Promise<void> {
  const { actor, command, context, domain, output } = call;
  const { draft, owner } = draftOf(call, call.args[0] ?? "");
  const { changes } = await domain.governance.draftPublishing.review(actor, draft);
  const wanted = { action: `discard the draft of ${owner}`, details: changeLines(changesIn(changes)) };
  if (!(await isConfirmed(context, command, wanted))) return;
  await domain.governance.drafts.discard(actor, draft.id);
  output.result({ discarded: draft.id, owner }, `discarded the draft of ${owner}`);
}

/** The document of a draft is the last one without problems. Its author may have typed a newer one. */
export function warnOfProblems({ output }: Pick<Call, "output">, { typed }: Draft): void {
  if (typedProblems(typed).length > 0) output.warning(LAST_VALID_TEXT);
}

/**
 * @param reference address or id of the author
 * @throws DomainError `policy_draft.none`, and for an unknown user
 */
export function draftOf({ domain, actor }: Call, reference: string): { draft: Draft; owner: string } {
  const { id, email } = domain.identity.users.find(actor.organizationId, reference);
  return { draft: domain.governance.drafts.show(actor, id), owner: email };
}

const reviewDocument = ({
  isStale,
  changes,
  problems,
  warnings,
  commentReasons,
  catalogUpdates,
}: Review) => ({
  stale: isStale,
  changes: changesIn(changes),
  problems,
  warnings,
  comment_required_because: commentReasons,
  catalog_updates: catalogUpdates,
});

const linesOf = (
  { isStale, changes, problems, commentReasons, catalogUpdates }: Review,
  { typed }: Draft,
): string[] => [
  ...(isWithoutChanges(changes)
    ? [problems.length > 0 ? "changes are shown when the problems are fixed" : "nothing changes"]
    : changeLines(changesIn(changes))),
  ...problems.map(({ pointer, detail, line }) =>
    [`problem: ${line ? `line ${line}:` : ""}`.trim(), pointer, detail].filter(Boolean).join(" "),
  ),
  ...(isStale ? ["the policy has changed since the draft began; its author must merge it first"] : []),
  ...(isStale && mayHaveComments(typed) ? [`its text has comments, and ${COMMENTS_LOST}`] : []),
  ...commentReasons.map((reason) => `a comment is required: ${reason}`),
  ...catalogUpdates.map(({ id, from, to }) => `not taken: ${id} stays at ${from}; the catalog has ${to}`),
];
