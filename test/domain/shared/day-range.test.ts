// Ranges by which lists are filtered: days in UTC, and times.
import { expect, test } from "bun:test";
import { readTimeRange } from "../../../src/domain/shared/day-range.ts";
import type { Problem } from "../../../src/platform/errors.ts";

const read = (from: string | undefined, to?: string) => {
  const problems: Problem[] = [];
  const { fromMs, beforeMs } = readTimeRange({ from, to }, { name: "seen", problems });
  const textOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return { from: textOf(fromMs), before: textOf(beforeMs), problems: problems.map(({ detail }) => detail) };
};

test("a last day is included, and a last time is not", () => {
  expect(read("2026-1-31", "2026-02-01")).toEqual({
    from: "2026-01-31T00:00:00.000Z",
    before: "2026-02-02T00:00:00.000Z",
    problems: [],
  });
  expect(read("2026-01-31T09:00:00+09:00", "2026-01-31T00:00:00.001Z")).toEqual({
    from: "2026-01-31T00:00:00.000Z",
    before: "2026-01-31T00:00:00.001Z",
    problems: [],
  });
  expect(read("2026-01-31T12:00:00Z", "2026-01-31").problems).toEqual([]);
});

test.each([
  ["2026-02-30T00:00:00Z", undefined, "seen_from must be a time such as 2026-01-31T08:00:00Z, or a day"],
  ["2026-01-31T00:00", undefined, "seen_from must be a time such as 2026-01-31T08:00:00Z, or a day"],
  [undefined, "Tuesday", "seen_to must be a time such as 2026-01-31T08:00:00Z, or a day"],
  ["2026-02-30", undefined, "seen_from must be a day such as 2026-01-31"],
  ["2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z", "seen_to must not be before seen_from"],
  ["2026-02-01", "2026-01-31", "seen_to must not be before seen_from"],
  ["2026-02-01", "2026-01-31T23:59:59Z", "seen_to must not be before seen_from"],
])("refuses %p to %p", (from, to, problem) => {
  expect(read(from, to).problems).toEqual([problem]);
});
