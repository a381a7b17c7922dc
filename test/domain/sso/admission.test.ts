// Who may sign in through the provider, as which user, and with which role. The scenarios use a real database and hostile people.
import { describe, expect, test } from "bun:test";
import { Secret } from "../../../src/platform/secret.ts";
import { ADDRESS, PASSWORD } from "../../support/server.ts";
import { BROWSER, createSsoWorld, ISSUER, type SsoWorld } from "./sso-world.ts";

const ANA = "ana@example.org";
const MALLORY = { sub: "mallory" };

const invite = ({ domain, world }: SsoWorld, email: string, role = "member") =>
  domain.identity.invitations.create(world.system, { email, role });

const actionsIn = ({ domain, world }: SsoWorld) =>
  domain.auditLog
    .list(world.organizationId, { perPage: 100 })
    .items.map(({ action }) => action)
    .reverse();

describe("SSO-5 a first sign-in", () => {
  test("finds a user of SCIM by the external id, without any address", async () => {
    await using site = await createSsoWorld({ provisioning: "scim", externalIdClaim: "oid" });
    await site.provision(ANA, { externalId: "o-1" });
    expect(await site.signIn({ oid: "o-1", email_verified: false })).toBe(ANA);
    expect(await site.signIn({ sub: "other", oid: "O-1", email: "x@example.org" })).toBe(
      "sso.not_provisioned",
    );
  });

  test("finds a user of SCIM by the verified address", async () => {
    await using site = await createSsoWorld({ provisioning: "scim" });
    await site.provision(ANA);
    expect(await site.signIn({ email: "Ana@Example.org" })).toBe(ANA);
  });

  test("accepts a pending invitation with its role", async () => {
    await using site = await createSsoWorld();
    await invite(site, ANA, "admin");
    expect(await site.signIn({ email: ANA })).toBe(ANA);
    expect(site.userOf(ANA)?.role).toBe("admin");
  });

  test("asks for the password of a local account once, and links it then", async () => {
    await using site = await createSsoWorld();
    await site.signedIn("admin", { email: ANA });
    expect(await site.signIn({ email: ANA })).toBe("password_needed");
    const proof = (password: string) =>
      site.domain.sso.admission.prove(site.person({ email: ANA }), {
        ...BROWSER,
        password: new Secret(password),
      });
    await expect(proof("not the password")).rejects.toMatchObject({ reason: "access.sign_in_failed" });
    expect(await site.signIn({ email: ANA })).toBe("password_needed");
    expect((await proof(PASSWORD)).user.email).toBe(ANA);
    expect(await site.signIn({ email: ANA })).toBe(ANA);
    await expect(proof(PASSWORD)).rejects.toMatchObject({ reason: "sso.user_conflict" });
  });

  test("creates the account only if the settings allow it", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    expect(await site.signIn({ email: ANA })).toBe(ANA);
    expect(site.userOf(ANA)).toMatchObject({
      role: "member",
      provisioningSource: "local",
      passwordHash: null,
    });
    site.configure({ provisioning: "invited" });
    expect(await site.signIn({ sub: "2", email: "bob@example.org" })).toBe("sso.not_provisioned");
  });
});

