// Starts that are refused before anything is opened.
import { expect, test } from "bun:test";
import { assertClockPlausible, CLOCK_SLACK_MS } from "../../../src/app/service/start-checks.ts";
import { heldClock } from "../../support/world.ts";

const BUILD_TIME = "2026-03-01T12:00:00.000Z";
const EARLIEST_MS = Date.parse(BUILD_TIME) - CLOCK_SLACK_MS;

test.each([
  [EARLIEST_MS + 1, true],
  [EARLIEST_MS, true],
  [EARLIEST_MS - 1, false],
])("SVC-10: a clock at %d is accepted by a program of March 2026: %p", (nowMs, isTaken) => {
  const check = () => assertClockPlausible(heldClock(nowMs), BUILD_TIME);
  if (isTaken) expect(check).not.toThrow();
  else expect(check).toThrow("before this program was built (2026-03-01T12:00:00.000Z)");
});

test("SVC-10: a clock that was never set is accepted when the program runs from source", () => {
  expect(() => assertClockPlausible(heldClock(0), null)).not.toThrow();
});
