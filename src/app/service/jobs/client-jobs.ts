// The jobs and metrics of the workstation inventory in the running service. domain/clients/retention.ts does the work.

import { Gauge, type Registry } from "prom-client";
import { HEALTHS, type Health } from "../../../domain/clients/model.ts";
import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";
import { runInTurns } from "../../../platform/steps.ts";

const TIMES = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: 10 * MINUTE_MS };

/** Registers the jobs that remove old clients and re-evaluate their health. */
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
      await clients.optimizeSearch(signal);
      if (removed > 0) log.info("clients.forgotten", { removed, retention_days: retentionDays });
    },
  });
  scheduler.register({
    ...TIMES,
    name: "client-verdicts",
    async run(signal) {
      const reevaluated = await clients.verdictRenewal.run(signal);
      if (reevaluated > 0) log.info("clients.reevaluated", { reevaluated });
    },
  });
}

/** How long a count is cached, because it reads every workstation. */
export const FIGURES_KEPT_MS = MINUTE_MS;

/** Adds the number of clients per health state. */
export function addClientMetrics(
  metrics: Registry,
  { clients }: Domain,
  { actor, clock }: { actor: Actor; clock: Clock },
): void {
  let counted: { atMs: number; counts: Readonly<Record<Health, number>> } | undefined;
  new Gauge({
    name: "quartermaster_clients",
    help: "Workstations in the inventory by health",
    labelNames: ["health"],
    registers: [metrics],
    async collect() {
      const atMs = clock.nowMs();
      if (!counted || Math.abs(atMs - counted.atMs) >= FIGURES_KEPT_MS)
        counted = { atMs, counts: await runInTurns(clients.inventory.countsInSteps(actor.organizationId)) };
      for (const health of HEALTHS) this.set({ health }, counted.counts[health]);
    },
  });
}
