// The requirements under test/requirements and the tests that prove them: each row that is a must is quoted in the title of a test,
// and no test quotes a row that is not there.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const TESTS = join(import.meta.dir, "..");
const ROW = /^\| (?<id>[A-Z]+-\d+) (?<weight>[MS]) +\| .+ +\|$/gm;
/** a call of test or describe, also as test.each(…)( and test.if(…)( */
const TITLE =
  /(?:\b(?:test|describe)(?:\.\w+)?\(|\]\)\(|\)\)\(|\w\)\()\s*(["'`])(?<title>(?:(?!\1)[^\\]|\\.)*)/g;
const ID = /\b[A-Z]+-\d+\b/g;

const rowsIn = (text: string): { id: string; isMust: boolean }[] =>
  [...text.matchAll(ROW)].map(({ groups }) => ({ id: groups?.id ?? "", isMust: groups?.weight === "M" }));

const quotesIn = (source: string): string[] =>
  [...source.matchAll(TITLE)].flatMap(({ groups }) => groups?.title?.match(ID) ?? []);

const textsOf = (pattern: string): string[] =>
  [...new Glob(pattern).scanSync(TESTS)].map((file) => readFileSync(join(TESTS, file), "utf8"));

const rows = textsOf("requirements/*.md").flatMap(rowsIn);
const quoted = new Set(textsOf("**/*.test.ts").flatMap(quotesIn));

test("every row that is a must is quoted in the title of a test", () => {
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.flatMap(({ id, isMust }) => (isMust && !quoted.has(id) ? id : []))).toEqual([]);
});

test("every row that a title quotes is there, once", () => {
  const ids = rows.map(({ id }) => id);
  const kinds = new Set(ids.map((id) => id.slice(0, id.indexOf("-"))));
  const known = new Set(ids);
  const ours = [...quoted].filter((id) => kinds.has(id.slice(0, id.indexOf("-"))));
  expect(ours.filter((id) => !known.has(id))).toEqual([]);
  expect(ids.length).toBe(known.size);
});

test("titles are found in every form of a test, and ids in comments are no quotes", () => {
  const source = [
    'test("AB-1 does", () => {});',
    "describe(`AB-2: more`, () => {});",
    'test.if(canMount)("AB-3 with a disk", () => {});',
    '])("AB-4 for %s", () => {});',
    'test.each(Object.entries(CASES))(\n  "AB-5 and AB-6 for each", () => {});',
    "// AB-7 is a comment",
    'const text = "AB-8";',
  ].join("\n");
  expect(quotesIn(source)).toEqual(["AB-1", "AB-2", "AB-3", "AB-4", "AB-5", "AB-6"]);
});

test("a row without a test is noticed", () => {
  const text = "| Id | Requirement |\n| --- | --- |\n| AB-1 M | Must |\n| AB-2 S | Should |\n";
  expect(rowsIn(text)).toEqual([
    { id: "AB-1", isMust: true },
    { id: "AB-2", isMust: false },
  ]);
});
