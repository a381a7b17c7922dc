// Parses times as operators write them. Each command decides which times it accepts.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/platform/clock.ts";

const DATE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2}))?$/;
const DISTANCE = /^(\d{1,6})([dhm])$/;
const UNITS_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS };

/**
 * @param text `2027-06-30` (the beginning of that day in UTC) or an RFC 3339 time
 * @returns UTC milliseconds; undefined for any other text
 */
export function parseExactTime(text: string): number | undefined {
  const day = DATE.exec(text)?.[1];
  const timeMs = isDay(day) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** @returns the milliseconds of `7d`, `12h` or `30m`; undefined for any other text */
export function parseDuration(text: string): number | undefined {
  const [, amount, letter = ""] = DISTANCE.exec(text) ?? [];
  const unitMs = UNITS_MS[letter];
  return unitMs === undefined ? undefined : Number(amount) * unitMs;
}

/** `Date` accepts February 30 and turns it into March 2. */
const isDay = (day: string | undefined): boolean =>
  day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
