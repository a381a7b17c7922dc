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

test("names of any lengths are the same if their characters are", () => {
  const written = [
    "",
    "a",
    "b",
    "ab",
    "bc",
    "abc",
    "bcd",
    "\\u0061",
    "a\\u0062",
    "\\\\",
    '\\"',
    "A",
    "ä",
    "Ä",
    "aÄ",
    "z",
    "Z",
    "ab",
    "a",
  ];
  const quoted = written.map((name) => `"${name}"`);
  const starts = quoted.map((_name, at) => quoted.slice(0, at).join("").length);
  const all = new JsonNames(quoted.join(""));
  for (const foldsCase of [false, true])
    for (const [at, one] of starts.entries())
      for (const [index, other] of starts.entries()) {
        const [left, right] = [quoted[at], quoted[index]].map((name = "") => {
          const decoded = String(JSON.parse(name));
          return foldsCase ? decoded.toLowerCase() : decoded;
        });
        expect([left, right, all.isSame(one, other, foldsCase)]).toEqual([left, right, left === right]);
        if (left === right) expect(all.hashAt(one, foldsCase)).toBe(all.hashAt(other, foldsCase));
      }
});
