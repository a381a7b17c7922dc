// The inventory of workstations in the running service: its jobs, and what the metrics show of it. What the work is, is
// domain/clients/retention.ts.
import type { Actor } from "./domain/actor.ts";
import { HEALTHS } from "./domain/clients/model.ts";
import type { Domain } from "./domain/domain.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "./platform/clock.ts";
import type { Config } from "./platform/config.ts";
import type { Log } from "./platform/log.ts";
import type { Metrics } from "./platform/metrics.ts";
import type { Scheduler } from "./platform/scheduler.ts";

const TIMES = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: 10 * MINUTE_MS };

/** Registers forgetting and judging again. */
export function registerClientJobs(
  scheduler: Scheduler,
  { clients }: Domain,
  { actor, log, config }: { actor: Actor; log: Log; config: Config },
): void {
  const retentionDays = config.get("clients.retention_days");
  scheduler.register({
    ...TIMES,
    name: "client-retention",
    async run(signal) {
      const removed = await clients.forgetUnseen(actor, { retentionDays, signal });
      if (removed > 0) log.info("clients.forgotten", { removed, retention_days: retentionDays });
    },
  });
  scheduler.register({
    ...TIMES,
    name: "client-verdicts",
    async run(signal) {
      const judged = await clients.verdictRenewal.run(signal);
      if (judged > 0) log.info("clients.judged_again", { judged });
    },
  });
}

/** Counted whenever the metrics are read. */
export function addClientFigures(metrics: Metrics, { clients }: Domain, { organizationId }: Actor): void {
  metrics.gauge("clients", "Workstations in the inventory by health", {
    labels: { health: HEALTHS },
    read(set) {
      for (const [health, count] of clients.inventory.counts(organizationId)) set(count, health);
    },
  });
}
