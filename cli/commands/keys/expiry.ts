// Parses `--expires-within`.
import { parseDuration } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";

/**
 * @param text `7d`, `12h` or `30m`
 * @returns milliseconds; undefined for undefined
 * @throws DomainError `usage.not_a_duration`
 */
export function expiresWithin(text: string | undefined): number | undefined {
  const withinMs = text === undefined ? undefined : parseDuration(text);
  if (text === undefined || withinMs !== undefined) return withinMs;
  throw new DomainError("invalid", "usage.not_a_duration", "--expires-within must be a time such as 7d", {
    hint: "for example: --expires-within 7d, --expires-within 12h or --expires-within 30m",
  });
}
