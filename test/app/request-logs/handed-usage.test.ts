// Usage sums that a forwarding process writes to the file of the request log and the service adds up. Uses the real thread, file
// and database, and stops either process at every possible point.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { forwardingRecordsOf } from "../../../src/app/request-logs/service-log.ts";
import { UsageTaking } from "../../../src/app/request-logs/usage-taking.ts";
import { dayOf } from "../../../src/domain/inference/usage/model.ts";
import { usageOfDay } from "../../../src/domain/inference/usage/store.ts";
import { UsageSums } from "../../../src/domain/inference/usage/usage-sums.ts";
import { diskFull } from "../../../src/platform/database/storage-errors.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { rowOf, startTestLog, type TestLog } from "../../support/inference/request-rows.ts";
import { type Caller, createTestServer, type TestServer } from "../../support/server.ts";
import { START_MS, temporaryDirectory } from "../../support/world.ts";

const TODAY = dayOf(START_MS);
const BATCHES = ["first", "second", "third"] as const;

let directory: string;
let log: TestLog;
let server: TestServer;
let ana: Caller;
beforeEach(async () => {
  directory = temporaryDirectory();
  log = startTestLog(directory);
  server = await createTestServer();
  ana = await server.signedIn("member", { email: "ana@example.com" });
});
afterEach(async () => {
  await log.running.close();
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Counts like the second process. */
const forwarder = (requestsPerDay = 0) =>
  new UsageSums({
    ...server.world,
    budgets: { requestsPerDay, tokensPerDay: 0 },
    handOver: (deltas) => log.running.handOverUsage(deltas),
  });
const rowsOf = (user: Caller["user"], ...numbers: number[]) =>
  numbers.map((number) => rowOf(number, { userId: user.id, organizationId: user.organizationId }));
async function handOver(user: Caller["user"], ...numbers: number[]): Promise<void> {
  const usage = forwarder();
  for (const row of rowsOf(user, ...numbers)) usage.count(row);
  await usage.flush();
}
const requestsBy = (group: "user" | "model") =>
  usageOfDay(server.world.db.read, ana.user.organizationId, {
    ofDay: TODAY,
    group,
    ofUser: undefined,
  }).map(({ key, requests, inputTokens, cost }) => [key, requests, inputTokens, cost]);

async function takeAll(): Promise<void> {
  for (const id of BATCHES) {
    const batch = await log.running.takeUsage(id);
    if (!batch) return;
    await server.domain.usageIntake.take(batch);
    await log.running.removeUsage(batch.batch);
  }
}

test("INF-56 sums of another process are counted once, together with those of this one", async () => {
  await handOver(ana.user, 1, 2);
  await handOver(ana.user, 3);
  for (const row of rowsOf(ana.user, 4)) server.domain.usage.count(row);
  await server.domain.usage.flush();
  await takeAll();
  expect(requestsBy("user")).toEqual([[ana.user.id, 4, 4_000, 1]]);
  expect(await log.running.takeUsage("later")).toBeUndefined();
});

test("INF-62 a service that dies between the two files counts no batch twice and loses none", async () => {
  await handOver(ana.user, 1);
  const begun = await log.running.takeUsage("first"); // the process dies before it counts
  expect(begun?.deltas).toHaveLength(1);
  await handOver(ana.user, 2); // is not part of the batch in progress
  const again = await log.running.takeUsage("second");
  expect(again).toEqual(begun);
  if (again) await server.domain.usageIntake.take(again); // the process dies before it removes the batch
  expect(requestsBy("user")).toEqual([[ana.user.id, 1, 1_000, 0.25]]);
  await takeAll();
  expect(requestsBy("user")).toEqual([[ana.user.id, 2, 2_000, 0.5]]);
});

test("sums that cannot be handed over stay in the process until later", async () => {
  const usage = forwarder();
  for (const row of rowsOf(ana.user, 1)) usage.count(row);
  await Bun.write(log.file, "this is no database");
  await usage.flush();
  rmSync(log.file);
  await usage.flush();
  await takeAll();
  expect(requestsBy("user")).toEqual([[ana.user.id, 1, 1_000, 0.25]]);
});

test("sums that the service cannot hand over are counted immediately", async () => {
  const usage = new UsageSums({
    ...server.world,
    budgets: { requestsPerDay: 0, tokensPerDay: 0 },
    handOver: (deltas) => log.running.handOverUsage(deltas),
    isCounter: true,
  });
  for (const row of rowsOf(ana.user, 1)) usage.count(row);
  await Bun.write(log.file, "this is no database");
  await usage.flush();
  expect(requestsBy("user")).toEqual([[ana.user.id, 1, 1_000, 0.25]]);
});

test("a forwarding process starts with the counted and the waiting usage, for budgets", async () => {
  for (const row of rowsOf(ana.user, 1)) server.domain.usage.count(row);
  await server.domain.usage.flush();
  await handOver(ana.user, 2);
  const usage = forwarder(2);
  usage.load();
  expect(usage.exceeded(ana.user.id)).toBeUndefined();
  usage.load(await log.running.waitingUsage(TODAY));
  expect(usage.exceeded(ana.user.id)).toBe("requests");
  expect(await log.running.waitingUsage(TODAY - 1)).toEqual([]);
});

test("sums of an unknown user are kept without a user, and those of another organization are left out", async () => {
  await handOver({ ...ana.user, id: "0190c5a8-0000-7000-8000-00000000dead" }, 1);
  await handOver({ ...ana.user, organizationId: "0190c5a8-0000-7000-8000-00000000beef" }, 2);
  await takeAll();
  expect(requestsBy("user")).toEqual([["", 1, 1_000, 0.25]]);
});

describe("the log of sums that cannot be stored", () => {
  const lines: string[] = [];
  const serviceLog = createLog({
    level: "info",
    format: "json",
    clock: { nowMs: () => START_MS },
    write: (line) => void lines.push(line),
  });
  beforeEach(() => void lines.splice(0));

  test("has a reason and no stack on a full disk", async () => {
    forwardingRecordsOf(log.running, { log: serviceLog }).onUsageFailure?.(diskFull());
    const requestLog = {
      takeUsage: () => Promise.reject(diskFull()),
      removeUsage: () => Promise.resolve(),
    };
    await Bun.write(log.file, "");
    const { usageIntake: intake } = server.domain;
    await new UsageTaking({
      file: log.file,
      requestLog,
      intake,
      ids: server.world.ids,
      log: serviceLog,
    }).take();
    const full = { reason: "storage.full", message: diskFull().message, next: diskFull().hint };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: "usage.not_handed_over", ...full }),
      expect.objectContaining({ event: "usage.not_taken", ...full }),
    ]);
    expect(lines.join("")).not.toContain("stack");
  });

  test("has the stack of an unexpected error", () => {
    forwardingRecordsOf(log.running, { log: serviceLog }).onUsageFailure?.(new TypeError("a mistake"));
    expect(lines.join("")).toMatch(/"message":"a mistake".*"stack"/);
  });
});
