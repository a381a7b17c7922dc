// The limits of a JSON text, each at its edge, and the pointers to its names. test/properties/json-structure.test.ts compares the
// scanner with a plain reading of any text.
import { describe, expect, test } from "bun:test";
import { stringAt } from "../../../src/platform/text/json-names.ts";
import {
  DIFFERENT_NAMES_MAX,
  findViolation,
  type JsonViolation,
  NAME_CHARACTERS_MAX,
  NUMBER_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
  pointerAt,
} from "../../../src/platform/text/json-structure.ts";

describe("at the limits of a text", () => {
  const LIMITS = { depthMax: 3, valuesMax: 1_000_000 };
  const kindOf = (text: string) => findViolation(text, LIMITS)?.kind;
  const members = (count: number, first = 0) =>
    Array.from({ length: count }, (_, at) => `"${first + at}":1`).join(",");
  /** a list of objects with half the members allowed */
  const objects = (names: number) => {
    const each = OBJECT_MEMBERS_MAX / 2;
    const parts = Array.from({ length: Math.ceil(names / each) }, (_, part) => part * each);
    return `[${parts.map((first) => `{${members(Math.min(each, names - first), first)}}`).join(",")}]`;
  };

  test.each<[string, string, string, JsonViolation["kind"]]>([
    ["levels", "[[[]]]", "[[[[]]]]", "depth"],
    ["members", `{${members(OBJECT_MEMBERS_MAX)}}`, `{${members(OBJECT_MEMBERS_MAX + 1)}}`, "members"],
    ["names", objects(DIFFERENT_NAMES_MAX), objects(DIFFERENT_NAMES_MAX + 1), "names"],
    [
      "characters of a name",
      `{"${"a".repeat(NAME_CHARACTERS_MAX)}":1}`,
      `{"${"a".repeat(NAME_CHARACTERS_MAX + 1)}":1}`,
      "name",
    ],
    [
      "digits",
      `[${"1".repeat(NUMBER_CHARACTERS_MAX)}]`,
      `[${"1".repeat(NUMBER_CHARACTERS_MAX + 1)}]`,
      "number",
    ],
  ])("as many %s as allowed pass, one more does not", (_what, most, more, kind) => {
    expect([kindOf(most), kindOf(more)]).toEqual([undefined, kind]);
  });

  test("members of an object are counted apart from those of objects in it", () => {
    expect(kindOf(`{"a":{${members(OBJECT_MEMBERS_MAX)}},"b":1,"c":{},"d":1}`)).toBeUndefined();
  });

  test("a string that is no name may be longer than one", () => {
    expect(kindOf(JSON.stringify("a".repeat(NAME_CHARACTERS_MAX + 1)))).toBeUndefined();
  });

  test("empty and malformed names are compared, too", () => {
    expect(findViolation('{"":1,"":2}', LIMITS)).toEqual({ kind: "duplicate", at: 6 });
    expect(findViolation('{"\\x":1,"\\x":2}', LIMITS)).toEqual({ kind: "duplicate", at: 8 });
    expect(stringAt('{"\\x":1}', 1)).toBe("\\x");
  });

  test("the pointer to a name passes over lists, objects and strings before it", () => {
    const text = '{"o":{"x":"y"},"l":[0,"a,b",{"n":[1],"k~":"v","k~":2}]}';
    expect(pointerAt(text, text.lastIndexOf('"k~"'))).toBe("/l/2/k~0");
  });
});
