// `doctor` on sign-in at the identity provider: the findings of `sso verify`, a start that will be refused, and refusals that only
// the operator can end.
import { expect, test } from "bun:test";
import { checkIdentityProvider } from "../../../src/app/doctor/domain-checks.ts";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { createProviderSite, signInAt } from "../../support/provider/provider-site.ts";

test("SSO-12 a refusal that only the operator can end is reported with its remedy, until somebody signs in", async () => {
  await using site = await createProviderSite({ provisioning: "jit", allowedGroups: ["staff"] });
  const { domain, world, idp } = site;
  const { organizationId } = world;
  const found = () => checkIdentityProvider(checkOf("sso"), { domain, organizationId });
  const known = { ...idp.claims, groups: ["staff"] };
  idp.claims = { ...known, hasgroups: true, groups: undefined };
  expect((await signInAt(site, site.browser())).status).toBe(403);
  expect(await found()).toEqual([
    {
      check: "sso",
      result: "warning",
      detail: "the last sign-in failed: sso.groups_overage",
      remedy: expect.stringContaining("identity.oidc.groups_claim"),
    },
  ]);
  idp.claims = known;
  await signInAt(site, site.browser());
  expect(await found()).toMatchObject([{ result: "ok", remedy: null }]);
});

test("SSO-3 a start that will be refused is a failure", async () => {
  await using site = await createProviderSite({ provisioning: "scim" }, { scimToken: undefined });
  const { domain, world } = site;
  const { organizationId } = world;
  const found = () => checkIdentityProvider(checkOf("sso"), { domain, organizationId });
  expect(await found()).toMatchObject([
    { result: "failed", remedy: expect.stringContaining("quartermaster scim tokens create") },
  ]);
  await domain.scim.tokens.create(world.system, {
    label: "okta",
    profile: "standard",
    expiresAtMs: undefined,
  });
  expect(await found()).toMatchObject([{ result: "ok", remedy: null }]);
});

test.each([
  ["password", "ok"],
  ["oidc", "warning"],
] as const)("SSO-3 a missing provider in mode %s is %s", async (identityMode, result) => {
  await using site = await createProviderSite({}, { access: { identityMode } });
  site.configure(undefined);
  const { organizationId } = site.world;
  const found = await checkIdentityProvider(checkOf("sso"), { domain: site.domain, organizationId });
  expect(found.map((finding) => finding.result)).toEqual([result]);
});
