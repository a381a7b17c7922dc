// `artifacts create`: mirrors a commit as the console and the API do, and prints the package fields that refer to the
// archive.
import { toSourceView } from "../../../src/domain/catalog/sources/source-wire.ts";
import { yamlText } from "../../../src/platform/text/yaml-write.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText, timeOf } from "../../output/details.ts";

/** @throws DomainError `package_source.*`, `source.*`, `archive.*`, `artifact.*` */
export async function create(call: Call): Promise<void> {
  const { domain, actor, output, text, has } = call;
  const request = {
    connection_id: text("connection") ?? "",
    repository: text("repository") ?? "",
    ref: text("ref") ?? "",
    path: text("path") ?? "",
  };
  if (has("dryRun")) return await preview(call, request);
  const found = await domain.packageSources.inspect(actor, request);
  for (const { path, what } of found.runtimeDownloads)
    output.warning(`${path} ${what}; the digest does not cover that`);
  for (const path of found.repository?.skipped ?? []) output.warning(`${path} is a symbolic link, left out`);
  const view = toSourceView(found);
  const { source_ref, artifact_id, sha256, adapters } = view;
  output.note(`mirrored the commit ${view.resolved_commit}`);
  output.result(view, yamlText({ source_ref, artifact_id, sha256, adapters }).trimEnd());
}

type Request = Record<"connection_id" | "repository" | "ref" | "path", string>;

async function preview({ domain, actor, output }: Call, request: Request): Promise<void> {
  const found = await domain.packageSources.mirrors.preview(actor, request);
  const { sourceRef, commit, kind, committedAtMs, isKnown } = found;
  output.result(
    {
      dry_run: true,
      source_ref: sourceRef,
      resolved_commit: commit,
      ref_kind: kind,
      committed_at: timeOf(committedAtMs ?? null),
      stored: isKnown,
    },
    detailsText([
      ["source", sourceRef],
      ["commit", commit],
      ["ref", kind],
      ["committed", committedAtMs === undefined ? undefined : new Date(committedAtMs)],
      ["stored", isKnown],
    ]),
  );
}
