// Which JSON text is refused before it is parsed, at the limits, and the error messages.
import { describe, expect, test } from "bun:test";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  NUMBERED_OBJECT_MEMBERS,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "../../../../src/platform/json/shapes.ts";
import {
  findViolation,
  type JsonLimits,
  NAME_CHARACTERS_MAX,
  NUMBER_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
} from "../../../../src/platform/json/structure.ts";
import { EXCERPT_CHARACTERS_MAX } from "../../../../src/platform/text/problem-list.ts";
import {
  JSON_DEPTH_MAX,
  JSON_LIMITS,
  JSON_VALUES_MAX,
  type JsonProblem,
  ONE_TURN_CHARACTERS_MAX,
  parseCheckedText,
  parseWithin,
  syntaxProblem,
} from "../../../../src/server/http/bodies/body-text.ts";

/** @returns why the text is refused before it is parsed; undefined if it is not */
function structureProblem(text: string, limits: JsonLimits): JsonProblem | undefined {
  const flaw = findViolation(text, limits);
  if (!flaw) return undefined;
  let problem: JsonProblem | undefined;
  const errorOf = (found: JsonProblem) => {
    problem = found;
    return new Error(found.message);
  };
  expect(() => parseCheckedText(text, { limits, flaw, errorOf })).toThrow();
  return problem;
}

const faultIn = (text: string) => structureProblem(text, JSON_LIMITS);

describe("depth", () => {
  test.each([
    [JSON_DEPTH_MAX - 1, false],
    [JSON_DEPTH_MAX, false],
    [JSON_DEPTH_MAX + 1, true],
    [1_000_000, true],
  ])("refuses %d levels: %p", (levels, isRefused) => {
    const lists = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const objects = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect([lists, objects, "[".repeat(levels)].map((text) => faultIn(text) !== undefined)).toEqual(
      Array(3).fill(isRefused),
    );
  });

  test("counts only open objects and lists", () => {
    expect(faultIn(`[${'[],{"a":{}},'.repeat(JSON_DEPTH_MAX)}1]`)).toBeUndefined();
    expect(faultIn(`"${"[{".repeat(JSON_DEPTH_MAX)}"`)).toBeUndefined();
  });
});

describe("values and names", () => {
  const listOf = (count: number, value: string) => `[${Array(count).fill(value).join(",")}]`;

  test.each([
    [JSON_VALUES_MAX - 1, false],
    [JSON_VALUES_MAX, false],
    [JSON_VALUES_MAX + 1, true],
  ])("%d of them are refused: %p", (count, isRefused) => {
    for (const value of ["0", '""', "[]", "{}", "null", "-1.5e+3"])
      expect([value, faultIn(listOf(count - 1, value)) !== undefined]).toEqual([value, isRefused]);
  });

  test("include member names in the count", () => {
    const limits = { depthMax: JSON_DEPTH_MAX, valuesMax: 5 };
    expect(structureProblem('{"a":1,"b":2}', limits)).toBeUndefined();
    expect(structureProblem('{"a":1,"b":[2]}', limits)?.message).toBe(
      "the body has more than 5 values and names of members",
    );
  });
});

test("a list of the outermost object has its own limit, which ends the scan", () => {
  const limits = { ...JSON_LIMITS, listsMax: new Map([["list", 2]]) };
  const listOf = (count: number, element = "[1,2,3,4,5]") => `[${Array(count).fill(element).join(",")}]`;
  const faultOf = (text: string) => structureProblem(text, limits);
  const tooLong = { message: "the list list may have at most 2 elements", pointer: "/list" };
  for (const element of ["1", '"a,b"', '{"list":[1,2,3,4,5],"b":2}', "[1,2,3,4,5]"]) {
    expect(faultOf(`{"a":${listOf(9)},"list":${listOf(2, element)}}`)).toBeUndefined();
    expect(faultOf(`{"a":${listOf(9)},"list":${listOf(4, element)},"b":${listOf(9)}}`)).toBeUndefined();
    expect(faultOf(`{"a":${listOf(9)},"list":${listOf(5, element)}}`)).toEqual(tooLong);
    expect(faultOf(`{"l\\u0069st":${listOf(5, element)}, @`)).toEqual(tooLong);
  }
  for (const text of [`[${listOf(5)}]`, `{"a":{"list":${listOf(5)}}}`, listOf(5)])
    expect(faultOf(text)).toBeUndefined();
});

test.each([
  [OBJECT_MEMBERS_MAX - 1, undefined],
  [OBJECT_MEMBERS_MAX, undefined],
  [OBJECT_MEMBERS_MAX + 1, `an object of the body has more than ${OBJECT_MEMBERS_MAX} members`],
])("the problem with an object of %d members is %p", (count, message) => {
  const object = `{${Array.from({ length: count }, (_, at) => `"${at}":{}`).join(",")}}`;
  expect(faultIn(object)?.message).toBe(message);
  expect(faultIn(`[{"a":1},${object}]`)?.message).toBe(message);
});

test.each([
  [OBJECT_SHAPES_MAX - 1, undefined],
  [OBJECT_SHAPES_MAX, undefined],
  [OBJECT_SHAPES_MAX + 1, `the objects of the body have more than ${OBJECT_SHAPES_MAX} different shapes`],
])("the problem with objects of %d shapes is %p", (count, message) => {
  const repeated = '{"x0":0,"x1":0}'; // has the shape of the first one before it gets its second member
  const objects = Array.from({ length: count - 1 }, (_, at) => `{"x${at}":0},${repeated}`);
  expect(faultIn(`[${objects.join(",")}]`)?.message).toBe(message);
});

