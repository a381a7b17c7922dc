// Parses `--after`.
import { DomainError } from "../../../src/platform/errors.ts";

/**
 * @param text id of an entry; undefined for the beginning of the log
 * @throws DomainError `usage.not_a_number`
 */
export function entryIdIn(text = "0"): number {
  const id = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isNaN(id)) return id;
  throw new DomainError("invalid", "usage.not_a_number", "--after must be the id of an entry", {
    hint: "see `quartermaster audit list`; 0 is the beginning of the log",
  });
}
