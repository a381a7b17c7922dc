// The jobs of policies in the running service.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { registerPolicyJobs } from "../../../../src/app/service/jobs/policy-jobs.ts";
import { MINUTE_MS } from "../../../../src/platform/clock.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../../src/platform/scheduler/scheduler.ts";
import { jobs } from "../../../../src/platform/scheduler/tables.ts";
import { createTestServer } from "../../../support/server.ts";

test("CON-63 counts of a rollout are a minute apart", async () => {
  await using server = await createTestServer();
  const { db, clock, ids, system: actor } = server.world;
  const log = createLog({ level: "error", format: "json", write: () => undefined, clock });
  const scheduler = createScheduler({ db, clock, ids, log });
  registerPolicyJobs(scheduler, server.domain, { actor, log });
  await scheduler.runDue(); // plans the first run
  for (let run = 0; run < 5; run += 1) {
    await scheduler.runDue();
    const [row] = db.read.select().from(jobs).where(eq(jobs.name, "rollout-samples")).all();
    expect((row?.nextRunAtMs ?? 0) - clock.nowMs()).toBe(MINUTE_MS);
    clock.advance(MINUTE_MS);
  }
});