test.each([
  [LARGE_OBJECT_MEMBERS_MAX - 1, undefined],
  [LARGE_OBJECT_MEMBERS_MAX, undefined],
  [
    LARGE_OBJECT_MEMBERS_MAX + 1,
    `the objects of the body with more than ${SHAPE_MEMBERS_MAX} members have more than ${LARGE_OBJECT_MEMBERS_MAX} further members, where an object with a whole number as a name counts as ${NUMBERED_OBJECT_MEMBERS}`,
  ],
])("the problem with %d further members of large objects is %p", (count, message) => {
  const each = LARGE_OBJECT_MEMBERS_MAX / 5;
  const object = (members: number) =>
    `{${Array.from({ length: SHAPE_MEMBERS_MAX + members }, (_, at) => `"x${at}":0`).join(",")}}`;
  const last = object(count - 4 * each);
  expect(faultIn(`[${`${object(each)},`.repeat(4)}${last}]`)?.message).toBe(message);
});

test.each([
  [NAME_CHARACTERS_MAX - 1, undefined],
  [NAME_CHARACTERS_MAX, undefined],
  [NAME_CHARACTERS_MAX + 1, `the name of a member has more than ${NAME_CHARACTERS_MAX} characters`],
])("the problem with a name of %d characters is %p", (count, message) => {
  for (const name of ["x".repeat(count), `\\"${"x".repeat(count - 2)}`])
    expect(faultIn(`{"${name}":0}`)?.message).toBe(message);
  expect(faultIn(`{"a":"${"x".repeat(count)}"}`)).toBeUndefined();
});

test.each([
  [NUMBER_CHARACTERS_MAX - 1, undefined],
  [NUMBER_CHARACTERS_MAX, undefined],
  [NUMBER_CHARACTERS_MAX + 1, `a number of the body has more than ${NUMBER_CHARACTERS_MAX} characters`],
])("the problem with a number of %d characters is %p", (count, message) => {
  for (const after of ["", "]", ",1]", " "]) {
    const open = after.includes("]") ? "[" : "";
    expect(faultIn(`${open}${"1".repeat(count)}${after}`)?.message).toBe(message);
  }
});

test.each([
  ["word", 0],
  ["[1, +1]", 4],
  ['{"a":undefined}', 5],
  ["{'a':1}", 1],
  ["\ufeff{}", 0],
])("%j is refused at the character that cannot start a value", (text, at) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(faultIn(text)?.message).toBe(`the body is not valid JSON: unexpected character at index ${at}`);
});

describe("a duplicate member name", () => {
  test.each([
    ['{"a":1,"a":2}', "/a"],
    ['{"a":1,"b":[{},{"c":{"d/e":1,"d/e":2}}]}', "/b/1/c/d~1e"],
    ['[[1,2],{"a":[{"b":1},{"b":1,"c":"\\"","b":2}]}]', "/1/a/1/b"],
    ['{"a":{"x":1},"a":2}', "/a"],
    ['{"n\\u0061me":1,"name":2}', "/name"],
    ['{"":1,"":2}', "/"],
    ['{"__proto__":1,"__proto__":2}', "/__proto__"],
  ])("%s is refused at %s", (text, pointer) => {
    expect(faultIn(text)?.pointer).toBe(pointer);
  });

  test.each([
    '{"a":{"a":1},"b":{"a":"a"},"c":[{"a":1},{"a":1}]}',
    '{"a":1,"A":2}',
    '{"x":"{\\"a\\":1,\\"a\\":2}","y":["y","y"]}',
  ])("%s is not reported", (text) => {
    JSON.parse(text);
    expect(faultIn(text)).toBeUndefined();
  });

  test("is found among the maximum number of names", () => {
    const names = Array.from({ length: OBJECT_MEMBERS_MAX - 1 }, (_, at) => `"${at}":0`);
    expect(faultIn(`{${names.join(",")}}`)).toBeUndefined();
    expect(faultIn(`{${names.join(",")},"7":0}`)?.pointer).toBe("/7");
  });
});

test.each(["", "{", '"', '"\\', '{"a', '{"a\\', '{"\\u":1,"\\u":2}', "]]]]", "}{", ":,:,", "tru\u0000"])(
  "%j is not JSON and is refused here or left to the parser",
  (text) => {
    expect(() => faultIn(text)).not.toThrow();
    expect(() => JSON.parse(text)).toThrow();
  },
);

test("errors repeat only a limited part of the text", () => {
  const name = "x".repeat(100_000);
  const twice = faultIn(`{"${name}":1,"${name}":2}`)?.message ?? "";
  const syntax = () => JSON.parse(name);
  let message = "";
  try {
    syntax();
  } catch (error) {
    ({ message } = syntaxProblem(error));
  }
  for (const text of [twice, message]) expect(text.length).toBeLessThan(EXCERPT_CHARACTERS_MAX + 100);
});

test.each([-1, 0, 1])(
  "a text of %i characters more than one turn may have gives way to others",
  async (step) => {
    let isOtherServed = false;
    setImmediate(() => {
      isOtherServed = true;
    });
    const value = "x".repeat(ONE_TURN_CHARACTERS_MAX + step - 2);
    expect(await parseWithin(`"${value}"`, JSON_LIMITS, ({ message }) => new Error(message))).toBe(value);
    expect(isOtherServed).toBe(step > 0);
  },
);
