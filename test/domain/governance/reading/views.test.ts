// CON-55: two policies that are compared as text again.
import { expect, test } from "bun:test";
import { documentWith } from "../../clients/policies.ts";
import { createGovernanceWorld } from "../governance-world.ts";

const { governance, world } = await createGovernanceWorld();
const { views } = governance;

const policy = (key: string) => {
  const mcp = [{ name: "a", command: "b", env: { KEY: key }, disabled: false }];
  const harnesses = { codex: { managed_config: { model: key }, mcp, package_overrides: {} } };
  return { id: world.ids.uuid(), document: documentWith({ harnesses }) };
};
const [first, second] = [policy("one"), policy("two")];

test("the same two revisions are compared once", async () => {
  const [once, again] = [
    await views.textDifference(first, second),
    await views.textDifference(first, second),
  ];
  expect(once?.flat().filter(({ isChanged }) => isChanged)).not.toBeEmpty();
  expect(again).toBe(once);
});

test("another version of a draft, the other direction, and hidden values are compared again", async () => {
  const draft = { id: world.ids.uuid(), version: 1, document: second.document };
  const shown = await Promise.all([
    views.textDifference(first, draft),
    views.textDifference(first, { ...draft, version: 2, document: first.document }),
    views.textDifference(draft, first),
    views.textDifference(first, draft, true),
  ]);
  const texts = shown.map((hunks) => JSON.stringify(hunks));
  expect(shown[1]).toEqual([]);
  expect(new Set(texts).size).toBe(shown.length);
  expect(texts.map((text) => text.includes("KEY: two"))).toEqual([true, false, true, false]);
});
