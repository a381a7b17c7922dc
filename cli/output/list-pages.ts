// Lists that the domain hands out in pages, read whole for the terminal up to a bound, or one page of them.

import { type Page, type PageQuery, WALK_PAGE_MAX } from "../../src/domain/shared/page.ts";
import { DomainError } from "../../src/platform/errors.ts";
import type { CliCommand } from "../command.ts";
import type { Call } from "../data-directory/in-domain.ts";
import type { Listing, Output } from "./output.ts";

/** rows that are read into memory when no page is asked for */
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
  const q = text("q");
  const asked = askedPage({ text });
  if (asked) return read({ q, ...asked });
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

/** rows that a command prints when no page is asked for */
export const PRINTED_MAX = 100_000;

/**
 * Prints a list as `output.list` would, without having all of its rows in memory. All of it is of one moment.
 * @param read one page of the domain; `query` has what the options ask for, `after` is the last row of the page before
 * @param more what the document says beside the items
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
    call.output.warning(`these are the first ${PRINTED_MAX} of ${total}; narrow the list or use --page`);
  await call.output.pages(() => pages.all(), listing, { total, ...more });
}

/** A list that can begin behind a row need not pass over the rows before it. */
type ReadPage<T> = (query: PageQuery, after: T | undefined) => Page<T>;

interface Pages<T> {
  total: number;
  /** there are more than are printed */
  isCut: boolean;
  /** @returns the pages from the first one on; the first is read once */
  all(): Iterable<readonly T[]>;
}

function pagesOf<T>(call: Pick<Call, "text">, read: ReadPage<T>): Pages<T> {
  const q = call.text("q");
  const asked = askedPage(call);
  const walk = { q, perPage: WALK_PAGE_MAX, isWalk: true };
  const first = read(asked ? { q, ...asked } : { ...walk, page: 1 }, undefined);
  const { total } = first;
  if (asked) return { total, isCut: false, all: () => [first.items] };
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

/** @returns the page that the options ask for; undefined where they ask for all */
function askedPage({ text }: Pick<Call, "text">): PageQuery | undefined {
  const [page, limit] = [text("page"), text("limit")];
  if (page === undefined && limit === undefined) return undefined;
  return {
    page: parseNumber("--page", page, PAGE_NUMBER_MAX),
    perPage: parseNumber("--limit", limit, PAGE_ROWS_MAX),
  };
}

const parseNumber = (option: string, text: string | undefined, max: number): number | undefined => {
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= max) return number;
  throw new DomainError("invalid", "usage.not_a_number", `${option} must be a whole number from 1 to ${max}`);
};
