// The job that looks for newer commits of packages in the policy. domain/catalog/watching/source-watch.ts does the work, and decides what
// is due.
import { SOURCE_WATCH_JOB } from "../../../domain/catalog/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { MINUTE_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

/** The shortest interval of a connection is an hour, so a check is late by less than a fifth of an interval. */
const TIMES = { everyMs: 9 * MINUTE_MS, jitterMs: 2 * MINUTE_MS, timeLimitMs: 30 * MINUTE_MS };

/** Registers the job once, if a connection needs it. A reload may add the first such connection. */
export function registerSourceJob(
  scheduler: Scheduler,
  { sourceWatch }: Pick<Domain, "sourceWatch">,
  { actor, log }: { actor: Actor; log: Log },
): void {
  if (!sourceWatch.isWanted() || scheduler.has(SOURCE_WATCH_JOB)) return;
  scheduler.register({
    ...TIMES,
    name: SOURCE_WATCH_JOB,
    async run(signal) {
      const { movedTags } = await sourceWatch.check(actor, signal);
      for (const { connectionId, repository, tag } of movedTags)
        log.warning("source.tag_moved", {
          connection: connectionId,
          repository,
          tag,
          next: "quartermaster connections show",
        });
    },
  });
}
