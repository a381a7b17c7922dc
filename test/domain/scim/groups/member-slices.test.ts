// Member lists too long for one turn of the event loop: read and sorted in steps, with the same result as in one step.
import { expect, test } from "bun:test";
import { sortedInSlices } from "../../../../src/domain/scim/groups/member-slices.ts";
import { readGroup } from "../../../../src/domain/scim/messages/read-resource.ts";
import { readGroupPatch } from "../../../../src/domain/scim/patch/patch-group.ts";
import { runSynchronously, type Steps } from "../../../../src/platform/steps.ts";
import { refusalOf } from "../refusal.ts";

/** Unsorted texts without duplicates, because 7,919 is prime. */
const unordered = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `user-${(at * 7_919) % count}`);

function stepsOf(work: Steps<unknown>): number {
  let steps = 1;
  while (!work.next().done) steps += 1;
  return steps;
}

test.each([0, 1, 12_500, 12_501, 40_000])("%i ids are sorted", (count) => {
  const ids = unordered(count);
  expect(runSynchronously(sortedInSlices(ids))).toEqual(ids.toSorted());
});

const members = unordered(50_000).map((value) => ({ value }));
const patch = (value: unknown) =>
  readGroupPatch(
    { Operations: [{ op: "add", path: "members", value }] },
    { id: "group", profile: "standard" },
  );

test("SCIM-123 a list of 50,000 members is read and sorted in many steps", () => {
  expect(stepsOf(readGroup({ displayName: "Everybody", members }))).toBeGreaterThan(10);
  expect(stepsOf(patch(members))).toBeGreaterThan(10);
  expect(stepsOf(sortedInSlices(unordered(50_000)))).toBeGreaterThan(20);
});

test("the problems of all steps are reported together", () => {
  const faulty = members.with(3, { value: "" }).with(49_999, { value: " " });
  const both: Steps<unknown>[] = [readGroup({ displayName: "Everybody", members: faulty }), patch(faulty)];
  for (const work of both) {
    const { message } = refusalOf(() => runSynchronously(work));
    expect(message).toContain("members[3]");
    expect(message).toContain("members[49999]");
  }
});
