// Attempt counters: at, below and above the limit, windows, restarts, and how many disk writes a flood causes.
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import * as budgets from "../../../../src/domain/access/budgets/budgets.ts";
import * as store from "../../../../src/domain/access/budgets/budgets-store.ts";
import { createLinkBudget } from "../../../../src/domain/access/budgets/link-budget.ts";
import { SWEEP_BATCH_ROWS } from "../../../../src/domain/access/model.ts";
import { DAY_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { createWorld, START_MS, type World } from "../../../support/world.ts";
import { isAtRest } from "../at-rest.ts";

const guesses = (overrides: Partial<budgets.Budget> = {}): budgets.Budget => ({
  name: "password.account",
  subject: "ada@example.com",
  limit: 3,
  windowSeconds: 60,
  nowMs: START_MS,
  ...overrides,
});

const consumeBudget = (world: World, overrides: Partial<budgets.Budget> = {}): Promise<void> =>
  world.db.write((tx) => budgets.consumeBudget(tx, guesses(overrides)), "access");

const spendTimes = async (world: World, times: number): Promise<void> => {
  for (let i = 0; i < times; i += 1) await consumeBudget(world);
};

const tooMany = (act: () => unknown): unknown => {
  try {
    act();
    return "allowed";
  } catch (error) {
    return error instanceof DomainError ? [error.kind, error.reason, error.retryAfterSeconds] : error;
  }
};

test("below its limit a budget allows the next attempt", async () => {
  await using world = await createWorld();
  await spendTimes(world, 2);
  budgets.check(world.db.read, guesses());
  await consumeBudget(world);
});

test("a budget at its limit refuses and reports when the window ends", async () => {
  await using world = await createWorld();
  await spendTimes(world, 3);
  const nowMs = START_MS + 17.5 * SECOND_MS;
  const refusal = ["too_many", "access.too_many_attempts", 43];
  expect(tooMany(() => budgets.check(world.db.read, guesses({ nowMs })))).toEqual(refusal);
  expect(consumeBudget(world, { nowMs })).rejects.toMatchObject({ reason: "access.too_many_attempts" });
});

test.each([
  [59_000, "1 minute"],
  [60_000, "1 minute"],
  [60_001, "2 minutes"],
  [120_000, "2 minutes"],
  [120_001, "3 minutes"],
])("a refusal %i ms before the end of the window names %s", async (leftMs, told) => {
  await using world = await createWorld();
  const window = { windowSeconds: 600 };
  for (let i = 0; i < 3; i += 1) await consumeBudget(world, window);
  const nowMs = START_MS + 600 * SECOND_MS - leftMs;
  expect(() => budgets.check(world.db.read, guesses({ ...window, nowMs }))).toThrow(`try again in ${told}`);
});

test("above its limit nothing is counted, so the window ends at its planned time", async () => {
  await using world = await createWorld();
  await spendTimes(world, 3);
  await consumeBudget(world, { nowMs: START_MS + 59 * SECOND_MS }).catch(() => {});
  await consumeBudget(world, { nowMs: START_MS + 60 * SECOND_MS });
});

test("simultaneous attempts cannot pass together", async () => {
  await using world = await createWorld();
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => consumeBudget(world)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

test("subjects and kinds of attempt are counted separately", async () => {
  await using world = await createWorld();
  await spendTimes(world, 3);
  await consumeBudget(world, { subject: "bob@example.com" });
  await consumeBudget(world, { name: "password.address" });
});

test("counters survive a restart", async () => {
  await using world = await createWorld();
  await spendTimes(world, 3);
  await world.db.close();
  const reopened = openDatabase(world.file);
  expect(tooMany(() => budgets.check(reopened.read, guesses()))).toEqual([
    "too_many",
    "access.too_many_attempts",
    60,
  ]);
  await reopened.close();
});

test("a clock that was set back locks no user out", async () => {
  await using world = await createWorld();
  await spendTimes(world, 3);
  budgets.check(world.db.read, guesses({ nowMs: START_MS - DAY_MS }));
});

test("a success clears a counter, a refund gives one attempt back", async () => {
  await using world = await createWorld();
  await spendTimes(world, 3);
  await world.db.write((tx) => budgets.refund(tx, guesses()), "access");
  await consumeBudget(world);
  expect(consumeBudget(world)).rejects.toMatchObject({ kind: "too_many" });
  await world.db.write((tx) => budgets.clear(tx, guesses()), "access");
  await spendTimes(world, 3);
});

test("a refund gives back no more than was counted", async () => {
  await using world = await createWorld();
  const refund = () => world.db.write((tx) => budgets.refund(tx, guesses()), "access");
  await refund(); // refund of a counter that does not exist
  await consumeBudget(world);
  for (let i = 0; i < 3; i += 1) await refund();
  await spendTimes(world, 3);
  expect(consumeBudget(world)).rejects.toMatchObject({ kind: "too_many" });
});

test.each([
  ["before", -1, "refused"],
  ["at", 0, "allowed"],
  ["after", 1, "allowed"],
])(
  "%s the end of a window below its limit, an attempt begins a new window with a whole budget or does not",
  async (_when, stepMs, fourth) => {
    await using world = await createWorld();
    await consumeBudget(world);
    const nowMs = START_MS + 60 * SECOND_MS + stepMs;
    await consumeBudget(world, { nowMs });
    await consumeBudget(world, { nowMs });
    const outcome = await consumeBudget(world, { nowMs }).then(
      () => "allowed",
      () => "refused",
    );
    expect(outcome).toBe(fourth);
    if (fourth === "allowed")
      expect(tooMany(() => budgets.check(world.db.read, guesses({ nowMs })))).toEqual([
        ...["too_many", "access.too_many_attempts", 60],
      ]);
  },
);

test("an attempt after the clock went back starts a window of the right length", async () => {
  await using world = await createWorld();
  await consumeBudget(world);
  const nowMs = START_MS - DAY_MS;
  for (let i = 0; i < 3; i += 1) await consumeBudget(world, { nowMs });
  const [, , seconds] = [tooMany(() => budgets.check(world.db.read, guesses({ nowMs })))].flat();
  expect(seconds).toBe(60);
});

test("all counters of a subject are removed together, without those of other subjects", async () => {
  await using world = await createWorld();
  const others = Array.from({ length: 20 }, (_, number) => `other-${number}@example.com`);
  await consumeBudget(world, { part: "192.0.2.1" });
  await consumeBudget(world, { part: "192.0.2.2", nowMs: START_MS + 1 });
  await consumeBudget(world);
  await consumeBudget(world, { name: "password.address", part: "192.0.2.1" });
  for (const subject of others) {
    await consumeBudget(world, { subject });
    await consumeBudget(world, { subject, part: "192.0.2.1" });
  }
  const rows = () => world.db.read.all("SELECT name, subject FROM budgets").length;
  const before = rows();
  const clearAll = (nowMs: number) =>
    world.db.write((tx) => budgets.clearAll(tx, guesses(), nowMs), "access");
  expect(await clearAll(START_MS + 60 * SECOND_MS)).toBe(1); // the others' windows have just ended
  expect(rows()).toBe(before - 3);
  expect(await clearAll(START_MS)).toBe(0);
});

test.each([
  ["a user", { kind: "user", id: "u1" }, true],
  ["an operator", { kind: "operator", id: "o1" }, false],
  ["the service", { kind: "system", id: null }, false],
] as const)("invitations of %s are counted or not", async (_who, who, isCounted) => {
  await using world = await createWorld();
  const limits = { invitationsPerActor: 2, windowSeconds: 60 };
  const spendOne = createLinkBudget({ clock: world.clock, limits });
  const actor = { ...who, label: "someone", organizationId: world.organizationId };
  const invite = () => world.db.write((tx) => spendOne(tx, actor, "invitation"), "access");
  await invite();
  await invite();
  const third = await invite().then(
    () => "allowed",
    ({ reason }: DomainError) => reason,
  );
  expect(third).toBe(isCounted ? "access.too_many_attempts" : "allowed");
  await world.db.write((tx) => spendOne(tx, actor, "password_link"), "access"); // has its own counter
});

test("sweeping removes only counters of expired windows", async () => {
  await using world = await createWorld();
  await consumeBudget(world);
  await consumeBudget(world, { subject: "bob@example.com", nowMs: START_MS + 1 });
  const sweep = () => world.db.write((tx) => budgets.sweep(tx, START_MS + 60 * SECOND_MS));
  expect(await sweep()).toBe(1);
  expect(await sweep()).toBe(0);
});

test(`one sweep removes at most ${SWEEP_BATCH_ROWS} counters`, async () => {
  await using world = await createWorld();
  await world.db.write((tx) => {
    for (let i = 0; i <= SWEEP_BATCH_ROWS; i += 1) budgets.consumeBudget(tx, guesses({ subject: `${i}` }));
  });
  const sweep = () => world.db.write((tx) => budgets.sweep(tx, START_MS + 60 * SECOND_MS));
  expect([await sweep(), await sweep(), await sweep()]).toEqual([SWEEP_BATCH_ROWS, 1, 0]);
});

test("a flood of refused checks writes nothing to the disk", async () => {
  await using world = await createWorld();
  await spendTimes(world, 3);
  const log = `${world.file}-wal`;
  const before = statSync(log).size;
  for (let i = 0; i < 1_000; i += 1) tooMany(() => budgets.check(world.db.read, guesses()));
  expect(statSync(log).size).toBe(before);
});

test("stores neither an e-mail address nor a network address", async () => {
  await using world = await createWorld();
  await consumeBudget(world);
  await consumeBudget(world, { name: "password.address", subject: "192.0.2.77" });
  expect(isAtRest(world.file, "password.account")).toBe(true);
  expect(isAtRest(world.file, "ada@example.com")).toBe(false);
  expect(isAtRest(world.file, "192.0.2.77")).toBe(false);
});

test("the counters of a subject are removed with those of its parts, and those of another name are kept", async () => {
  await using world = await createWorld();
  const key = { name: "one", subject: "ada" };
  const keys = [key, { name: "other", subject: "ada" }, { name: "one", subject: "ada.part" }];
  const removed = await world.db.write((tx) => {
    for (const each of keys) store.put(tx, { ...each, used: 1, resetsAtMs: START_MS });
    return store.removeParts(tx, key);
  }, "access");
  expect(removed.map(({ subject }) => subject).sort()).toEqual(["ada", "ada.part"]);
});
