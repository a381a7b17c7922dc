// The limits of a JSON text, each at its edge, and the pointers to its names. test/properties/json-structure.test.ts compares the
// scanner with a plain reading of any text.
import { describe, expect, test } from "bun:test";
import { stringAt } from "../../../src/platform/json/names.ts";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  NUMBERED_OBJECT_MEMBERS,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "../../../src/platform/json/shapes.ts";
import {
  findViolation,
  type JsonViolation,
  NAME_CHARACTERS_MAX,
  NUMBER_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
  pointerAt,
} from "../../../src/platform/json/structure.ts";

describe("the limits of a text", () => {
  const LIMITS = { depthMax: 3, valuesMax: 1_000_000 };
  const kindOf = (text: string) => findViolation(text, LIMITS)?.kind;
  const members = (count: number, first = 0) =>
    Array.from({ length: count }, (_, at) => `"k${first + at}":1`).join(",");
  /** a list of objects of one member */
  const objects = (shapes: number) =>
    `[${Array.from({ length: shapes }, (_, at) => `{"k${at}":1}`).join(",")}]`;
  /** a list of objects with whole numbers as names, and of objects whose names only look like numbers */
  const numbered = (more: number) => {
    const count = LARGE_OBJECT_MEMBERS_MAX / NUMBERED_OBJECT_MEMBERS - 2;
    const small = Array.from({ length: count }, (_, at) =>
      at % 2 ? '{"999":1}' : '{"a":1,"\\u0037":1,"0":1}',
    );
    const large = `{${members(SHAPE_MEMBERS_MAX + NUMBERED_OBJECT_MEMBERS - 2 + more)},"9":1,"10":1}`;
    const others = '{"01":1,"-1":1,"1.5":1,"1e3":1,"12345678901":1,"":1}';
    return `[${[...small, large, ...Array(count).fill(others)].join(",")}]`;
  };
  /** a list of objects, each with a tenth of the allowed members of large objects */
  const largeObjects = (more: number) => {
    const each = SHAPE_MEMBERS_MAX + LARGE_OBJECT_MEMBERS_MAX / 10;
    return `[${`{${members(each)}},`.repeat(9)}{${members(each + more)}}]`;
  };

  test.each<[string, string, string, JsonViolation["kind"]]>([
    ["levels", "[[[]]]", "[[[[]]]]", "depth"],
    ["members", `{${members(OBJECT_MEMBERS_MAX)}}`, `{${members(OBJECT_MEMBERS_MAX + 1)}}`, "members"],
    ["shapes of objects", objects(OBJECT_SHAPES_MAX), objects(OBJECT_SHAPES_MAX + 1), "shapes"],
    ["members of large objects", largeObjects(0), largeObjects(1), "largeObjects"],
    ["objects with whole numbers as names", numbered(0), numbered(1), "largeObjects"],
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
  ])("accepts as many %s as allowed, and not one more", (_what, most, more, kind) => {
    expect([kindOf(most), kindOf(more)]).toEqual([undefined, kind]);
  });

  describe("shapes of objects", () => {
    /** @returns a list of the objects, and of others that add as many shapes as `more` needs to decide */
    const beside = (part: string, shapes: number, more: number) =>
      `[${part},${objects(OBJECT_SHAPES_MAX - shapes + more).slice(1)}`;
    const orders = Array.from({ length: 200 }, (_, at) => `{"x":1,"y${at % 100}":1}`).join(",");
    const first = members(SHAPE_MEMBERS_MAX, 1_000_000);

    test.each<[string, string, number]>([
      ["objects with the same names have one", orders, 1 + 100],
      ["the order of names counts", '{"x":1,"y":1},{"y":1,"x":1}', 4],
      ["members in an object do not count for the one around it", '{"x":{"y":1},"z":1}', 3],
      ["members of a large object beyond the first do not count", `{${first},"x":1}`, SHAPE_MEMBERS_MAX],
    ])("%s", (_what, part, shapes) => {
      expect([0, 1].map((more) => kindOf(beside(part, shapes, more)))).toEqual([undefined, "shapes"]);
    });

    test("letter case counts where duplicates ignore it", () => {
      const folded = (text: string) => findViolation(text, { ...LIMITS, foldsCase: true })?.kind;
      const part = '{"x":1},{"X":1}';
      expect([0, 1].map((more) => folded(beside(part, 2, more)))).toEqual([undefined, "shapes"]);
    });
  });

  test("members of an object are counted separately from those of nested objects", () => {
    expect(kindOf(`{"a":{${members(OBJECT_MEMBERS_MAX)}},"b":1,"c":{},"d":1}`)).toBeUndefined();
  });

  test("a string that is not a name may be longer than a name", () => {
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
