// SQL of the single row that records how far the audit log was sent. forwarding.ts decides its values.
import { and, eq } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { auditForwarding } from "../tables.ts";

export type Progress = Omit<typeof auditForwarding.$inferSelect, "id">;

const ROW_ID = 1;

/** The state before the first attempt. */
const NOTHING_SENT: Progress = { entryId: 0, deliveredAtMs: null, failingSinceMs: null, error: null };

export function findProgress(connection: Connection): Progress {
  const { entryId, deliveredAtMs, failingSinceMs, error } = auditForwarding;
  const found = connection
    .select({ entryId, deliveredAtMs, failingSinceMs, error })
    .from(auditForwarding)
    .where(eq(auditForwarding.id, ROW_ID))
    .limit(1)
    .get();
  return found ?? NOTHING_SENT;
}

/** Adds the row unless it exists. */
export function begin(tx: Tx): void {
  tx.insert(auditForwarding)
    .values({ id: ROW_ID, ...NOTHING_SENT })
    .onConflictDoNothing()
    .run();
}

/** Changes the row if its position is still `from`. */
export function change(tx: Tx, from: number, progress: Partial<Progress>): void {
  tx.update(auditForwarding)
    .set(progress)
    .where(and(eq(auditForwarding.id, ROW_ID), eq(auditForwarding.entryId, from)))
    .run();
}
