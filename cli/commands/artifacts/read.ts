// `artifacts list` and `artifacts show`.
import { bytesText } from "../../../src/platform/files/disk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText, type Fact } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";
import { type ArtifactRow, artifactDocument, originOf } from "./view.ts";

const COLUMNS: readonly Column<ArtifactRow>[] = [
  { header: "ID", value: ({ artifact }) => artifact.id, isWhole: true },
  { header: "SIZE", value: ({ artifact }) => bytesText(artifact.sizeBytes) },
  { header: "FROM", value: originOf },
  { header: "IN USE", value: ({ isNamed }) => (isNamed ? "yes" : "no") },
  { header: "STORED", value: ({ artifact }) => new Date(artifact.createdAtMs) },
  { header: "SHA256", value: ({ artifact }) => artifact.sha256, isWide: true },
];

export async function list(call: Call): Promise<void> {
  const { domain, actor, output } = call;
  const named = await domain.artifacts.named(actor.organizationId);
  function* pages(): Generator<ArtifactRow[]> {
    let page = domain.artifacts.list(actor.organizationId);
    while (page.length > 0) {
      yield page.map((stored) => ({ ...stored, isNamed: named.has(stored.artifact.id) }));
      page = domain.artifacts.list(actor.organizationId, page.at(-1)?.artifact.id);
    }
  }
  using _moment = call.moment();
  await output.pages(pages, { columns: COLUMNS, json: artifactDocument, empty: "no stored archives" });
}

/** @throws DomainError `artifact.unknown` */
export async function show({ domain, actor, output, args }: Call): Promise<void> {
  const [id = ""] = args;
  const stored = domain.artifacts.get(actor.organizationId, id);
  const named = await domain.artifacts.named(actor.organizationId);
  const row = { ...stored, isNamed: named.has(stored.artifact.id) };
  const { artifact, mirrors } = stored;
  const facts: Fact[] = [
    ["id", artifact.id],
    ["sha256", artifact.sha256],
    ["size", bytesText(artifact.sizeBytes)],
    ["entries", artifact.entries],
    ["unpacked", bytesText(artifact.expandedBytes)],
    ["stored", new Date(artifact.createdAtMs)],
    ["in use", row.isNamed],
    ...mirrors.flatMap((mirror): Fact[] => [
      ["mirrored from", `${mirror.connectionId}:${mirror.repository}`],
      ["folder", mirror.path],
      [mirror.refKind, mirror.ref],
      ["commit", mirror.commit],
      ["committed", mirror.committedAtMs === null ? null : new Date(mirror.committedAtMs)],
      ["mirrored", new Date(mirror.mirroredAtMs)],
    ]),
  ];
  output.result(artifactDocument(row), detailsText(facts));
}
