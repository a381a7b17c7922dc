import { expect, test } from "bun:test";
import { growthFigures, growthNote, JUDGED_MINUTES_MIN, slopeOf, trendOf } from "./growth.ts";
import type { Minute } from "./minutes.ts";

const MINUTE: Minute = {
  memoryMb: 200,
  descriptors: 40,
  files: 100,
  walMb: 32,
  databaseMb: 2,
  p99Ms: 5,
  steps: 1_000,
};

test("a few disturbed minutes do not change a slope, which shows steady growth", () => {
  expect(slopeOf([10, 10, 90, 10, 10, 10])).toBe(0);
  expect(slopeOf([10, 12, 14, 90, 18, 20])).toBe(2);
  expect(slopeOf([10])).toBe(0);
});

test("the first half of a run warms up, and only the second counts", () => {
  expect(trendOf([1, 50, 90, 100, 100, 101])).toEqual({ typical: 100, growth: 1 });
});

test("growth is compared with a share of the median or an amount, whichever is more, and the verdict shows which", () => {
  const grown = Array.from({ length: JUDGED_MINUTES_MIN }, (_, at) => ({
    ...MINUTE,
    memoryMb: 200 + 6 * at,
    descriptors: 40 + 2 * at,
  }));
  const [memory, descriptors, files] = growthFigures(grown);
  expect(memory).toMatchObject({ ours: 12, reference: 224 });
  expect(memory?.verdict).toEqual({ wanted: "<= 11.2 (5 % of 224, or 4 if that is more)", isMet: false });
  expect(descriptors?.verdict).toEqual({ wanted: "<= 3", isMet: false });
  expect(files?.verdict).toEqual({ wanted: "<= 5 (5 % of 100, or 5 if that is more)", isMet: true });
});

test("a run that is too short for a trend has no verdict about growth, and states the minimum length", () => {
  expect(growthFigures([])).toEqual([]);
  const short = growthFigures(Array.from({ length: JUDGED_MINUTES_MIN - 1 }, () => MINUTE));
  expect(short.map(({ ours, reference, verdict }) => [ours, reference, verdict])).toContainEqual([
    0,
    200,
    undefined,
  ]);
  expect(short.filter(({ verdict }) => verdict !== undefined)).toEqual([]);
  expect(growthNote(0)).toContain("has 0 whole minutes");
  expect(growthNote(JUDGED_MINUTES_MIN)).not.toContain("whole minutes");
});
