// The requirements under test/requirements and the tests that prove them: each row that is a must is quoted in the title of a
// test, and every requirement that a title or a comment names has a row.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { commentsIn, ROOT, readSources, titlesIn } from "../support/source.ts";

const REQUIREMENTS = join(ROOT, "test/requirements");
const ROW = /^\| (?<id>[A-Z]+-\d+) (?<weight>[MS]) +\| .+ +\|$/gm;
/** one id, or the first and the last of several: `AB-1 to AB-3` */
const IDS = /\b([A-Z]+)-(\d+)(?: to \1-(\d+))?\b/g;
/** Names of algorithms and encodings that look like an id. */
const OTHER_NAMES = new Set(["AES", "SHA", "UTF"]);

const rowsIn = (text: string): { id: string; isMust: boolean }[] =>
  [...text.matchAll(ROW)].map(({ groups }) => ({ id: groups?.id ?? "", isMust: groups?.weight === "M" }));

const idsIn = (text: string): string[] =>
  [...text.matchAll(IDS)].flatMap(([, kind = "", first, last]) => {
    if (OTHER_NAMES.has(kind)) return [];
    const count = last === undefined ? 1 : Number(last) - Number(first) + 1;
    return Array.from({ length: count }, (_, at) => `${kind}-${Number(first) + at}`);
  });

const rows = [...new Glob("*.md").scanSync(REQUIREMENTS)].flatMap((file) =>
  rowsIn(readFileSync(join(REQUIREMENTS, file), "utf8")),
);
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
    'test.if(canMount)("AB-3 with a disk", () => {});',
    '])("AB-4 for %s", () => {});',
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
