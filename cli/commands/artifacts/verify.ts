// `artifacts verify`: checks the digest of stored archives. The exit code is 7 if one is damaged or missing.
import type { StoredArtifact } from "../../../src/domain/catalog/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import type { Column } from "../../output/table.ts";
import { originOf } from "./view.ts";

type Row = StoredArtifact & { result: "intact" | "damaged" | "missing" };

const COLUMNS: readonly Column<Row>[] = [
  { header: "RESULT", value: ({ result }) => result },
  { header: "ID", value: ({ artifact }) => artifact.id, isWhole: true },
  { header: "FROM", value: originOf },
  { header: "SHA256", value: ({ artifact }) => artifact.sha256, isWide: true },
];

/** @throws DomainError `artifact.unknown`; `artifact.broken` after the report */
export async function verify(call: Call): Promise<void> {
  const { output } = call;
  const rows: Row[] = [];
  for (const stored of storedIn(call))
    rows.push({ ...stored, result: await call.domain.artifacts.check(stored.artifact) });
  const broken = rows.filter(({ result }) => result !== "intact");
  const json = ({ artifact: { id, sha256 }, result }: Row) => ({ id, sha256, result });
  output.list(rows, { columns: COLUMNS, json, empty: "no stored archives" }, { checked: rows.length });
  if (broken.length === 0) return;
  throw new DomainError(
    "unverified",
    "artifact.broken",
    `${broken.length} of ${rows.length} archives damaged or missing`,
    {
      hint: "mirror or upload them again; the same commit gives the same archive",
    },
  );
}

function* storedIn({ domain, actor, args }: Call): Generator<StoredArtifact> {
  const [id] = args;
  if (id !== undefined) return yield domain.artifacts.get(actor.organizationId, id);
  let page = domain.artifacts.list(actor.organizationId);
  while (page.length > 0) {
    yield* page;
    page = domain.artifacts.list(actor.organizationId, page.at(-1)?.artifact.id);
  }
}
