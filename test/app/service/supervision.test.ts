// The notifications to the service manager while the database and the scheduler work, and while one of them fails.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type Liveness, STATUS_EVERY_MS, Supervision } from "../../../src/app/service/supervision.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createScheduler, type Scheduler } from "../../../src/platform/scheduler/scheduler.ts";
import { openServiceManager, type ServiceManager } from "../../../src/platform/systemd/notify.ts";
import { type NotifyReceiver, receiveNotifications } from "../../support/network/notify-receiver.ts";
import { createWorld, type World } from "../../support/world.ts";

const WATCHDOG_MS = 30_000;

let world: World;
let receiver: NotifyReceiver;
let manager: ServiceManager;
let scheduler: Scheduler;
let liveness: Liveness;
let said: string[];
let upMs: number;
let status: string;

beforeEach(async () => {
  world = await createWorld();
  said = [];
  upMs = 1_000;
  status = "one";
  receiver = receiveNotifications(`${world.directory}/notify`);
  manager = openServiceManager({ socket: receiver.address, watchdogMs: WATCHDOG_MS });
  scheduler = createScheduler({ ...world, log: logOf() });
  liveness = {
    readDatabase: () => void world.db.read.get(sql`SELECT 1 FROM organizations`),
    beatMs: () => scheduler.lastBeatMs(),
    statusLine: () => status,
  };
});
afterEach(async () => {
  receiver[Symbol.dispose]();
  await world.dispose();
});

const logOf = () =>
  createLog({ level: "info", format: "text", write: (line) => void said.push(line), clock: world.clock });

const supervise = (over: ServiceManager | undefined = manager) =>
  new Supervision({ manager: over, log: logOf(), monotonicMs: () => upMs });

/** A tick of the scheduler, some time later. */
async function turnAfter(ms: number): Promise<void> {
  upMs += ms;
  world.clock.advance(ms);
  await scheduler.runDue();
}

test("readiness is sent with the status line", () => {
  using supervision = supervise();
  supervision.ready(liveness);
  expect(receiver.take()).toEqual({ READY: "1", STATUS: "one" });
});

test("the watchdog is notified while the database is readable and the scheduler runs", async () => {
  using supervision = supervise();
  supervision.ready(liveness);
  receiver.take();
  await turnAfter(1_000);
  supervision.checkLiveness();
  expect(receiver.take()).toEqual({ WATCHDOG: "1" });
});

test("setting the clock by a day does not stop watchdog notifications", async () => {
  using supervision = supervise();
  supervision.ready(liveness);
  receiver.take();
  for (const jumpMs of [-86_400_000, 2 * 86_400_000]) {
    await turnAfter(1_000);
    supervision.checkLiveness();
    world.clock.advance(jumpMs);
    upMs += 1_000;
    supervision.checkLiveness();
    expect([receiver.take(), receiver.take()]).toEqual([{ WATCHDOG: "1" }, { WATCHDOG: "1" }]);
  }
});

test("watchdog notifications stop when the scheduler has not run within the interval, and resume with its next run", async () => {
  using supervision = supervise();
  supervision.ready(liveness);
  receiver.take();
  await turnAfter(1_000);
  supervision.checkLiveness();
  upMs += WATCHDOG_MS - 1;
  supervision.checkLiveness();
  expect([receiver.take(), receiver.take()]).toEqual([{ WATCHDOG: "1" }, { WATCHDOG: "1" }]);
  upMs += 1;
  supervision.checkLiveness();
  expect(receiver.take()).toBeUndefined();
  expect(said.join("")).toContain('watchdog.skipped because="the scheduler missed a turn"');
  await turnAfter(1_000);
  supervision.checkLiveness();
  expect(receiver.take()).toEqual({ WATCHDOG: "1" });
});

test("watchdog notifications stop while the database is unreadable", async () => {
  using supervision = supervise();
  supervision.ready(liveness);
  receiver.take();
  await turnAfter(1_000);
  await world.db.close();
  supervision.checkLiveness();
  expect(receiver.take()).toBeUndefined();
  expect(said.join("")).toContain("watchdog.skipped");
});

test("the status line is computed again after an interval and sent if it has changed", async () => {
  using supervision = supervise();
  supervision.ready(liveness);
  receiver.take();
  status = "two";
  await turnAfter(STATUS_EVERY_MS - 1);
  supervision.checkLiveness();
  expect(receiver.take()).toEqual({ WATCHDOG: "1" });
  await turnAfter(1);
  supervision.checkLiveness();
  expect(receiver.take()).toEqual({ WATCHDOG: "1", STATUS: "two" });
  await turnAfter(STATUS_EVERY_MS);
  supervision.checkLiveness();
  expect(receiver.take()).toEqual({ WATCHDOG: "1" });
});

test("reloads are announced one after another, and each ends with readiness, whether it succeeds or fails", async () => {
  using supervision = supervise();
  supervision.ready(liveness);
  receiver.take();
  const first = Promise.withResolvers<void>();
  const failing = supervision.reload(() => first.promise);
  const second = supervision.reload(async () => {
    status = "two";
  });
  await Promise.resolve();
  expect(receiver.take()).toMatchObject({ RELOADING: "1", MONOTONIC_USEC: expect.stringMatching(/^\d+$/) });
  expect(receiver.take()).toBeUndefined();
  first.reject(new Error("no"));
  await expect(failing).rejects.toThrow("no");
  await second;
  expect([receiver.take(), receiver.take(), receiver.take()]).toEqual([
    { READY: "1" },
    expect.objectContaining({ RELOADING: "1" }),
    { READY: "1", STATUS: "two" },
  ]);
});

test("a service without a service manager reloads and stops without notifications", async () => {
  using supervision = new Supervision({ manager: undefined, log: logOf() });
  supervision.ready(liveness);
  let reloaded = 0;
  await supervision.reload(async () => {
    reloaded += 1;
  });
  supervision.checkLiveness();
  supervision.stopping();
  expect(reloaded).toBe(1);
  expect(said).toEqual([]);
});

test("a service manager that accepts no message is logged, and the service continues", () => {
  using supervision = supervise();
  receiver[Symbol.dispose]();
  supervision.ready(liveness);
  supervision.stopping();
  expect(said.join("").match(/service_manager\.notify_failed/g)).toHaveLength(2);
});
