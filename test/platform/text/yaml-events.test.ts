// The fast reader of ordinary YAML agrees with the complete reader: for every text that it reads, both find the same values at the
// same positions and no problem.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { pointerOf } from "../../../src/platform/errors.ts";
import { ProblemList } from "../../../src/platform/text/problem-list.ts";
import { positionsIn } from "../../../src/platform/text/text-positions.ts";
import { KEY_CHARACTERS_MAX, readOrdinaryYaml } from "../../../src/platform/text/yaml-events.ts";
import { scanYaml } from "../../../src/platform/text/yaml-scan.ts";
import { parseYaml } from "../../../src/platform/text/yaml-source.ts";
import { readYamlText } from "../../../src/platform/text/yaml-text.ts";

const BOUNDS = { bytesMax: 1_000_000, tokensMax: 100_000 };
const RUNS = 2_000;

const MARKS = [
  "- ",
  "? ",
  ": ",
  ":",
  ", ",
  "{",
  "}",
  "[",
  "]",
  "&a ",
  "*a",
  "!!str ",
  "<<: ",
  "---\n",
  "...\n",
  "%A\n",
];
const SPACES = [" ", "  ", "    ", "\n", "\n", "\n  ", "\n    ", "\r\n", "\t", " # note\n", "#"];
const BLOCKS = ["|\n", "|-\n", "|+\n", ">\n", ">-\n", "|2\n"];
const SCALARS = [
  "a",
  "b c",
  "a: b",
  "'it''s'",
  '"a\\n b"',
  '"a\n\n  b"',
  "x\n  y",
  "'",
  '"',
  "\\",
  "@",
  "`",
  "é",
  "😀",
  "\u0001",
];
const VALUES = [
  "1",
  "-1",
  "+1",
  "007",
  "0o7",
  "0x1f",
  ".5",
  "1.",
  "1e3",
  "-.inf",
  ".nan",
  "1e999",
  "~",
  "null",
  "True",
  "yes",
];
const ENTRIES = [
  "key: value\n",
  "  other: [a, b]\n",
  "list:\n- x\n",
  "  - {a: 1, b: 2}\n",
  "__proto__: 1\n",
  "? k\n: v\n",
];

const fragments = fc
  .array(fc.constantFrom(...MARKS, ...SPACES, ...BLOCKS, ...SCALARS, ...VALUES, ...ENTRIES), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

const WHOLE = `harnesses:
  claude:
    rules:
      # a note
      - allow: "Bash(git:*)"
        paths: [src/a, 'b c']
      - |
        text

        more
      - {a: 1, "b": [x, ~]}
    "quoted": >-
      folded
      text
`;
const damaged = fc
  .tuple(fc.nat(WHOLE.length), fc.nat(3), fragments)
  .map(([at, left, part]) => WHOLE.slice(0, at) + part + WHOLE.slice(at + left));

function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [path, ...members.flatMap(([name, member]) => pathsIn(member, [...path, name]))];
}

/** Reads the text with the complete reader. */
function readWhole(text: string) {
  const problems = new ProblemList();
  const source = parseYaml(text, problems, BOUNDS);
  if (source) scanYaml(source, problems, BOUNDS);
  const content = problems.count === 0 ? source?.document.toJS({ maxAliasCount: -1 }) : undefined;
  return { content, problems: problems.list() };
}

/**
 * The library for all texts reads on over the following lines when a comment stands between an indicator and its text, as in
 * `a:\n# note\n  text\nb: 1` within a list or a mapping. This is a bug of its version 2; the reader of ordinary texts is right.
 */
const COMMENT_BEFORE_TEXT = /[-:?] *(?:#.*)?\n(?: *\n)* *#/;

test.each([
  ["fragments", fragments],
  ["a policy with a damaged place", damaged],
])("both readers agree on %s", (_name, texts) => {
  fc.assert(
    fc.property(texts, (text) => {
      const ordinary = readOrdinaryYaml(text, BOUNDS);
      if (!ordinary || COMMENT_BEFORE_TEXT.test(text)) return;
      expect(readWhole(text)).toEqual({ content: ordinary.content, problems: [] });
      // Only the other reader accepts a text with a tab.
      const { positionsOf } = readYamlText(Buffer.from(`${text}\n#\t`), new ProblemList(), BOUNDS);
      const positionAt = positionsIn(text);
      const pointers = pathsIn(ordinary.content).map(pointerOf);
      for (const [at, position] of positionsOf(pointers).entries()) {
        const pointer = pointers[at] ?? "";
        const offset = ordinary.offsetOf(pointer);
        if (offset !== undefined)
          expect<object>({ pointer, ...positionAt(offset) }).toEqual({ pointer, ...position });
      }
    }),
    { numRuns: RUNS },
  );
});

test.each([
  [KEY_CHARACTERS_MAX - 1, "ordinary"],
  [KEY_CHARACTERS_MAX, "ordinary"],
  [KEY_CHARACTERS_MAX + 1, "not ordinary"],
])("a text with a key of %d characters is %s", (characters, what) => {
  const text = `${"k".repeat(characters)}: 1`;
  expect(readOrdinaryYaml(text, BOUNDS) ? "ordinary" : "not ordinary").toBe(what);
  expect(readYamlText(Buffer.from(text), new ProblemList(), BOUNDS).content).toEqual(readWhole(text).content);
});

test.each([
  ["r:\n  - a\n  -\n#x\n    t\n  - b\n", { r: ["a", "t", "b"] }],
  ["r:\n  a: 1\n  b:\n#x\n    t\n  c: {a: 1}\n", { r: { a: 1, b: "t", c: { a: 1 } } }],
])("a text after a comment ends where its indentation ends: %j", (text, content) => {
  expect(readOrdinaryYaml(text, BOUNDS)?.content).toEqual(content);
});
