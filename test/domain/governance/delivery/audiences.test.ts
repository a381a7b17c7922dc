// Who sees which package, and how many people one audience may name.
import { expect, test } from "bun:test";
import {
  type AudienceInput,
  hiddenPackages,
  listAudiences,
  readAudiences,
  withoutPackages,
} from "../../../../src/domain/governance/delivery/audiences.ts";
import { AUDIENCE_USERS_MAX, type Revision } from "../../../../src/domain/governance/model.ts";
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

const faultsOf = (
  input: Readonly<Record<string, AudienceInput>>,
  user: User | undefined = member,
): string[] => {
  const problems: { pointer: string; detail: string }[] = [];
  const check = { organizationId: ORGANIZATION, packages: ["one"], former: {}, findUser: () => user };
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

test("a user who was named before and erased since may stay", () => {
  const problems: { pointer: string; detail: string }[] = [];
  const former = { one: { scope: "users" as const, user_ids: ["user-0"] } };
  const check = { organizationId: ORGANIZATION, packages: ["one"], former, findUser: () => undefined };
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

test("a user outside of a package's audience gets neither the package nor its overrides, whatever its name", async () => {
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
  expect(hiddenPackages(revision, user.id)).toEqual([]);
  expect(withoutPackages(revision.document, [])).toBe(revision.document);
  const hidden = hiddenPackages(revision, ANA);
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
