// The job that removes the oldest entries of the audit log. domain/audit/retention.ts does the work.

import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { DAY_MS, MINUTE_MS } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const TIMES = { everyMs: DAY_MS, jitterMs: 10 * MINUTE_MS, timeLimitMs: 30 * MINUTE_MS };

/** Registers the job. Without the setting, a run does nothing. */
export function registerAuditJob(
  scheduler: Scheduler,
  { auditLog, harnesses }: Pick<Domain, "auditLog" | "harnesses">,
  { actor, log, config }: { actor: Actor; log: Log; config: Config },
): void {
  const retentionDays = config.get("audit.retention_days");
  scheduler.register({
    ...TIMES,
    name: "audit-retention",
    async run(signal) {
      if (retentionDays === undefined) return;
      const removed = await auditLog.forget(actor, { retentionDays, signal });
      if (removed === 0) return;
      log.info("audit.forgotten", { removed, retention_days: retentionDays });
      await harnesses.recordChange(actor); // the log must still show which facts are in force
    },
  });
}
