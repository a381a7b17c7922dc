// Names in a JSON text: when two of them are equal, and their hashes.
import { expect, test } from "bun:test";
import { JsonNames } from "../../../src/platform/json/names.ts";

const LOWER = 0;
const UPPER = 3;
const ESCAPED = 6;
const OTHER = 14;
const names = new JsonNames(`"a""A""\\u0041""b"`);

test.each([
  ["in its case", false, [false, true, false]],
  ["without regard to case", true, [true, true, false]],
])("a name is compared and hashed %s", (_how, foldsCase, expected) => {
  const pairs: [number, number][] = [
    [LOWER, UPPER],
    [UPPER, ESCAPED],
    [LOWER, OTHER],
  ];
  expect(pairs.map(([one, other]) => names.isSame(one, other, foldsCase))).toEqual(expected);
  const hashes = pairs.map((pair) => pair.map((start) => names.hashAt(start, foldsCase)));
  expect(hashes.map(([one, other]) => one === other)).toEqual(expected);
});
