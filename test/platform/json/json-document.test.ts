// Reads texts that are JSON, or look like it, with the reader of YAML files.
import { describe, expect, test } from "bun:test";
import { LARGE_OBJECT_MEMBERS_MAX, OBJECT_SHAPES_MAX } from "../../../src/platform/json/shapes.ts";
import {
  NAME_CHARACTERS_MAX,
  NUMBER_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
} from "../../../src/platform/json/structure.ts";
import { PROBLEMS_MAX, ProblemList } from "../../../src/platform/text/problem-list.ts";
import { YAML_VALUES_MAX } from "../../../src/platform/text/yaml-scan.ts";
import { YAML_DEPTH_MAX } from "../../../src/platform/text/yaml-source.ts";
import { readYamlText } from "../../../src/platform/text/yaml-text.ts";

const BOUNDS = { bytesMax: 4_000_000, tokensMax: 1_000_000 };

function read(text: string, isOver = () => false) {
  const problems = new ProblemList();
  const { content } = readYamlText(Buffer.from(text), problems, { ...BOUNDS, isOver });
  return { content, problems: problems.list() };
}

/** Reads a text that must not reach the YAML reader, which would stop immediately. */
const readAtOnce = (text: string) => read(text, () => true);

const nested = (levels: number) => `${"[".repeat(levels)}\n${"]".repeat(levels)}`;
const list = (values: number) => `[\n${Array(values - 1).fill(1)}]`;
const membersOf = (count: number, prefix = "k") =>
  `{${Array.from({ length: count }, (_, at) => `"${prefix}${at}":1`)}}`;
const shapes = (count: number) => `[${Array.from({ length: count }, (_, at) => `\n{"k${at}":1}`)}]`;

describe("a limit that JSON exceeds is reported without a reader of YAML", () => {
  test.each([
    ["levels", nested(YAML_DEPTH_MAX), nested(YAML_DEPTH_MAX + 1), { line: 1, column: YAML_DEPTH_MAX + 1 }],
    ["values", list(YAML_VALUES_MAX), list(YAML_VALUES_MAX + 1), { line: 2 }],
    ["members", membersOf(OBJECT_MEMBERS_MAX), membersOf(OBJECT_MEMBERS_MAX + 1), { line: 1 }],
    ["shapes", shapes(OBJECT_SHAPES_MAX), shapes(OBJECT_SHAPES_MAX + 1), { line: OBJECT_SHAPES_MAX + 2 }],
    [
      "a key",
      `{"${"k".repeat(NAME_CHARACTERS_MAX)}":1}`,
      `{\n"${"k".repeat(NAME_CHARACTERS_MAX + 1)}":1}`,
      { line: 2, column: 1 },
    ],
    [
      "a number",
      `[0.${"1".repeat(NUMBER_CHARACTERS_MAX - 2)}]`,
      `[0.${"1".repeat(NUMBER_CHARACTERS_MAX - 1)}]`,
      { line: 1, column: 2 },
    ],
  ])("%s", (_name, atLimit, above, position) => {
    expect(readAtOnce(atLimit).problems).toEqual([]);
    const { content, problems } = readAtOnce(above);
    expect(content).toBeUndefined();
    expect(problems).toMatchObject([
      { pointer: "", detail: expect.stringMatching(/^(has|is nested) .*\d/), ...position },
    ]);
  });

  test("members of large objects", () => {
    const objects = (count: number) =>
      `[${Array.from({ length: count }, (_, at) => membersOf(OBJECT_MEMBERS_MAX, `k${at}-`))}]`;
    const few = Math.floor(LARGE_OBJECT_MEMBERS_MAX / OBJECT_MEMBERS_MAX);
    expect(readAtOnce(objects(few)).problems).toEqual([]);
    expect(readAtOnce(objects(few + 1)).problems).toMatchObject([
      { detail: expect.stringContaining("beyond") },
    ]);
  });
});

