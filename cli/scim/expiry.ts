// Times to come, as an operator writes them. How far they may lie ahead is for the domain.

import { DomainError } from "../../src/domain/errors.ts";
import { DAY_MS } from "../../src/platform/clock.ts";

const DAYS = /^(\d{1,6})d$/;
const DATE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * @param text `90d`, `2027-06-30` (the beginning of that day in UTC) or an RFC 3339 time
 * @returns UTC milliseconds, undefined for nothing
 * @throws DomainError `usage.not_a_time`
 */
export function expiryIn(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return nowMs + Number(days) * DAY_MS;
  const day = DATE.exec(text)?.[1];
  const timeMs = isDay(day) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(timeMs)) return timeMs;
  throw new DomainError("invalid", "usage.not_a_time", "--expires must be days from now, a date or a time", {
    hint: "for example: --expires 90d, --expires 2027-06-30 or --expires 2027-06-30T12:00:00Z",
  });
}

/** `Date` makes 2 March of 30 February. */
const isDay = (day: string | undefined): boolean =>
  day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
