// Links created and removed by the operator, logout announced by the provider, and reconfirmation after a time.
import { describe, expect, test } from "bun:test";
import { OAUTH_CLIENT_ID } from "../../../src/domain/access/wire.ts";
import { CLAIM_TEXT_LENGTH_MAX } from "../../../src/domain/sso/model.ts";
import { HOUR_MS } from "../../../src/platform/clock.ts";
import { BROWSER, createSsoWorld, ISSUER, type SsoWorld } from "./sso-world.ts";

const SESSION_COOKIE = "__Secure-better-auth.session_token";
const ANA = "ana@example.org";
const JIT = { provisioning: "jit", allowedDomains: ["example.org"] } as const;

async function signedIn(site: SsoWorld, claims: Record<string, unknown> = {}) {
  const person = site.person({ email: ANA, sid: "s-1", ...claims });
  const admitted = await site.domain.sso.admission.admit(person, BROWSER);
  if (admitted.kind !== "signed_in") throw new Error(admitted.kind);
  return admitted;
}

const isOpen = ({ domain }: SsoWorld, { session }: Awaited<ReturnType<typeof signedIn>>) =>
  domain.access.sessions.find(session.token) !== undefined;

describe("SSO-33 identities", () => {
  const operator = ({ world }: SsoWorld) => ({ ...world.system, kind: "operator" as const, label: "olga" });

  test("links identities manually, also for an administrator, and finds the account at the next sign-in", async () => {
    await using site = await createSsoWorld();
    const { user } = await site.signedIn("admin", { email: "root@example.org" });
    const { identities } = site.domain.sso;
    await identities.create(operator(site), { userId: user.id, issuer: ISSUER, subject: "subject-1" });
    expect(await site.signIn({ email_verified: false })).toBe("root@example.org");
    expect(identities.list({ limit: 10 })).toMatchObject({
      total: 1,
      items: [{ email: "root@example.org", issuer: ISSUER, subject: "subject-1", linkedBy: "operator" }],
    });
  });

  test("keeps one subject per user and issuer, and one user per subject", async () => {
    await using site = await createSsoWorld(JIT);
    await site.signIn({ email: ANA });
    const { user } = await site.signedIn("member");
    const { identities } = site.domain.sso;
    const create = (userId: string, subject: string) =>
      identities.create(operator(site), { userId, issuer: ISSUER, subject });
    const taken = { reason: "identity.taken" };
    await expect(create(user.id, "subject-1")).rejects.toMatchObject(taken);
    await expect(create(site.userOf(ANA)?.id ?? "", "other")).rejects.toMatchObject(taken);
    await expect(create("nobody", "other")).rejects.toMatchObject({ reason: "user.not_found" });
    for (const [subject, message] of [
      ["", "the subject is empty"],
      [" ev", "the subject begins or ends with white space"],
      ["ev ", "the subject begins or ends with white space"],
      ["ev\n", "the subject begins or ends with white space"],
      ["\u00a0ev", "the subject begins or ends with white space"],
      ["ev\u200b", "the subject begins or ends with white space"],
      ["e\u0000v", "the subject has control characters"],
      ["e\ud800v", "the subject is not valid Unicode"],
      ["x".repeat(CLAIM_TEXT_LENGTH_MAX + 1), "the subject is too long"],
    ] as const)
      await expect(create(user.id, subject)).rejects.toMatchObject({
        reason: "identity.subject_invalid",
        message,
      });
    await create(user.id, "SUBJECT-1");
    expect(identities.list({ limit: 10 }).total).toBe(2);
  });

  test("ends the user's logins when an identity is removed, so that the person is unknown again", async () => {
    await using site = await createSsoWorld(JIT);
    const ana = await signedIn(site);
    const { identities } = site.domain.sso;
    const target = { userId: ana.user.id, issuer: ISSUER };
    await identities.remove(operator(site), target);
    expect(isOpen(site, ana)).toBe(false);
    expect(await site.signIn({ email: ANA })).toBe("sso.user_conflict");
    await expect(identities.remove(operator(site), target)).rejects.toMatchObject({
      reason: "identity.not_found",
    });
  });

  test("SSO-44 keeps identities of a former provider without effect", async () => {
    await using site = await createSsoWorld({ provisioning: "scim" });
    await site.provision(ANA);
    await site.signIn({ iss: "https://old.example.org", sub: "old", email: ANA });
    expect(await site.signIn({ sub: "new", email: ANA })).toBe(ANA);
    expect(site.domain.sso.identities.list({ limit: 10 }).total).toBe(2);
  });
});

