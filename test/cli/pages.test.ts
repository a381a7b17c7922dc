// Lists that come in pages: all of them up to a bound, or the page asked for.
import { expect, test } from "bun:test";
import { LISTED_MAX, PAGE_NUMBER_MAX, PAGE_ROWS_MAX, readPages } from "../../cli/pages.ts";
import type { Page, PageQuery } from "../../src/domain/page.ts";

/** Reads from a list of so many numbers. @returns also what was warned of and which pages were read */
function read(rows: number, options: Record<string, string> = {}) {
  const warnings: string[] = [];
  const queries: PageQuery[] = [];
  const pageOf = (query: PageQuery): Page<number> => {
    queries.push(query);
    const { page = 1, perPage = 25 } = query;
    const all = Array.from({ length: rows }, (_, index) => index);
    return { items: all.slice((page - 1) * perPage, page * perPage), page, perPage, total: rows };
  };
  const call = {
    text: (name: string) => options[name],
    output: { warning: (text: string) => void warnings.push(text) },
  };
  return { ...readPages(call, pageOf), warnings, queries };
}

test.each([0, 1, PAGE_ROWS_MAX - 1, PAGE_ROWS_MAX, PAGE_ROWS_MAX + 1, LISTED_MAX - 1, LISTED_MAX])(
  "all of %d rows are read, and nothing is warned of",
  (rows) => {
    const { items, total, warnings } = read(rows);
    expect([items.length, total, warnings.length]).toEqual([rows, rows, 0]);
    expect(new Set(items).size).toBe(rows);
  },
);

test("of more rows the first ones are read, and the rest is mentioned", () => {
  const { items, total, warnings } = read(LISTED_MAX + 1);
  expect([items.length, total]).toEqual([LISTED_MAX, LISTED_MAX + 1]);
  expect(warnings).toEqual(["these are the first 10000 of 10001; narrow the list or use --page"]);
});

test("a page is read alone, whichever of its two options is given", () => {
  expect(read(95, { page: "2", limit: "10" }).items).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect(read(95, { limit: "2" }).items).toEqual([0, 1]);
  expect(read(95, { page: "4" }).queries).toHaveLength(1);
});

test.each([
  ["limit", PAGE_ROWS_MAX],
  ["page", PAGE_NUMBER_MAX],
])("--%s goes from 1 to %d", (option, max) => {
  for (const fine of ["1", String(max - 1), String(max)])
    expect(read(3, { [option]: fine }).queries).toHaveLength(1);
  for (const wrong of ["0", "-1", "1.5", "x", "", String(max + 1)])
    expect(() => read(3, { [option]: wrong })).toThrow(`--${option} must be a whole number from 1 to ${max}`);
});
