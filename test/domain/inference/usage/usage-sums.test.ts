// Sums of usage and budgets: counted in memory, added to the database in time, never lost and never counted twice.
import { describe, expect, test } from "bun:test";
import {
  ENTRIES_MAX,
  OTHER,
  PAIRS_PER_USER_MAX,
  USAGE_DAYS_KEPT,
} from "../../../../src/domain/inference/usage/model.ts";
import { UsageReports } from "../../../../src/domain/inference/usage/usage-report.ts";
import { forgetUsage } from "../../../../src/domain/inference/usage/usage-retention.ts";
import { UsageSums } from "../../../../src/domain/inference/usage/usage-sums.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { rowOf, USER } from "../../../support/inference/request-rows.ts";
import { createWorld, START_MS, type World } from "../../../support/world.ts";

const BEN = "0190c5a8-0000-7000-8000-000000000002";

function sumsIn({ db, clock }: Pick<World, "db" | "clock">, budgets = {}) {
  const failures: unknown[] = [];
  const sums = new UsageSums({
    db,
    clock,
    budgets: { requestsPerDay: 0, tokensPerDay: 0, ...budgets },
    onFailure: (error) => failures.push(error),
  });
  return { sums, failures };
}

const rowIn = ({ organizationId }: World, number: number, changes: Parameters<typeof rowOf>[1] = {}) =>
  rowOf(number, { organizationId, ...changes });

const entries = ({ db, clock, organizationId }: World, groupBy: string) =>
  runSynchronously(
    new UsageReports({ db, clock, addressOf: (id) => id }).report(organizationId, { groupBy }),
  ).entries.map(({ key, requests, refused, inputTokens }) => ({ key, requests, refused, inputTokens }));

test("a report lists the entries with the most requests up to its limit, and counts the rest", async () => {
  await using world = await createWorld();
  const { sums } = sumsIn(world);
  const userId = (number: number) => `0190c5a8-0000-7000-8000-${String(number).padStart(12, "0")}`;
  const reportOf = async (users: readonly number[]) => {
    for (const user of users) sums.count(rowIn(world, user, { userId: userId(user) }));
    await sums.flush();
    const reports = new UsageReports({ ...world, addressOf: (user) => user });
    const report = runSynchronously(reports.report(world.organizationId, { groupBy: "user" }));
    const { entries: shown, isTruncated, totals } = report;
    return { listed: shown.length, first: shown[0]?.key, isTruncated, requests: totals.requests };
  };
  const [listed, last] = [ENTRIES_MAX, ENTRIES_MAX + 1];
  const below = Array.from({ length: listed - 1 }, (_, at) => at + 1);
  expect(await reportOf(below)).toMatchObject({ listed: listed - 1, isTruncated: false });
  expect(await reportOf([listed])).toMatchObject({ listed, isTruncated: false });
  const truncated = { listed, first: userId(last), isTruncated: true, requests: listed + 2 };
  expect(await reportOf([last, last])).toEqual(truncated);
});

