// Lists that the domain hands out in pages, read whole for the terminal up to a bound, or one page of them.
import { DomainError } from "../src/domain/errors.ts";
import type { Page, PageQuery } from "../src/domain/page.ts";
import type { CliCommand } from "./command.ts";
import type { Call } from "./in-domain.ts";
import type { Output } from "./output.ts";

/** rows read when no page is asked for */
export const LISTED_MAX = 10_000;
/** what the domain hands out at once */
export const PAGE_ROWS_MAX = 100;
export const PAGE_NUMBER_MAX = 1_000_000;

/** Adds `--q`, `--page` and `--limit`. */
export const addPageOptions = (command: CliCommand): CliCommand =>
  addNumberOptions(command.option("--q <text>", "only those that contain the text"));

/** Adds `--page` and `--limit`, for a list too long to be searched for a text. */
export const addNumberOptions = (command: CliCommand): CliCommand =>
  command
    .option("--page <n>", "one page, counted from 1, in place of all")
    .option("--limit <n>", `rows of a page, at most ${PAGE_ROWS_MAX}`);

/**
 * @param read one page of the domain; `query` has what the options ask for
 * @returns all rows up to LISTED_MAX (a warning tells of more), or those of the page asked for; and the total
 * @throws DomainError `usage.not_a_number`
 */
export function readPages<T>(
  { text, output }: Pick<Call, "text"> & { output: Pick<Output, "warning"> },
  read: (query: PageQuery) => Page<T>,
): { items: readonly T[]; total: number } {
  const [page, limit, q] = [text("page"), text("limit"), text("q")];
  if (page !== undefined || limit !== undefined)
    return read({
      q,
      page: numberIn("--page", page, PAGE_NUMBER_MAX),
      perPage: numberIn("--limit", limit, PAGE_ROWS_MAX),
    });
  const items: T[] = [];
  for (let number = 1; ; number++) {
    const next = read({ q, page: number, perPage: PAGE_ROWS_MAX });
    items.push(...next.items);
    const isLast = items.length >= next.total || next.items.length === 0;
    if (!isLast && items.length < LISTED_MAX) continue;
    if (!isLast)
      output.warning(`these are the first ${items.length} of ${next.total}; narrow the list or use --page`);
    return { items, total: next.total };
  }
}

const numberIn = (option: string, text: string | undefined, max: number): number | undefined => {
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= max) return number;
  throw new DomainError("invalid", "usage.not_a_number", `${option} must be a whole number from 1 to ${max}`);
};
