// How long a repeated row of a separate proxy is detected. test/server/routes/gateway/request-logs.test.ts tests its form.
import { expect, test } from "bun:test";
import { COUNTED_IDS_MAX, EVENTS_MAX, LogIntake } from "../../../../src/domain/inference/log/intake.ts";
import { systemClock } from "../../../../src/platform/clock.ts";

const ID = "01890000-0000-7000-8000-";
const eventOf = (number: number) => ({
  id: `${ID}${String(number).padStart(12, "0")}`,
  organization_id: `${ID}a00000000000`,
  user_id: `${ID}b00000000000`,
  occurred_at: "2026-01-01T00:00:00Z",
  method: "GET",
  path: "/models",
  upstream_latency_ms: 0,
});

test("a repeated row is not counted again while its id is among the latest, up to the limit", () => {
  let counted = 0;
  const usage = {
    count: () => {
      counted += 1;
    },
  };
  const intake = new LogIntake({ clock: systemClock, hasUser: () => true, offer: () => true, usage });
  /** @returns how many of the rows are counted */
  const taken = (first: number, end: number): number => {
    const before = counted;
    for (let number = first; number < end; number += EVENTS_MAX) {
      const length = Math.min(EVENTS_MAX, end - number);
      intake.takeBatch({ events: Array.from({ length }, (_, at) => eventOf(number + at)) });
    }
    return counted - before;
  };
  expect(taken(0, COUNTED_IDS_MAX - 1)).toBe(COUNTED_IDS_MAX - 1);
  expect(taken(0, 1)).toBe(0); // one below
  expect(taken(COUNTED_IDS_MAX - 1, COUNTED_IDS_MAX)).toBe(1);
  expect(taken(0, 1)).toBe(0); // at the limit
  expect(taken(COUNTED_IDS_MAX, COUNTED_IDS_MAX + 1)).toBe(1);
  expect([taken(1, 2), taken(0, 1)]).toEqual([0, 1]); // one above: the oldest id is gone
});
