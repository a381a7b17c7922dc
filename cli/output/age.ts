// Times as a person at a terminal wants them: how long ago. Exact times are RFC 3339, from src/platform/clock.ts.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/platform/clock.ts";

const UNITS = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["m", MINUTE_MS],
  ["s", SECOND_MS],
] as const;

/** @returns the largest whole unit between two times: `3h`, or `in 3h` for a time to come; `now` below a second */
export function ageText(atMs: number, nowMs: number): string {
  const distance = Math.abs(nowMs - atMs);
  const [letter, unitMs] = UNITS.find(([, length]) => distance >= length) ?? [];
  if (letter === undefined) return "now";
  const age = `${Math.floor(distance / unitMs)}${letter}`;
  return atMs > nowMs ? `in ${age}` : age;
}
