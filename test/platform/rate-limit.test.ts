// Token buckets: the burst, the effect of debt, and what is evicted.
import { expect, test } from "bun:test";
import { SECOND_MS } from "../../src/platform/clock.ts";
import { createRates, RATE_KEYS_MAX } from "../../src/platform/rate-limit.ts";
import { heldClock } from "../support/world.ts";

const LIMIT = { perSecond: 2, burst: 5 };

const started = () => {
  const clock = heldClock();
  return { clock, rates: createRates(clock, LIMIT) };
};

test("admits a full burst and then returns the time to wait", () => {
  const { rates } = started();
  const waits = Array.from({ length: LIMIT.burst + 1 }, () => rates.take("one"));
  expect(waits).toEqual([0, 0, 0, 0, 0, 1]);
});

test("time refills a bucket at its rate and never beyond the burst", () => {
  const { clock, rates } = started();
  for (let taken = 0; taken < LIMIT.burst; taken += 1) rates.take("one");
  clock.advance(SECOND_MS / LIMIT.perSecond - 1);
  expect(rates.take("one")).toBe(1);
  clock.advance(1);
  expect(rates.take("one")).toBe(0);
  clock.advance(3_600 * SECOND_MS);
  const waits = Array.from({ length: LIMIT.burst + 1 }, () => rates.take("one"));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(LIMIT.burst);
});

test("a debt must be refilled before the next admission", () => {
  const { clock, rates } = started();
  rates.charge("one", LIMIT.burst + 19);
  expect(rates.take("one")).toBe(10);
  clock.advance(10 * SECOND_MS - 1);
  expect(rates.take("one")).toBe(1);
  clock.advance(1);
  expect(rates.take("one")).toBe(0);
});

test("each key has its own bucket", () => {
  const { rates } = started();
  rates.charge("one", 100);
  expect(rates.take("other")).toBe(0);
});

test("setting the clock back removes no tokens", () => {
  const { clock, rates } = started();
  rates.take("one");
  clock.advance(-3_600 * SECOND_MS);
  expect(Array.from({ length: LIMIT.burst }, () => rates.take("one"))).toEqual([0, 0, 0, 0, 1]);
});

test.each([
  [RATE_KEYS_MAX - 1, true],
  [RATE_KEYS_MAX, true],
  [RATE_KEYS_MAX + 1, false],
])("among %d keys the longest idle one is remembered: %p", (keys, isRemembered) => {
  const { rates } = started();
  rates.charge("first", 100);
  for (let at = 1; at < keys; at += 1) rates.take(`key ${at}`);
  expect(rates.take("first") > 0).toBe(isRemembered);
});
