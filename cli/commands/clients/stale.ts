// Parses `--stale`: how long a client has not been seen.

import { DAY_MS } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";

const DAYS = /^([1-9]\d{0,4})d$/;

/**
 * @param text `90d`, 1 to 99999 days; 0 days would match every client
 * @returns stale clients were last seen before this time, in UTC milliseconds; undefined for undefined
 * @throws DomainError `usage.not_days`
 */
export function parseSeenBefore(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return nowMs - Number(days) * DAY_MS;
  throw new DomainError("invalid", "usage.not_days", "--stale must be a number of days, at least 1d", {
    hint: "for example: --stale 90d",
  });
}