describe("SSO-4 SSO-37 the identity is issuer and subject", () => {
  test("a new address of a linked user changes nothing and matches no other user", async () => {
    await using site = await createSsoWorld({ provisioning: "scim" });
    await site.provision(ANA);
    await site.provision("bob@example.org");
    expect(await site.signIn({ email: ANA })).toBe(ANA);
    expect(await site.signIn({ email: "bob@example.org" })).toBe(ANA);
    expect(site.userOf(ANA)?.email).toBe(ANA);
  });

  test("a newcomer with the address of a linked user is not let in as that user", async () => {
    await using site = await createSsoWorld({ provisioning: "scim" });
    await site.provision(ANA);
    await site.signIn({ email: ANA });
    expect(await site.signIn({ ...MALLORY, email: ANA })).toBe("sso.user_conflict");
  });

  test.each([
    ["another case of the subject", { sub: "SUBJECT-1", email: "m@example.org" }],
    ["the same subject of another issuer", { iss: "https://id.example.org", email: "m@example.org" }],
    ["a look-alike address", { ...MALLORY, email: "аna@example.org" }],
    ["an address with a suffix", { ...MALLORY, email: "ana@example.org.evil.example" }],
  ])("%s matches no account", async (_, claims) => {
    await using site = await createSsoWorld({ provisioning: "scim" });
    await site.provision(ANA);
    await site.signIn({ email: ANA });
    expect(await site.signIn(claims)).toBe("sso.not_provisioned");
  });

  test.each(["\u212Aate@example.org", "kate@example.org ", "\ufeffkate@example.org"])(
    "%j is no user's address, although it folds to one",
    async (email) => {
      await using site = await createSsoWorld({ provisioning: "scim" });
      await site.provision("kate@example.org");
      expect(await site.signIn({ ...MALLORY, email })).toBe("sso.email_missing");
      expect(await site.signIn({ email: "KATE@example.org" })).toBe("kate@example.org");
    },
  );

  test("the rules of a new provider do not admit a person of the provider that a reload replaced", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    const person = site.person({ email: ANA });
    site.configure({ issuer: "https://new.example.org/" });
    const refused = { reason: "sso.state" };
    await expect(site.domain.sso.admission.admit(person, BROWSER)).rejects.toMatchObject(refused);
    await site.signedIn("member", { email: ANA });
    const proving = { ...BROWSER, password: new Secret(PASSWORD) };
    await expect(site.domain.sso.admission.prove(person, proving)).rejects.toMatchObject(refused);
    expect(site.domain.sso.identities.list({ limit: 10 }).total).toBe(0);
  });

  test.each([
    ["denied", { email_verified: false }],
    ["denied as a text", { email_verified: "false" }],
    ["not mentioned", { email_verified: undefined }],
  ])("an address whose verification is %s links no user", async (_, claims) => {
    await using site = await createSsoWorld({ provisioning: "scim" });
    await site.provision(ANA);
    expect(await site.signIn({ ...MALLORY, email: ANA, ...claims })).toBe("sso.email_unverified");
  });

  test("SSO-6 trust_email accepts a missing verification, but never a denial", async () => {
    await using site = await createSsoWorld({ provisioning: "scim", trustEmail: true });
    await site.provision(ANA);
    expect(await site.signIn({ ...MALLORY, email: ANA, email_verified: false })).toBe("sso.email_unverified");
    expect(await site.signIn({ email: ANA, email_verified: undefined })).toBe(ANA);
  });

  test("finds no user if the address or the external id is missing", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedGroups: ["a"] });
    expect(await site.signIn({ groups: ["a"] })).toBe("sso.email_missing");
    expect(await site.signIn({ groups: ["a"], email: "no address" })).toBe("sso.email_missing");
  });
});

describe("SSO-7 SSO-38 an identity is never linked automatically to", () => {
  test("the protected first administrator", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    await site.domain.identity.bootstrap.run({
      organizationName: "Example",
      adminEmail: ANA,
      adminPassword: new Secret(PASSWORD),
      generatePassword: false,
    });
    expect(site.userOf(ANA)?.protected).toBe(true);
    expect(await site.signIn({ email: ANA, groups: ["admins"] })).toBe("sso.user_protected");
    await expect(
      site.domain.sso.admission.prove(site.person({ email: ANA }), {
        ...BROWSER,
        password: new Secret(PASSWORD),
      }),
    ).rejects.toMatchObject({ reason: "sso.user_protected" });
  });

  test("a local user without a password, or while only SCIM may create users", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    await site.signIn({ iss: "https://old.example.org/", email: ANA });
    expect(await site.signIn({ email: ANA })).toBe("sso.user_conflict");
    await site.signedIn("admin", { email: "root@example.org" });
    site.configure({ provisioning: "scim" });
    expect(await site.signIn({ sub: "2", email: "root@example.org" })).toBe("sso.not_provisioned");
  });

  test("SSO-9 a suspended or removed user, who also stays suspended or removed", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    const { users } = site.domain.identity;
    await site.signIn({ email: ANA });
    const id = site.userOf(ANA)?.id ?? "";
    await users.setStatus(site.world.system, id, "suspended");
    expect(await site.signIn({ email: ANA })).toBe("sso.user_inactive");
    await users.remove(site.world.system, id);
    expect(await site.signIn({ email: ANA })).toBe("sso.user_inactive");
    expect(await site.signIn({ sub: "2", email: ANA })).toBe("sso.user_inactive");
    await invite(site, ANA);
    expect(await site.signIn({ email: ANA })).toBe(ANA);
  });

  test("a removed user who is invited at another address, and returns as a new user", async () => {
    await using site = await createSsoWorld();
    await invite(site, ANA);
    await site.signIn({ email: ANA });
    const former = site.userOf(ANA)?.id ?? "";
    await site.domain.identity.users.remove(site.world.system, former);
    await invite(site, "ana@new.example.org");
    expect(await site.signIn({ email: "ana@new.example.org" })).toBe("ana@new.example.org");
    expect(site.userOf(ANA)?.status).toBe("removed");
    const [link, ...others] = site.domain.sso.identities.list({ limit: 10 }).items;
    expect([link?.email, others]).toEqual(["ana@new.example.org", []]);
    expect(actionsIn(site)).toContain("identity.unlink");
  });
});

