// Paging and searching for all lists: numbered pages, pages after a cursor, a literal search text, and single values of a query.
// The store of each area orders and matches its rows.
import { type TSchema, Type } from "@sinclair/typebox";
import { DomainError, type Problem } from "../../platform/errors.ts";
import { UUID_PATTERN } from "../../platform/ids.ts";

export const PER_PAGE_MAX = 100;
/** rows per page when a whole list is read */
export const WALK_PAGE_MAX = 500;
export const PER_PAGE_DEFAULT = 25;
export const SEARCH_LENGTH_MAX = 200;

/** The unchecked request of a caller. */
export interface PageQuery {
  page?: number | undefined;
  perPage?: number | undefined;
  q?: string | undefined;
  /** the total of an earlier page; counting a long list takes longer than reading a page of it */
  known?: number | undefined;
  /** set if the caller reads all pages in turn, with up to WALK_PAGE_MAX rows each; never set by an HTTP request */
  isWalk?: boolean | undefined;
}

export interface PageRequest {
  /** 1-based */
  page: number;
  perPage: number;
  /** trimmed; undefined without a search */
  q: string | undefined;
}

/** The rows of a list that one page shows. */
export interface PageSlice {
  offset: number;
  limit: number;
  /** the total, if it need not be counted */
  known?: number | undefined;
}

export interface Page<T> {
  items: readonly T[];
  page: number;
  perPage: number;
  /** number of rows on all pages */
  total: number;
}

/**
 * Checks page, page size and search text. A value out of range is refused, never clamped.
 * @param problems collects every problem; use the result only if it stays empty
 */
export function readPageQuery(query: PageQuery, problems: Problem[]): PageRequest {
  const { page = 1, perPage = PER_PAGE_DEFAULT, isWalk } = query;
  const perPageMax = isWalk ? WALK_PAGE_MAX : PER_PAGE_MAX;
  const pageIsValid = Number.isInteger(page) && page >= 1 && Number.isSafeInteger(page * perPageMax);
  if (!pageIsValid) problems.push({ pointer: "/page", detail: "page must be a whole number from 1" });
  if (!Number.isInteger(perPage) || perPage < 1 || perPage > perPageMax) {
    const detail = `per_page must be a whole number from 1 to ${perPageMax}`;
    problems.push({ pointer: "/per_page", detail });
  }
  return { page, perPage, q: readSearchText(query.q, problems) };
}

/** @returns the trimmed text; undefined if it is blank */
export function readSearchText(q: string | undefined, problems: Problem[]): string | undefined {
  const text = q?.trim();
  if (!text) return undefined;
  if ([...text].length > SEARCH_LENGTH_MAX) {
    problems.push({ pointer: "/q", detail: `q may have at most ${SEARCH_LENGTH_MAX} characters` });
  }
  // SQLite's LIKE ends a pattern at NUL, so the text before it, or every row, would match.
  if (text.includes("\0")) problems.push({ pointer: "/q", detail: "q must not contain the character NUL" });
  return text;
}

/** @returns the id in lower case, as stored; UUID input is case-insensitive (RFC 9562 section 4) */
export function readUuid(text: string | undefined, name: string, problems: Problem[]): string | undefined {
  if (text !== undefined && !UUID_PATTERN.test(text))
    problems.push({ pointer: `/${name}`, detail: `${name} must be a UUID` });
  return text?.toLowerCase();
}

/** @returns the value, which must be one of the words */
export function readWord<Word extends string>(
  text: string | undefined,
  { name, words, problems }: { name: string; words: readonly Word[]; problems: Problem[] },
): Word | undefined {
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word === undefined)
    problems.push({
      pointer: `/${name}`,
      detail: `${name} must be ${words.length === 1 ? "" : "one of "}${words.join(", ")}`,
    });
  return word;
}

/** @returns a pattern for `LIKE … ESCAPE '\'` that finds the literal text anywhere */
export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;

export const offsetOf = ({ page, perPage }: PageRequest): number => (page - 1) * perPage;

/** @returns the schema of the list envelope in the API */
export const pageEnvelope = <T extends TSchema>(item: T) =>
  Type.Object({
    items: Type.Array(item),
    page: Type.Integer({ minimum: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: PER_PAGE_MAX }),
    total: Type.Integer({ minimum: 0 }),
    total_pages: Type.Integer({ minimum: 0 }),
  });

/** @returns the envelope for the API; a page past the end has no items */
export const toPageEnvelope = <T, W>(page: Page<T>, toItem: (item: T) => W) => ({
  items: page.items.map(toItem),
  page: page.page,
  per_page: page.perPage,
  total: page.total,
  total_pages: Math.ceil(page.total / page.perPage),
});

/** One page of a list with a cursor: it begins after the last item of the previous page. */
export interface KeyedPage<T> {
  items: readonly T[];
  /** `cursor` of the next page; null on the last one */
  next: string | null;
}

/** @returns the number of items of a page after a cursor; default: PER_PAGE_MAX */
export function readLimit(text: string | undefined, problems: Problem[]): number {
  if (text === undefined) return PER_PAGE_MAX;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > PER_PAGE_MAX)
    problems.push({ pointer: "/limit", detail: `limit must be a whole number from 1 to ${PER_PAGE_MAX}` });
  return limit;
}

/**
 * @param rows one more than the limit, if there are that many
 * @param keyOf returns the cursor after an item
 */
export function keyedPage<T>(rows: readonly T[], limit: number, keyOf: (item: T) => string): KeyedPage<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? keyOf(last) : null };
}

/** @returns the schema of a page after a cursor in the API */
export const keyedEnvelope = <T extends TSchema>(item: T) =>
  Type.Object({
    items: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: "`cursor` of the next page; null on the last",
    }),
  });

/** @returns the page after a cursor for the API */
export const toKeyedEnvelope = <T, W>({ items, next }: KeyedPage<T>, toItem: (item: T) => W) => ({
  items: items.map(toItem),
  next_cursor: next,
});

/** @throws DomainError with this reason that names every problem, if there are any */
export function refuseProblems(reason: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const message = problems.map(({ detail }) => detail).join("; ");
  throw new DomainError("invalid", reason, message, { problems });
}
