// The job that removes accepted, canceled and expired invitations after their retention, one bounded batch per transaction. The
// audit log keeps their history. The scheduler decides when the job runs.
import { DAY_MS, toRfc3339 } from "../../../platform/clock.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import * as store from "./invitation-store.ts";

/** Maximum number of invitations removed in one transaction. */
export const RETENTION_BATCH_ROWS = 500;

/**
 * Removes invitations whose links expired that many days ago, in any status; an audit entry counts those of each batch.
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
  const slice = { organizationId, expiredBeforeMs, limit: RETENTION_BATCH_ROWS };
  let removed = 0;
  while (!signal.aborted) {
    const batch = await db.write((tx) => {
      const rows = store.removeExpired(tx, slice);
      const event = { actor, action: "invitation.forget", target: organizationId };
      const after = { expired_before: toRfc3339(expiredBeforeMs), removed: rows };
      if (rows > 0) audit.record(tx, { ...event, after });
      return rows;
    }, "access");
    removed += batch;
    if (batch < RETENTION_BATCH_ROWS) break;
  }
  return removed;
}
