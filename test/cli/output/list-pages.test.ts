// Lists that are read in pages: all rows up to a limit, or the requested page.
import { expect, test } from "bun:test";
import { Writable } from "node:stream";
import { processContext } from "../../../cli/context.ts";
import {
  LISTED_MAX,
  PAGE_NUMBER_MAX,
  PAGE_ROWS_MAX,
  PRINTED_MAX,
  printPages,
  readPages,
} from "../../../cli/output/list-pages.ts";
import { type Listing, outputFor } from "../../../cli/output/output.ts";
import { PagePrinting } from "../../../cli/page-printing.ts";
import { programFor } from "../../../cli/program.ts";
import { type Page, type PageQuery, WALK_PAGE_MAX } from "../../../src/domain/shared/page.ts";

/** Reads a list of `total` numbers. @returns the result, the warnings, and the pages that were read */
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
  "all %d rows are read without a warning",
  (rows) => {
    const { items, total, warnings } = read(rows);
    expect([items.length, total, warnings.length]).toEqual([rows, rows, 0]);
    expect(new Set(items).size).toBe(rows);
  },
);

test("a longer list is cut at the limit, with a warning", () => {
  const { items, total, warnings } = read(LISTED_MAX + 1);
  expect([items.length, total]).toEqual([LISTED_MAX, LISTED_MAX + 1]);
  expect(warnings).toEqual(["showing the first 10000 of 10001; narrow the list or use --page"]);
});

test("reads only one page if --page or --limit is given", () => {
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

/** The output of a list of numbers, part by part; `reads` has the number of pages read before each part. */
async function print(rows: number, options: Record<string, string> = {}) {
  const parts: string[] = [];
  const reads: number[] = [];
  const warnings: string[] = [];
  const pageQuery: [PageQuery, number | undefined][] = [];
  let moments = 0;
  const call = {
    text: (name: string) => options[name],
    moment: () => {
      moments += 1;
      const end = () => {
        moments -= 1;
      };
      return { [Symbol.dispose]: end };
    },
    output: {
      ...outputFor(processContext(), programFor(processContext(), [])),
      warning: (text: string) => void warnings.push(text),
      async pages<Row>(pages: () => Iterable<readonly Row[]>, _: Listing<Row>, more: object = {}) {
        for (const page of pages()) {
          parts.push(page.join());
          reads.push(pageQuery.length);
        }
        parts.push(JSON.stringify({ ...more, moments }));
      },
    },
  };
  const read = (query: PageQuery, after: number | undefined): Page<number> => {
    pageQuery.push([query, after]);
    const { page = 1, perPage = 25 } = query;
    const start = after === undefined ? (page - 1) * perPage : after + 1;
    const items = Array.from(
      { length: Math.max(0, Math.min(perPage, rows - start)) },
      (__, at) => start + at,
    );
    return { items, page, perPage, total: query.known ?? rows };
  };
  const listing = { columns: [], json: (row: number) => ({ row }), empty: "nothing", more: { extra: 1 } };
  await printPages(call, read, listing);
  return { parts, reads, warnings, request: pageQuery, moments };
}

test.each([0, 1, WALK_PAGE_MAX - 1, WALK_PAGE_MAX, WALK_PAGE_MAX + 1, 3 * WALK_PAGE_MAX])(
  "%d rows are printed page by page, each before the next is read, and counted once",
  async (rows) => {
    const { parts, reads, warnings, request, moments } = await print(rows);
    const pages = Math.max(1, Math.ceil(rows / WALK_PAGE_MAX));
    const numbers = Array.from({ length: rows }, (_, at) => at).join();
    expect(parts.slice(0, -1).join()).toBe(numbers);
    expect(parts.at(-1)).toBe(JSON.stringify({ total: rows, extra: 1, moments: 1 }));
    expect(reads).toEqual(Array.from({ length: pages }, (_, at) => at + 1));
    expect(request.filter(([{ known }]) => known === undefined)).toHaveLength(1);
    expect([warnings, moments]).toEqual([[], 0]);
  },
);

test.each([
  [PRINTED_MAX - 1, 0],
  [PRINTED_MAX, 0],
  [PRINTED_MAX + 1, 1],
])("prints the first of %d rows and mentions the rest", async (rows, warned) => {
  const { parts, warnings } = await print(rows);
  const printed = parts.slice(0, -1).reduce((sum, part) => sum + part.split(",").length, 0);
  expect(printed).toBe(Math.min(rows, PRINTED_MAX));
  expect(warnings).toHaveLength(warned);
});

test("prints only the requested page", async () => {
  const { parts, request } = await print(95, { page: "2", limit: "10", q: "x" });
  expect(parts[0]).toBe("10,11,12,13,14,15,16,17,18,19");
  expect(request).toEqual([[{ q: "x", page: 2, perPage: 10 }, undefined]]);
});

/** A stream that accepts output immediately, or only on request. */
function reader({ isSlow = false } = {}) {
  const parts: string[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk, _, done) {
      parts.push(String(chunk));
      if (!isSlow) done();
    },
  });
  return { stream, parts };
}

const LISTING: Listing<string> = {
  columns: [
    { header: "NAME", value: (row) => row },
    { header: "LENGTH", value: ({ length }) => length },
  ],
  json: (row) => ({ name: row, nested: { list: [1, "a\u0000\u202e\nb"], empty: [] } }),
  empty: "nothing",
};
const STYLE = { wide: false, columns: undefined, nowMs: 0 };
const LISTS: readonly (readonly (readonly string[])[])[] = [
  [[]],
  [["a"]],
  [["a", "bb"], ["建物"]],
  [["a"], ["a much longer name"], ["c\nd"]],
];

test.each(LISTS.map((pages) => [pages]))(
  "%j printed in pages equals the output printed in one piece",
  async (pages) => {
    for (const line of ["users list", "users list --json"]) {
      const [paged, whole] = [reader(), reader()];
      const command = programFor(processContext(), []);
      command.setOptionValue("json", line.endsWith("--json"));
      const outputTo = ({ stream }: typeof whole) =>
        outputFor({ ...processContext(), stdout: stream, stderr: stream }, command);
      outputTo(whole).list(pages.flat(), LISTING, { total: 3, more: [] });
      await outputTo(paged).pages(() => pages, LISTING, { total: 3, more: [] });
      expect(paged.parts.join("")).toBe(whole.parts.join(""));
    }
  },
);

test("a stalled reader delays the list for a limited time; the rest is buffered", async () => {
  const { stream, parts } = reader({ isSlow: true });
  const printing = new PagePrinting({ stdout: stream, stderr: stream }, { style: STYLE, waitMaxMs: 1 });
  await printing.document(() => [["a"], ["b"], ["c"]], LISTING, {});
  expect(parts).toHaveLength(1);
  expect(stream.writableLength).toBeGreaterThan(parts.join("").length);
});
