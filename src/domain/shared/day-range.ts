// Reads the ranges of list filters: days in UTC, including the first and the last day, or times.

import { DAY_MS, parseExactTime } from "../../platform/clock.ts";
import type { Problem } from "../../platform/errors.ts";

/** The two ends of a filter, as text. */
export interface DayRangeQuery {
  from?: string | undefined;
  to?: string | undefined;
}

export interface DayRange {
  /** UTC milliseconds, inclusive */
  fromMs: number | undefined;
  /** UTC milliseconds, exclusive */
  beforeMs: number | undefined;
}

const DAY = /^(\d{1,4})-(\d{1,2})-(\d{1,2})$/;

/**
 * Reads two days, each `YYYY-MM-DD` with or without leading zeros.
 * @param name of the filter: `last_seen` for `last_seen_from` and `last_seen_to`
 */
export function readDayRange(
  { from, to }: DayRangeQuery,
  { name, problems }: { name: string; problems: Problem[] },
): DayRange {
  const fromMs = parseDay(from, `${name}_from`, problems);
  const toMs = parseDay(to, `${name}_to`, problems);
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs)
    problems.push({ pointer: `/${name}_to`, detail: `${name}_to must not be before ${name}_from` });
  return { fromMs, beforeMs: toMs === undefined ? undefined : toMs + DAY_MS };
}

/** Descriptions of both ends of a time range, for the documentation of parameters. */
export const FIRST_TIME = "First day in UTC, or an inclusive RFC 3339 time";
export const LAST_TIME = "Last day in UTC, or an exclusive RFC 3339 time";

/**
 * Reads two ends, each a day as in `readDayRange`, or an RFC 3339 time: inclusive at the beginning, exclusive at the end. Callers
 * with days in another time zone send times.
 * @param name of the filter: `last_seen` for `last_seen_from` and `last_seen_to`
 */
export function readTimeRange(
  { from, to }: DayRangeQuery,
  { name, problems }: { name: string; problems: Problem[] },
): DayRange {
  const range = {
    fromMs: parseEnd(from, { name: `${name}_from`, problems, dayMs: 0 }),
    beforeMs: parseEnd(to, { name: `${name}_to`, problems, dayMs: DAY_MS }),
  };
  if (range.fromMs !== undefined && range.beforeMs !== undefined && range.fromMs >= range.beforeMs)
    problems.push({ pointer: `/${name}_to`, detail: `${name}_to must not be before ${name}_from` });
  return range;
}

/** @param options `dayMs` is added to the beginning of a day */
function parseEnd(
  text: string | undefined,
  { name, problems, dayMs }: { name: string; problems: Problem[]; dayMs: number },
): number | undefined {
  if (text === undefined) return undefined;
  if (!text.includes("T")) {
    const startMs = parseDay(text, name, problems);
    return startMs === undefined ? undefined : startMs + dayMs;
  }
  const timeMs = parseExactTime(text);
  if (timeMs === undefined)
    problems.push({
      pointer: `/${name}`,
      detail: `${name} must be a time such as 2026-01-31T08:00:00Z, or a day`,
    });
  return timeMs;
}

/** `Date` turns 30 February into 2 March, so its result is compared with the input. */
function parseDay(text: string | undefined, name: string, problems: Problem[]): number | undefined {
  if (text === undefined) return undefined;
  const [year = 0, month = 0, day = 0] = (DAY.exec(text) ?? []).slice(1).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (isDay) return date.getTime();
  problems.push({ pointer: `/${name}`, detail: `${name} must be a day such as 2026-01-31` });
  return undefined;
}
