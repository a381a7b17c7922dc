// Shapes of objects if two names have the same hash. The hash alone never decides.
import { expect, test } from "bun:test";
import {
  NamedShapes,
  NUMBERED_OBJECT_MEMBERS,
  ObjectShapes,
  OpenObject,
  SHAPE_MEMBERS_MAX,
} from "../../../src/platform/json/shapes.ts";

/** Among this many random names, about ten pairs have the same 32-bit hash with any seed. */
const NAMES = 300_000;

/** @returns different names that mostly have no letter in common (Numerical Recipes, chapter 7.1) */
function* randomNames(): Generator<string> {
  for (let made = 0, random = 1; made < NAMES; made += 1) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    yield String.fromCharCode(
      ...[random & 2047, (random >> 11) & 2047, random >>> 22].map((each) => 0x100 + each),
    );
  }
}

test("objects with different names of equal hashes have different shapes", () => {
  const list = [...randomNames()];
  const shapes = new ObjectShapes(list.map((name) => `"${name}"`).join(""), false);
  let start = 0;
  for (const name of list) {
    shapes.add(start, new OpenObject());
    start += name.length + 2;
  }
  expect(shapes.size).toBe(NAMES);
});

test("a name is a duplicate only in its own object, also after the members that form the shape", () => {
  const known = Array.from({ length: 70 }, (_, at) => `"${String(at).padStart(2, "0")}"`);
  const shapes = new ObjectShapes(known.join(""), false);
  const start = (at: number) => at * 4;
  for (let round = 0; round < 2; round += 1) {
    const object = new OpenObject();
    const added = known.map((_, at) => shapes.add(start(at), object));
    expect(added).not.toContain(false);
    expect([0, 63, 64, 69].map((at) => shapes.add(start(at), object))).toEqual([false, false, false, false]);
  }
});

test("each new name after the same first ones is one more shape of objects from YAML", () => {
  const shapes = new NamedShapes();
  const sizes = ["ab", "ab", "ac", "ba", "abc", "cab"].map((names) => {
    shapes.add([...names]);
    return shapes.size;
  });
  // a, ab; none; ac; b, ba; abc; c, ca, cab
  expect(sizes).toEqual([2, 2, 3, 5, 6, 9]);
});

test("members of an object from YAML after those of its shape, and a whole number as a name, are counted", () => {
  const shapes = new NamedShapes();
  const names = (more: number) => Array.from({ length: SHAPE_MEMBERS_MAX + more }, (_, at) => `n${at}`);
  expect([-1, 0, 1, 2].map((more) => shapes.add(names(more)))).toEqual([0, 0, 1, 2]);
  expect(shapes.size).toBe(SHAPE_MEMBERS_MAX);
  expect(shapes.add(["n0", "7", "8"])).toBe(NUMBERED_OBJECT_MEMBERS);
  expect(shapes.add([...names(1), "7"])).toBe(2 + NUMBERED_OBJECT_MEMBERS);
});
