// Lists that the domain hands out in pages, read whole for the terminal up to a bound, or one page of them.
import type { Page, PageQuery } from "../src/domain/page.ts";
import type { CliCommand } from "./command.ts";
import type { Call } from "./in-domain.ts";

/** rows read when no page is asked for */
export const LISTED_MAX = 10_000;
const READ_AT_ONCE = 100;

/** Adds `--q`, `--page` and `--limit`. */
export const addPageOptions = (command: CliCommand): CliCommand =>
  command
    .option("--q <text>", "only those that contain the text")
    .option("--page <n>", "one page, counted from 1, in place of all")
    .option("--limit <n>", `rows of a page, at most ${READ_AT_ONCE}`);

/**
 * @param read one page of the domain; what is out of range is the domain's to refuse
 * @returns all rows up to LISTED_MAX (a warning tells of more), or those of the page asked for; and the total
 */
export function readPages<T>(
  { text, output }: Call,
  read: (query: PageQuery) => Page<T>,
): { items: readonly T[]; total: number } {
  const [page, limit, q] = [text("page"), text("limit"), text("q")];
  if (page !== undefined || limit !== undefined)
    return read({ q, page: numberIn(page), perPage: numberIn(limit) });
  const items: T[] = [];
  for (let number = 1; ; number++) {
    const next = read({ q, page: number, perPage: READ_AT_ONCE });
    items.push(...next.items);
    const isLast = items.length >= next.total || next.items.length === 0;
    if (!isLast && items.length < LISTED_MAX) continue;
    if (!isLast) output.warning(`these are the first ${items.length} of ${next.total}; use --q or --page`);
    return { items, total: next.total };
  }
}

const numberIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);
