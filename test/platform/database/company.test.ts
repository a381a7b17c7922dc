// When a write waits for others: only while it comes often, and not for callers who send one write after the other.
import { expect, test } from "bun:test";
import {
  ANSWERED_MS,
  APART_MS,
  COMPANY_MS,
  COMPANY_RATE_MIN,
  Company,
  PROBE_COMMITS,
} from "../../../src/platform/database/company.ts";

/** enough to find out whether callers depend on their answers, and less than PROBE_COMMITS beyond that */
const MANY = 100;
/** Exact as a binary fraction, as are all other times here. */
const COMMIT_MS = 0.25;
const LITTLE_MS = 1 / 64;

interface Traffic {
  commits: number;
  /** between a commit and the next write */
  gapMs?: number;
  /** between that write and another one, if it waits */
  joinsAfterMs?: number;
  /** one in so many waits is joined */
  joinedOneIn?: number;
}

/** @returns how long the first write of each commit waits */
function waitsOf(company: Company, { commits, gapMs = LITTLE_MS, joinsAfterMs, joinedOneIn = 1 }: Traffic) {
  const waits: number[] = [];
  let nowMs = 0;
  for (let at = 0; at < commits; at += 1) {
    const waitMs = company.waitFor(nowMs);
    if (waitMs > 0 && joinsAfterMs !== undefined && at % joinedOneIn === 0)
      company.waitFor(nowMs + joinsAfterMs);
    waits.push(waitMs);
    nowMs += waitMs + COMMIT_MS;
    company.committed(nowMs);
    nowMs += gapMs;
  }
  return waits;
}

const lastWaitOf = (traffic: Omit<Traffic, "commits">): number | undefined =>
  waitsOf(new Company(), { commits: MANY, ...traffic }).at(-1);

test.each([
  ["below", COMPANY_RATE_MIN * 0.9, 0],
  ["at", COMPANY_RATE_MIN, 0],
  ["above", COMPANY_RATE_MIN * 1.1, COMPANY_MS],
])("%s the rate from which they wait", (_where, perSecond, waitMs) => {
  const company = new Company();
  for (let at = 0; at < MANY; at += 1) company.waitFor((at * 1_000) / perSecond);
  expect(company.waitFor((MANY * 1_000) / perSecond)).toBe(waitMs);
});

test.each([
  ["below", -LITTLE_MS, 0],
  ["at", 0, COMPANY_MS],
  ["above", LITTLE_MS, COMPANY_MS],
])(
  "a lonely write that comes %s the time after a commit in which its caller was answered",
  (_, moreMs, waitMs) => {
    expect(lastWaitOf({ gapMs: ANSWERED_MS + moreMs })).toBe(waitMs);
  },
);

test.each([
  ["below", -LITTLE_MS, 0],
  ["at", 0, COMPANY_MS],
  ["above", LITTLE_MS, COMPANY_MS],
])(
  "writes right after a commit, joined by others %s the pause that shows independent callers",
  (_, moreMs, waitMs) => {
    expect(lastWaitOf({ joinsAfterMs: APART_MS + moreMs })).toBe(waitMs);
  },
);

test.each([
  ["seldom", 8, 0],
  ["often enough", 4, COMPANY_MS],
])("writes right after a commit whose waits are joined %s", (_, joinedOneIn, waitMs) => {
  expect(lastWaitOf({ joinsAfterMs: APART_MS, joinedOneIn })).toBe(waitMs);
});

test("while waiting is useless, one commit in PROBE_COMMITS waits", () => {
  const company = new Company();
  waitsOf(company, { commits: MANY });
  const probes = waitsOf(company, { commits: 3 * PROBE_COMMITS }).flatMap((waitMs, at) =>
    waitMs > 0 ? [at] : [],
  );
  expect(probes.slice(1).map((at, nth) => at - (probes[nth] ?? 0))).toEqual([PROBE_COMMITS, PROBE_COMMITS]);
});

test("independent callers who come later make writes wait again", () => {
  const company = new Company();
  expect(waitsOf(company, { commits: MANY }).at(-1)).toBe(0);
  expect(waitsOf(company, { commits: 4 * PROBE_COMMITS, joinsAfterMs: APART_MS }).at(-1)).toBe(COMPANY_MS);
});

test("the first write, and one after a long pause, do not wait", () => {
  const company = new Company();
  expect(company.waitFor(0)).toBe(0);
  for (let at = 1; at < MANY; at += 1) company.waitFor(at);
  expect(company.waitFor(MANY)).toBe(COMPANY_MS);
  expect(company.waitFor(MANY + 60_000)).toBe(0);
});
