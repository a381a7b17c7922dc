// `doctor` on administrators who are required to have a second factor.
import { expect, test } from "bun:test";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { checkSecondFactor } from "../../../src/app/doctor/second-factor.ts";
import { giveApp } from "../../support/second-factor/given-factors.ts";
import { createTestServer } from "../../support/server.ts";

test("administrators without a factor are reported until each has one; members and the optional mode are not", async () => {
  await using site = await createTestServer({ access: { secondFactor: "administrators" } });
  const { domain, world } = site;
  const found = () =>
    checkSecondFactor(checkOf("second_factor"), { domain, organizationId: world.organizationId });
  const [ada, bob] = [await site.signedIn("admin"), await site.signedIn("admin")];
  await site.signedIn("member");
  expect(found()).toMatchObject({
    result: "warning",
    detail: "2 administrators must have a second factor (identity.second_factor) and have none yet",
    remedy: expect.stringContaining("/login"),
  });
  await giveApp(site, ada);
  expect(found().detail).toStartWith("1 administrator must have a second factor");
  await domain.identity.users.setStatus(world.system, bob.user.id, "suspended");
  expect(found()).toMatchObject({ result: "ok", remedy: null });
  await domain.identity.users.setStatus(world.system, bob.user.id, "active");
  domain.access.settings.secondFactor = "optional";
  expect(found()).toMatchObject({ result: "ok" });
});
