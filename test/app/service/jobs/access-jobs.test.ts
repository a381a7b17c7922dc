// The job of the running service that removes expired rows of logins and links.
import { expect, test } from "bun:test";
import { registerKeyAndLoginJobs } from "../../../../src/app/service/jobs/access-jobs.ts";
import { PASSWORD_LINK_TTL_MS } from "../../../../src/domain/identity/model.ts";
import { passwordLinks } from "../../../../src/domain/identity/tables.ts";
import { HOUR_MS } from "../../../../src/platform/clock.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../../src/platform/scheduler/scheduler.ts";
import { createTestServer } from "../../../support/server.ts";

test("expired password links are removed", async () => {
  await using site = await createTestServer();
  const { domain, world } = site;
  const { db, clock, ids, system: actor } = world;
  const log = createLog({ level: "error", format: "json", write: () => {}, clock });
  const scheduler = createScheduler({ db, clock, ids, log });
  registerKeyAndLoginJobs(scheduler, domain, { actor, log, deviceLoginsExpired: () => {} });
  const { user } = await site.signedIn("member");
  await domain.identity.passwordLinks.create(actor, user.id);
  const open = () => db.read.select().from(passwordLinks).all().length;
  await scheduler.runDue(); // plans the first runs
  clock.advance(HOUR_MS);
  await scheduler.runDue();
  expect(open()).toBe(1);
  clock.advance(PASSWORD_LINK_TTL_MS);
  await scheduler.runDue();
  expect(open()).toBe(0);
});
