// On how many workstations a package is applied, and how it fails on others.
import { expect, test } from "bun:test";
import {
  COUNTS_KEPT_SECONDS,
  FAILURE_KINDS_MAX,
  RECORDS_PER_STEP,
} from "../../../../src/domain/clients/rollout/package-reports.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { type ClientsWorld, createClientsWorld } from "../clients-world.ts";
import { reportedPackage } from "../policies.ts";

const countsIn = ({ domain, organizationId }: ClientsWorld) => {
  const current = domain.governance.revisions.inForce(organizationId);
  return runSynchronously(domain.clients.packageReports.counts(current)).get("review");
};
const failuresIn = ({ domain, organizationId }: ClientsWorld) =>
  runSynchronously(domain.clients.packageReports.failures(organizationId, "review"));

test("a package is applied if every harness has the policy's version", async () => {
  await using world = await createClientsWorld();
  await world.publish();
  const report = (instance_id: string, ...packages: object[]) =>
    world.report({ instance_id, packages: packages.map((members) => reportedPackage({ ...members })) });
  await report("both", {}, { harness: "claude" });
  await report("one fails", {}, { harness: "claude", state: "failed" });
  await report("older", { version: "0.9.0" });
  await report("none");
  await report("another", { id: "other" }, { id: 7 });
  expect(countsIn(world)).toEqual({ reported: 3, applied: 1 });
});

test("counts of a small fleet are always new; larger ones are kept for a minute, but not beyond a publication", async () => {
  await using world = await createClientsWorld();
  await world.publish();
  const arrive = async (workstations: number) => {
    for (let at = 0; at < workstations; at++) await world.report({ instance_id: `${all + at}` });
    all += workstations;
  };
  let all = 0;
  for (const more of [1, 1, RECORDS_PER_STEP - 1]) {
    await arrive(more);
    expect(countsIn(world)).toEqual({ reported: all, applied: all });
  }
  const kept = { reported: all, applied: all };
  await arrive(1);
  world.world.clock.advance(COUNTS_KEPT_SECONDS * SECOND_MS - 1);
  expect(countsIn(world)).toEqual(kept);
  world.world.clock.advance(1);
  expect(countsIn(world)).toEqual({ reported: all, applied: all });
  await arrive(1);
  await world.publish();
  expect(countsIn(world)).toEqual({ reported: all, applied: all });
});

test("failures are grouped by their text, most frequent first", async () => {
  await using world = await createClientsWorld();
  await world.publish();
  const failing = (instance_id: string, members: object) =>
    world.report({ instance_id, hostname: instance_id, packages: [reportedPackage({ ...members })] });
  await failing("well", {});
  await failing("other", { id: "other", state: "failed", error: '"review"' });
  await failing("rare", { state: "pending" });
  await failing("lab-1", { state: "failed", error: "no space" });
  await failing("lab-2", { state: "failed", error: " no space " });
  const { failures, more } = failuresIn(world);
  expect(more).toBe(0);
  expect(failures).toMatchObject([
    { harness: "codex", version: "1.0.0", state: "failed", error: "no space", clients: 2 },
    { state: "pending", error: "", clients: 1, example: { hostname: "rare" } },
  ]);
});

test.each([
  [FAILURE_KINDS_MAX - 1, FAILURE_KINDS_MAX - 1, 0],
  [FAILURE_KINDS_MAX, FAILURE_KINDS_MAX, 0],
  [FAILURE_KINDS_MAX + 1, FAILURE_KINDS_MAX, 1],
])("reports %p kinds of failures and counts %p separately", async (reported, kinds, more) => {
  await using world = await createClientsWorld();
  for (let at = 0; at < reported; at++) {
    const packages = [reportedPackage({ state: "failed", error: `error ${at}` })];
    await world.report({ instance_id: `i-${at}`, packages });
  }
  const found = failuresIn(world);
  expect([found.failures.length, found.more]).toEqual([kinds, more]);
});
