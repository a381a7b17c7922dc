// The effect of a policy change, counted from workstations' reports and from audiences.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import {
  REFUSED_VERSIONS_MAX,
  WORKSTATIONS_COUNTED_MAX,
} from "../../../../src/domain/clients/rollout/impact.ts";
import { PEOPLE_NAMED_MAX } from "../../../../src/domain/clients/rollout/people.ts";
import { clientReports } from "../../../../src/domain/clients/tables.ts";
import type { GovernanceConfig, PackageAudiences } from "../../../../src/domain/governance/service.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { addScimUsers } from "../../scim/groups/groups-world.ts";
import { createClientsWorld } from "../clients-world.ts";
import { documentWith, packageWith, reportedHarness } from "../policies.ts";

const says = (document: Partial<GovernanceConfig> = {}, audiences: PackageAudiences = {}) => ({
  document: documentWith({ packages: [], ...document }),
  audiences,
});
const codex = (version: string) => [reportedHarness({ version })];
const range = (version_requirement: string): Partial<GovernanceConfig> => ({
  harnesses: {
    codex: {
      version_requirement,
      allow_unverified_versions: true,
      managed_config: {},
      mcp: [],
      package_overrides: {},
    },
  },
});

/** Adds workstations with equal reports, each one second after the one before. */
function copyReport(tx: Tx, instanceId: string, [first, last]: readonly [number, number]): void {
  const row = tx.select().from(clientReports).where(eq(clientReports.instanceId, instanceId)).get();
  for (let copy = first; row && copy <= last; copy += 1) {
    const own = { id: crypto.randomUUID(), instanceId: `copy ${copy}` };
    const lastSeenAtMs = row.lastSeenAtMs + copy * SECOND_MS;
    tx.insert(clientReports)
      .values({ ...row, ...own, lastSeenAtMs })
      .run();
  }
}

test("CON-58 counts workstations that are refused, admitted, outdated or too old", async () => {
  await using world = await createClientsWorld();
  const config_revision = await world.publish({ packages: [] });
  const report = (instance_id: string, version: string, more: object = {}) =>
    world.report({ instance_id, config_revision, harnesses: codex(version), packages: [], ...more });
  await report("a", "0.145.0");
  await report("b", "0.145.0", { client_version: "0.0.9" });
  await report("c", "0.150.0");
  await report("d", "0.140.0", { harnesses: ["claude"] });
  const change = {
    before: says(range("<0.150.0")),
    after: {
      ...says({ ...range(">=0.150.0"), minimum_client_version: "0.1.0", allowed_harnesses: ["codex"] }),
    },
  };
  const impact = runSynchronously(world.domain.clients.impactOf(world.organizationId, change));
  expect(impact.workstations).toEqual({
    total: 4,
    counted: 4,
    outdated: 4,
    refused: 2,
    clientTooOld: 1,
    uncounted: 0,
  });
  expect(impact.harnesses).toEqual([
    {
      harness: "codex",
      installed: 3,
      refused: 2,
      admitted: 1,
      allowed: 1,
      versions: [
        { version: "0.145.0", clients: 2, reason: "version 0.145.0 does not satisfy the required >=0.150.0" },
      ],
    },
    { harness: "claude", installed: 1, refused: 0, admitted: 0, allowed: 0, versions: [] },
  ]);
});

test("CON-58 counts the workstations seen last: one below WORKSTATIONS_COUNTED_MAX, at it, and one above", async () => {
  await using world = await createClientsWorld();
  await world.report({ instance_id: "seen first", harnesses: codex("0.140.0") });
  await world.report({ instance_id: "seen last", harnesses: codex("0.145.0") });
  let reports = 2;
  for (const more of [-1, 0, 1]) {
    const total = WORKSTATIONS_COUNTED_MAX + more;
    await world.world.db.write((tx) => copyReport(tx, "seen last", [reports - 1, total - 2]), "client_rows");
    reports = total;
    const change = { before: says(range("<1")), after: says(range(">=1")) };
    const impact = runSynchronously(world.domain.clients.impactOf(world.organizationId, change));
    const counted = Math.min(total, WORKSTATIONS_COUNTED_MAX);
    expect(impact.workstations).toMatchObject({ total, counted, refused: counted });
    const versions = impact.harnesses[0]?.versions.map(({ version }) => version);
    expect(versions).toEqual(more > 0 ? ["0.145.0"] : ["0.145.0", "0.140.0"]);
  }
});

test.each([
  [REFUSED_VERSIONS_MAX - 1, REFUSED_VERSIONS_MAX - 1],
  [REFUSED_VERSIONS_MAX, REFUSED_VERSIONS_MAX],
  [REFUSED_VERSIONS_MAX + 1, REFUSED_VERSIONS_MAX],
])("finds %p refused versions and names %p", async (reported, named) => {
  await using world = await createClientsWorld();
  for (let patch = 0; patch < reported; patch++)
    await world.report({ instance_id: `i-${patch}`, harnesses: codex(`0.145.${patch}`) });
  const change = { before: says(range("<1")), after: says(range(">=1")) };
  const [harness] = runSynchronously(world.domain.clients.impactOf(world.organizationId, change)).harnesses;
  expect([harness?.refused, harness?.versions.length]).toEqual([reported, named]);
});

test("CON-58 names users who gain or lose a package, without those who may not sign in", async () => {
  await using world = await createClientsWorld();
  const { organizationId, ana } = world;
  const ben = (await world.signedIn("member", { email: "ben@example.org" })).user;
  const cleo = (await world.signedIn("member", { email: "cleo@example.org" })).user;
  await world.domain.identity.users.update(world.world.system, cleo.id, { status: "suspended" });
  const users = (...user_ids: string[]): PackageAudiences => ({ guide: { scope: "users", user_ids } });
  const peopleOf = (before: PackageAudiences | undefined, after: PackageAudiences | undefined) => {
    const packages = [packageWith({ id: "guide" })];
    const side = (audiences?: PackageAudiences) => (audiences ? says({ packages }, audiences) : says());
    const change = { before: side(before), after: side(after) };
    const [impact] = runSynchronously(world.domain.clients.impactOf(organizationId, change)).packages;
    return impact && { gaining: impact.gaining, losing: impact.losing };
  };
  const nobody = { count: 0, named: [] };
  const total = runSynchronously(
    world.domain.identity.users.listInSteps(organizationId, { status: "active", perPage: 1 }),
  ).total;
  expect(peopleOf(undefined, users(ana.user.id, ben.id, cleo.id))).toEqual({
    gaining: { count: 2, named: ["ana@example.org", "ben@example.org"] },
    losing: nobody,
  });
  expect(peopleOf(users(ana.user.id), users(ben.id))).toEqual({
    gaining: { count: 1, named: ["ben@example.org"] },
    losing: { count: 1, named: ["ana@example.org"] },
  });
  expect(peopleOf(users(ana.user.id), {})).toEqual({
    gaining: { count: total - 1, named: [] },
    losing: nobody,
  });
  expect(peopleOf({}, undefined)).toEqual({ gaining: nobody, losing: { count: total, named: [] } });
  expect(peopleOf({}, {})).toBeUndefined();
  const many = await addScimUsers(world.world, PEOPLE_NAMED_MAX + 1);
  for (const length of [PEOPLE_NAMED_MAX - 1, PEOPLE_NAMED_MAX, PEOPLE_NAMED_MAX + 1]) {
    const gaining = peopleOf(undefined, users(...many.slice(0, length)))?.gaining;
    expect([gaining?.count, gaining?.named.length]).toEqual([length, Math.min(length, PEOPLE_NAMED_MAX)]);
  }
});
