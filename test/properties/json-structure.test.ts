// The scanner of JSON text, compared with a plain recursive reading of the same value.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { pointerOf } from "../../src/platform/errors.ts";
import { parseInSteps } from "../../src/platform/json/pieces.ts";
import {
  findViolation,
  findViolationInSteps,
  type JsonLimits,
  pointerAt,
} from "../../src/platform/json/structure.ts";
import { runSynchronously } from "../../src/platform/steps.ts";

/** A JSON value whose objects may have a name twice. */
type Tree = string | number | boolean | null | Tree[] | { members: [string, Tree][] };

const NAMES = [
  "a",
  "A",
  "b",
  "z",
  "Z",
  "@",
  "[",
  "`",
  "{",
  "\\u",
  '"',
  "é",
  "É",
  "éa",
  "ÉA",
  "__proto__",
  "",
];
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
/** The strings that are written with escapes. One text may contain the same name with and without them. */
const escapes = fc.constantFrom<Escapes>("none", "all", "every second");
const { tree } = fc.letrec<{ tree: Tree; list: Tree[]; object: { members: [string, Tree][] } }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("tree"), { maxLength: 4 }),
  object: fc.record({ members: fc.array(fc.tuple(name, tie("tree")), { maxLength: 4 }) }),
}));

type Escapes = "none" | "all" | "every second";

/** Writes the tree with blanks and escapes that have no meaning. */
function written(value: Tree, blank: string, escaped: Escapes): string {
  let strings = 0;
  const isEscaped = () => escaped === "all" || (escaped === "every second" && ++strings % 2 === 0);
  const text = (content: string) => (isEscaped() ? `"${inEscapes(content)}"` : JSON.stringify(content));
  const write = (part: Tree): string => {
    if (typeof part === "string") return text(part);
    if (typeof part !== "object" || part === null) return JSON.stringify(part);
    const inside = Array.isArray(part)
      ? part.map(write)
      : part.members.map(([key, member]) => `${text(key)}${blank}:${blank}${write(member)}`);
    const [open, close] = Array.isArray(part) ? "[]" : "{}";
    return `${open}${blank}${inside.join(`${blank},${blank}`)}${blank}${close}`;
  };
  return `${blank}${write(value)}${blank}`;
}

const inEscapes = (content: string): string =>
  content.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

interface Reading {
  depth: number;
  values: number;
  /** pointer to the second of two equal names, the first in the order of the text */
  twice: string | undefined;
}

function read(value: Tree, foldsCase: boolean): Reading {
  const found: Reading = { depth: 0, values: 0, twice: undefined };
  const visit = (part: Tree, path: (string | number)[]): void => {
    found.values += 1;
    if (typeof part !== "object" || part === null) return;
    found.depth = Math.max(found.depth, path.length + 1);
    if (Array.isArray(part)) {
      for (const [at, item] of part.entries()) visit(item, [...path, at]);
      return;
    }
    const seen = new Set<string>();
    for (const [key, member] of part.members) {
      found.values += 1;
      const folded = foldsCase ? key.toLowerCase() : key;
      if (seen.has(folded)) found.twice ??= pointerOf([...path, key]);
      seen.add(folded);
      visit(member, [...path, key]);
    }
  };
  visit(value, []);
  return found;
}

const UNLIMITED: JsonLimits = { depthMax: 1_000, valuesMax: 1_000_000 };

test("depth, values and names equal the result of a recursive walk", () => {
  fc.assert(
    fc.property(
      tree,
      fc.constantFrom("", " ", "\n\t"),
      escapes,
      fc.boolean(),
      (value, blank, escaped, foldsCase) => {
        const text = written(value, blank, escaped);
        JSON.parse(text);
        const { depth, values, twice } = read(value, foldsCase);
        const flaw = findViolation(text, { ...UNLIMITED, foldsCase });
        expect(flaw?.kind === "duplicate" ? pointerAt(text, flaw.at) : undefined).toBe(twice);
        if (twice !== undefined) return;
        expect(findViolation(text, { depthMax: depth, valuesMax: values, foldsCase })).toBeUndefined();
        if (depth > 0) expect(findViolation(text, { ...UNLIMITED, depthMax: depth - 1 })?.kind).toBe("depth");
        expect(findViolation(text, { ...UNLIMITED, valuesMax: values - 1 })?.kind).toBe("values");
      },
    ),
    { numRuns: 500 },
  );
});

