// Formats times as ages for people. src/platform/clock.ts formats exact times as RFC 3339.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/platform/clock.ts";

const UNITS = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["m", MINUTE_MS],
  ["s", SECOND_MS],
] as const;

/** @returns the difference in the largest unit that fits: `3h`, `in 3h` for a future time, `now` below a second */
export function ageText(atMs: number, nowMs: number): string {
  const distance = Math.abs(nowMs - atMs);
  const [letter, unitMs] = UNITS.find(([, length]) => distance >= length) ?? [];
  if (letter === undefined) return "now";
  const age = `${Math.floor(distance / unitMs)}${letter}`;
  return atMs > nowMs ? `in ${age}` : age;
}
