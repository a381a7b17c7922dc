// The rollout of a revision: counts by health, harness and version, refusals by reason, workstations not seen for days, and
// samples.
import { expect, test } from "bun:test";
import {
  GROUPS_MAX,
  POINTS_MAX,
  REFUSALS_MAX,
  SAMPLE_DAYS_MAX,
  SHARED_MS_MAX,
} from "../../../../src/domain/clients/rollout/rollout.ts";
import { addSample } from "../../../../src/domain/clients/rollout/rollout-store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/platform/clock.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { type ClientsWorld, createClientsWorld } from "../clients-world.ts";

function rolloutIn({ domain, organizationId }: ClientsWorld, id: string) {
  const { revisions } = domain.governance;
  const revision = revisions.show(organizationId, id);
  return runSynchronously(domain.clients.rollouts.of(revision, revisions.inForce(organizationId).id));
}

test("CON-63 counts a revision by health, harness and version, with those who refused it by reason", async () => {
  await using world = await createClientsWorld();
  const first = await world.publish({ packages: [] });
  const report = (instance_id: string, more: object = {}) =>
    world.report({ instance_id, config_revision: first, packages: [], harnesses: ["codex"], ...more });
  await report("asleep");
  world.world.clock.advance(DAY_MS + 1);
  const second = await world.publish({ packages: [] });
  await report("old");
  await report("new", { config_revision: second, client_version: "2.0.0" });
  await report("odd", { config_revision: second, error: "no space left", hostname: "lab-9" });
  const rollout = rolloutIn(world, second);
  expect(rollout).toMatchObject({
    revision: { id: second, sequence: 2 },
    isInForce: true,
    workstations: { current: 1, outdated: 2, attention: 1 },
    notSeenSince: 1,
    notSeenByDays: [
      { days: 1, clients: 1 },
      { days: 7, clients: 0 },
      { days: 30, clients: 0 },
    ],
    refusals: [{ reason: "no space left", clients: 1, example: { hostname: "lab-9" } }],
    moreRefusals: 0,
    samples: [],
  });
  expect(rollout.harnesses).toEqual(new Map([["codex", { current: 1, outdated: 2, attention: 1 }]]));
  expect([...rollout.clientVersions.keys()]).toEqual(["0.1.0", "2.0.0"]);
  expect(rolloutIn(world, first)).toMatchObject({ isInForce: false, workstations: { current: 2 } });
  const { rollouts } = world.domain.clients;
  expect(runSynchronously(rollouts.onRevisions(world.organizationId))).toEqual(
    new Map([
      [first, 2],
      [second, 2],
    ]),
  );
});

test("CON-63 names the most frequent refusals and versions up to their limits", async () => {
  await using world = await createClientsWorld();
  const config_revision = await world.publish({ packages: [] });
  const more: number[][] = [];
  for (let client = 1; client <= REFUSALS_MAX + 1; client++) {
    const members = { config_revision, packages: [], harnesses: [], error: `fault ${client}` };
    await world.report({ ...members, instance_id: `i-${client}`, client_version: `1.0.${client}` });
    if (client < REFUSALS_MAX - 1) continue;
    const { refusals, moreRefusals, clientVersions } = rolloutIn(world, config_revision);
    more.push([refusals.length, moreRefusals, clientVersions.size]);
  }
  expect(GROUPS_MAX).toBe(REFUSALS_MAX);
  expect(more).toEqual([
    [REFUSALS_MAX - 1, 0, GROUPS_MAX - 1],
    [REFUSALS_MAX, 0, GROUPS_MAX],
    [REFUSALS_MAX, 1, GROUPS_MAX],
  ]);
});

test("CON-63 is sampled each minute for a day, then each hour, for 30 days, and forgotten after them", async () => {
  await using world = await createClientsWorld();
  const { clock } = world.world;
  const { rollouts } = world.domain.clients;
  const id = await world.publish({ packages: [] });
  const revision = world.domain.governance.revisions.show(world.organizationId, id);
  const counts = { current: 1, outdated: 2, attention: 3 };
  const sampleTimes = (count: number, fromMs: number) =>
    world.world.db.write((tx) => {
      for (let at = 0; at < count; at++) {
        const sampledAtMs = fromMs + at * MINUTE_MS;
        addSample(tx, { organizationId: world.organizationId, revisionId: id, sampledAtMs, ...counts });
      }
    }, "unobserved");
  expect(rollouts.isDue(revision)).toBe(true);
  const points: number[] = [];
  for (const count of [POINTS_MAX - 1, 1, 1]) {
    await sampleTimes(count, clock.nowMs());
    clock.advance(count * MINUTE_MS);
    points.push(rolloutIn(world, id).samples.length);
  }
  expect(points).toEqual([POINTS_MAX - 1, POINTS_MAX, POINTS_MAX]);
  clock.advance(DAY_MS);
  await rollouts.sample(revision, counts);
  expect(rollouts.isDue(revision)).toBe(false);
  clock.advance(HOUR_MS - 1);
  expect(rollouts.isDue(revision)).toBe(false);
  clock.advance(1);
  expect(rollouts.isDue(revision)).toBe(true);
  const { signal } = new AbortController();
  clock.advance(revision.createdAtMs + SAMPLE_DAYS_MAX * DAY_MS - clock.nowMs());
  expect([rollouts.isDue(revision), await rollouts.forget(signal)]).toEqual([true, 0]);
  clock.advance(1);
  expect([rollouts.isDue(revision), await rollouts.forget(signal)]).toEqual([false, 1]);
});

test.each([
  ["a fleet that is counted in one step", 0, 0],
  ["a fleet that takes a while", 10, 200],
  ["a large fleet", 1_000, SHARED_MS_MAX],
])(
  "CON-63 the counts of %s are shared for twenty times that time, at most two seconds",
  async (_, tookMs, sharedMs) => {
    await using world = await createClientsWorld();
    const config_revision = await world.publish({ packages: [] });
    const { clock } = world.world;
    const { governance, clients } = world.domain;
    const revision = governance.revisions.show(world.organizationId, config_revision);
    const first = clients.rollouts.shared(revision, config_revision);
    clock.advance(tookMs);
    await first;
    await world.report({ config_revision, packages: [] });
    const total = async () => (await clients.rollouts.shared(revision, "another")).workstations.current;
    if (sharedMs > 0) {
      clock.advance(sharedMs - 1);
      expect(await total()).toBe(0);
      expect(await clients.rollouts.shared(revision, "another")).toMatchObject({ isInForce: false });
      clock.advance(1);
    }
    expect(await total()).toBe(1);
  },
);
