// Numbers that a parser would change: found in JSON, and reported equally in JSON and by both readers of YAML.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { changedNumbersIn, changeOf } from "../../../src/platform/json/numbers.ts";
import { ProblemList } from "../../../src/platform/text/problem-list.ts";
import { readYamlText } from "../../../src/platform/text/yaml-text.ts";

const read = (text: string) => {
  const problems = new ProblemList();
  const { content } = readYamlText(Buffer.from(text), problems, { bytesMax: 100_000, tokensMax: 10_000 });
  return { content, problems: problems.list() };
};

const ROUNDED = "has too many digits for a number and would be rounded; write it in quotes";
const TOO_LARGE = "is too large for a number; write it in quotes";
const CHANGED = [
  ...["9007199254740993", "-12345678901234567890", "9007199254740993.5"].map((text) => [text, ROUNDED]),
  ...["1e400", "-1e400"].map((text) => [text, TOO_LARGE]),
  ["1e-400", "is too small for a number; write it in quotes"],
] as [string, string][];

describe("a number that would change is refused with its place", () => {
  test.each(CHANGED)("%s", (literal, detail) => {
    const at = { pointer: "/a/1", detail, line: 2 };
    const json = read(`{"a":\n[1, ${literal}], "b": "${literal}"}`);
    expect(json).toEqual({ content: undefined, problems: [{ ...at, column: 5 }] });
    const yaml = read(`a:\n  [1, ${literal}]\nb: "${literal}"\n`);
    expect(yaml).toEqual({ content: undefined, problems: [{ ...at, column: 7 }] });
  });

  test.each(["0xFFFFFFFFFFFFFFFF", "0o7777777777777777777777"])("%s in YAML", (literal) => {
    const { problems } = read(`a: ${literal}\n`);
    expect(problems).toEqual([{ pointer: "/a", detail: ROUNDED, line: 1, column: 4 }]);
  });
});

test.each(["007", "-0644", "00.5", "+01"])(
  "%s is refused in YAML, where a number would lose its first digit",
  (literal) => {
    const detail = "begins with a zero, which a number would lose; write it in quotes";
    expect(read(`a: ${literal}\n`).problems).toEqual([{ pointer: "/a", detail, line: 1, column: 4 }]);
    expect(read(`a: "${literal}"\n`)).toEqual({ content: { a: literal }, problems: [] });
  },
);

test.each([
  ...["9007199254740991", "9007199254740992", "12345678901234567000", "1e22", "1.5e300", "123e20"],
  ...["0.1", "3.14159265358979323846", "0.10000000000000001", "100000000000000000000000", "1e-300"],
  ...["0e-400", "0.0000000000000000000", "-0", "4096", "1.0000000000000000"],
])("%s is read as exactly this number", (literal) => {
  expect(read(`{"a":${literal}}`)).toEqual({ content: { a: Number(literal) }, problems: [] });
  expect(read(`a: ${literal}\n`)).toEqual({ content: { a: Number(literal) }, problems: [] });
});

test.each(["0.9007199254740992e16", "0.09007199254740992e17", "0x20000000000000", "0o400000000000000000"])(
  "%s is read as exactly this number in YAML",
  (literal) => {
    expect(read(`a: ${literal}\n`)).toEqual({ content: { a: 9_007_199_254_740_992 }, problems: [] });
  },
);

test.each([
  ["is stored exactly but written with other digits", 2n ** 70n],
  ["is stored as another number that is written with the same digits", 9_223_372_036_854_776_000n],
])("a hexadecimal number is refused if it %s", (_why, whole) => {
  const { problems } = read(`a: 0x${whole.toString(16)}\n`);
  expect(problems.map(({ detail }) => detail)).toEqual([ROUNDED]);
});

test("a number that is the whole text is found at its beginning", () => {
  expect(changedNumbersIn("9007199254740993")).toEqual([{ at: 0, detail: ROUNDED }]);
});

test("texts that look like numbers, and keys, stay as they are", () => {
  const long = "12345678901234567890";
  expect(read(`{"${long}":"${long} 1e400"}`)).toEqual({ content: { [long]: `${long} 1e400` }, problems: [] });
  expect(read(`${long}: '${long}'\n`)).toEqual({ content: { [long]: long }, problems: [] });
});

test("a number as the service writes it is never refused", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(changeOf(JSON.stringify(number), number)).toBeUndefined();
    }),
  );
});

test("whole numbers change exactly if they are written differently afterward", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (whole) => {
      const isSame =
        BigInt(JSON.stringify(Number(whole)).replace(/^(-?)(\d)\.?(\d*)e\+(\d+)$/, plain)) === whole;
      expect(changedNumbersIn(`[${whole}]`)).toHaveLength(isSame ? 0 : 1);
    }),
  );
});

const plain = (_: string, sign: string, first: string, rest: string, exponent: string) =>
  `${sign}${first}${rest.padEnd(Number(exponent), "0")}`;
