// The check of the audit receiver: the number of waiting entries, their wait time, and the cause.
import { expect, test } from "bun:test";
import { FORWARDING_LAG_MS, forwardingFinding } from "../../../src/app/audit-forwarding/check.ts";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import type { ForwardingState } from "../../../src/domain/audit/forwarding/forwarding.ts";
import { START_MS } from "../../support/world.ts";

const WAITING: ForwardingState = {
  lastId: 4,
  deliveredAtMs: START_MS,
  waiting: 2,
  waitingSinceMs: START_MS,
  failingSinceMs: START_MS,
  error: "audit-receiver answered 503",
};

const findingFor = (state: Partial<ForwardingState>, { lateMs = 0, isServiceRunning = true } = {}) =>
  forwardingFinding(
    checkOf("audit_forwarding"),
    { ...WAITING, ...state },
    { nowMs: START_MS + lateMs, isServiceRunning },
  );

test("FWD-5 nothing is wrong if no entry waits", () => {
  expect(findingFor({ waiting: 0, waitingSinceMs: null, error: null })).toMatchObject({ result: "ok" });
});

test.each([
  ["ok", { error: null }, { lateMs: FORWARDING_LAG_MS }],
  ["failed", { error: null }, { lateMs: FORWARDING_LAG_MS + 1 }],
  ["warning", {}, { lateMs: FORWARDING_LAG_MS }],
  ["failed", {}, { lateMs: FORWARDING_LAG_MS + 1 }],
  ["warning", {}, { lateMs: FORWARDING_LAG_MS + 1, isServiceRunning: false }],
] as const)("FWD-5 the result is %s for %p after %p", (result, state, circumstances) => {
  expect(findingFor(state, circumstances)).toMatchObject({ result });
});

test("FWD-5 the finding has the number of waiting entries, the time and the cause", () => {
  expect(findingFor({}).detail).toBe(
    "2 entries wait for the receiver since 2026-01-01T00:00:00.000Z: audit-receiver answered 503",
  );
});
