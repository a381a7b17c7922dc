// The job that removes long-unused archives. domain/catalog/sources/artifacts.ts does the work.
import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { DAY_MS, HOUR_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const TIMES = { everyMs: DAY_MS, jitterMs: HOUR_MS, timeLimitMs: HOUR_MS };

export function registerArtifactJob(
  scheduler: Scheduler,
  { artifacts }: Pick<Domain, "artifacts">,
  { actor, log }: { actor: Actor; log: Log },
): void {
  scheduler.register({
    ...TIMES,
    name: "artifact-retention",
    async run(signal) {
      const removed = await artifacts.retire(actor, signal);
      if (removed > 0) log.info("artifacts.removed", { removed });
    },
  });
}