test("a duplicate key has its place", () => {
  expect(readAtOnce('{"a":\n{"b":1,"c":2,\n "b":3}}').problems).toEqual([
    { pointer: "/a/b", detail: 'the key "b" occurs here a second time', line: 3, column: 2 },
  ]);
});

test("all duplicate and long keys have their places, as does the violation that ends the scan", () => {
  const long = "k".repeat(NAME_CHARACTERS_MAX + 1);
  const { content, problems } = readAtOnce(
    `{"a":1,"a":2,\n"${long}":{"b":1,"b":2},\n"c":${nested(YAML_DEPTH_MAX)}}`,
  );
  expect(content).toBeUndefined();
  expect(problems).toMatchObject([
    { pointer: "/a", line: 1, column: 8 },
    { detail: expect.stringContaining("key of more than"), line: 2, column: 1 },
    { pointer: `/${long}/b`, line: 2 },
    { detail: expect.stringContaining("nested deeper"), line: 3 },
  ]);
});

test("all reserved keys and infinite numbers have their places", () => {
  const { content, problems } = readAtOnce('{"a":\n[1e400,1e300],\n"\\u005f_proto__":1,"b":-1e999}');
  expect(content).toBeUndefined();
  expect(problems).toMatchObject([
    { pointer: "/a/0", line: 2, column: 2 },
    { pointer: "/__proto__", detail: "is a reserved key; choose another", line: 3, column: 1 },
    { pointer: "/b", line: 3 },
  ]);
});

test.each([PROBLEMS_MAX - 1, PROBLEMS_MAX, PROBLEMS_MAX + 1])("counts %d infinite numbers", (count) => {
  const { problems } = readAtOnce(`[${Array(count).fill("1e999")}]`);
  expect(problems).toHaveLength(count);
  if (count > PROBLEMS_MAX) expect(problems.at(-1)?.detail).toBe("and 1 more");
});

test("gives the places of the first problems and counts those beyond the limit", () => {
  const numbers = readAtOnce(`[{"__proto__":1}${",\n1e999".repeat(PROBLEMS_MAX + 3)}]`).problems;
  expect(numbers.map(({ line }) => line)).toEqual([
    ...Array.from({ length: PROBLEMS_MAX }, (_, at) => at + 1),
    undefined,
  ]);
  expect(numbers.at(-1)?.detail).toBe("and 4 more");
  const keys = readAtOnce(`{"a":0${',\n"a":1'.repeat(PROBLEMS_MAX + 3)}}`).problems;
  expect(keys.slice(-2)).toMatchObject([{ line: PROBLEMS_MAX + 1 }, { detail: "and 3 more" }]);
});

test("a duplicate key after values of several characters is reported, and later malformed text is not", () => {
  for (const end of ["]", ",?]"]) {
    const { problems } = readAtOnce(`[-1.5, true,\n{"a":null,"a":1}${end}`);
    expect(problems).toMatchObject([{ pointer: "/2/a", line: 2, column: 11 }]);
  }
});

test("a duplicate key in a value of YAML that looks like JSON is reported with all names above it", () => {
  const { problems } = read(`"a": {"b":1,"b":2}`);
  expect(problems).toMatchObject([{ pointer: "/a/b", line: 1, column: 13 }]);
});

const WORDS = Array(YAML_VALUES_MAX + 1)
  .fill("1")
  .join(" ");

test.each([
  ["words of one text that look like numbers", `[${WORDS}]`, [WORDS]],
  ["a text that begins like a constant", `[n${WORDS}]`, [`n${WORDS}`]],
  ["keys without quotes", "{a: 1e400x}", { a: "1e400x" }],
  ["a text with more digits than a number may have", `[${"1".repeat(2_000)}x]`, [`${"1".repeat(2_000)}x`]],
])("YAML that resembles JSON is read as YAML: %s", (_name, text, content) => {
  expect(read(text)).toEqual({ content, problems: [] });
});
