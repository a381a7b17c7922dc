// The job that removes accepted, canceled and expired invitations after their retention, one bounded batch per transaction. The
// audit log keeps their history. The scheduler decides when the job runs.
import { DAY_MS, toRfc3339 } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { runInBatches } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import * as store from "./invitation-store.ts";

/** Maximum number of invitations removed in one transaction. */
export const RETENTION_BATCH_ROWS = 500;

/**
 * Removes invitations in any status whose links expired that many days ago. Each batch records its count in
 * an audit entry.
 * @param signal ends the run between two batches
 * @returns how many
 */
export async function forgetInvitations(
  { db, clock, audit }: Pick<IdentityDependencies, "db" | "clock" | "audit">,
  actor: Actor,
  { retentionDays, signal }: { retentionDays: number; signal: AbortSignal },
): Promise<number> {
  const { organizationId } = actor;
  const expiredBeforeMs = clock.nowMs() - retentionDays * DAY_MS;
  const limit = RETENTION_BATCH_ROWS;
  const batch = (tx: Tx): number => {
    const removed = store.removeExpired(tx, { organizationId, expiredBeforeMs, limit });
    const event = { actor, action: "invitation.forget", target: organizationId };
    const after = { expired_before: toRfc3339(expiredBeforeMs), removed };
    if (removed > 0) audit.record(tx, { ...event, after });
    return removed;
  };
  return await runInBatches(() => db.write(batch, "access"), { limit, signal });
}
