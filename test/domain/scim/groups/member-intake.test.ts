// Which lists of a body are members of a group. Only these are extracted while the body arrives.
import { afterAll, expect, test } from "bun:test";
import { groupIntake, patchIntake } from "../../../../src/domain/scim/groups/member-intake.ts";
import { createWorld } from "../../../support/world.ts";

const world = await createWorld();
afterAll(() => world[Symbol.asyncDispose]());
const intakes = { group: groupIntake(world), patch: patchIntake(world) };

test.each([
  ["group", "members", 1, true],
  ["group", "Members", 1, true],
  ["group", "members", 2, false],
  ["group", "schemas", 1, false],
  ["patch", "value", 3, true],
  ["patch", "VALUE", 3, true],
  ["patch", "note", 3, false],
  ["patch", "members", 3, false],
  ["patch", "members", 4, true],
  ["patch", "value", 4, false],
  ["patch", "value", 1, false],
] as const)("a %s treats a list %s of an object at level %i as members: %p", (body, name, depth, is) => {
  expect(intakes[body].isMemberList(name, depth)).toBe(is);
});
