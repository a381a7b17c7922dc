// Changes of single members: every other character stays the same, and a change that would affect another value is refused.
import { expect, test } from "bun:test";
import { ProblemList } from "../../../src/platform/text/problem-list.ts";
import { type MemberChanges, withMembers } from "../../../src/platform/text/yaml-edit.ts";
import { readYamlText } from "../../../src/platform/text/yaml-text.ts";

const BOUNDS = { bytesMax: 10_000, tokensMax: 10_000 };
const edit = (text: string, changes: MemberChanges) => withMembers(text, changes, BOUNDS);

const TEXT = `# our settings
model: gpt-5   # pinned

other:   {a: 1,   b: [x]}
# who approves
approval_policy: 'on-request'
text: |
  lines

  stay
`;

test("a value is replaced, and every other character stays", () => {
  expect(edit(TEXT, { model: "gpt-5.2" })).toBe(TEXT.replace("gpt-5 ", "gpt-5.2 "));
  expect(edit(TEXT, { approval_policy: "never: ever" })).toBe(TEXT.replace("'on-request'", '"never: ever"'));
  expect(edit(TEXT, { model: "gpt-5" })).toBe(TEXT);
});

test("a member is removed with its line, and comments above it stay", () => {
  expect(edit(TEXT, { model: undefined })).toBe(TEXT.replace("model: gpt-5   # pinned\n", ""));
  expect(edit(TEXT, { approval_policy: undefined })).toBe(
    TEXT.replace("approval_policy: 'on-request'\n", ""),
  );
  expect(edit(TEXT, { text: undefined })).toBe(TEXT.slice(0, TEXT.indexOf("text:")));
  expect(edit(TEXT, { absent: undefined })).toBe(TEXT);
});

test("members are added at the end", () => {
  const changes = { fast_mode: true, sandbox_mode: "true" };
  expect(edit(TEXT, changes)).toBe(`${TEXT}fast_mode: true\nsandbox_mode: "true"\n`);
  expect(edit("", { model: "x" })).toBe("model: x\n");
  expect(edit("# none yet", { model: "x" })).toBe("# none yet\nmodel: x\n");
  expect(edit("  a: 1", { model: "x" })).toBe("  a: 1\n  model: x\n");
});

test.each([
  ["model:\n", "model: x\n"],
  ["model: # c\n", "model: x # c\n"],
  ["model: |\n  a\n  b\nb: 1\n", "model: x\nb: 1\n"],
  ["model: a\n  b # c\n", "model: x # c\n"],
  ['{"model": "a", "b": 1}', '{"model": "x", "b": 1}'],
  ["{}", '{"model": "x"}'],
  ["{b: 1,}", '{b: 1, "model": "x",}'],
  ['{\n  "b": 1\n}\n', '{\n  "b": 1,\n  "model": "x"\n}\n'],
  ["base: &b {model: a}\n<<: *b\n", "base: &b {model: a}\n<<: *b\nmodel: x\n"],
  ["\ufeffmodel: a\n", "model: x\n"],
])("%j with another model is %j", (text, expected) => {
  expect(edit(text, { model: "x" })).toBe(expected);
});

test.each([
  ['{"model": "a", "b": 1}', '{"b": 1}'],
  ['{"b": 1, "model": "a"}', '{"b": 1}'],
  ['{"model": "a"}', "{}"],
  ["  model: a\n  b: 1\n", "  b: 1\n"],
  ["model: a", ""],
])("%j without its model is %j", (text, expected) => {
  expect(edit(text, { model: undefined })).toBe(expected);
});

test.each([
  "model: &m a\nb: *m\n",
  "model: [\n",
  "- model\n",
  "model: a\nmodel: b\n",
  "model: a\n...\n# end\n",
])("%j is refused if the change requires another one", (text) =>
  expect(edit(text, { model: undefined, extra: "x" })).toBeUndefined(),
);

test("all members of random texts stay after any change", () => {
  const pick = <T>(items: readonly T[], random: number): T => items[random % items.length] as T;
  let seed = 7;
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed;
  };
  const values = [
    "x",
    "'q'",
    "|\n  a\n\n  b",
    "{k: [1, 2]}",
    "&n z",
    "",
    "# only a comment",
    "a # c",
    "\n  deep: 1",
  ];
  for (let turn = 0; turn < 300; turn++) {
    const names = ["one", "two", "three", "four"].filter(() => next() % 3 > 0);
    const text = names
      .map((name) => `${next() % 2 ? "# above\n" : ""}${name}: ${pick(values, next())}\n`)
      .join("");
    const changes = {
      two: pick(["v", true, undefined], next()),
      five: pick([undefined, "a: b", false], next()),
    };
    const changed = edit(text, changes);
    const read = (source: string) =>
      readYamlText(Buffer.from(source), new ProblemList(), BOUNDS).content as Record<string, unknown> | null;
    const { two: _, ...kept } = { ...read(text) };
    const { two, five, ...rest } = { ...(changed === undefined ? {} : read(changed)) };
    expect([rest, two, five]).toEqual([kept, changes.two, changes.five]);
    for (const comment of text.match(/^#.*$/gm) ?? []) expect(changed).toContain(comment);
  }
});
