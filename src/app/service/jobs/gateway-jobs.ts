// Background work on gateway keys in the running service: at the start, in a periodic job, and when the service stops.
// gateway/keys/reconciler.ts does the work.
import type { Domain } from "../../../domain/domain.ts";
import { MINUTE_MS, SECOND_MS, within } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const RECONCILE_EVERY_MS = 10 * SECOND_MS;
const RECONCILE_JITTER_MS = SECOND_MS;
/** A run starts no new attempt after this time; the next run continues. */
const RECONCILE_RUN_MS = 90 * SECOND_MS;
/** Includes the attempts that are still running when a run stops starting new ones. */
const RECONCILE_TIME_LIMIT_MS = 2 * MINUTE_MS;
/** How long stopping waits for attempts: the usual time limit of a call. */
const DRAIN_WAIT_MS = 15 * SECOND_MS;

/**
 * Takes over the attempts of a killed service, and marks keys from another configuration as due. Logs pending work
 * while gateway mode is off.
 */
export async function startGatewayWork({ gateway }: Domain, log: Log): Promise<void> {
  if (gateway.reconciler) {
    const taken = await gateway.reconciler.takeOverAttempts();
    if (taken > 0) log.info("gateway.attempts_taken_over", { keys: taken });
    const due = await gateway.reconciler.applyConfiguration();
    if (due > 0) log.info("gateway.configuration_changed", { keys_due: due });
    return;
  }
  const { revocationsPending } = gateway.figures();
  if (revocationsPending === 0) return;
  log.warning("gateway.revocations_pending", {
    pending: revocationsPending,
    advice: "these keys still work at the gateway; they are revoked when gateway mode is on again",
  });
}

/** Registers the job that maintains keys; without gateway mode there is none. */
export function registerGatewayJob(scheduler: Scheduler, { gateway: { reconciler } }: Domain): void {
  if (!reconciler) return;
  scheduler.register({
    name: "gateway-reconcile",
    everyMs: RECONCILE_EVERY_MS,
    jitterMs: RECONCILE_JITTER_MS,
    timeLimitMs: RECONCILE_TIME_LIMIT_MS,
    async run(signal) {
      await reconciler.run(AbortSignal.any([signal, AbortSignal.timeout(RECONCILE_RUN_MS)]));
    },
  });
}

/** Waits up to DRAIN_WAIT_MS for attempts that run detached from their request. An interrupted attempt is retried later. */
export async function drainAttempts({ gateway }: Domain): Promise<void> {
  if (gateway.keys.attempts) await within(DRAIN_WAIT_MS, gateway.keys.attempts.drain());
}
