// The job of the running service that refreshes the model catalog: at the start, on its schedule, and not without gateway mode.
import { expect, test } from "bun:test";
import { registerModelJob } from "../../../../src/app/service/jobs/model-jobs.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { systemIds } from "../../../../src/platform/ids.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../../src/platform/scheduler/scheduler.ts";
import { SETTINGS } from "../../../domain/gateway/gateway-world.ts";
import { offer, sharedCatalogWorld, viewOf } from "../../../domain/inference/models/catalog-world.ts";
import { createTestServer, type TestServer } from "../../../support/server.ts";

const site = sharedCatalogWorld();
const INTERVAL_MS = SETTINGS.provisioner.modelCatalogRefreshSeconds * SECOND_MS;

/** @param random of the jitter: 0 to 0xffffffff @returns the scheduler of a service that starts */
function start({ domain, world }: TestServer, random = 0, write: (line: string) => void = () => {}) {
  const bytes = (length: number) => {
    const drawn = Buffer.alloc(length);
    if (length === 4) drawn.writeUInt32BE(random);
    return drawn;
  };
  const log = createLog({ level: "info", format: "json", clock: world.clock, write });
  const { db, clock } = world;
  const scheduler = createScheduler({ db, clock, ids: { ...systemIds, bytes }, log });
  registerModelJob(scheduler, domain, { actor: world.system, log });
  return scheduler;
}

test("INF-50 the catalog is refreshed at each start, regardless of its last refresh", async () => {
  const world = await site();
  for (const times of [1, 2]) {
    const scheduler = start(world);
    for (let turn = 0; turn < 3; turn += 1) await scheduler.runDue();
    expect(world.upstream.listings).toBe(times);
  }
});

test.each([
  [0, 0.9],
  [0xffffffff, 1.1],
])(
  "INF-50 the next refresh is a tenth of the interval early to late: random %p, %p intervals",
  async (random, share) => {
    const world = await site();
    const scheduler = start(world, random);
    const turnAt = async (ms: number) => {
      world.world.clock.advance(ms);
      await scheduler.runDue();
    };
    await turnAt(0);
    await turnAt(0);
    await turnAt(Math.floor(share * INTERVAL_MS) - 1_000);
    expect(world.upstream.listings).toBe(1);
    await turnAt(1_000);
    expect(world.upstream.listings).toBe(2);
  },
);

test("INF-50 each run of the service asks a provisioner that cannot list models once", async () => {
  const world = await site();
  world.upstream.listingFailure = "unsupported";
  for (const times of [1, 2]) {
    const scheduler = start(world);
    for (let turn = 0; turn < 5; turn += 1) {
      await scheduler.runDue();
      world.world.clock.advance(2 * INTERVAL_MS);
    }
    expect(world.upstream.listings).toBe(times);
  }
  expect(viewOf(world).sync.discovery_supported).toBeFalse();
});

test("INF-50 a failed refresh is no failure of the job, which runs again on its schedule", async () => {
  const world = await site();
  world.upstream.listingFailure = "unavailable";
  const scheduler = start(world);
  for (let turn = 0; turn < 3; turn += 1) {
    await scheduler.runDue();
    world.world.clock.advance(2 * INTERVAL_MS);
  }
  expect(world.upstream.listings).toBe(2);
  expect(world.domain.jobs.list()).toMatchObject([{ name: "model-catalog", outcome: "succeeded" }]);
});

test("INF-50 only a refresh that changes the catalog is logged, with its counts", async () => {
  const world = await site();
  const lines: Record<string, unknown>[] = [];
  const scheduler = start(world, 0, (line) => lines.push(JSON.parse(line)));
  const refreshWith = async (...models: string[]) => {
    offer(world, ...models);
    await scheduler.runDue();
    await scheduler.runDue();
    world.world.clock.advance(2 * INTERVAL_MS);
    return lines.splice(0).filter(({ event }) => event === "model_catalog.changed");
  };
  expect(await refreshWith("a", "b")).toMatchObject([{ added: 2, changed: 0, removed: 0 }]);
  expect(await refreshWith("a", "b")).toEqual([]);
  expect(await refreshWith("b", "c")).toMatchObject([{ added: 1, changed: 0, removed: 1 }]);
});

test("INF-5 gateway mode off means that there is no job", async () => {
  await using server = await createTestServer();
  const scheduler = start(server);
  await scheduler.runDue();
  expect(server.domain.jobs.list()).toEqual([]);
});
