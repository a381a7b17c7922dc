// Who sees which package, and how many people one audience may name.
import { expect, test } from "bun:test";
import {
  type AudienceInput,
  hiddenPackages,
  listAudiences,
  type Person,
  readAudiences,
  withoutPackages,
} from "../../../../src/domain/governance/delivery/audiences.ts";
import {
  AUDIENCE_GROUPS_MAX,
  AUDIENCE_USERS_MAX,
  type PackageAudiences,
  type Revision,
} from "../../../../src/domain/governance/model.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { createGovernanceWorld, packageOf } from "../governance-world.ts";

const ANA = "ana";
const ORGANIZATION = "organization";
const member: User = {
  id: ANA,
  organizationId: ORGANIZATION,
  subject: ANA,
  email: "ana@example.com",
  role: "member",
  status: "active",
  protected: false,
  provisioningSource: "local",
  createdAtMs: 0,
  updatedAtMs: 0,
};

const here = {
  organizationId: ORGANIZATION,
  packages: ["one"],
  hasGroup: (organizationId: string, id: string) =>
    organizationId === ORGANIZATION && id.startsWith("group-"),
};

const faultsOf = (
  input: Readonly<Record<string, AudienceInput>>,
  user: User | undefined = member,
  former: PackageAudiences = {},
): string[] => {
  const problems: { pointer: string; detail: string }[] = [];
  const check = { ...here, former, findUser: () => user };
  runSynchronously(readAudiences(input, check, problems));
  return problems.map(({ pointer, detail }) => `${pointer} ${detail}`);
};
const users = (count: number): AudienceInput => ({
  scope: "users",
  user_ids: Array.from({ length: count }, (_, at) => `user-${at}`),
});

test("an audience may name the maximum number of users and no more", () => {
  expect(faultsOf({ one: users(AUDIENCE_USERS_MAX - 1) })).toEqual([]);
  expect(faultsOf({ one: users(AUDIENCE_USERS_MAX) })).toEqual([]);
  expect(faultsOf({ one: users(AUDIENCE_USERS_MAX + 1) })).toEqual([
    `/package_audiences/one/user_ids may name at most ${AUDIENCE_USERS_MAX} users`,
  ]);
});

const groups = (count: number): AudienceInput => ({
  scope: "users",
  group_ids: Array.from({ length: count }, (_, at) => `group-${at}`),
});

test("an audience may name the maximum number of groups and no more", () => {
  expect(faultsOf({ one: groups(AUDIENCE_GROUPS_MAX - 1) })).toEqual([]);
  expect(faultsOf({ one: groups(AUDIENCE_GROUPS_MAX) })).toEqual([]);
  expect(faultsOf({ one: groups(AUDIENCE_GROUPS_MAX + 1) })).toEqual([
    `/package_audiences/one/group_ids may name at most ${AUDIENCE_GROUPS_MAX} groups`,
  ]);
});

test("reports every problem of users and groups of one audience", () => {
  const input = { scope: "users" as const, user_ids: ["user-0"], group_ids: ["gone", "group-1", "group-1"] };
  expect(faultsOf({ one: input }, { ...member, status: "suspended" })).toEqual([
    "/package_audiences/one/group_ids names a group twice",
    `/package_audiences/one/user_ids/0 ${member.email} is suspended`,
    "/package_audiences/one/group_ids/0 no group has this id",
  ]);
  expect(faultsOf({ one: { scope: "organization", group_ids: ["group-1"] } })).toEqual([
    "/package_audiences/one/group_ids must be empty for the organization",
  ]);
  expect(faultsOf({ one: { scope: "users", group_ids: [] } })).toEqual([
    "/package_audiences/one/user_ids must name at least one user or group",
  ]);
});

test("a group that was named before and has been removed since may stay", () => {
  const former = { one: { scope: "users" as const, user_ids: [], group_ids: ["gone"] } };
  expect(faultsOf({ one: { scope: "users", group_ids: ["gone", "group-1"] } }, member, former)).toEqual([]);
});

test("a user who was named before and has been erased since may stay", () => {
  const problems: { pointer: string; detail: string }[] = [];
  const former = { one: { scope: "users" as const, user_ids: ["user-0"] } };
  const check = { ...here, former, findUser: () => undefined };
  runSynchronously(readAudiences({ one: users(2) }, check, problems));
  expect(problems).toMatchObject([{ pointer: "/package_audiences/one/user_ids/1" }]);
});

test("a user of another organization is unknown", () => {
  expect(faultsOf({ one: users(1) }, { ...member, organizationId: "other" })).toEqual([
    "/package_audiences/one/user_ids/0 no user has this id",
  ]);
  expect(faultsOf({ other: { scope: "organization" } })).toEqual([
    "/package_audiences/other no package of this request has this id",
  ]);
});

/** Someone in no group. */
const alone = (id: string): Person => ({ id, groups: () => [] });

test("a user outside of a package's audience never gets the package or its overrides, whatever its name", async () => {
  await using world = await createGovernanceWorld();
  const { user } = await world.signedIn("member");
  const revision: Revision = await world.governance.publishing.publishExtensions(world.admin, {
    baseRevision: world.inForce().id,
    packages: [packageOf("constructor"), packageOf("for-her"), packageOf("hers-too")],
    packageAudiences: {
      "for-her": { scope: "users", user_ids: [user.id] },
      "hers-too": { scope: "users", user_ids: [user.id] },
    },
    packageOverrides: { kimi: { "for-her": { enabled: false }, constructor: { enabled: false } } },
  });
  expect(hiddenPackages(revision, alone(user.id))).toEqual([]);
  expect(withoutPackages(revision.document, [])).toBe(revision.document);
  const hidden = hiddenPackages(revision, alone(ANA));
  expect(hidden).toEqual(["for-her", "hers-too"]);
  const seen = withoutPackages(revision.document, hidden);
  expect(seen.packages.map(({ id }) => id)).toEqual(["constructor"]);
  expect(Object.keys(seen.harnesses.kimi?.package_overrides ?? {})).toEqual(["constructor"]);
  expect(Object.entries(listAudiences(revision))).toEqual([
    ["constructor", { scope: "organization", user_ids: [] }],
    ["for-her", { scope: "users", user_ids: [user.id] }],
    ["hers-too", { scope: "users", user_ids: [user.id] }],
  ]);
});
