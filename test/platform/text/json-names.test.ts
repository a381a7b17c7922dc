// The table of member names, where two names have the same hash: the hash alone decides nothing.
import { expect, test } from "bun:test";
import { NameTable } from "../../../src/platform/text/json-names.ts";

/** Of so many random names, about five pairs of one length and five of two have the same hash of 32 bits, whatever its seed. */
const NAMES = 300_000;

/** @returns different names that mostly have no letter in common, the short ones first (Numerical Recipes, chapter 7.1) */
function* randomNames(): Generator<string> {
  for (let made = 0, random = 1; made < NAMES; made += 1) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const letters = [random & 2047, (random >> 11) & 2047, random >>> 22];
    if (made >= NAMES / 2) letters.push((random >> 5) & 2047);
    yield String.fromCharCode(...letters.map((letter) => 0x100 + letter));
  }
}

test("different names with equal hashes are different", () => {
  const list = [...randomNames()];
  const names = new NameTable(list.map((name) => `"${name}"`).join(""), false);
  let [start, others] = [0, 0];
  for (const name of list) {
    if (names.add(start, 1) !== "new") others += 1;
    start += name.length + 2;
  }
  expect([others, names.size]).toEqual([0, NAMES]);
});

test("a name is known in another object, and a duplicate in its own", () => {
  const names = new NameTable(`"a""a""a""b"`, false);
  expect([0, 3, 6, 9].map((start, at) => names.add(start, at === 1 ? 2 : 1))).toEqual([
    "new",
    "known",
    "duplicate",
    "new",
  ]);
});
