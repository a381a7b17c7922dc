// Parses the numbers of options.
import { DomainError } from "../../src/platform/errors.ts";

/**
 * @param option as the caller wrote it, such as `--limit`
 * @returns undefined for undefined
 * @throws DomainError `usage.not_a_number`
 */
export function parseWholeNumber(
  option: string,
  text: string | undefined,
  { min = 1, max }: { min?: number; max: number },
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new DomainError(
    "invalid",
    "usage.not_a_number",
    `${option} must be a whole number from ${min} to ${max}`,
  );
}
