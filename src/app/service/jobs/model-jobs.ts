// Refreshes the model catalog at the start of the service and then on its schedule. inference/models/catalog.ts does the work.
import type { Domain } from "../../../domain/domain.ts";
import type { RefreshResult } from "../../../domain/inference/models/catalog.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

/** Random deviation of a refresh from its time, as a share of the interval, so that installations spread out. */
const SPREAD = 0.1;
/** Above the deadline of any call of the provisioner. */
const TIME_LIMIT_MS = 2 * MINUTE_MS;

/** Registers the job; without gateway mode there is none. */
export function registerModelJob(
  scheduler: Scheduler,
  { gateway: { mode }, modelCatalog }: Pick<Domain, "gateway" | "modelCatalog">,
  { actor, log }: { actor: Actor; log: Pick<Log, "info"> },
): void {
  if (!mode) return;
  const intervalMs = mode.settings.provisioner.modelCatalogRefreshSeconds * SECOND_MS;
  let isFirst = true;
  scheduler.register({
    name: "model-catalog",
    everyMs: Math.round((1 - SPREAD) * intervalMs),
    jitterMs: Math.round(2 * SPREAD * intervalMs),
    timeLimitMs: TIME_LIMIT_MS,
    runsAtStart: true,
    async run(signal) {
      const options = { isFirst, signal };
      isFirst = false;
      logChanges(log, await modelCatalog.refreshOnSchedule(actor.organizationId, options));
    },
  });
}

/** A refresh by a person is in the audit log instead. */
function logChanges(log: Pick<Log, "info">, result: RefreshResult | undefined): void {
  if (result?.result !== "refreshed") return;
  const { added, changed, removed } = result;
  if (added + changed + removed === 0) return;
  log.info("model_catalog.changed", { added, changed, removed, next: "quartermaster gateway models list" });
}
