import { expect, test } from "bun:test";
import {
  likePattern,
  offsetOf,
  type PageQuery,
  PER_PAGE_MAX,
  readPageQuery,
  SEARCH_LENGTH_MAX,
  toPageEnvelope,
  WALK_PAGE_MAX,
} from "../../../src/domain/shared/page.ts";
import type { Problem } from "../../../src/platform/errors.ts";

function read(query: PageQuery) {
  const problems: Problem[] = [];
  const request = readPageQuery(query, problems);
  return { ...request, wrong: problems.map(({ pointer }) => pointer) };
}

test("an empty query is the first page of 25", () => {
  expect(read({})).toEqual({ page: 1, perPage: 25, q: undefined, wrong: [] });
});

test.each<[string, PageQuery, string[]]>([
  ["page 1", { page: 1 }, []],
  ["page 0", { page: 0 }, ["/page"]],
  ["half a page", { page: 1.5 }, ["/page"]],
  ["no number", { page: Number.NaN, perPage: Number.NaN }, ["/page", "/per_page"]],
  ["a page too far to count", { page: Number.MAX_SAFE_INTEGER }, ["/page"]],
  ["an empty page", { perPage: 0 }, ["/per_page"]],
  ["the smallest page", { perPage: 1 }, []],
  ["almost the largest page", { perPage: PER_PAGE_MAX - 1 }, []],
  ["the largest page", { perPage: PER_PAGE_MAX }, []],
  ["more than the largest page", { perPage: PER_PAGE_MAX + 1 }, ["/per_page"]],
  ["almost the largest page of a walk", { perPage: WALK_PAGE_MAX - 1, isWalk: true }, []],
  ["the largest page of a walk", { perPage: WALK_PAGE_MAX, isWalk: true }, []],
  ["more than the largest page of a walk", { perPage: WALK_PAGE_MAX + 1, isWalk: true }, ["/per_page"]],
  ["almost the longest text", { q: "é".repeat(SEARCH_LENGTH_MAX - 1) }, []],
  ["the longest text and blanks around it", { q: `  ${"😀".repeat(SEARCH_LENGTH_MAX)}  ` }, []],
  ["more than the longest text", { q: "x".repeat(SEARCH_LENGTH_MAX + 1) }, ["/q"]],
  ["NUL, which ends a pattern of LIKE", { q: "\0ann" }, ["/q"]],
  ["all at once", { page: -1, perPage: 1000, q: "x".repeat(500) }, ["/page", "/per_page", "/q"]],
])("names the problem of a query with %s", (_, query, wrong) => {
  expect(read(query).wrong).toEqual(wrong);
});

test("the search text is trimmed and blank means none", () => {
  expect(read({ q: "  ann " }).q).toBe("ann");
  expect(read({ q: " \t" }).q).toBeUndefined();
});

test("escapes the wildcards of LIKE", () => {
  expect(likePattern("a_%\\b")).toBe("%a\\_\\%\\\\b%");
});

test("the offset is the index of the page's first row", () => {
  expect(offsetOf({ page: 3, perPage: 25, q: undefined })).toBe(50);
});

test.each([
  [0, 0],
  [1, 1],
  [25, 1],
  [26, 2],
])("%p rows on pages of 25 are %p pages", (total, pages) => {
  const envelope = toPageEnvelope({ items: [1], page: 1, perPage: 25, total }, String);
  expect(envelope).toEqual({ items: ["1"], page: 1, per_page: 25, total, total_pages: pages });
});
