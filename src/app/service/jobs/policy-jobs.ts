// The jobs of the policy: one removes abandoned drafts and unfinished packages, the other samples the rollout of the current revision.
// domain/governance/drafts and domain/clients/rollout do the work.

import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";
import { runInTurns } from "../../../platform/steps.ts";

const TIMES = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: MINUTE_MS };

export function registerPolicyJobs(
  scheduler: Scheduler,
  { clients, governance, packageAdditions }: Domain,
  { actor, log }: { actor: Actor; log: Log },
): void {
  scheduler.register({
    ...TIMES,
    name: "policy-draft-expiry",
    async run() {
      const expired = await governance.drafts.expire(actor);
      const additions = await packageAdditions.expire(actor);
      if (expired + additions > 0) log.info("policy_drafts.expired", { expired, additions });
    },
  });
  scheduler.register({
    ...TIMES,
    everyMs: MINUTE_MS,
    jitterMs: 0, // the points of the curve are a minute apart
    name: "rollout-samples",
    async run(signal) {
      const revision = governance.revisions.current(actor.organizationId);
      if (revision && clients.rollouts.isDue(revision)) {
        const counts = await runInTurns(clients.inventory.countsInSteps(actor.organizationId));
        await clients.rollouts.sample(revision, counts);
      }
      await clients.rollouts.forget(signal);
    },
  });
}
