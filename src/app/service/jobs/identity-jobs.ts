// The jobs that remove old invitations and maintain the index of users. identity/invitations/invitation-retention.ts and
// shared/text-search do the work.

import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const TIMES = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: 10 * MINUTE_MS };
const SEARCH = { everyMs: MINUTE_MS, jitterMs: 10 * SECOND_MS, timeLimitMs: 10 * MINUTE_MS };

export function registerIdentityJobs(
  scheduler: Scheduler,
  { identity }: Domain,
  { actor, log, config }: { actor: Actor; log: Log; config: Config },
): void {
  const retentionDays = config.get("invitations.retention_days");
  scheduler.register({
    ...TIMES,
    name: "invitation-retention",
    async run(signal) {
      const removed = await identity.forgetInvitations(actor, { retentionDays, signal });
      await identity.searchIndex.optimize(signal);
      if (removed > 0) log.info("invitations.forgotten", { removed, retention_days: retentionDays });
    },
  });
  scheduler.register({
    ...SEARCH,
    name: "user-search",
    async run(signal) {
      await identity.searchIndex.add(signal);
    },
  });
}
