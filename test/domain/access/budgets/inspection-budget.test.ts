// Inspections of package sources: each user has a budget; commands of the operator and jobs of the service have none.
import { expect, test } from "bun:test";
import {
  createInspectionBudget,
  INSPECTIONS_PER_USER,
} from "../../../../src/domain/access/budgets/inspection-budget.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { MINUTE_MS } from "../../../../src/platform/clock.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { createWorld } from "../../../support/world.ts";

const ORGANIZATION = { organizationId: "organization", label: "test" };
const USER: Actor = { kind: "user", id: "ada", ...ORGANIZATION };

async function inspecting() {
  const world = await createWorld();
  const spendInspection = createInspectionBudget(world);
  const inspect = (actor: Actor) =>
    world.db
      .write((tx) => spendInspection(tx, actor), "access")
      .catch((error: unknown) => (error instanceof DomainError ? error.reason : error));
  return { world, inspect };
}

test("a user inspects INSPECTIONS_PER_USER sources in a quarter of an hour, independent of other users", async () => {
  const { world, inspect } = await inspecting();
  await using _ = world;
  for (let at = 0; at < INSPECTIONS_PER_USER; at += 1) expect(await inspect(USER)).toBeUndefined();
  expect(await inspect(USER)).toBe("access.too_many_attempts");
  expect(await inspect({ ...USER, id: "eve" })).toBeUndefined();
  world.clock.advance(15 * MINUTE_MS);
  expect(await inspect(USER)).toBeUndefined();
});

test.each([
  { kind: "operator", id: null, ...ORGANIZATION },
  { kind: "system", id: null, ...ORGANIZATION },
  { kind: "scim", id: "token", ...ORGANIZATION },
  { kind: "user", id: null, ...ORGANIZATION },
] as const)("$kind with the id $id has no budget", async (actor) => {
  const { world, inspect } = await inspecting();
  await using _ = world;
  for (let at = 0; at <= INSPECTIONS_PER_USER; at += 1) expect(await inspect(actor)).toBeUndefined();
});
