// The inventory in the running service: its jobs, and the figures on the metrics page.

import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import {
  addClientMetrics,
  FIGURES_KEPT_MS,
  registerClientJobs,
} from "../../../../src/app/service/jobs/client-jobs.ts";
import { clientReports } from "../../../../src/domain/clients/tables.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../../src/platform/scheduler/scheduler.ts";
import { createClientsWorld } from "../../../domain/clients/clients-world.ts";

async function createService(flags: Record<string, string> = {}) {
  const clients = await createClientsWorld({ isOwn: true });
  const { db, clock, ids, system: actor } = clients.world;
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    level: "debug",
    format: "json",
    write: (line) => void lines.push(JSON.parse(line)),
    clock,
  });
  const scheduler = createScheduler({ db, clock, ids, log });
  const config = loadConfig({ flags, env: {}, cwd: clients.world.directory });
  registerClientJobs(scheduler, clients.domain, { actor, log, config });
  const runJobs = async () => {
    await scheduler.runDue(); // plans the first run, or starts one that is due
    clock.advance(2 * HOUR_MS);
    await scheduler.runDue();
  };
  return { ...clients, lines, runJobs };
}

test("clients are deleted after the configured days, and their number is logged", async () => {
  await using service = await createService({ clientsRetentionDays: "30" });
  await service.report();
  service.world.clock.advance(29 * DAY_MS);
  await service.runJobs();
  expect(service.listed()).toHaveLength(1);
  service.world.clock.advance(DAY_MS);
  await service.runJobs();
  expect(service.listed()).toEqual([]);
  expect(service.lines.filter(({ event }) => event === "clients.forgotten")).toMatchObject([
    { removed: 1, retention_days: 30 },
  ]);
});

test("clients are kept for a year by default", async () => {
  await using service = await createService();
  await service.report();
  service.world.clock.advance(364 * DAY_MS);
  await service.runJobs();
  expect(service.listed()).toHaveLength(1);
  service.world.clock.advance(DAY_MS);
  await service.runJobs();
  expect(service.listed()).toEqual([]);
});

test("verdicts of an earlier build are computed again", async () => {
  await using service = await createService();
  await service.report();
  await service.world.db.write((tx) => {
    tx.update(clientReports).set({ evaluatedBy: "earlier", reasons: '["former"]' }).run();
  }, "clients");
  await service.runJobs();
  expect(service.listed()).toMatchObject([{ reasons: ["no revision of the policy was applied yet"] }]);
  expect(service.lines).toContainEqual(
    expect.objectContaining({ event: "clients.reevaluated", reevaluated: 1 }),
  );
});

test("clients are counted by health at scrape time, at most once a minute, starting at zero", async () => {
  await using clients = await createClientsWorld();
  const metrics = new Registry();
  const { system: actor, clock } = clients.world;
  addClientMetrics(metrics, clients.domain, { actor, clock });
  const figures = async () =>
    (await metrics.metrics()).split("\n").filter((line) => line.startsWith("quartermaster_clients{"));
  expect(await figures()).toEqual([
    'quartermaster_clients{health="current"} 0',
    'quartermaster_clients{health="outdated"} 0',
    'quartermaster_clients{health="attention"} 0',
  ]);
  const revision = await clients.publish();
  await clients.report({ config_revision: revision });
  await clients.report({ instance_id: "bad", config_revision: revision, files_ok: false });
  clock.advance(FIGURES_KEPT_MS - 1);
  expect((await figures())[0]).toBe('quartermaster_clients{health="current"} 0');
  clock.advance(1);
  expect(await figures()).toEqual([
    'quartermaster_clients{health="current"} 1',
    'quartermaster_clients{health="outdated"} 0',
    'quartermaster_clients{health="attention"} 1',
  ]);
});