describe("SSO-10 groups at the provider", () => {
  const mapped = { groupRoleMappings: new Map([["admins", "admin"] as const]) };

  test("SSO-39 give the role at each sign-in, and only by a mapping", async () => {
    await using site = await createSsoWorld({
      provisioning: "jit",
      allowedDomains: ["example.org"],
      ...mapped,
    });
    const roleAfter = async (claims: Record<string, unknown>) => {
      await site.signIn({ email: ANA, ...claims });
      return site.userOf(ANA)?.role;
    };
    await site.signedIn("admin", { email: "root@example.org" });
    expect(await roleAfter({ groups: ["Admins", "admin"], role: "admin", roles: ["admin"] })).toBe("member");
    expect(await roleAfter({ groups: ["x", "admins"] })).toBe("admin");
    expect(await roleAfter({ groups: undefined })).toBe("admin");
    expect(await roleAfter({ hasgroups: true })).toBe("admin");
    expect(await roleAfter({ groups: [] })).toBe("member");
    site.configure({ groupRoleMappings: new Map() });
    expect(await roleAfter({ groups: ["admins"] })).toBe("member");
  });

  test("do not change users that SCIM manages", async () => {
    await using site = await createSsoWorld({ provisioning: "scim", ...mapped });
    await site.provision(ANA);
    await site.signIn({ email: ANA, groups: ["admins"] });
    expect(site.userOf(ANA)?.role).toBe("member");
  });

  test("SSO-13 a lower role ends the other logins; the last administrator keeps the role, which is recorded", async () => {
    await using site = await createSsoWorld({
      provisioning: "jit",
      allowedDomains: ["example.org"],
      ...mapped,
    });
    await site.signIn({ email: ANA, groups: ["admins"] });
    expect(await site.signIn({ email: ANA, groups: [] })).toBe(ANA);
    expect(site.userOf(ANA)?.role).toBe("admin");
    expect(actionsIn(site)).toContain("user.keep_role");
    await site.signedIn("admin", { email: "root@example.org" });
    const workstation = await site.signInAgain(site.userOf(ANA) ?? expect.unreachable());
    const me = () => site.request("GET", "/auth/me", { token: workstation.accessToken });
    expect((await me()).status).toBe(200);
    await site.signIn({ email: ANA, groups: [] });
    expect((await me()).status).toBe(401);
    expect(site.userOf(ANA)?.role).toBe("member");
  });

  test("SSO-12 an unknown list of groups creates no user, and refuses users who must be in a group", async () => {
    const settings = { provisioning: "jit", allowedDomains: ["example.org"], ...mapped } as const;
    await using site = await createSsoWorld(settings);
    expect(await site.signIn({ email: ANA })).toBe("sso.groups_overage");
    expect(await site.signIn({ email: ANA, groups: ["x"] })).toBe(ANA);
    site.configure({ allowedGroups: ["x"] });
    expect(await site.signIn({ email: ANA, hasgroups: true, groups: ["x"] })).toBe("sso.groups_overage");
  });
});

