// SQL that removes the oldest entries of the audit log. How many may go is for retention.ts.
import { asc, lte } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import type { AuditRow } from "./chain.ts";
import { CHECKPOINT_ID, type Checkpoint } from "./checkpoint.ts";
import { auditCheckpoint, auditEntries, auditRedactions } from "./tables.ts";

export type OldEntry = Pick<AuditRow, "id" | "atMs" | "digest">;

/** @returns the first entries of the chain, of every organization */
export const listOldest = (tx: Tx, limit: number): OldEntry[] =>
  tx
    .select({ id: auditEntries.id, atMs: auditEntries.atMs, digest: auditEntries.digest })
    .from(auditEntries)
    .orderBy(asc(auditEntries.id))
    .limit(limit)
    .all();

/** Removes every entry up to the checkpoint, and remembers it. */
export function removeUpTo(tx: Tx, checkpoint: Checkpoint): void {
  tx.delete(auditEntries).where(lte(auditEntries.id, checkpoint.entryId)).run();
  // An erasure vouches for all of its redactions together, so they stay until it goes; what it redacted came before it.
  tx.delete(auditRedactions).where(lte(auditRedactions.erasureId, checkpoint.entryId)).run();
  tx.insert(auditCheckpoint)
    .values({ id: CHECKPOINT_ID, ...checkpoint })
    .onConflictDoUpdate({ target: auditCheckpoint.id, set: checkpoint })
    .run();
}
