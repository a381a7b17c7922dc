// Finds all referenced artifacts: in revisions of the policy, which are kept forever, in drafts, and in packages that are being
// added. The catalog handles its own entries.
import { and, asc, eq, gt } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { governanceRevisions, packageAdditions, policyDrafts } from "../tables.ts";

/** Number of documents to read at a time. */
const BATCH_ROWS = 16;
const NAMED = /"artifact(?:_id|Id)"\s*:\s*"(?<id>[0-9a-f-]{36})"/g;

const idsIn = (text: string): string[] => [...text.matchAll(NAMED)].flatMap(({ groups }) => groups?.id ?? []);

export function* namedArtifacts(connection: Connection, organizationId: string): Steps<Set<string>> {
  const named = new Set<string>();
  for (let after = 0; ; ) {
    const revisions = revisionsAfter(connection, organizationId, after);
    const last = revisions.at(-1);
    if (!last) break;
    for (const { document } of revisions) for (const id of idsIn(document)) named.add(id);
    after = last.sequence;
    yield;
  }
  for (const text of textsOfDrafts(connection)) for (const id of idsIn(text)) named.add(id);
  return named;
}

const revisionsAfter = (connection: Connection, organizationId: string, sequence: number) =>
  connection
    .select({ sequence: governanceRevisions.sequence, document: governanceRevisions.document })
    .from(governanceRevisions)
    .where(
      and(eq(governanceRevisions.organizationId, organizationId), gt(governanceRevisions.sequence, sequence)),
    )
    .orderBy(asc(governanceRevisions.sequence))
    .limit(BATCH_ROWS)
    .all();

/** One draft and one addition for each administrator. */
const OWNERS_MAX = 10_000;

const textsOfDrafts = (connection: Connection): string[] =>
  [
    ...connection.select({ text: policyDrafts.document }).from(policyDrafts).limit(OWNERS_MAX).all(),
    ...connection.select({ text: packageAdditions.content }).from(packageAdditions).limit(OWNERS_MAX).all(),
  ].map(({ text }) => text);
