// The jobs for logins and keys in the running service. The areas access and system do the work.

import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { REWRAP_JOB } from "../../../domain/system/sealing-keys.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const SWEEP_EVERY_MS = 10 * MINUTE_MS;
const ROTATION_CHECK_EVERY_MS = HOUR_MS;
const REWRAP_CHECK_EVERY_MS = MINUTE_MS;
const JOB_TIME_LIMIT_MS = MINUTE_MS;
const JITTER_MS = 30 * SECOND_MS;

/** Registers the jobs for logins, signing keys and sealing keys. */
export function registerKeyAndLoginJobs(
  scheduler: Scheduler,
  domain: Domain,
  own: { actor: Actor; log: Log; deviceLoginsExpired(total: number): void },
): void {
  const { actor, log } = own;
  const shared = { jitterMs: JITTER_MS, timeLimitMs: JOB_TIME_LIMIT_MS };
  scheduler.register({
    ...shared,
    name: "access-sweep",
    everyMs: SWEEP_EVERY_MS,
    async run(signal) {
      const { expiredDeviceLogins } = await domain.access.sweep(signal);
      await domain.idempotency.sweep(signal);
      await domain.identity.passwordLinks.sweep(signal);
      await domain.sso.logout.sweep();
      await domain.sso.moves.sweep();
      own.deviceLoginsExpired(expiredDeviceLogins);
    },
  });
  scheduler.register({
    ...shared,
    name: "signing-key-rotation",
    everyMs: ROTATION_CHECK_EVERY_MS,
    async run() {
      for (const keys of [domain.access.keys, domain.inference.signingKeys]) {
        await keys?.rotateIfDue(actor);
        await keys?.dropDead();
      }
    },
  });
  scheduler.register({
    ...shared,
    name: REWRAP_JOB,
    everyMs: REWRAP_CHECK_EVERY_MS,
    async run(signal) {
      const done = await domain.sealingKeys.rewrap(actor, signal);
      if (done.rewrapped > 0) log.info("sealing.rewrapped", { ...done });
    },
  });
}
