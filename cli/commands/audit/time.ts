// Parses `--since` and `--until`.

import { parseDuration, parseExactTime } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";

/**
 * @param text `7d`, `12h` or `30m` ago, `2027-06-30` (the beginning of that day in UTC) or an RFC 3339 time
 * @returns UTC milliseconds; undefined for undefined
 * @throws DomainError `usage.not_a_time`
 */
export function parseTime(option: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const agoMs = parseDuration(text);
  const timeMs = agoMs === undefined ? parseExactTime(text) : nowMs - agoMs;
  if (timeMs !== undefined) return timeMs;
  throw new DomainError("invalid", "usage.not_a_time", `${option} must be an age, a date or a time`, {
    hint: `for example: ${option} 12h, ${option} 2027-06-30 or ${option} 2027-06-30T12:00:00Z`,
  });
}
