// `policy rollback`: publishes an earlier revision again, after showing the changes.
import { diffRevisions } from "../../../src/domain/governance/publishing/diff.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { changeLines, numberText, revisionDocument } from "./view.ts";

export async function rollback(call: Call): Promise<void> {
  const { domain, actor, context, command, output, text, args } = call;
  const { governance } = domain;
  const { organizationId } = actor;
  const [reference = ""] = args;
  const target = governance.revisions.named(organizationId, reference);
  const base = governance.revisions.inForce(organizationId);
  const changes = diffRevisions(base, target);
  if (target.id !== base.id) {
    const plan = { action: `publish ${numberText(target)} again`, details: changeLines(changes) };
    if (!(await isConfirmed(context, command, plan))) return;
  }
  const comment = text("comment") ?? `rollback to ${numberText(target)}`;
  const request = { to: target.id, baseRevision: base.id, comment };
  const revision = await governance.publishing.rollback(actor, request);
  const isChanged = revision.id !== base.id;
  const done = isChanged
    ? `published ${numberText(revision)}`
    : `unchanged: it is identical to ${numberText(base)}`;
  const document = { changed: isChanged, ...revisionDocument(revision), changes: isChanged ? changes : [] };
  output.result(document, isChanged ? [...changeLines(changes), done].join("\n") : done);
}
