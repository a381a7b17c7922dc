// How long a client was not seen, as an operator writes it.

import { DAY_MS } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";

const DAYS = /^([1-9]\d{0,4})d$/;

/**
 * @param text `90d`, 1 to 99999 days; none would be every client
 * @returns the time before which a client was seen last, UTC milliseconds; undefined for nothing
 * @throws DomainError `usage.not_days`
 */
export function parseSeenBefore(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return nowMs - Number(days) * DAY_MS;
  throw new DomainError("invalid", "usage.not_days", "--stale must be a number of days from 1", {
    hint: "for example: --stale 90d",
  });
}
