// Which parts of a filter its SQL depends on, and which are bound. test/properties/scim-filter.test.ts proves that both together
// have the meaning of the filter.
import { describe, expect, test } from "bun:test";
import { parseFilter } from "../../../../src/domain/scim/filter/parse.ts";
import { prefixUpperBound, shapeOf } from "../../../../src/domain/scim/filter/shape.ts";

describe("SCIM-128 the upper bound of a prefix", () => {
  test.each([
    ["a", "b"],
    ["ab", "ac"],
    ["a\uffff", "a\u{10000}"],
    ["\ud7ff", "\ue000"],
    ["a\u{10ffff}", "b"],
    ["😀", "😁"],
  ])("%j is %j", (start, limit) => {
    expect(prefixUpperBound(start)).toBe(limit);
  });

  test.each(["\u{10ffff}", "\u{10ffff}\u{10ffff}", ""])("%j sorts after all text", (start) => {
    expect(prefixUpperBound(start)).toBeInstanceOf(Uint8Array);
  });
});

test("filters of the same shape differ only in their bound values", () => {
  const one = shapeOf(
    parseFilter("User", 'userName eq "A" and emails[type ew "é" or value sw "x"] and active eq true'),
  );
  const other = shapeOf(
    parseFilter("User", 'userName eq "b" and emails[type ew "z" or value sw "y"] and active eq false'),
  );
  expect(one.key).toBe(other.key);
  expect(one.values).toEqual({
    value0: "a",
    value1: Buffer.from("é"),
    length1: 2,
    value2: "x",
    limit2: "y",
    value3: 1,
  });
  expect(other.values).toMatchObject({ value0: "b", value3: 0 });
});

test.each([
  ['userName eq "a"', 'userName co "a"'],
  ['userName eq "a"', 'displayName eq "a"'],
  ['userName eq "a"', 'not (userName eq "a")'],
  ['userName eq "a" or title pr', 'userName eq "a" and title pr'],
  ['emails.value eq "a"', 'emails.type eq "a"'],
  ['emails.value eq "a"', 'roles.value eq "a"'],
  ['emails[type eq "a" or value eq "a"]', 'emails[type eq "a"] or emails[value eq "a"]'],
  ["(title pr or userType pr) and locale pr", "title pr or (userType pr and locale pr)"],
])("filters of different shapes are distinguished: %s, %s", (one, other) => {
  expect(shapeOf(parseFilter("User", one)).key).not.toBe(shapeOf(parseFilter("User", other)).key);
});
