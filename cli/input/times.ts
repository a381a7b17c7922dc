// Parses times as operators write them. Each command decides which times it accepts.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/platform/clock.ts";

const DISTANCE = /^(\d{1,6})([dhm])$/;
const UNITS_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS };

/** @returns the milliseconds of `7d`, `12h` or `30m`; undefined for any other text */
export function parseDuration(text: string): number | undefined {
  const [, amount, letter = ""] = DISTANCE.exec(text) ?? [];
  const unitMs = UNITS_MS[letter];
  return unitMs === undefined ? undefined : Number(amount) * unitMs;
}
