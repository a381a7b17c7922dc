// Version requirements: which texts are valid, and that each matches the versions that its grammar defines.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compare, SemVer } from "semver";
import {
  COMPARATORS_MAX,
  NUMBERS_MAX,
  parseRequirement,
  REQUIREMENT_CHARACTERS_MAX,
} from "../../../../src/domain/governance/versions/requirement.ts";

const matches = (requirement: string, version: string): boolean | undefined =>
  parseRequirement(requirement)?.isSatisfiedBy(new SemVer(version));

describe("valid requirements", () => {
  test.each([
    "*",
    "x",
    "X",
    " * ",
    "1",
    "1.2",
    "1.2.3",
    "1.*",
    "1.x.X",
    "1.2.*",
    ">=1.2.*",
    "= 1.2",
    ">= 1.2 , <2",
    "^1.2.3-rc.1+build.5",
    "~0",
    ">1.2.3+01",
    "<=1.2.3-x-y.0",
  ])("%p", (text) => {
    expect(parseRequirement(text)).toBeDefined();
  });
});

test.each([-1, 0, 1])("a version may have %i more numbers than the limit only up to it", (step) => {
  const text = ["1", ...Array(NUMBERS_MAX + step - 1).fill("*")].join(".");
  expect(parseRequirement(text) !== undefined).toBe(step <= 0);
});

describe("invalid requirements", () => {
  test.each([
    "",
    " ",
    ",",
    "1,",
    ",1",
    "1 2",
    ">=1 <2",
    "1||2",
    "1 - 2",
    "v1",
    "=v1.2.3",
    "~>1",
    "==1",
    "=>1",
    "=*",
    ">x",
    "*.1",
    "*, 1",
    "1, *",
    "1.*.3",
    "1.2.3.4",
    "1.2.3.*",
    "1.2.*.*",
    "01.2.3",
    "1.02",
    "1.2.3-",
    "1.2.3-01",
    "1.2.3-a..b",
    "1.2-rc",
    "1.2+b",
    "1.2.3-rc_1",
    "9007199254740993",
    "\t1",
    "1\n",
    "latest",
    "-1",
    "1.2.3 -rc",
    "1.2.3+.b",
    "1.2.3+.b",
  ])("%p", (text) => {
    expect(parseRequirement(text)).toBeUndefined();
  });
});

