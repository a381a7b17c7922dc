// The set of row numbers: the same content as a Set of the numbers, in order.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { NumberSet } from "../../../src/platform/memory/number-set.ts";

const step = fc.record({
  act: fc.constantFrom("add" as const, "delete" as const),
  number: fc.oneof(fc.nat(100), fc.nat(70_000)),
});

test("has the same numbers as a Set after any additions and deletions", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 300, size: "max" }),
      fc.integer({ min: 1, max: 5 }),
      (steps, size) => {
        const numbers = new NumberSet();
        const oracle = new Set<number>();
        for (const { act, number } of steps) {
          if (act === "add") {
            numbers.add(number);
            oracle.add(number);
          } else expect(numbers.delete(number)).toBe(oracle.delete(number));
          expect(numbers.size).toBe(oracle.size);
        }
        const slices = [...numbers.slices(size)];
        expect(slices.flat()).toEqual([...oracle].sort((one, other) => one - other));
        expect(slices.every(({ length }, at) => length === size || at === slices.length - 1)).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test.each([0, 31, 32, 63, 32_767, 32_768, 1_000_000])("%i is found, and its neighbors are not", (number) => {
  const numbers = new NumberSet();
  numbers.add(number);
  numbers.add(number);
  expect([numbers.size, numbers.delete(number + 1), numbers.delete(number - 1)]).toEqual([1, false, false]);
  for (const size of [1, 10]) expect([...numbers.slices(size)]).toEqual([[number]]);
  expect([numbers.delete(number), numbers.delete(number), numbers.size]).toEqual([true, false, 0]);
});

test("a copy is changed independently", () => {
  const numbers = new NumberSet();
  for (const number of [5, 100]) numbers.add(number);
  const copy = numbers.copy();
  copy.add(7);
  copy.delete(100);
  expect([[...numbers.slices(9)], numbers.size]).toEqual([[[5, 100]], 2]);
  expect([[...copy.slices(9)], copy.size]).toEqual([[[5, 7]], 2]);
});
