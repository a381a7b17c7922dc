// The job that removes expired rows of the request log and old sums of usage. domain/inference/ does the work.
import { existsSync } from "node:fs";
import type { RunningLog } from "../../../domain/inference/log/writing/running-log.ts";
import { forgetUsage } from "../../../domain/inference/usage/usage-retention.ts";
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";
import type { Installation } from "../../installation/installation.ts";

const TIMES = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: 10 * MINUTE_MS };

/** Registers the job. Without a file there is nothing to remove, and none is created. */
export function registerRequestLogJob(
  scheduler: Scheduler,
  { directory, domain, db }: Installation,
  { requestLog, log, clock }: { requestLog: RunningLog; log: Log; clock: Clock },
): void {
  scheduler.register({
    ...TIMES,
    name: "request-log-retention",
    async run(signal) {
      await forgetUsage({ db, clock }, signal);
      if (!existsSync(directory.requestLogs)) return;
      const removed = await requestLog.sweep(domain.requestLogs.keptFromMs());
      if (removed > 0) log.info("request_log.forgotten", { removed });
    },
  });
}
