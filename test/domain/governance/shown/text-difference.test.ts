// CON-55: the lines in which two policies differ as text.
import { expect, test } from "bun:test";
import { TEXT_EDITS_MAX, textDifference } from "../../../../src/domain/governance/shown/text-difference.ts";
import { documentWith } from "../../clients/policies.ts";

const textOf = (members: Parameters<typeof documentWith>[0]) => JSON.stringify(documentWith(members));
const settings = (managed_config: Record<string, unknown>) =>
  textOf({ harnesses: { codex: { managed_config, mcp: [], package_overrides: {} } } });

test("CON-55 a changed line is paired with the line that it replaces, with its number and its neighbors", () => {
  const [before, after] = [settings({ a: 1, b: 2, c: 3 }), settings({ a: 1, b: 5, c: 3, d: 4 })];
  const hunks = textDifference({ before, after }) ?? [];
  expect(hunks).toHaveLength(1);
  const [changed, added] = hunks.flat().filter(({ isChanged }) => isChanged);
  const number = changed?.before?.number;
  expect(changed).toEqual({
    isChanged: true,
    before: { number: number ?? 0, text: "      b: 2" },
    after: { number: number ?? 0, text: "      b: 5" },
  });
  expect(added).toEqual({
    isChanged: true,
    before: undefined,
    after: { number: (number ?? 0) + 2, text: "      d: 4" },
  });
  expect(hunks[0]?.[0]).toMatchObject({ isChanged: false });
});

test("CON-55 the id of a revision is not a difference", () => {
  expect(textDifference({ before: textOf({ revision: "a" }), after: textOf({ revision: "b" }) })).toEqual([]);
});

test.each([
  [TEXT_EDITS_MAX - 2, true],
  [TEXT_EDITS_MAX, true],
  [TEXT_EDITS_MAX + 2, false],
])("CON-55 texts that differ in %p lines are compared: %p", (edits, isCompared) => {
  const of = (value: number) =>
    settings(Object.fromEntries(Array.from({ length: edits / 2 }, (_, at) => [`a${at}`, value])));
  expect(textDifference({ before: of(1), after: of(2) }) !== undefined).toBe(isCompared);
});