describe("meaning", () => {
  const rows: [requirement: string, matching: string[], other: string[]][] = [
    ["1.2.3", ["1.2.3", "1.9.0"], ["1.2.2", "2.0.0"]],
    ["0.2.3", ["0.2.3", "0.2.9"], ["0.3.0"]],
    ["0.0.3", ["0.0.3"], ["0.0.4"]],
    ["=1.2.3", ["1.2.3", "1.2.3+build"], ["1.2.4"]],
    ["=1.2", ["1.2.0", "1.2.9"], ["1.3.0"]],
    ["1.*", ["1.0.0", "1.9.9"], ["2.0.0", "0.9.0"]],
    ["~1.2.3", ["1.2.9"], ["1.3.0"]],
    [">1.2", ["1.3.0"], ["1.2.9"]],
    ["<=1.2", ["1.2.9"], ["1.3.0"]],
    [">=1.2.0, <1.4", ["1.2.0", "1.3.9"], ["1.1.9", "1.4.0"]],
    ["*", ["0.0.0", "99.0.0"], ["1.0.0-rc.1"]],
    [">=1.0.0", ["1.0.1"], ["1.0.1-rc.1", "2.0.0-rc.1"]],
    [">=1.0.0-rc.2", ["1.0.0-rc.2", "1.0.0-rc.10", "1.0.0", "1.0.1"], ["1.0.0-rc.1", "1.0.1-rc.3"]],
    [">1, <2.0.0-rc.1", [], ["1.5.0", "2.0.0"]],
    [">=1, <2.0.0-rc.1", ["1.5.0", "2.0.0-beta"], ["2.0.0-rc.1", "1.5.0-rc.1"]],
    [">=2, <2.1.0-rc.2", ["2.0.0"], ["2.1.0-rc.1"]],
    ["=2, <2.1.0-rc.2", ["2.0.0"], ["2.1.0-rc.1"]],
    ["~2, <2.1.0-rc.2", ["2.0.0"], ["2.1.0-rc.1"]],
    ["<=2, >=2.1.0-rc.1", ["2.1.0"], ["2.1.0-rc.1"]],
    ["^2, <2.0.0-rc.2", [], ["2.0.0"]],
    ["^2, <=2.0.0-rc.2", ["2.0.0-rc.1"], ["2.0.0"]],
    [">1, <=2.0.0-rc.2", ["2.0.0-rc.1"], ["2.0.0"]],
    ["^0.2.0, >=0.2.0-rc.1", ["0.2.0"], ["0.2.0-rc.1"]],
  ];
  test.each(rows)("%s", (requirement, matching, other) => {
    expect(matching.filter((version) => !matches(requirement, version))).toEqual([]);
    expect(other.filter((version) => matches(requirement, version))).toEqual([]);
  });

  interface Comparator {
    readonly operator: string;
    readonly numbers: readonly number[];
    readonly tag: string;
  }

  const small = fc.nat({ max: 2 });
  const tag = fc.constantFrom("", "-0", "-a", "-rc.1", "-rc.1.0", "-rc.2");
  const complete = fc.tuple(small, small, small);
  const comparator: fc.Arbitrary<Comparator> = fc
    .tuple(
      fc.constantFrom("", "=", ">", ">=", "<", "<=", "~", "^"),
      complete,
      fc.integer({ min: 1, max: 3 }),
      tag,
    )
    .map(([operator, numbers, length, found]) => ({
      operator,
      numbers: numbers.slice(0, length),
      tag: length === 3 ? found : "",
    }));
  const version = fc.tuple(complete, tag).map(([numbers, found]) => `${numbers.join(".")}${found}`);

  /** By the definition of each operator, number by number. */
  const holds = ({ operator, numbers, tag: suffix }: Comparator, text: string): boolean => {
    const found = new SemVer(text);
    const parts = [found.major, found.minor, found.patch];
    const differing = numbers.findIndex((number, place) => number !== parts[place]);
    const byNumbers = differing < 0 ? 0 : Math.sign((parts[differing] ?? 0) - (numbers[differing] ?? 0));
    const isPartial = numbers.length < 3;
    // The numbers match a partial version, but a pre-release is not one of its releases.
    if (isPartial && differing < 0 && text.includes("-")) return operator === "^" || operator === "";
    const order = !isPartial ? compare(text, `${numbers.join(".")}${suffix}`) : byNumbers;
    const sharesFirst = (count: number): boolean => differing < 0 || differing >= count;
    const firstNonZero = numbers.findIndex((number) => number > 0);
    switch (operator) {
      case "=":
        return order === 0;
      case ">":
        return order > 0;
      case ">=":
        return order >= 0;
      case "<":
        return order < 0;
      case "<=":
        return order <= 0;
      case "~":
        return order >= 0 && sharesFirst(Math.min(numbers.length, 2));
      default:
        return order >= 0 && sharesFirst(firstNonZero < 0 ? numbers.length : firstNonZero + 1);
    }
  };

  const names = ({ numbers, tag: suffix }: Comparator, text: string): boolean =>
    suffix !== "" && text.startsWith(`${numbers.join(".")}-`);

  test("equals the definition for every version", () => {
    fc.assert(
      fc.property(fc.array(comparator, { minLength: 1, maxLength: 3 }), version, (comparators, text) => {
        const requirement = comparators
          .map(({ operator, numbers, tag: suffix }) => `${operator}${numbers.join(".")}${suffix}`)
          .join(", ");
        const mayBePrerelease = !text.includes("-") || comparators.some((one) => names(one, text));
        const expected = mayBePrerelease && comparators.every((one) => holds(one, text));
        expect(`${requirement} ${matches(requirement, text)}`).toBe(`${requirement} ${expected}`);
      }),
      { numRuns: 3_000 },
    );
  });
});

test("the endpoints are where the requirement begins or ends", () => {
  const endpoints = (text: string) => parseRequirement(text)?.endpoints().map(String);
  expect(endpoints(">=1.2, <2.0.0-rc.1")).toEqual(["1.2.0", "2.0.0-rc.1"]);
  expect(endpoints("*")).toEqual([]);
});

describe("limits", () => {
  test("characters: accepts below and at, refuses above", () => {
    const text = (count: number) => `1.2.3-${"a".repeat(count - 6)}`;
    expect(parseRequirement(text(REQUIREMENT_CHARACTERS_MAX - 1))).toBeDefined();
    expect(parseRequirement(text(REQUIREMENT_CHARACTERS_MAX))).toBeDefined();
    expect(parseRequirement(text(REQUIREMENT_CHARACTERS_MAX + 1))).toBeUndefined();
  });

  test("comparators: accepts below and at, refuses above", () => {
    const text = (count: number) => Array(count).fill(">1").join(",");
    expect(parseRequirement(text(COMPARATORS_MAX - 1))).toBeDefined();
    expect(parseRequirement(text(COMPARATORS_MAX))).toBeDefined();
    expect(parseRequirement(text(COMPARATORS_MAX + 1))).toBeUndefined();
  });
});
