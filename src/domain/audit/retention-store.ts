// SQL that removes the oldest entries of the audit log. retention.ts decides how many.
import { asc, lte } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import type { AuditRow } from "./chain.ts";
import { CHECKPOINT_ID, type Checkpoint } from "./checkpoint.ts";
import { auditCheckpoint, auditEntries, auditRedactions } from "./tables.ts";

export type OldEntry = Pick<AuditRow, "id" | "atMs" | "digest">;

/** @returns the first entries of the chain, of all organizations */
export const listOldest = (tx: Tx, limit: number): OldEntry[] =>
  tx
    .select({ id: auditEntries.id, atMs: auditEntries.atMs, digest: auditEntries.digest })
    .from(auditEntries)
    .orderBy(asc(auditEntries.id))
    .limit(limit)
    .all();

/** Removes every entry up to the checkpoint, and stores the checkpoint. */
export function removeUpTo(tx: Tx, checkpoint: Checkpoint): void {
  tx.delete(auditEntries).where(lte(auditEntries.id, checkpoint.entryId)).run();
  // The entry of an erasure holds one digest over all its redactions, so they stay as long as that entry, which is newer than
  // the redacted ones.
  tx.delete(auditRedactions).where(lte(auditRedactions.erasureId, checkpoint.entryId)).run();
  tx.insert(auditCheckpoint)
    .values({ id: CHECKPOINT_ID, ...checkpoint })
    .onConflictDoUpdate({ target: auditCheckpoint.id, set: checkpoint })
    .run();
}
