// `packages update`: publishes the current commits of packages, after showing the changed files.
import type { PackageUpdate } from "../../../src/domain/catalog/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { numberText, revisionDocument } from "../policy/view.ts";

/** Files of one package that are listed for people; `--json` has all. */
const FILES_LISTED_MAX = 50;
const COMMIT_DIGITS = 12;

/** @throws DomainError `package_update.*`, `source.*`, `archive.*`, `governance.*` */
export async function update(call: Call): Promise<void> {
  const { domain, actor, context, command, output, text } = call;
  const { organizationId } = actor;
  const updates = await domain.packageUpdates.prepare(actor, {
    connectionId: text("from") ?? "",
    packageIds: call.args,
    ref: text("ref"),
  });
  const packages = updates.map(updateDocument);
  if (updates.length === 0)
    return output.result({ changed: false, packages }, "unchanged: every package has the current commit");
  const base = domain.governance.revisions.inForce(organizationId);
  const document = {
    ...base.document,
    packages: base.document.packages.map(
      (managed) => updates.find(({ before }) => before.id === managed.id)?.after ?? managed,
    ),
  };
  const source = { text: JSON.stringify(document), variable: () => undefined };
  const plan = domain.governance.documents.plan(organizationId, source);
  const action = `publish a policy after ${numberText(base)} with ${countText(updates.length, "updated package")}`;
  if (!(await isConfirmed(context, command, { action, details: updates.flatMap(linesOf) }))) return;
  const comment = text("comment") ?? `Update ${updates.map(({ before }) => before.id).join(", ")}`;
  const revision = await domain.governance.documents.apply(actor, plan, { comment });
  output.result(
    { changed: true, ...revisionDocument(revision), packages },
    [...updates.flatMap(linesOf), `published ${numberText(revision)}`].join("\n"),
  );
}

const updateDocument = ({ before, after, formerCommit, commit, difference }: PackageUpdate) => ({
  id: before.id,
  former_version: before.version,
  version: after.version,
  former_commit: formerCommit,
  resolved_commit: commit,
  source_ref: after.source_ref,
  artifact_id: after.artifact_id,
  sha256: after.sha256,
  ...difference,
});

function linesOf({ before, after, formerCommit, commit, difference }: PackageUpdate): string[] {
  const { added, changed, removed } = difference;
  const files = [
    ...added.map((path) => `  + ${path}`),
    ...changed.map((path) => `  ~ ${path}`),
    ...removed.map((path) => `  - ${path}`),
  ];
  const more = files.length - FILES_LISTED_MAX;
  return [
    `${before.id} ${before.version} -> ${after.version} (commit ${shortOf(formerCommit)} -> ${shortOf(commit)})`,
    ...files.slice(0, FILES_LISTED_MAX),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

const shortOf = (commit: string): string => commit.slice(0, COMMIT_DIGITS);
