// When a write waits for others: only while writes are frequent, and never for callers who send one after another.
import { expect, test } from "bun:test";
import {
  ANSWERED_MS,
  ANSWERED_SHARE_MIN,
  CommitGrouping,
  GROUPING_MS,
  GROUPING_RATE_MIN,
} from "../../../src/platform/database/commit-grouping.ts";

const MANY = 200;

/** @returns how long the last of many writes waits that arrive at equal intervals, each answered some time after it arrived */
function waitAmong(gapMs: number, answeredAfterMs: number): number {
  const grouping = new CommitGrouping();
  let waitMs = 0;
  for (let at = 0; at < MANY; at += 1) {
    waitMs = grouping.waitFor(at * gapMs);
    grouping.committed(at * gapMs + answeredAfterMs);
  }
  return waitMs;
}

test.each([
  ["below", GROUPING_RATE_MIN * 0.9, 0],
  ["at", GROUPING_RATE_MIN, 0],
  ["above", GROUPING_RATE_MIN * 1.1, GROUPING_MS],
])("%s the rate from which they wait", (_where, perSecond, waitMs) => {
  expect(waitAmong(1_000 / perSecond, ANSWERED_MS)).toBe(waitMs);
});

test.each([
  ["below", -0.01, 0],
  ["at", 0, GROUPING_MS],
  ["above", 0.01, GROUPING_MS],
])("a write that arrives %s the limit after a commit that answered a caller", (_, moreMs, waitMs) => {
  const gapMs = 1;
  expect(waitAmong(gapMs, gapMs - ANSWERED_MS - moreMs)).toBe(waitMs);
});

test.each([
  ["below", -0.1, GROUPING_MS],
  ["at", 0, 0],
  ["above", 0.1, 0],
])(
  "a write soon after a commit, while the share of such writes is %s the one of dependent callers",
  (_, more, waitMs) => {
    const grouping = new CommitGrouping();
    const share = ANSWERED_SHARE_MIN + more;
    let answered = 0;
    for (let at = 1; at <= 10 * MANY; at += 1) {
      const isAnswered = answered < share * at;
      if (isAnswered) answered += 1;
      grouping.committed(isAnswered ? at : Number.NEGATIVE_INFINITY);
      grouping.waitFor(at);
    }
    grouping.committed(10 * MANY + 1);
    expect(grouping.waitFor(10 * MANY + 1)).toBe(waitMs);
  },
);

test("the first write, and one after a long pause, do not wait", () => {
  const grouping = new CommitGrouping();
  expect(grouping.waitFor(0)).toBe(0);
  for (let at = 1; at < MANY; at += 1) grouping.waitFor(at);
  expect(grouping.waitFor(MANY)).toBe(GROUPING_MS);
  expect(grouping.waitFor(MANY + 60_000)).toBe(0);
});
