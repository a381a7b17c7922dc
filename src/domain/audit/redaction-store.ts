// SQL of redactions: finds the entries of and about a user, and stores the new content and digest of redacted entries.
import { and, asc, between, eq, gt, isNotNull } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import { insertAll } from "../../platform/database/drizzle.ts";
import type { AuditRow } from "./chain.ts";
import { auditEntries, auditRedactions } from "./tables.ts";

export type Redaction = typeof auditRedactions.$inferSelect;

/** Maximum number of labels to read for one user. */
const LABELS_MAX = 1_000;

/** @returns the labels under which a user acted */
export const listLabels = (connection: Connection, actor: { organizationId: string; id: string }): string[] =>
  connection
    .selectDistinct({ label: auditEntries.actorLabel })
    .from(auditEntries)
    .where(and(eq(auditEntries.organizationId, actor.organizationId), eq(auditEntries.actorId, actor.id)))
    .limit(LABELS_MAX)
    .all()
    .map(({ label }) => label);

/** @returns the entries about a target after an id, in the order in which they were recorded */
export const listAbout = (
  connection: Connection,
  {
    organizationId,
    target,
    after,
    limit,
  }: { organizationId: string; target: string; after: number; limit: number },
): AuditRow[] =>
  connection
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.organizationId, organizationId),
        eq(auditEntries.target, target),
        gt(auditEntries.id, after),
      ),
    )
    .orderBy(asc(auditEntries.id))
    .limit(limit)
    .all();

export const entryOf = (connection: Connection, id: number): AuditRow | undefined =>
  connection.select().from(auditEntries).where(eq(auditEntries.id, id)).limit(1).get();

const insertRedaction = statement((connection) =>
  connection.insert(auditRedactions).values(insertAll(auditRedactions)).prepare(),
);

/** Replaces the content of an entry. Its place in the chain and its digest stay the same. */
export function redact(
  tx: Tx,
  { id, digest: _, previousDigest: __, ...content }: AuditRow,
  redaction: Redaction,
): void {
  insertRedaction(tx).run(redaction);
  tx.update(auditEntries)
    .set({ ...content, redactedBy: redaction.erasureId })
    .where(eq(auditEntries.id, id))
    .run();
}

/** @returns the effective redactions of the entries between two ids, inclusive */
export const listInForce = (connection: Connection, first: number, last: number): Redaction[] =>
  connection
    .select({
      entryId: auditRedactions.entryId,
      erasureId: auditRedactions.erasureId,
      digest: auditRedactions.digest,
    })
    .from(auditRedactions)
    .innerJoin(
      auditEntries,
      and(
        eq(auditEntries.id, auditRedactions.entryId),
        eq(auditEntries.redactedBy, auditRedactions.erasureId),
        isNotNull(auditEntries.redactedBy),
      ),
    )
    .where(between(auditRedactions.entryId, first, last))
    .limit(last - first + 1)
    .all();

/** @returns at most `limit` redactions of one erasure, ordered by the id of their entry */
export const listOfErasure = (
  connection: Connection,
  { erasureId, limit }: { erasureId: number; limit: number },
): Redaction[] =>
  connection
    .select()
    .from(auditRedactions)
    .where(eq(auditRedactions.erasureId, erasureId))
    .orderBy(asc(auditRedactions.entryId))
    .limit(limit)
    .all();
