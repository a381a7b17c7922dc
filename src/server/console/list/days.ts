// Days in filters are days in the reader's time zone. The domain compares UTC milliseconds.
import type { DayRange } from "../../../domain/shared/day-range.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";

interface DayOptions {
  /** of the parameter */
  name: string;
  /** IANA time zone */
  zone: string;
  /** receives the problem of the text, if there is one */
  problems: Problem[];
}

/**
 * @param text `2027-06-30`
 * @returns UTC milliseconds of the beginning of that day in the zone; undefined without a text, or with a problem
 */
export const dayIn = (text: string | undefined, options: DayOptions): number | undefined =>
  startOf(text, options, 0);

/** @returns UTC milliseconds of the end of that day in the zone, which is the beginning of the next one */
export const dayEndIn = (text: string | undefined, options: DayOptions): number | undefined =>
  startOf(text, options, 1);

/** Parameters and problems of a range of days. */
interface RangeOptions extends DayOptions {
  from: string | undefined;
  to: string | undefined;
}

/** @returns the range of the days `from` to `to`, whose parameters are `<name>_from` and `<name>_to` */
export function dayRangeIn({ from, to, name, ...options }: RangeOptions): DayRange {
  const fromMs = dayIn(from, { ...options, name: `${name}_from` });
  const beforeMs = dayEndIn(to, { ...options, name: `${name}_to` });
  if (fromMs !== undefined && beforeMs !== undefined && fromMs >= beforeMs)
    options.problems.push({ pointer: `/${name}_to`, detail: `${name}_to must not be before ${name}_from` });
  return { fromMs, beforeMs };
}

/**
 * The same range for the command and the API, which take days in UTC or times.
 * @param range texts of the address
 * @returns days for a reader in UTC, times for others; undefined for an end without a text or with a problem
 */
export function sameRange(
  { from, to }: { from: string | undefined; to: string | undefined },
  zone: string,
): { from: string | undefined; to: string | undefined } {
  if (zone === "UTC") return { from, to };
  const options = { name: "", zone, problems: [] };
  const timeText = (ms: number | undefined) => (ms === undefined ? undefined : toRfc3339(ms));
  return { from: timeText(dayIn(from, options)), to: timeText(dayEndIn(to, options)) };
}

function startOf(
  text: string | undefined,
  { name, zone, problems }: DayOptions,
  daysLater: number,
): number | undefined {
  if (text === undefined) return undefined;
  try {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) throw new RangeError("another form");
    return Temporal.PlainDate.from(text).add({ days: daysLater }).toZonedDateTime(zone).epochMilliseconds;
  } catch {
    problems.push({ pointer: `/${name}`, detail: `${name} must be a day such as 2027-06-30` });
    return undefined;
  }
}
