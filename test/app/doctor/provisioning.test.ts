// `doctor` on provisioned users who have no way to sign in.
import { expect, test } from "bun:test";
import { checkProvisioning } from "../../../src/app/doctor/domain-checks.ts";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { createUsersWorld } from "../../domain/scim/users/users-world.ts";

test("provisioned users without a password are reported until each has one", async () => {
  await using site = await createUsersWorld();
  const { domain, world } = site;
  const { organizationId } = world;
  const found = () => checkProvisioning(checkOf("provisioning"), { domain, organizationId });
  const { id } = await site.add();
  const { id: bob } = await site.add({ userName: "bob@example.com" });
  expect(found()).toEqual({
    check: "provisioning",
    result: "warning",
    detail: expect.stringMatching(/^2 provisioned users have no password and cannot sign in: /),
    remedy: expect.stringContaining("quartermaster users "),
  });
  await domain.identity.users.resetPassword(world.system, id);
  expect(found().detail).toStartWith("1 provisioned user has no password and cannot sign in: ");
  await domain.identity.users.resetPassword(world.system, bob);
  expect(found()).toMatchObject({ result: "ok", remedy: null });
});