test("a duplicate name is found among many", () => {
  const names = fc.array(
    fc.oneof(
      name,
      fc.nat(2_000).map((number) => `name ${number}`),
    ),
    { maxLength: 400, size: "max" },
  );
  fc.assert(
    fc.property(names, escapes, fc.boolean(), (all, escaped, foldsCase) => {
      const value: Tree = { members: all.map((each): [string, Tree] => [each, null]) };
      const text = written(value, "", escaped);
      const flaw = findViolation(text, { ...UNLIMITED, foldsCase });
      const twice = flaw?.kind === "duplicate" ? pointerAt(text, flaw.at) : undefined;
      expect(twice).toBe(read(value, foldsCase).twice);
    }),
  );
});

test("a name matches with and without escapes, and in either case if case is ignored", () => {
  const spellings = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code));
  for (const character of spellings)
    for (const foldsCase of [false, true]) {
      const other = foldsCase ? character.toUpperCase().charAt(0) : character;
      const isSame = !foldsCase || other.toLowerCase() === character.toLowerCase();
      const text = `{${JSON.stringify(character)}:1,"${inEscapes(other)}":2}`;
      const flaw = findViolation(text, { ...UNLIMITED, foldsCase });
      expect([text, foldsCase, flaw?.kind]).toEqual([text, foldsCase, isSame ? "duplicate" : undefined]);
    }
});

test("a text that is checked in pieces reports the same first problem", () => {
  const pieces = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(tree, escapes, pieces, fc.nat(20), (value, escaped, pieceCharacters, valuesMax) => {
      const text = written(value, " ", escaped);
      for (const limits of [UNLIMITED, { ...UNLIMITED, foldsCase: true }, { depthMax: 3, valuesMax }])
        expect(runSynchronously(findViolationInSteps(text, limits, pieceCharacters)).flaw).toEqual(
          findViolation(text, limits),
        );
    }),
  );
});

/** @returns the value, or "refused" */
function parsedInPieces(text: string, pieceCharacters: number): unknown {
  const { flaw, cuts } = runSynchronously(findViolationInSteps(text, UNLIMITED, pieceCharacters));
  if (flaw) return "refused";
  for (const { at, open } of cuts) expect([text[at], open.length > 0]).toEqual([",", true]);
  try {
    return runSynchronously(parseInSteps(text, cuts));
  } catch {
    return "refused";
  }
}

const inPieces = fc.integer({ min: 1, max: 12 });

test("a text parsed in pieces has the value of the whole text", () => {
  fc.assert(
    fc.property(tree, fc.constantFrom("", " "), escapes, inPieces, (value, blank, escaped, characters) => {
      const text = written(value, blank, escaped);
      const expected = read(value, false).twice === undefined ? JSON.parse(text) : "refused";
      const parsed = parsedInPieces(text, characters);
      expect(parsed).toEqual(expected);
      expect(JSON.stringify(parsed)).toBe(JSON.stringify(expected)); // ignores the order of members, and treats __proto__ as an own member
    }),
    { numRuns: 1_000 },
  );
});

test("a malformed text is refused in pieces as well", () => {
  const tokens = fc.constantFrom(..."[]{},,,:01", '"a"', '"b":', '"__proto__":', '"1":', "true", " ");
  const edit = fc.record({ at: fc.nat(60), remove: fc.nat(2), insert: fc.oneof(fc.constant(""), tokens) });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(tokens, { maxLength: 30, size: "max" }).map((parts) => parts.join("")),
        fc.tuple(tree, edit).map(([value, { at, remove, insert }]) => {
          const text = written(value, "", "none");
          return text.slice(0, at) + insert + text.slice(at + remove);
        }),
      ),
      inPieces,
      (text, characters) => {
        const flaw = findViolation(text, UNLIMITED);
        let expected: unknown = "refused";
        try {
          if (!flaw) expected = JSON.parse(text);
        } catch {}
        expect(parsedInPieces(text, characters)).toEqual(expected);
      },
    ),
    { numRuns: 3_000 },
  );
});

test("a comma without a preceding element is refused at every cut, even after white space", () => {
  for (const blank of ["", " ", "\n", "  \t "])
    for (const text of [`[${blank},1]`, `{${blank},"a":1}`, `[[2],[${blank},1],3]`])
      for (const characters of [1, 2, 3, 4, 8])
        expect([text, parsedInPieces(text, characters)]).toEqual([text, "refused"]);
});

test("a text is cut at the first comma after each piece", () => {
  const { cuts } = runSynchronously(findViolationInSteps('[1,{"a":[22,3],"b":4},5]', UNLIMITED, 4));
  expect(cuts).toEqual([
    { at: 11, open: [null, 4, null] },
    { at: 21, open: [null] },
  ]);
});

test("any text is read to its end", () => {
  const anything = fc.string({ unit: fc.constantFrom(...'[]{}":,\\ 0atu') });
  fc.assert(
    fc.property(anything, (text) => {
      expect(() => findViolation(text, UNLIMITED)).not.toThrow();
    }),
    { numRuns: 1_000 },
  );
});
