// The rules about time of a gateway key, each at its limit: when it is due, the delay after a failure, and how often it is
// replaced.
import { describe, expect, test } from "bun:test";
import {
  ATTEMPT_LEASE_MS,
  dueKeys,
  dueRevocations,
  EXPIRY_AHEAD_MS,
  isExpired,
  type KeyRow,
  nextReplacementMs,
  type ProvisionConditions,
  REPLACEMENT_WINDOW_MS,
  REPLACEMENTS_MAX,
  RETRY_BASE_MS,
  RETRY_DOUBLINGS_MAX,
  RETRY_MAX_MS,
  reasonToCall,
  reconcileAtMs,
  retryDelayMs,
  windowOf,
} from "../../../../src/domain/gateway/model.ts";
import { DAY_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { NOW, row } from "./key-row.ts";

describe("the window of automatic replacements", () => {
  test.each([
    ["none", null, undefined],
    ["one that begins now", NOW, NOW],
    ["one that begins later, after the clock went back", NOW + 1, undefined],
    ["its last millisecond", NOW - REPLACEMENT_WINDOW_MS + 1, NOW - REPLACEMENT_WINDOW_MS + 1],
    ["its end", NOW - REPLACEMENT_WINDOW_MS, undefined],
  ])("%s", (_what, replacementsSinceMs, open) => {
    expect(windowOf(row({ replacementsSinceMs }), NOW)).toBe(open);
  });

  test.each([
    [REPLACEMENTS_MAX - 1, NOW],
    [REPLACEMENTS_MAX, NOW - 5 + REPLACEMENT_WINDOW_MS],
    [REPLACEMENTS_MAX + 1, NOW - 5 + REPLACEMENT_WINDOW_MS],
  ])("allows the next replacement after %d replacements at %d", (replacements, atMs) => {
    expect(nextReplacementMs(row({ replacements, replacementsSinceMs: NOW - 5 }), NOW)).toBe(atMs);
  });

  test("does not count replacements of a window that has ended", () => {
    const over = { replacements: REPLACEMENTS_MAX, replacementsSinceMs: NOW - REPLACEMENT_WINDOW_MS };
    expect(nextReplacementMs(row(over), NOW)).toBe(NOW);
  });
});

describe("a key is checked again", () => {
  const at = (expiresAtMs: number | null, fraction = 1) =>
    reconcileAtMs({ nowMs: NOW, expiresAtMs }, { ttlMs: 10 * DAY_MS, fraction }) - NOW;

  test.each([
    ["after nine tenths of the interval at the earliest", null, 0, 9 * DAY_MS],
    ["after the interval at the latest", null, 1, 10 * DAY_MS],
    ["a day ahead of its expiry", NOW + 5 * DAY_MS, 1, 5 * DAY_MS - EXPIRY_AHEAD_MS],
    ["after half its life where that is less", NOW + DAY_MS, 1, DAY_MS / 2],
    ["after half its life, rounded down", NOW + 3, 1, 1],
    ["immediately if it has just expired", NOW, 1, 0],
    ["after the interval where it lives longer", NOW + 30 * DAY_MS, 1, 10 * DAY_MS],
  ])("%s", (_what, expiresAtMs, fraction, afterMs) => {
    expect(at(expiresAtMs, fraction)).toBe(afterMs);
  });

  test.each([
    [NOW - 1, true],
    [NOW, true],
    [NOW + 1, false],
    [null, false],
  ])("an expiry at %p has passed: %p", (expiresAtMs, expired) => {
    expect(isExpired({ expiresAtMs }, NOW)).toBe(expired);
  });
});

test.each([
  [0, 0, RETRY_BASE_MS * 0.8],
  [0, 0.5, RETRY_BASE_MS],
  [0, 1, RETRY_BASE_MS * 1.2],
  [1, 0.5, RETRY_BASE_MS * 2],
  [2, 0.5, RETRY_BASE_MS * 4],
  [RETRY_DOUBLINGS_MAX + 1, 0.5, RETRY_MAX_MS],
  [10_000, 1, RETRY_MAX_MS * 1.2],
])("after %d failures, at the fraction %d, the wait is %d ms", (failures, fraction, waitMs) => {
  expect(retryDelayMs(failures, fraction)).toBe(waitMs);
});

test("a time beyond every plan is due: the clock went back", () => {
  const longestRetryMs = RETRY_MAX_MS * 1.2;
  expect(dueKeys(NOW, 1)).toEqual({
    untilMs: NOW,
    fromMs: NOW + Math.max(REPLACEMENT_WINDOW_MS, longestRetryMs),
  });
  expect(dueKeys(NOW, 864_000)).toEqual({ untilMs: NOW, fromMs: NOW + 864_000 * SECOND_MS });
  const fromMs = NOW + Math.max(longestRetryMs, ATTEMPT_LEASE_MS);
  expect(dueRevocations(NOW)).toEqual({ untilMs: NOW, fromMs });
});

describe("the provisioner is called", () => {
  const due = { untilMs: NOW, fromMs: NOW + 1_000 };
  const conditions = (changes: Partial<ProvisionConditions>): ProvisionConditions => ({
    nowMs: NOW,
    due,
    configurationDigest: "first",
    manual: false,
    force: false,
    ...changes,
  });
  const error = { state: "error", problem: "out of order" } as const;

  test.each<[string, KeyRow | undefined, Partial<ProvisionConditions>, string | undefined]>([
    ["if there is no row", undefined, {}, "missing"],
    ["not for a healthy key", row(), {}, undefined],
    ["not for a requested key that is healthy", row(), { manual: true }, undefined],
    ["for a healthy key by force", row(), { force: true }, "reconciliation_due"],
    ["for a key that is due now", row({ nextAttemptAtMs: NOW }), {}, "reconciliation_due"],
    ["not at the end of what can be planned", row({ nextAttemptAtMs: NOW + 1_000 }), {}, undefined],
    [
      "beyond the latest time that can be planned",
      row({ nextAttemptAtMs: NOW + 1_001 }),
      {},
      "reconciliation_due",
    ],
    ["not for a key that is never due", row({ nextAttemptAtMs: null }), {}, undefined],
    ["for another configuration", row(), { configurationDigest: "second" }, "configuration_changed"],
    [
      "not for another configuration that could not be carried out",
      row({ problem: "out of order" }),
      { configurationDigest: "second" },
      undefined,
    ],
    [
      "for a usable key with a problem, manually",
      row({ problem: "x" }),
      { manual: true },
      "reconciliation_due",
    ],
    ["for an expired key", row({ expiresAtMs: NOW }), {}, "missing"],
    ["not for an error that waits", row(error), {}, undefined],
    ["for an error, manually", row(error), { manual: true }, "missing"],
    ["for an error that is due", row({ ...error, nextAttemptAtMs: NOW }), {}, "missing"],
    ["for an error of another configuration", row(error), { configurationDigest: "second" }, "missing"],
    ["not for an error only because of force", row(error), { force: true }, undefined],
    [
      "for a rejected key",
      row({ state: "invalid", invalidatedAtMs: NOW }),
      { manual: true },
      "credential_invalidated",
    ],
    [
      "not during a lease",
      row({ state: "recovering", recoveringUntilMs: NOW + 1 }),
      { manual: true },
      undefined,
    ],
    ["at the end of a lease", row({ state: "recovering", recoveringUntilMs: NOW }), {}, "missing"],
    [
      "not during the longest lease",
      row({ state: "recovering", recoveringUntilMs: NOW + ATTEMPT_LEASE_MS }),
      {},
      undefined,
    ],
    [
      "during a lease that is longer than any",
      row({ state: "recovering", recoveringUntilMs: NOW + ATTEMPT_LEASE_MS + 1 }),
      {},
      "missing",
    ],
  ])("%s", (_what, found, changes, reason) => {
    const called: string | undefined = reasonToCall(found, conditions(changes));
    expect(called).toBe(reason);
  });
});