describe("INF-56 sums", () => {
  test("adds up the sums of several flushes by day, user, model and agent", async () => {
    await using world = await createWorld();
    const { sums } = sumsIn(world);
    sums.count(rowIn(world, 1));
    sums.count(rowIn(world, 2, { model: null, harness: null, inputTokens: null }));
    await sums.flush();
    sums.count(rowIn(world, 3));
    sums.count(rowIn(world, 4, { outcome: "refused", inputTokens: null }));
    world.clock.advance(DAY_MS);
    sums.count(rowIn(world, 5, { occurredAtMs: START_MS + DAY_MS }));
    await sums.flush();
    expect(entries(world, "model")).toEqual([
      { key: "gpt-5", requests: 3, refused: 1, inputTokens: 3000 },
      { key: null, requests: 1, refused: 0, inputTokens: 0 },
    ]);
    expect(entries(world, "day").map(({ key, requests }) => [key, requests])).toEqual([
      ["2026-01-01", 3],
      ["2026-01-02", 1],
    ]);
  });

  test("keeps sums that could not be written and writes them later", async () => {
    await using world = await createWorld();
    let isBroken = true;
    const failing: typeof world.db.writeInBackground = (...work) =>
      isBroken ? Promise.reject(new Error("the disk is full")) : world.db.writeInBackground(...work);
    const db = Object.assign(Object.create(world.db), { writeInBackground: failing });
    const { sums, failures } = sumsIn({ db, clock: world.clock });
    sums.count(rowIn(world, 1));
    await sums.flush();
    sums.count(rowIn(world, 2));
    isBroken = false;
    await sums.flush();
    expect(failures).toHaveLength(1);
    expect(entries(world, "user")).toEqual([{ key: USER, requests: 2, refused: 0, inputTokens: 2000 }]);
  });

  test("keeps sums for a limited number of pairs of model and agent per user, because both are claims", async () => {
    await using world = await createWorld();
    const { sums } = sumsIn(world);
    for (let number = 0; number <= PAIRS_PER_USER_MAX; number++)
      sums.count(rowIn(world, number, { model: `model-${number}` }));
    sums.count(rowIn(world, 1_000, { model: "model-0" }));
    await sums.flush();
    const found = new Map(entries(world, "model").map(({ key, requests }) => [key, requests]));
    expect(found.size).toBe(PAIRS_PER_USER_MAX + 1);
    expect([found.get("model-0"), found.get(OTHER)]).toEqual([2, 1]);
  });

  test(`removes sums after ${USAGE_DAYS_KEPT} days`, async () => {
    await using world = await createWorld();
    const { sums } = sumsIn(world);
    sums.count(rowIn(world, 1));
    sums.count(rowIn(world, 2, { occurredAtMs: START_MS + DAY_MS }));
    await sums.flush();
    world.clock.advance(USAGE_DAYS_KEPT * DAY_MS);
    expect(await forgetUsage(world)).toBe(0);
    world.clock.advance(DAY_MS);
    expect(await forgetUsage(world)).toBe(1);
  });
});

describe("INF-57 budgets", () => {
  test("counts finished requests against the budget of requests, but not refused ones", async () => {
    await using world = await createWorld();
    const { sums } = sumsIn(world, { requestsPerDay: 2 });
    sums.count(rowIn(world, 1));
    sums.count(rowIn(world, 2, { outcome: "refused" }));
    expect(sums.exceeded(USER)).toBeUndefined();
    sums.count(rowIn(world, 3));
    expect([sums.exceeded(USER), sums.exceeded(BEN)]).toEqual(["requests", undefined]);
    await sums.flush();
  });

  test("counts input and output in a budget of tokens, and lets the request that exceeds it finish", async () => {
    await using world = await createWorld();
    const { sums } = sumsIn(world, { tokensPerDay: 1_201 });
    sums.count(rowIn(world, 1));
    expect(sums.exceeded(USER)).toBeUndefined();
    sums.count(rowIn(world, 2, { inputTokens: null, outputTokens: 1 }));
    expect(sums.exceeded(USER)).toBe("tokens");
    await sums.flush();
  });

  test("survive a restart, and are reset at midnight UTC", async () => {
    await using world = await createWorld();
    world.clock.set(START_MS + 23 * HOUR_MS + 1);
    const before = sumsIn(world, { requestsPerDay: 1 }).sums;
    before.count(rowIn(world, 1));
    await before.flush();
    const { sums } = sumsIn(world, { requestsPerDay: 1 });
    expect(sums.exceeded(USER)).toBeUndefined();
    sums.load();
    expect([sums.exceeded(USER), sums.retryAfterSeconds()]).toEqual(["requests", 3600]);
    world.clock.set(START_MS + DAY_MS);
    expect([sums.exceeded(USER), sums.retryAfterSeconds()]).toEqual([undefined, 86_400]);
    world.clock.set(START_MS + 2 * DAY_MS - 1);
    expect(sums.retryAfterSeconds()).toBe(1);
  });

  test("never refuses without a limit", async () => {
    await using world = await createWorld();
    const { sums } = sumsIn(world);
    for (let number = 0; number < 10; number++) sums.count(rowIn(world, number));
    expect(sums.exceeded(USER)).toBeUndefined();
    await sums.flush();
  });
});