test("SSO-33 lists of logins show how each browser signed in, and the account page names the provider", async () => {
  await using site = await createSsoWorld(JIT);
  const { session } = await signedIn(site);
  const other = await site.signedIn("member");
  const methods = (cookie: string) =>
    site.request("GET", "/me/logins", { cookie }).then(async (response) => {
      const { items } = (await response.json()) as { items: { kind: string; method: string | null }[] };
      return items.map(({ kind, method }) => `${kind} ${method}`).toSorted();
    });
  const account = async (cookie: string) =>
    (await site.request("GET", "/console/me/logins", { cookie })).text();
  const cookie = `${SESSION_COOKIE}=${session.token}`;
  expect(await methods(cookie)).toEqual(["login_session oidc"]);
  expect(await methods(other.cookie)).toEqual(["grant null", "login_session password"]);
  expect(await account(cookie)).toContain("through <bdi>Example ID</bdi>");
  expect(await account(other.cookie)).not.toContain("through <bdi>");
});

describe("SSO-27 a logout that the provider announces", () => {
  const token = { issuer: ISSUER, issuedAtMs: 1_767_225_600_000, expiresAtMs: 1_767_226_000_000 };

  test("ends the sessions that it names, and no others", async () => {
    await using site = await createSsoWorld(JIT);
    const first = await signedIn(site);
    const second = await signedIn(site, { sid: "s-2" });
    const { logout } = site.domain.sso;
    expect(await logout.apply({ ...token, tokenId: "1", providerSessionId: "s-1" }, {})).toEqual({
      loginSessions: 1,
      grants: 0,
    });
    expect([isOpen(site, first), isOpen(site, second)]).toEqual([false, true]);
    await logout.apply(
      { ...token, tokenId: "2", issuer: "https://other.example", providerSessionId: "s-2" },
      {},
    );
    expect(isOpen(site, second)).toBe(true);
    await logout.apply({ ...token, tokenId: "3", subject: "subject-1" }, {});
    expect(isOpen(site, second)).toBe(false);
  });

  test("is accepted once, and an unknown person is not an error", async () => {
    await using site = await createSsoWorld(JIT);
    const { logout } = site.domain.sso;
    const once = { ...token, tokenId: "1", subject: "nobody" };
    expect(await logout.apply(once, {})).toEqual({ loginSessions: 0, grants: 0 });
    await expect(logout.apply(once, {})).rejects.toMatchObject({ reason: "sso.token_invalid" });
    site.world.clock.set(token.expiresAtMs);
    expect(await logout.sweep()).toBe(1);
    expect(await logout.sweep()).toBe(0);
  });

  test.each([
    [false, 200],
    [true, 401],
  ])("ends the workstations if the setting is %p", async (logoutEndsGrants, status) => {
    await using site = await createSsoWorld({ ...JIT, logoutEndsGrants });
    const ana = await signedIn(site);
    const workstation = await site.signInAgain(ana.user);
    await site.domain.sso.logout.apply({ ...token, tokenId: "1", subject: "subject-1" }, {});
    const response = await site.request("GET", "/governance-config", { token: workstation.accessToken });
    expect(response.status === 401 ? 401 : 200).toBe(status);
  });
});

describe("SSO-29 people reconfirm their sign-in at the provider", () => {
  const hours = 168;

  test("ends the logins of browser and workstation after the maximum time, and a new sign-in restores them", async () => {
    await using site = await createSsoWorld(
      { ...JIT, reconfirmHours: hours },
      {
        access: { browserSessionTtlSeconds: 2_592_000 },
      },
    );
    const ana = await signedIn(site);
    const workstation = await site.signInAgain(ana.user);
    const { grants, authenticator } = site.domain.access;
    const refresh = (refreshToken: string) =>
      grants.refresh({ refreshToken, clientId: OAUTH_CLIENT_ID }).then(
        (response) => response.refresh_token ?? "",
        (error: Error) => error,
      );
    site.world.clock.advance(hours * HOUR_MS - 1);
    expect(authenticator.session(ana.session.token).userId).toBe(ana.user.id);
    expect(site.domain.sso.countDueSoon()).toBe(1);
    const next = await refresh(workstation.refreshToken);
    expect(next).toBeString();
    site.world.clock.advance(1);
    expect(() => authenticator.session(ana.session.token)).toThrow(
      expect.objectContaining({ reason: "access.session_invalid" }),
    );
    expect(await refresh(String(next))).toMatchObject({ code: "invalid_grant" });
    await signedIn(site);
    expect(await refresh(String(next))).toBeString();
  });

  test("users without a provider are not affected, and 0 turns it off", async () => {
    await using site = await createSsoWorld(
      { ...JIT, reconfirmHours: hours },
      {
        access: { browserSessionTtlSeconds: 2_592_000 },
      },
    );
    const { sessionToken } = await site.signedIn("member");
    const ana = await signedIn(site);
    site.world.clock.advance(hours * HOUR_MS);
    const { authenticator } = site.domain.access;
    expect(authenticator.session(sessionToken).kind).toBe("session");
    site.configure({ reconfirmHours: 0 });
    expect(authenticator.session(ana.session.token).kind).toBe("session");
  });
});
