import { expect, test } from "bun:test";
import { budgeted } from "./figures.ts";

test.each([
  ["below the budget", 9.9, true, false],
  ["at the budget", 10, true, false],
  ["above the budget", 10.1, false, false],
  ["three times the budget", 30, false, false],
  ["more than three times the budget", 30.1, false, true],
  ["unknown", Number.NaN, false, false],
])("a cost %s", (_, cost, isMet, isFailure) => {
  expect(budgeted(10, cost)).toEqual({ wanted: "<= 10", isMet, isFailure });
});
