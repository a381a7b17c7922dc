// `catalog verify`: checks the digest of every stored archive, and warns about archives that violate the rules for new archives.
import type { ArtifactCheck, ManagedPackage } from "../../../src/domain/catalog/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { startProgress } from "../../output/progress.ts";
import type { Column } from "../../output/table.ts";

type Row = ArtifactCheck & { packages: string };

const COLUMNS: readonly Column<Row>[] = [
  { header: "RESULT", value: ({ result }) => result },
  { header: "SHA256", value: ({ sha256 }) => sha256 },
  { header: "BYTES", value: ({ sizeBytes }) => sizeBytes },
  { header: "PACKAGES", value: ({ packages }) => packages },
  { header: "ARTIFACT", value: ({ artifactId }) => artifactId, isWide: true },
];

/** @throws DomainError `catalog.artifacts_broken` after the report that lists them */
export async function verify(call: Call): Promise<void> {
  const { domain, actor, output } = call;
  const users = packagesByDigest(domain.catalog.list(actor.organizationId));
  const { checked, broken } = await checkAll(call);
  const rows = broken.map((check) => ({ ...check, packages: (users.get(check.sha256) ?? []).join(",") }));
  if (rows.length === 0)
    return output.result({ items: [], checked }, `${countText(checked, "artifact")} intact`);
  output.list(rows, { columns: COLUMNS, json: rowDocument, empty: "" }, { checked });
  throw new DomainError(
    "unverified",
    "catalog.artifacts_broken",
    `${broken.length} of ${countText(checked, "artifact")} damaged or missing`,
    {
      hint: "remove damaged files from artifacts/sha256 in the data directory, then seed their packages again",
    },
  );
}

async function checkAll({
  domain,
  actor,
  context,
  output,
}: Call): Promise<{ checked: number; broken: ArtifactCheck[] }> {
  const { sizeBytes: total } = domain.catalog.artifactTotals(actor.organizationId);
  using progress = startProgress(context, { label: "verifying artifacts", unit: "bytes", total });
  const broken: ArtifactCheck[] = [];
  let checked = 0;
  const options = { signal: context.stopSignal() };
  for await (const check of domain.catalog.verify(actor.organizationId, options)) {
    checked += 1;
    progress.advance(check.sizeBytes);
    if (check.result !== "intact") broken.push(check);
    else
      for (const text of await domain.catalog.outdatedRules(check.sha256, options))
        output.warning(`sha256:${check.sha256}: ${text}`);
  }
  return { checked, broken };
}

function packagesByDigest(packages: readonly ManagedPackage[]): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const { id, sha256, platform_sources = {} } of packages) {
    const digests = new Set([sha256, ...Object.values(platform_sources).map((source) => source.sha256)]);
    for (const digest of digests) users.set(digest, [...(users.get(digest) ?? []), id]);
  }
  return users;
}

const rowDocument = ({ artifactId, sha256, sizeBytes, result, packages }: Row) => ({
  artifact_id: artifactId,
  sha256,
  size_bytes: sizeBytes,
  result,
  packages: packages === "" ? [] : packages.split(","),
});
