// Which revisions changed a package.
import { expect, test } from "bun:test";
import { PACKAGE_CHANGES_MAX } from "../../../../src/domain/governance/reading/package-history.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { createGovernanceWorld, type GovernanceWorld, packageOf } from "../governance-world.ts";

const historyIn = ({ governance, world }: GovernanceWorld) =>
  runSynchronously(governance.packageHistory(world.organizationId, "guide"));

const extend = (
  { governance, admin, inForce }: GovernanceWorld,
  packages: readonly object[],
  more: object = {},
) => governance.publishing.publishExtensions(admin, { baseRevision: inForce().id, packages, ...more });

test("a revision is listed with its changes, the newest first", async () => {
  await using world = await createGovernanceWorld();
  const ben = (await world.signedIn("member")).user.id;
  const packageAudiences = { guide: { scope: "users", user_ids: [ben] } };
  const packageOverrides = { codex: { guide: { enabled: false, settings: {} } } };
  const newer = packageOf("guide", { version: "2.0.0" });
  await extend(world, [packageOf("guide")]);
  await extend(world, [packageOf("guide"), packageOf("other")]);
  await extend(world, [newer]);
  await extend(world, [newer], { packageAudiences });
  await extend(world, [newer], { packageAudiences, packageOverrides });
  await extend(world, []);
  expect(historyIn(world).map(({ revision, ...change }) => [revision.sequence, change])).toEqual([
    [7, { from: "2.0.0", to: undefined, isAudienceChanged: false, isUseChanged: false }],
    [6, { from: "2.0.0", to: "2.0.0", isAudienceChanged: false, isUseChanged: true }],
    [5, { from: "2.0.0", to: "2.0.0", isAudienceChanged: true, isUseChanged: false }],
    [4, { from: "1.0.0", to: "2.0.0", isAudienceChanged: false, isUseChanged: false }],
    [2, { from: undefined, to: "1.0.0", isAudienceChanged: false, isUseChanged: false }],
  ]);
});

test.each([PACKAGE_CHANGES_MAX - 1, PACKAGE_CHANGES_MAX, PACKAGE_CHANGES_MAX + 1])(
  "names at most ten of %d changes",
  async (changes) => {
    await using world = await createGovernanceWorld();
    for (let at = 0; at < changes; at++) await extend(world, [packageOf("guide", { version: `1.0.${at}` })]);
    expect(historyIn(world)).toHaveLength(Math.min(changes, PACKAGE_CHANGES_MAX));
  },
);
