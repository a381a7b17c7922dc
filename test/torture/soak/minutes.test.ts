import { expect, test } from "bun:test";
import { slopeOf, trendOf } from "./minutes.ts";

test("a slope is not moved by a few disturbed minutes, and shows steady growth", () => {
  expect(slopeOf([10, 10, 90, 10, 10, 10])).toBe(0);
  expect(slopeOf([10, 12, 14, 90, 18, 20])).toBe(2);
  expect(slopeOf([10])).toBe(0);
});

test("the first half of a run warms up, and only the second counts", () => {
  expect(trendOf([1, 50, 90, 100, 100, 101])).toEqual({ typical: 100, growth: 1 });
});
