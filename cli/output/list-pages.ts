// Reads and prints lists that the domain returns in pages: one page, or all rows up to a limit.

import { type Page, type PageQuery, WALK_PAGE_MAX } from "../../src/domain/shared/page.ts";
import type { CliCommand } from "../command.ts";
import type { Call } from "../data-directory/in-domain.ts";
import { parseWholeNumber } from "../input/whole-number.ts";
import type { Listing, Output } from "./output.ts";

/** Rows that are read into memory when no page is requested. */
export const LISTED_MAX = 10_000;
/** Largest page that `--limit` accepts. */
export const PAGE_ROWS_MAX = 100;
export const PAGE_NUMBER_MAX = 1_000_000;

/** Adds `--q`, `--page` and `--limit`. */
export const addPageOptions = (command: CliCommand): CliCommand =>
  command.option("--q <text>", "only rows that contain this text").with(addNumberOptions);

/** Adds `--page` and `--limit`, for a list that has no text search. */
export const addNumberOptions = (command: CliCommand): CliCommand =>
  command
    .option("--page <n>", "show one page, counted from 1, instead of all rows")
    .option("--limit <n>", `rows per page, at most ${PAGE_ROWS_MAX}`);

/**
 * @param read reads one page; `query` has the values of the options
 * @returns the requested page, or all rows up to LISTED_MAX with a warning if there are more; and the total
 * @throws DomainError `usage.not_a_number`
 */
export function readPages<T>(
  { text, output }: Pick<Call, "text"> & { output: Pick<Output, "warning"> },
  read: (query: PageQuery) => Page<T>,
): { items: readonly T[]; total: number } {
  const q = text("q");
  const pageQuery = requestedPage({ text });
  if (pageQuery) return read({ q, ...pageQuery });
  const items: T[] = [];
  for (let number = 1; ; number++) {
    const next = read({ q, page: number, perPage: PAGE_ROWS_MAX });
    items.push(...next.items);
    const isLast = items.length >= next.total || next.items.length === 0;
    if (!isLast && items.length < LISTED_MAX) continue;
    if (!isLast)
      output.warning(`showing the first ${items.length} of ${next.total}; narrow the list or use --page`);
    return { items, total: next.total };
  }
}

/** Rows that a command prints when no page is requested. */
export const PRINTED_MAX = 100_000;

/**
 * Prints a list like `output.list`, but keeps only one page in memory. All pages are read from one snapshot.
 * @param read reads one page; `query` has the values of the options, `after` is the last row of the previous page
 * @param more members of the JSON document in addition to `items` and `total`
 * @throws DomainError `usage.not_a_number`
 */
export async function printPages<T>(
  call: Pick<Call, "text" | "output" | "moment">,
  read: ReadPage<T>,
  { more = {}, ...listing }: Listing<T> & { more?: object },
): Promise<void> {
  using _ = call.moment();
  const pages = pagesOf(call, read);
  const { total } = pages;
  if (pages.isCut)
    call.output.warning(`showing the first ${PRINTED_MAX} of ${total}; narrow the list or use --page`);
  await call.output.pages(() => pages.all(), listing, { total, ...more });
}

/** `after` lets a list start after a row (keyset pagination) instead of skipping the rows before it. */
type ReadPage<T> = (query: PageQuery, after: T | undefined) => Page<T>;

interface Pages<T> {
  total: number;
  /** the list has more rows than are printed */
  isCut: boolean;
  /** @returns all pages in order; the first page is read only once */
  all(): Iterable<readonly T[]>;
}

function pagesOf<T>(call: Pick<Call, "text">, read: ReadPage<T>): Pages<T> {
  const q = call.text("q");
  const pageQuery = requestedPage(call);
  const walk = { q, perPage: WALK_PAGE_MAX, isWalk: true };
  const first = read(pageQuery ? { q, ...pageQuery } : { ...walk, page: 1 }, undefined);
  const { total } = first;
  if (pageQuery) return { total, isCut: false, all: () => [first.items] };
  const last = Math.ceil(Math.min(total, PRINTED_MAX) / WALK_PAGE_MAX);
  return {
    total,
    isCut: total > PRINTED_MAX,
    *all() {
      yield first.items;
      let after = first.items.at(-1);
      for (let page = 2; page <= last; page++) {
        const { items } = read({ ...walk, page, known: total }, after);
        yield items;
        after = items.at(-1);
      }
    },
  };
}

/** @returns the page requested by `--page` and `--limit`; undefined if neither was given */
function requestedPage({ text }: Pick<Call, "text">): PageQuery | undefined {
  const [page, limit] = [text("page"), text("limit")];
  if (page === undefined && limit === undefined) return undefined;
  return {
    page: parseWholeNumber("--page", page, { max: PAGE_NUMBER_MAX }),
    perPage: parseWholeNumber("--limit", limit, { max: PAGE_ROWS_MAX }),
  };
}
