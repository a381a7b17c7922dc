// The refused requests that are stored for administrators: how many, how often, how long.
import { expect, test } from "bun:test";
import {
  REFUSAL_DETAIL_MAX,
  REFUSALS_KEPT_MAX,
  REFUSALS_PER_SECOND_MAX,
  Refusals,
} from "../../../../src/domain/scim/status/refusals.ts";
import { createWorld, START_MS, type World } from "../../../support/world.ts";

const SECOND_MS = 1_000;

const refusal = (detail: string) => ({
  requestId: "r1",
  actor: "scim:okta",
  method: "POST",
  route: "/scim/v2/Users",
  status: 409,
  scimType: "uniqueness",
  detail,
});

/** Stores one per second. */
function keep({ clock, organizationId }: World, refusals: Refusals, details: readonly string[]): void {
  for (const detail of details) {
    refusals.keep(organizationId, refusal(detail));
    clock.advance(SECOND_MS);
  }
}

/** @returns what is stored after the pending writes */
async function kept({ db, organizationId }: World, refusals: Refusals): Promise<string[]> {
  // more wait than one commit takes, and each write ends after those before it
  await db.write(() => undefined, "unobserved");
  return refusals.list(organizationId).map(({ detail }) => detail);
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `no. ${at}`);

test("a refusal is stored unchanged with its time for its organization only", async () => {
  await using world = await createWorld();
  const refusals = new Refusals(world);
  keep(world, refusals, ["userName is taken"]);
  expect(await kept(world, refusals)).toEqual(["userName is taken"]);
  expect(refusals.list(world.organizationId)).toEqual([{ ...refusal("userName is taken"), atMs: START_MS }]);
  expect(refusals.list("another")).toEqual([]);
});

test.each([-1, 0, 1])("stores the newest of %d more refusals than the limit, newest first", async (more) => {
  await using world = await createWorld();
  const refusals = new Refusals(world);
  const all = numbered(REFUSALS_KEPT_MAX + more);
  keep(world, refusals, all);
  expect(await kept(world, refusals)).toEqual(all.reverse().slice(0, REFUSALS_KEPT_MAX));
});

test.each([-1, 0, 1])("stores the first of %d more refusals than the limit in one second", async (more) => {
  await using world = await createWorld();
  const refusals = new Refusals(world);
  const all = numbered(REFUSALS_PER_SECOND_MAX + more);
  for (const detail of all) refusals.keep(world.organizationId, refusal(detail));
  const first = all.slice(0, REFUSALS_PER_SECOND_MAX).reverse();
  expect(await kept(world, refusals)).toEqual(first);
  world.clock.advance(SECOND_MS);
  keep(world, refusals, ["later"]);
  expect(await kept(world, refusals)).toEqual(["later", ...first]);
});

test.each([-1, 0, 1])("a detail of %d more than its limit is truncated to it", async (more) => {
  await using world = await createWorld();
  const refusals = new Refusals(world);
  keep(world, refusals, ["x".repeat(REFUSAL_DETAIL_MAX + more)]);
  const [detail = ""] = await kept(world, refusals);
  expect(detail).toHaveLength(Math.min(REFUSAL_DETAIL_MAX + more, REFUSAL_DETAIL_MAX));
});

test("a refusal that cannot be stored fails no request and leaves the caches valid", async () => {
  await using world = await createWorld();
  const refusals = new Refusals(world);
  const revision = world.db.revision("access");
  keep(world, refusals, ["kept"]);
  await kept(world, refusals);
  expect(world.db.revision("access")).toBe(revision);
  await world.db.close();
  keep(world, refusals, ["lost"]);
});
