// The job that ends drafts of the policy that nobody saves. domain/governance/drafts does the work.

import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const TIMES = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: MINUTE_MS };

export function registerPolicyJob(
  scheduler: Scheduler,
  { governance }: Domain,
  { actor, log }: { actor: Actor; log: Log },
): void {
  scheduler.register({
    ...TIMES,
    name: "policy-draft-expiry",
    async run() {
      const expired = await governance.drafts.expire(actor);
      if (expired > 0) log.info("policy_drafts.expired", { expired });
    },
  });
}
