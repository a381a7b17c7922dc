// SQL of policy revisions and of the last version of the deployment file. Revisions are only added.
import { and, desc, eq, lt, type SQL } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import { equalAll } from "../../platform/database/drizzle.ts";
import { timedRows } from "../../platform/database/maintenance/timed-rows.ts";
import type { GovernanceConfig, PackageAudiences, Revision } from "./model.ts";
import { governanceDeployments, governanceRevisions } from "./tables.ts";

/** A revision without its document. */
export type RevisionSummary = Omit<Revision, "document" | "audiences">;

/** A revision that has no position yet. */
type NewRevision = Omit<Revision, "sequence" | "summary"> & Partial<Pick<Revision, "summary">>;

/** The last version of the deployment file, and the places that did not follow it. */
export interface Deployment {
  organizationId: string;
  /** the file's document, without stamps; a GovernanceConfig as JSON */
  baseline: string;
  /** merge paths, see merge.ts */
  conflicts: readonly string[];
  updatedAtMs: number;
}

export const timedRevisions = timedRows(governanceRevisions, governanceRevisions.createdAtMs);

const summary = {
  sequence: governanceRevisions.sequence,
  id: governanceRevisions.id,
  organizationId: governanceRevisions.organizationId,
  origin: governanceRevisions.origin,
  authorId: governanceRevisions.authorId,
  authorLabel: governanceRevisions.authorLabel,
  comment: governanceRevisions.comment,
  summary: governanceRevisions.summary,
  createdAtMs: governanceRevisions.createdAtMs,
};

const newest = statement((connection) =>
  connection
    .select({ id: governanceRevisions.id })
    .from(governanceRevisions)
    .where(equalAll(governanceRevisions, "organizationId"))
    .orderBy(desc(governanceRevisions.sequence))
    .limit(1)
    .prepare(),
);

/** @returns the current revision */
export const newestId = (connection: Connection, organizationId: string): string | undefined =>
  newest(connection).get({ organizationId })?.id;

export function findRevision(
  connection: Connection,
  organizationId: string,
  id: string,
): Revision | undefined {
  const [revision] = newestFirst(connection, { organizationId, limit: 1, id });
  return revision;
}

/** @returns the author's name and the comment of a revision */
export const bylineOf = (
  connection: Connection,
  id: string,
): Pick<Revision, "authorLabel" | "comment"> | undefined =>
  connection
    .select({ authorLabel: governanceRevisions.authorLabel, comment: governanceRevisions.comment })
    .from(governanceRevisions)
    .where(eq(governanceRevisions.id, id))
    .limit(1)
    .get();

/** @param sequence position in the order of publishing, from 1 */
export const idOfSequence = (
  connection: Connection,
  organizationId: string,
  sequence: number,
): string | undefined =>
  connection
    .select({ id: governanceRevisions.id })
    .from(governanceRevisions)
    .where(
      and(eq(governanceRevisions.organizationId, organizationId), eq(governanceRevisions.sequence, sequence)),
    )
    .limit(1)
    .get()?.id;

export const findSequence = (
  connection: Connection,
  organizationId: string,
  id: string,
): number | undefined =>
  connection
    .select({ sequence: governanceRevisions.sequence })
    .from(governanceRevisions)
    .where(and(eq(governanceRevisions.organizationId, organizationId), eq(governanceRevisions.id, id)))
    .limit(1)
    .get()?.sequence;

/** @returns the newest revisions with their documents, newest first */
export const newestRevisions = (connection: Connection, organizationId: string, limit: number): Revision[] =>
  newestFirst(connection, { organizationId, limit });

/** @param before only revisions published before this position @returns the newest revisions without their documents, newest first */
export const listRevisions = (
  connection: Connection,
  organizationId: string,
  { limit, before = Number.MAX_SAFE_INTEGER }: { limit: number; before?: number | undefined },
): RevisionSummary[] =>
  connection
    .select(summary)
    .from(governanceRevisions)
    .where(
      and(eq(governanceRevisions.organizationId, organizationId), lt(governanceRevisions.sequence, before)),
    )
    .orderBy(desc(governanceRevisions.sequence))
    .limit(limit)
    .all();

/** @param text the document as JSON, if it was already written @returns the revision with its position in the order */
export function insertRevision(
  tx: Tx,
  { summary = null, ...revision }: NewRevision,
  text = JSON.stringify(revision.document),
): Revision {
  const { document: _, audiences, ...rest } = revision;
  const { sequence } = tx
    .insert(governanceRevisions)
    .values({ ...rest, summary, document: text, audiences: JSON.stringify(audiences) })
    .returning({ sequence: governanceRevisions.sequence })
    .get();
  return { ...revision, summary, sequence };
}

export function findDeployment(connection: Connection, organizationId: string): Deployment | undefined {
  const row = connection
    .select()
    .from(governanceDeployments)
    .where(eq(governanceDeployments.organizationId, organizationId))
    .limit(1)
    .get();
  return row && { ...row, conflicts: JSON.parse(row.conflicts) };
}

/** @returns merge paths (see merge.ts) as a JSON array, because there may be thousands */
export const conflictsText = (connection: Connection, organizationId: string): string =>
  connection
    .select({ conflicts: governanceDeployments.conflicts })
    .from(governanceDeployments)
    .where(eq(governanceDeployments.organizationId, organizationId))
    .limit(1)
    .get()?.conflicts ?? "[]";

export function putDeployment(tx: Tx, { conflicts, ...rest }: Deployment): void {
  const changes = {
    baseline: rest.baseline,
    conflicts: JSON.stringify(conflicts),
    updatedAtMs: rest.updatedAtMs,
  };
  tx.insert(governanceDeployments)
    .values({ ...rest, ...changes })
    .onConflictDoUpdate({ target: governanceDeployments.organizationId, set: changes })
    .run();
}

function newestFirst(
  connection: Connection,
  { organizationId, limit, id }: { organizationId: string; limit: number; id?: string },
): Revision[] {
  const wanted: SQL | undefined = and(
    eq(governanceRevisions.organizationId, organizationId),
    id === undefined ? undefined : eq(governanceRevisions.id, id),
  );
  return connection
    .select()
    .from(governanceRevisions)
    .where(wanted)
    .orderBy(desc(governanceRevisions.sequence))
    .limit(limit)
    .all()
    .map(({ document, audiences, ...rest }) => ({
      ...rest,
      document: JSON.parse(document) satisfies GovernanceConfig,
      audiences: JSON.parse(audiences) satisfies PackageAudiences,
    }));
}
