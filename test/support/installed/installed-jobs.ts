// The results of the service's jobs in a data directory, without a service: rows of jobs that ran, and re-sealed secrets.
import { MINUTE_MS } from "../../../src/platform/clock.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../src/platform/scheduler/scheduler.ts";
import { type DataInUse, inInstallation } from "./installed-login.ts";

/** Runs jobs of these names once; the first succeeds, and the others fail. */
export const runJobsOn = (place: DataInUse, [first, ...others]: readonly string[]): Promise<void> =>
  inInstallation(place, async ({ db }) => {
    const log = createLog({ level: "error", format: "json", write: () => {}, clock: place.clock });
    const scheduler = createScheduler({ ...place, db, log });
    const times = { everyMs: 10 * MINUTE_MS, jitterMs: 0, timeLimitMs: MINUTE_MS };
    scheduler.register({ ...times, name: first ?? "", run: async () => {} });
    const fail = () => Promise.reject(new Error("the disk is full"));
    for (const name of others) scheduler.register({ ...times, name, run: fail });
    await scheduler.runDue(); // plans them
    await scheduler.runDue();
  });

/** Re-seals secrets that are sealed with older keys. */
export const rewrapOn = (place: DataInUse): Promise<void> =>
  inInstallation(place, async ({ domain, organizationId }) => {
    const actor = { kind: "system", id: null, label: "service", organizationId } as const;
    await domain.sealingKeys.rewrap(actor, new AbortController().signal);
  });