describe("SSO-11 the operator's rules apply at every sign-in", () => {
  test.each([
    ["exactly the domain", "ana@example.com", ANA.replace("org", "com")],
    ["in another case", "ana@EXAMPLE.com", "ana@example.com"],
    ["a domain with the same ending", "ana@evil-example.com", "sso.not_allowed"],
    ["a domain below it", "ana@x.example.com", "sso.not_allowed"],
    ["a domain above it", "ana@com.example", "sso.not_allowed"],
  ])("%s", async (_, email, expected) => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["Example.com"] });
    expect(await site.signIn({ email })).toBe(expected);
    expect(await site.signIn({ email, sub: "2", email_verified: false })).toBe("sso.email_unverified");
  });

  test("groups and required claims, also of a linked user", async () => {
    await using site = await createSsoWorld({
      provisioning: "jit",
      allowedGroups: ["agents"],
      requiredClaims: new Map([["tid", "one"]]),
    });
    const ana = { email: ANA, tid: "one" };
    expect(await site.signIn({ ...ana, groups: ["agents"] })).toBe(ANA);
    expect(await site.signIn({ ...ana, groups: ["Agents"] })).toBe("sso.not_allowed");
    expect(await site.signIn({ ...ana, tid: "two", groups: ["agents"] })).toBe("sso.not_allowed");
  });

  test("SSO-30 a weaker sign-in than required is refused", async () => {
    await using site = await createSsoWorld({
      provisioning: "jit",
      allowedDomains: ["example.org"],
      requireAcr: ["phr", "mfa"],
    });
    expect(await site.signIn({ email: ANA })).toBe("sso.acr");
    expect(await site.signIn({ email: ANA, acr: "pwd" })).toBe("sso.acr");
    expect(await site.signIn({ email: ANA, acr: "mfa" })).toBe(ANA);
  });
});

describe("SSO-8 an address at the provider", () => {
  test("is followed for users who came by sign-up, if it is verified and free", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedGroups: ["a"] });
    await site.signedIn("member", { email: "taken@example.org" });
    const signIn = (email: string, verified = true) =>
      site.signIn({ email, email_verified: verified, groups: ["a"] });
    expect(await signIn(ANA)).toBe(ANA);
    expect(await signIn("taken@example.org")).toBe(ANA);
    expect(await signIn("new@example.org", false)).toBe(ANA);
    expect(await signIn("new@example.org")).toBe("new@example.org");
    expect(await site.signIn({ sub: "2", email: "taken@example.org", groups: ["a"] })).toBe(
      "password_needed",
    );
  });
});

describe("a sign-in", () => {
  test("SSO-24 opens a session that records how it began, and ends the browser's former session", async () => {
    await using site = await createSsoWorld({ provisioning: "scim" });
    await site.provision(ANA);
    const other = await site.signedIn("member");
    const claims = { email: ANA, sid: "s-1", auth_time: 1_767_225_600, acr: "mfa" };
    const admitted = await site.domain.sso.admission.admit(site.person(claims), {
      ...BROWSER,
      sessionToken: other.sessionToken,
    });
    if (admitted.kind !== "signed_in") throw new Error(admitted.kind);
    const { sessions } = site.domain.access;
    expect(sessions.find(other.sessionToken)).toBeUndefined();
    expect(sessions.find(admitted.session.token)).toMatchObject({
      method: "oidc",
      issuer: ISSUER,
      providerSessionId: "s-1",
      authTimeMs: 1_767_225_600_000,
      acr: "mfa",
      address: ADDRESS,
    });
  });

  test("SSO-35 leaves audit entries for link, sign-in, sign-up and refusal, without the subject", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    await site.signIn({ email: ANA, sub: "one-at-the-provider" });
    await site.signIn({ email: "mallory@evil.example", sub: "two-at-the-provider" });
    expect(actionsIn(site)).toEqual(
      expect.arrayContaining(["user.create", "identity.link", "login_session.open", "sign_in.refuse"]),
    );
    const { items } = site.domain.auditLog.list(site.world.organizationId, { perPage: 100 });
    expect(JSON.stringify(items)).not.toContain("at-the-provider");
    const refused = items.find(({ action }) => action === "sign_in.refuse");
    expect(JSON.parse(refused?.after ?? "")).toMatchObject({ issuer: ISSUER, reason: "sso.not_allowed" });
  });

  test("SSO-44 two concurrent sign-ins create one user and one link", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    const both = await Promise.all([site.signIn({ email: ANA }), site.signIn({ email: ANA })]);
    expect(both).toEqual([ANA, ANA]);
    expect(site.domain.sso.identities.list({ limit: 10 }).total).toBe(1);
  });

  test("SSO-44 creates one user if SCIM creates the same person at the same time", async () => {
    await using site = await createSsoWorld({ provisioning: "jit", allowedDomains: ["example.org"] });
    const [, made] = await Promise.allSettled([site.signIn({ email: ANA }), site.provision(ANA)]);
    expect(made.status).toBe("fulfilled");
    expect(site.domain.identity.users.list(site.world.organizationId, {}).total).toBe(1);
    expect(await site.signIn({ email: ANA })).toBe(ANA);
  });
});
