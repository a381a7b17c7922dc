// Parses `--expires`. The domain limits how far in the future the time may be.

import { DAY_MS, parseExactTime } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";

const DAYS = /^(\d{1,6})d$/;

/**
 * @param text `90d`, `2027-06-30` (the beginning of that day in UTC) or an RFC 3339 time
 * @returns UTC milliseconds; undefined for undefined
 * @throws DomainError `usage.not_a_time`
 */
export function parseExpiry(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return nowMs + Number(days) * DAY_MS;
  const timeMs = parseExactTime(text);
  if (timeMs !== undefined) return timeMs;
  throw new DomainError("invalid", "usage.not_a_time", "--expires must be days from now, a date or a time", {
    hint: "for example: --expires 90d, --expires 2027-06-30 or --expires 2027-06-30T12:00:00Z",
  });
}
