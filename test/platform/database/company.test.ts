// When a write waits for others: only while it comes often, and never for callers who send one after the other.
import { expect, test } from "bun:test";
import {
  ANSWERED_MS,
  ANSWERED_SHARE_MIN,
  COMPANY_MS,
  COMPANY_RATE_MIN,
  Company,
} from "../../../src/platform/database/company.ts";

const MANY = 200;

/** @returns how long the last of many writes waits that come in even gaps, each answered some time after it came */
function waitAmong(gapMs: number, answeredAfterMs: number): number {
  const company = new Company();
  let waitMs = 0;
  for (let at = 0; at < MANY; at += 1) {
    waitMs = company.waitFor(at * gapMs);
    company.committed(at * gapMs + answeredAfterMs);
  }
  return waitMs;
}

test.each([
  ["below", COMPANY_RATE_MIN * 0.9, 0],
  ["at", COMPANY_RATE_MIN, 0],
  ["above", COMPANY_RATE_MIN * 1.1, COMPANY_MS],
])("%s the rate from which they wait", (_where, perSecond, waitMs) => {
  expect(waitAmong(1_000 / perSecond, ANSWERED_MS)).toBe(waitMs);
});

test.each([
  ["below", -0.01, 0],
  ["at", 0, COMPANY_MS],
  ["above", 0.01, COMPANY_MS],
])("a write that comes %s the time after a commit in which its caller was answered", (_, moreMs, waitMs) => {
  const gapMs = 1;
  expect(waitAmong(gapMs, gapMs - ANSWERED_MS - moreMs)).toBe(waitMs);
});

test.each([
  ["below", -0.1, COMPANY_MS],
  ["at", 0, 0],
  ["above", 0.1, 0],
])(
  "a write soon after a commit, while the share of such writes is %s the one of dependent callers",
  (_, more, waitMs) => {
    const company = new Company();
    const share = ANSWERED_SHARE_MIN + more;
    let answered = 0;
    for (let at = 1; at <= 10 * MANY; at += 1) {
      const isAnswered = answered < share * at;
      if (isAnswered) answered += 1;
      company.committed(isAnswered ? at : Number.NEGATIVE_INFINITY);
      company.waitFor(at);
    }
    company.committed(10 * MANY + 1);
    expect(company.waitFor(10 * MANY + 1)).toBe(waitMs);
  },
);

test("the first write, and one after a long pause, do not wait", () => {
  const company = new Company();
  expect(company.waitFor(0)).toBe(0);
  for (let at = 1; at < MANY; at += 1) company.waitFor(at);
  expect(company.waitFor(MANY)).toBe(COMPANY_MS);
  expect(company.waitFor(MANY + 60_000)).toBe(0);
});
