// `policy show`, `history` and `diff`: reads revisions.

import { diffRevisions } from "../../../src/domain/governance/publishing/diff.ts";
import { toAdminConfig } from "../../../src/domain/governance/reading/admin-view.ts";
import type { Revision } from "../../../src/domain/governance/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { changeLines, numberText, REVISION_COLUMNS, revisionDocument } from "./view.ts";

export async function show({ domain, actor, output, args: [reference] }: Call): Promise<void> {
  const { governance } = domain;
  const { organizationId } = actor;
  const current = governance.revisions.inForce(organizationId);
  const revision = reference === undefined ? current : governance.revisions.named(organizationId, reference);
  const conflicts = revision.id === current.id ? governance.deployments.conflicts(organizationId) : [];
  const { yaml, document, package_audiences } = toAdminConfig(revision, {
    conflicts: "[]",
    presignUrl: undefined,
  });
  const more = { in_force: revision.id === current.id, deployment_conflicts: conflicts };
  output.result({ ...revisionDocument(revision), ...more, package_audiences, document }, yaml.trimEnd());
  for (const path of conflicts) {
    if (!output.isJson) output.warning(`the deployment file has a different value at ${path}`);
  }
}

export async function history({ domain, actor, output, text }: Call): Promise<void> {
  const revisions = domain.governance.revisions.page(actor.organizationId, { cursor: text("before") });
  output.list(revisions, {
    columns: REVISION_COLUMNS,
    json: revisionDocument,
    empty: "no policy has been published",
  });
}

export async function diff(call: Call): Promise<void> {
  const { output } = call;
  const { from, to } = revisionsToCompare(call);
  const changes = diffRevisions(from, to);
  const lines = changeLines(changes);
  const same = `${numberText(from)} and ${numberText(to)} are identical`;
  output.result(
    { from: revisionDocument(from), to: revisionDocument(to), changes },
    lines.length === 0 ? same : lines.join("\n"),
  );
}

function revisionsToCompare({ domain, actor, args: [older, newer] }: Call): { from: Revision; to: Revision } {
  const { governance } = domain;
  const { organizationId } = actor;
  const named = (reference: string) => governance.revisions.named(organizationId, reference);
  const to = newer === undefined ? governance.revisions.inForce(organizationId) : named(newer);
  if (older !== undefined) return { from: named(older), to };
  return { from: governance.revisions.before(organizationId, to), to };
}
