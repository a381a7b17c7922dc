// A removed user's account returns under the same id, perhaps for another person. The former person cannot sign in to it. SSO-37
// and SSO-38, SCIM-15.
import { describe, expect, test } from "bun:test";
import { Secret } from "../../../src/platform/secret.ts";
import { SCIM_TOKEN } from "../../support/server.ts";
import { createSsoWorld, type SsoWorld } from "./sso-world.ts";

const X = "x@example.org";
const LEAVER = { sub: "leaver", email: X };
const NEWCOMER = { sub: "newcomer", email: X };
const password = new Secret("a password of the newcomer");

const operatorOf = ({ world }: SsoWorld) => ({ ...world.system, kind: "operator" as const, label: "olga" });

const linksOf = ({ domain, world }: SsoWorld) => {
  const user = domain.identity.findUserByEmail(world.db.read, world.organizationId, X);
  return domain.sso.identities.list({ userId: user?.id, limit: 9 }).items.map(({ subject }) => subject);
};

const invite = async (site: SsoWorld, role: string) =>
  await site.domain.identity.invitations.create(site.world.system, { email: X, role });

/** @returns a site where the leaver accepted an invitation, signed in at the provider, and was removed */
async function createLeftSite() {
  const site = await createSsoWorld();
  await invite(site, "member");
  expect(await site.signIn(LEAVER)).toBe(X);
  const id = site.userOf(X)?.id ?? "";
  await site.domain.identity.users.remove(operatorOf(site), id);
  expect(await site.signIn(LEAVER)).toBe("sso.user_inactive");
  return Object.assign(site, { leaverId: id });
}

describe("SSO-37 SSO-38 the former person does not sign in to a restored account", () => {
  test("signs in the newcomer and not the former person after SCIM restores the account for another external id", async () => {
    await using site = await createSsoWorld({ provisioning: "scim", externalIdClaim: "oid" });
    const id = await site.provision(X, { externalId: "OLD" });
    expect(await site.signIn({ sub: "leaver", oid: "OLD" })).toBe(X);
    await site.request("DELETE", `/scim/v2/Users/${id}`, { token: SCIM_TOKEN });
    expect(await site.signIn({ sub: "leaver", oid: "OLD" })).toBe("sso.user_inactive");
    expect(await site.provision(X, { externalId: "NEW" })).toBe(id);
    expect(linksOf(site)).toEqual([]);
    expect(await site.signIn({ sub: "leaver", oid: "OLD" })).toBe("sso.email_missing");
    expect(await site.signIn({ sub: "newcomer", oid: "NEW" })).toBe(X);
    expect(linksOf(site)).toEqual(["newcomer"]);
  });

  test("refuses the former person after an administrator creates the account again", async () => {
    await using site = await createLeftSite();
    const { user } = await site.domain.identity.users.create(operatorOf(site), {
      email: X,
      role: "admin",
      password,
    });
    expect(user.id).toBe(site.leaverId);
    expect(await site.signIn(LEAVER)).toBe("password_needed");
    expect(await site.signIn({ sub: "leaver", email: "leaver@example.org" })).toBe("sso.not_provisioned");
    expect(linksOf(site)).toEqual([]);
  });

  test("refuses the former person after a newcomer accepts an invitation with a password", async () => {
    await using site = await createLeftSite();
    const { token } = await invite(site, "admin");
    const user = await site.domain.identity.invitations.accept({ token, password, requestId: "r1" });
    expect(user.id).toBe(site.leaverId);
    expect(await site.signIn({ sub: "leaver", email: "leaver@example.org" })).toBe("sso.not_provisioned");
  });

  test("refuses the former person after a newcomer accepts an invitation at the provider", async () => {
    await using site = await createLeftSite();
    await invite(site, "admin");
    expect(await site.signIn(NEWCOMER)).toBe(X);
    expect(site.userOf(X)?.id).toBe(site.leaverId);
    expect(await site.signIn({ sub: "leaver", email: "leaver@example.org" })).toBe("sso.not_provisioned");
    expect(linksOf(site)).toEqual(["newcomer"]);
  });
});

test("SSO-9 a removed person stays refused under a new address until the account is reassigned", async () => {
  await using site = await createLeftSite();
  site.configure({ provisioning: "jit", allowedDomains: ["example.org"] });
  expect(await site.signIn({ sub: "leaver", email: "renamed@example.org" })).toBe("sso.user_inactive");
});

test("SCIM-15 a local account that SCIM links loses its identities, because they may belong to another person", async () => {
  await using site = await createSsoWorld({ externalIdClaim: "oid" });
  await invite(site, "member");
  expect(await site.signIn(LEAVER)).toBe(X);
  await site.provision(X, { externalId: "NEW" });
  expect(await site.signIn({ sub: "newcomer", oid: "NEW" })).toBe(X);
  expect(await site.signIn({ sub: "leaver", oid: "OLD" })).toBe("sso.email_missing");
});

test("SCIM suspends and resumes the same person, who keeps the identity", async () => {
  await using site = await createSsoWorld({ provisioning: "scim" });
  const id = await site.provision(X, { externalId: "OLD" });
  expect(await site.signIn(LEAVER)).toBe(X);
  for (const active of [false, true]) {
    const body = {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "replace", path: "active", value: active }],
    };
    await site.request("PATCH", `/scim/v2/Users/${id}`, { token: SCIM_TOKEN, body });
  }
  expect(linksOf(site)).toEqual(["leaver"]);
  expect(await site.signIn({ sub: "leaver", email: "renamed@example.org" })).toBe(X);
});

test("SSO-35 the log records that the former identity was unlinked", async () => {
  await using site = await createLeftSite();
  await site.domain.identity.users.create(operatorOf(site), { email: X, role: "member", password });
  const { items } = site.domain.auditLog.list(site.world.organizationId, { perPage: 3 });
  expect(items.map(({ action, target }) => [action, target])).toContainEqual([
    "identity.unlink",
    site.leaverId,
  ]);
});
