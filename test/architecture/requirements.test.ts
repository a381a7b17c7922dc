// The requirements under test/requirements and their tests: each mandatory row is quoted in the title of a test, and every
// requirement that a title or a comment names has a row.
import { expect, test } from "bun:test";
import { commentsIn, readSources, titlesIn } from "../support/source.ts";
import { idsIn, rows, rowsIn } from "./requirement-rows.ts";

const sources = (await readSources(["src", "cli", "test", "migrations"])).filter(
  ({ path }) => path !== "test/architecture/requirements.test.ts",
);
const tests = sources.filter(({ path }) => path.endsWith(".test.ts"));
const quoted = new Set(tests.flatMap(({ text }) => titlesIn(text).flatMap(idsIn)));

test("every mandatory row is quoted in the title of a test", () => {
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.flatMap(({ id, isMust }) => (isMust && !quoted.has(id) ? id : []))).toEqual([]);
});

test("every id in a title or comment has one row", () => {
  const ids = rows.map(({ id }) => id);
  const known = new Set(ids);
  const unknown = sources.flatMap(({ path, text }) =>
    [...commentsIn(text), ...titlesIn(text)]
      .flatMap(idsIn)
      .filter((id) => !known.has(id))
      .map((id) => `${path} names ${id}`),
  );
  expect(unknown).toEqual([]);
  expect(ids.length).toBe(known.size);
});

test("titles are found in every form of a test, and comments are ignored", () => {
  const source = [
    'test("AB-1 does", () => {});',
    "describe(`AB-2: more`, () => {});",
    'test.if(canMount)("AB-3 needs a disk", () => {});',
    '])("AB-4 accepts %s", () => {});',
    'test.each(Object.entries(CASES))(\n  "AB-5 and AB-6 for each", () => {});',
    "// AB-7 is a comment",
    'const text = "AB-8";',
  ].join("\n");
  expect(titlesIn(source).flatMap(idsIn)).toEqual(["AB-1", "AB-2", "AB-3", "AB-4", "AB-5", "AB-6"]);
  expect(commentsIn(source).flatMap(idsIn)).toEqual(["AB-7"]);
});

test("a range includes every id in it", () => {
  expect(idsIn("AB-2 to AB-4, AB-8; UTF-8 to CD-9")).toEqual(["AB-2", "AB-3", "AB-4", "AB-8", "CD-9"]);
});

test("a row without a test is detected", () => {
  const text = "| Id | Requirement |\n| --- | --- |\n| AB-1 M | Must |\n| AB-2 S | Should |\n";
  expect(rowsIn(text)).toEqual([
    { id: "AB-1", isMust: true },
    { id: "AB-2", isMust: false },
  ]);
});
