// Sign-in at the identity provider with browsers: to the provider and back, several tabs, the proof of a password, and what a
// hostile page, browser or provider may try on the way.
import { describe, expect, test } from "bun:test";
import {
  ATTEMPTS_MAX,
  CALLBACK_LENGTH_MAX,
  PROVIDER_ATTEMPT_TTL_MS,
} from "../../../../src/domain/sso/browser/attempts.ts";
import { PROOF_TTL_MS } from "../../../../src/domain/sso/browser/proofs.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { SIGN_INS_PER_ADDRESS } from "../../../../src/server/auth/provider-sign-in.ts";
import { LOGOUTS } from "../../../../src/server/routes/access/provider-logout.ts";
import { tracesOf } from "../../../support/audit-watch.ts";
import { type FormBrowser, formTo } from "../../../support/browser/form-browser.ts";
import { CLIENT_SECRET } from "../../../support/provider/lying-provider.ts";
import {
  CALLBACK,
  createProviderSite,
  leave,
  type ProviderSite,
  signInAt,
} from "../../../support/provider/provider-site.ts";
import { giveApp } from "../../../support/second-factor/given-factors.ts";
import { BASE_URL, createTestServer, PASSWORD } from "../../../support/server.ts";

const JIT = { provisioning: "jit", allowedDomains: ["example.com"] } as const;
const ADA = "ada@example.com";
const COOKIE = "__Host-quartermaster-sso";
const SESSION = "__Secure-better-auth.session_token";

const addUser = ({ domain, world }: ProviderSite, email: string, role = "member") =>
  domain.identity.users.create(world.system, { email, role, password: new Secret(PASSWORD) });

/** A device login as a workstation begins it. */
async function deviceLink({ domain }: ProviderSite): Promise<string> {
  const client = { clientId: "blue-cli", scope: "governance:read offline_access", address: null };
  return `/device/${(await domain.access.deviceLogins.request(client)).linkToken}`;
}

describe("SSO-15 the sign-in page", () => {
  test("names the accounts with a password if people have none, and after a wrong one", async () => {
    await using site = await createProviderSite({}, { access: { identityMode: "oidc" } });
    const browser = site.browser();
    const page = await browser.visit("/login?password=1");
    const again = await browser.submit(formTo(page, "/login"), { email: ADA, password: "wrong" });
    for (const { html } of [page, again]) {
      expect(html).toContain("Only the first administrator can sign in with a password here.");
      expect(html.match(/button primary/g)).toHaveLength(1);
    }
    await using beside = await createProviderSite();
    expect((await beside.browser().visit("/login")).html).not.toContain("first administrator");
  });

  test("offers the provider beside passwords, and keeps the return path", async () => {
    await using site = await createProviderSite();
    const page = await site.browser().visit("/login?callbackURL=/device");
    expect(page.html).toContain('href="/login/oidc?callbackURL=%2Fdevice"');
    expect(page.html).toContain("Continue with");
    expect(formTo(page, "/login").fields.next).toBe("/device");
    site.configure(undefined);
    expect((await site.browser().visit("/login")).html).not.toContain("/login/oidc");
  });

  test("shows only the provider in mode oidc, and passwords behind a link for recovery", async () => {
    await using site = await createProviderSite({}, { access: { identityMode: "oidc" } });
    const page = await site.browser().visit("/login?callbackURL=/device");
    expect(page.forms).toEqual([]);
    expect(page.html).toContain('href="/login?password=1&amp;callbackURL=%2Fdevice"');
    const recovery = await site.browser().visit("/login?password=1&callbackURL=/device");
    expect(formTo(recovery, "/login").fields.next).toBe("/device");
  });

  test("redirects to the provider on request, but not after signing out or an error", async () => {
    await using site = await createProviderSite({ ...JIT, autoRedirect: true });
    const browser = site.browser();
    expect((await browser.visit("/login")).html).toContain(
      'http-equiv="refresh" content="0;url=/login/oidc"',
    );
    expect((await browser.visit("/login?choose=1")).html).not.toContain("http-equiv");
    site.idp.faults = { callback: { error: "access_denied" } };
    const refused = await signInAt(site, browser);
    expect(refused.html).toContain('href="/login?choose=1"');
    site.idp.faults = {};
    const start = await signInAt(site, browser);
    const out = await browser.submit(formTo(start, "/sign-out"), {});
    expect(out.html).toContain('href="/login?choose=1"');
  });
});

test("SSO-24 a device login continues after a refusal at the provider", async () => {
  await using site = await createProviderSite(JIT);
  const link = await deviceLink(site);
  const browser = site.browser();
  site.idp.faults = { callback: { error: "access_denied", code: undefined } };
  const refused = await signInAt(site, browser, link);
  const back = `/login?callbackURL=${encodeURIComponent(link)}&choose=1`;
  expect(refused.html).toContain("You canceled the sign-in");
  expect(refused.html).toContain(`href="${back.replace("&", "&amp;")}"`);
  site.idp.faults = {};
  expect((await browser.visit(back)).html).toContain(
    `href="/login/oidc?callbackURL=${encodeURIComponent(link)}"`,
  );
});

test("SSO-3 an invited person is redirected to the provider in mode oidc, and the sign-in accepts the invitation", async () => {
  const oidc = { access: { identityMode: "oidc" }, identity: { mode: "oidc", invites: true } } as const;
  await using site = await createProviderSite({ provisioning: "invited" }, oidc);
  const { domain, world } = site;
  const invitation = await domain.identity.invitations.create(world.system, { email: ADA, role: "admin" });
  const browser = site.browser();
  const page = await browser.visit(`/accept-invitation?token=${invitation.token.reveal()}`);
  expect(page.forms).toEqual([]);
  expect(page.html).toContain('href="/login/oidc"');
  expect((await browser.visit("/accept-invitation?token=other")).status).toBe(404);
  await signInAt(site, browser);
  expect(domain.identity.findUserByEmail(world.db.read, world.organizationId, ADA)?.role).toBe("admin");
});

test("SSO-43 the protected administrator signs in with the password in mode oidc, which is always recorded", async () => {
  await using site = await createProviderSite({}, { access: { identityMode: "oidc" } });
  const root = { email: "root@example.com", password: PASSWORD };
  await site.domain.identity.bootstrap.run({
    organizationName: "Example",
    adminEmail: root.email,
    adminPassword: new Secret(PASSWORD),
    generatePassword: false,
  });
  await addUser(site, "other@example.com");
  site.idp.faults = { discovery: "down" };
  const signIn = async (credential: typeof root) => {
    const browser = site.browser();
    return await browser.signIn(await browser.visit("/login?password=1"), credential);
  };
  expect((await signIn({ ...root, email: "other@example.com" })).status).toBe(403);
  expect((await signIn(root)).path).toBe("/");
  expect(site.logged.filter(({ event }) => event === "sign_in.recovery")).toHaveLength(1);
  const { items } = site.domain.auditLog.list(site.world.organizationId, { perPage: 100 });
  const opened = items.find(({ action }) => action === "login_session.open");
  expect(JSON.parse(opened?.after ?? "")).toEqual({ method: "password", is_recovery: true });
});

test("SSO-16 the login method is the same for every address, and only the mode decides", async () => {
  const methodOf = async (site: ProviderSite, email: string) => {
    const answer = await site.request("POST", "/api/login-method", { body: { email } });
    return await answer.json();
  };
  await using both = await createProviderSite();
  expect(await methodOf(both, ADA)).toEqual({ method: "password" });
  await using only = await createProviderSite({}, { access: { identityMode: "oidc" } });
  const expected = { method: "oidc", providerId: "oidc", providerName: expect.any(String) };
  await addUser(only, "root@example.com", "admin");
  expect(await methodOf(only, ADA)).toEqual(expected);
  expect(await methodOf(only, "root@example.com")).toEqual(expected);
});

test("SSO-16 the login method is that of the provider in mode oidc without an issuer", async () => {
  await using server = await createTestServer({ access: { identityMode: "oidc" } });
  for (const email of ["admin@example.com", "nobody@example.com"]) {
    const answer = await server.request("POST", "/api/login-method", { body: { email } });
    expect(await answer.json()).toEqual({
      method: "oidc",
      providerId: "oidc",
      providerName: "company sign-in",
    });
  }
});

describe("SSO-17 SSO-18 SSO-24 the round trip", () => {
  test("signs in and ends where it began", async () => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const begun = await browser.request("/login/oidc?callbackURL=/account&login_hint=ada%40example.com");
    const url = new URL(begun.headers.get("location") ?? "");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      redirect_uri: `${BASE_URL}${CALLBACK}`,
      code_challenge_method: "S256",
      login_hint: ADA,
      state: expect.stringMatching(/^.{43}$/),
      nonce: expect.stringMatching(/^.{43}$/),
    });
    expect(browser.cookies.has(SESSION)).toBe(false);
    const page = await browser.visit(`${CALLBACK}?${await site.idp.authorize(url)}`);
    expect([page.status, page.path]).toEqual([200, "/account"]);
    expect(browser.cookies.has(SESSION)).toBe(true);
    expect(browser.cookies.has(COOKIE)).toBe(false);
  });

  test("a device login of a signed-out person continues on its approval page", async () => {
    await using site = await createProviderSite(JIT);
    const link = await deviceLink(site);
    const browser = site.browser();
    const login = await browser.visit(link);
    expect(login.path).toBe(`/login?callbackURL=${encodeURIComponent(link)}`);
    const approval = await signInAt(site, browser, link);
    expect([approval.heading, approval.path]).toEqual(["Allow workstation access?", link]);
    const done = await browser.submit(formTo(approval, link), { decision: "approve" });
    expect(done.path).toBe("/device/approved");
  });

  test("SSO-31 the approval page names the person's sign-in method", async () => {
    await using site = await createProviderSite({ ...JIT, providerName: "Example Identity" });
    const browser = site.browser();
    const approval = await signInAt(site, browser, await deviceLink(site));
    expect(approval.html).toContain("through Example Identity");
  });

  test("a second sign-in in another tab is a new session, and ends the first, even that of another user", async () => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const tabs = [await leave(site, browser), await leave(site, browser)] as const;
    await browser.visit(tabs[0]);
    const first = browser.cookies.get(SESSION) ?? "";
    await browser.visit(tabs[1]);
    const second = browser.cookies.get(SESSION) ?? "";
    const { sessions } = site.domain.access;
    expect(second).not.toBe(first);
    expect([sessions.find(first)?.id, sessions.find(second)?.method]).toEqual([undefined, "oidc"]);
  });
});

test.each([
  ["another site", "https://evil.example/", "/"],
  ["a host without a scheme", "//evil.example/", "/"],
  ["a backslash", "/\\evil.example", "/"],
  ["a script", "javascript:alert(1)", "/"],
  ["a path of ours", "/device?a=1", "/device?a=1"],
])("SSO-40 a callbackURL with %s leads nowhere else", async (_, callbackURL, expected) => {
  await using site = await createProviderSite(JIT);
  expect((await signInAt(site, site.browser(), callbackURL)).path).toBe(expected);
});

test.each([
  [CALLBACK_LENGTH_MAX - 1, true],
  [CALLBACK_LENGTH_MAX, true],
  [CALLBACK_LENGTH_MAX + 1, false],
])("SSO-19 a return path of %i characters is kept: %p", async (length, isKept) => {
  await using site = await createProviderSite(JIT);
  const path = `/account?${"a".repeat(length - "/account?".length)}`;
  expect((await signInAt(site, site.browser(), path)).path).toBe(isKept ? path : "/");
});

describe("SSO-19 SSO-20 the state in the browser", () => {
  test("is one sealed cookie that only this origin reads, and not a row", async () => {
    await using site = await createProviderSite(JIT);
    const response = await site.browser().request("/login/oidc");
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toStartWith(`${COOKIE}=`);
    for (const part of [
      "HttpOnly",
      "Secure",
      "SameSite=Lax",
      "Path=/",
      `Max-Age=${PROVIDER_ATTEMPT_TTL_MS / 1000}`,
    ])
      expect(cookie).toContain(part);
    const state = new URL(response.headers.get("location") ?? "").searchParams.get("state") ?? "";
    expect(cookie).not.toContain(state);
  });

  test("holds several tabs; the oldest makes room", async () => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const tabs: string[] = [];
    for (let tab = 0; tab <= ATTEMPTS_MAX; tab += 1)
      tabs.push(await leave(site, browser, `/account?tab=${tab}`));
    expect(browser.cookies.get(COOKIE)?.length).toBeLessThan(3_600);
    const [oldest = "", second = ""] = tabs;
    expect((await browser.visit(oldest)).status).toBe(400);
    expect((await browser.visit(second)).path).toBe("/account?tab=1");
    expect((await browser.visit(tabs.at(-1) ?? "")).path).toBe(`/account?tab=${ATTEMPTS_MAX}`);
  });

  test("is used once: the back button shows the sign-in, and another use is refused", async () => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const callback = await leave(site, browser);
    await browser.visit(callback);
    expect((await browser.visit(callback)).heading).toBe("You are already signed in");
    browser.cookies.delete(SESSION);
    const again = await browser.visit(callback);
    expect(again.status).toBe(400);
    expect(site.idp.requests.filter((line) => line === "POST /token")).toHaveLength(1);
  });

  test("is also used up by a failure", async () => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const callback = await leave(site, browser);
    site.idp.faults = { token: "down" };
    expect((await browser.visit(callback)).status).toBe(503);
    expect(browser.cookies.has(COOKIE)).toBe(false);
    site.idp.faults = {};
    expect((await browser.visit(callback)).status).toBe(400);
  });

  test.each([
    [PROVIDER_ATTEMPT_TTL_MS - 1, 200],
    [PROVIDER_ATTEMPT_TTL_MS, 400],
  ])("lasts %i ms: %i", async (waitMs, status) => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const begun = await browser.request("/login/oidc");
    site.world.clock.advance(waitMs);
    const query = await site.idp.authorize(begun.headers.get("location") ?? "");
    expect((await browser.visit(`${CALLBACK}?${query}`)).status).toBe(status);
  });

  test("SSO-37 a callback from another browser, without a cookie, or with a changed state never reaches the provider", async () => {
    await using site = await createProviderSite(JIT);
    const mallory = site.browser();
    const callback = await leave(site, mallory);
    const victim = site.browser();
    expect((await victim.visit(callback)).status).toBe(400);
    await leave(site, victim);
    expect((await victim.visit(callback)).status).toBe(400);
    mallory.cookies.set(COOKIE, `A${mallory.cookies.get(COOKIE)}`);
    expect((await mallory.visit(callback)).status).toBe(400);
    expect((await site.browser().visit(CALLBACK)).status).toBe(400);
    expect(site.idp.requests).not.toContain("POST /token");
    for (const browser of [victim, mallory]) expect(browser.cookies.has(SESSION)).toBe(false);
  });
});

describe("SSO-37 a provider that a reload replaces during the sign-in", () => {
  test.each([
    ["removed", undefined],
    ["another", { issuer: "https://new.example" }],
  ])("%s: its callback is refused, and its code goes nowhere", async (_, settings) => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const callback = await leave(site, browser);
    site.configure(settings);
    site.idp.requests.length = 0;
    expect((await browser.visit(callback)).status).toBe(settings ? 400 : 404);
    expect(site.idp.requests).toEqual([]);
  });

  test.each([
    ["removed", undefined],
    ["another", { issuer: "https://new.example" }],
  ])("%s: a sign-in that it has confirmed is refused", async (_, settings) => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    const callback = await leave(site, browser);
    const published = site.idp.keys.published.bind(site.idp.keys);
    site.idp.keys.published = () => {
      site.configure(settings);
      return published();
    };
    expect((await browser.visit(callback)).status).toBe(400);
    expect(browser.cookies.has(SESSION)).toBe(false);
  });
});

describe("SSO-20 SSO-25 refusals are pages that repeat no input", () => {
  const HOSTILE = '<script>alert("1")</script>';

  test.each([
    ["access_denied", 403],
    ["server_error", 502],
    ["temporarily_unavailable", 502],
  ])("the error %s is %i", async (error, status) => {
    await using site = await createProviderSite(JIT);
    site.idp.faults = { callback: { error, error_description: HOSTILE, code: undefined } };
    const page = await signInAt(site, site.browser());
    expect(page.status).toBe(status);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.html).not.toContain("alert");
    expect(page.html).toMatch(/request id <code>[0-9a-f-]{36}/);
    expect(JSON.stringify(site.logged)).not.toContain("code=");
  });

  test.each(["login_required", "interaction_required"])(
    "the error %s leads back to the page",
    async (error) => {
      await using site = await createProviderSite({ ...JIT, autoRedirect: true });
      site.idp.faults = { callback: { error, code: undefined } };
      const page = await signInAt(site, site.browser(), "/device");
      expect([page.status, page.path]).toEqual([200, "/login?callbackURL=%2Fdevice&choose=1"]);
      expect(page.html).toContain('href="/login/oidc?callbackURL=%2Fdevice"');
    },
  );

  test("SSO-13 the last administrator keeps the role with a warning", async () => {
    await using site = await createProviderSite({
      ...JIT,
      groupRoleMappings: new Map([["admins", "admin"]]),
    });
    site.idp.claims = { ...site.idp.claims, groups: ["admins"] };
    await signInAt(site, site.browser());
    site.idp.claims = { ...site.idp.claims, groups: [] };
    await signInAt(site, site.browser());
    expect(site.logged.map(({ event }) => event)).toContain("sign_in.role_kept");
  });

  test("SSO-41 pages and log contain no part of claims, code or state", async () => {
    await using site = await createProviderSite({ ...JIT, allowedDomains: ["example.org"] });
    site.idp.claims = {
      sub: "s-e-c-r-e-t",
      email: "mallory@evil.example",
      email_verified: true,
      name: HOSTILE,
    };
    const browser = site.browser();
    const callback = await leave(site, browser);
    const page = await browser.visit(callback);
    expect(page.status).toBe(403);
    const told = `${page.html}${JSON.stringify(site.logged)}`;
    const query = new URLSearchParams(callback.slice(CALLBACK.length + 1));
    const { items } = site.domain.auditLog.list(site.world.organizationId, { perPage: 100 });
    expect(items.map(({ action }) => action)).toContain("sign_in.refuse");
    const written = `${told}${JSON.stringify(items)}`;
    expect(site.idp.tokens).toHaveLength(2);
    const secrets = [query.get("code"), query.get("state"), CLIENT_SECRET, ...site.idp.tokens];
    for (const secret of ["s-e-c-r-e-t", "mallory", HOSTILE, ...secrets])
      expect(written).not.toContain(String(secret));
    expect(site.logged.map((line) => line.reason)).toContain("sso.not_allowed");
  });

  test.each(["invalid_grant", "invalid_client", "invalid_request", "server_error"])(
    "SSO-41 a provider that echoes a request puts no secret into the log: %s",
    async (tokenError) => {
      await using site = await createProviderSite(JIT);
      site.idp.faults = { tokenError, repeatsSecrets: true };
      const browser = site.browser();
      const callback = await leave(site, browser);
      const page = await browser.visit(callback);
      const code = new URLSearchParams(callback.slice(CALLBACK.length + 1)).get("code");
      const told = `${page.html}${JSON.stringify(site.logged)}`;
      for (const secret of [String(code), CLIENT_SECRET]) expect(told).not.toContain(secret);
      if (page.status >= 500) expect(told).toContain(`${tokenError}: wrong: [secret], [secret], [secret]`);
    },
  );

  test("an unknown provider id, and no provider at all", async () => {
    await using site = await createProviderSite(JIT);
    expect((await site.browser().visit("/api/auth/callback/other?state=a")).status).toBe(404);
    site.configure(undefined);
    expect((await site.browser().visit(`${CALLBACK}?state=a`)).status).toBe(404);
    expect((await site.browser().visit("/login/oidc")).path).toBe("/login");
  });

  test("SSO-44 sign-ins wait while the provider is down, and sessions and passwords keep working", async () => {
    await using site = await createProviderSite(JIT);
    await addUser(site, "root@example.com");
    site.idp.faults = { discovery: "down" };
    const page = await site.browser().visit("/login/oidc");
    expect(page.status).toBe(503);
    const browser = site.browser();
    const signedIn = await browser.signIn(await browser.visit("/login"), {
      email: "root@example.com",
      password: PASSWORD,
    });
    expect(signedIn.path).toBe("/");
  });
});

describe("SSO-5 the proof of a password", () => {
  async function atProof(site: ProviderSite, next?: string) {
    await addUser(site, ADA, "admin");
    const browser = site.browser();
    return { browser, page: await signInAt(site, browser, next) };
  }

  test("links the account, signs in and continues at the requested page", async () => {
    await using site = await createProviderSite();
    const { browser, page } = await atProof(site, "/account");
    expect([page.heading, page.status]).toEqual(["Link your account", 200]);
    const wrong = await browser.submit(formTo(page, "/login/link"), { password: "not the password" });
    expect([wrong.heading, wrong.status]).toEqual(["Link your account", 401]);
    expect(wrong.html).toContain("The password is wrong, or the account cannot sign in");
    const right = await browser.submit(formTo(wrong, "/login/link"), { password: PASSWORD });
    expect(right.path).toBe("/account");
    const again = await signInAt(site, site.browser());
    expect(again.path).toBe("/");
  });

  test("is over in a second tab, which tells only the browser that is signed in", async () => {
    await using site = await createProviderSite();
    const { browser, page } = await atProof(site);
    const second = formTo(page, "/login/link");
    await browser.submit(second, { password: PASSWORD });
    const done = await browser.submit(second, { password: PASSWORD });
    expect([done.heading, done.status]).toEqual(["You are already signed in", 200]);
    browser.cookies.delete(SESSION);
    const late = await browser.submit(second, { password: PASSWORD });
    expect([late.heading, late.status]).toEqual(["Link your account", 409]);
  });

  test("needs the second factor of the account as well, which the provider would otherwise bypass", async () => {
    await using site = await createProviderSite({}, { access: { secondFactor: "everyone" } });
    const { recoveryCodes } = await giveApp(site, await site.signedIn("admin", { email: ADA }));
    const browser = site.browser();
    const question = formTo(await signInAt(site, browser), "/login/link");
    const refused = await browser.submit(question, { password: PASSWORD });
    expect([refused.status, browser.cookies.has(SESSION)]).toEqual([403, false]);
    expect(refused.html).toContain("enter the code of your authenticator app, or a recovery code");
    expect(refused.html).not.toContain("member code");
    const again = formTo(refused, "/login/link");
    expect(again.fields).toHaveProperty("code");
    const wrong = await browser.submit(again, { password: PASSWORD, code: "aaaa-aaaa-aaaa-aaaa" });
    expect([wrong.status, browser.cookies.has(SESSION)]).toEqual([403, false]);
    const [code = ""] = recoveryCodes;
    expect((await browser.submit(again, { password: PASSWORD, code })).path).toBe("/");
    expect(browser.cookies.has(SESSION)).toBe(true);
  });

  test("is bound to the browser, to the time, and to our pages", async () => {
    await using site = await createProviderSite();
    const { browser, page } = await atProof(site);
    const form = formTo(page, "/login/link");
    const mallory = site.browser();
    const own = formTo(await mallory.visit("/login"), "/login").fields.csrf ?? "";
    const stolen = { ...form, fields: { ...form.fields, csrf: own } };
    expect((await mallory.submit(stolen, { password: PASSWORD })).status).toBe(400);
    expect(
      (await browser.submit(form, { password: PASSWORD }, { origin: "https://evil.example" })).status,
    ).toBe(403);
    expect((await browser.submit({ ...form, fields: {} }, { password: PASSWORD })).status).toBe(403);
    site.configure({ requiredClaims: new Map([["tid", "one"]]) });
    expect((await browser.submit(form, { password: PASSWORD })).status).toBe(400);
    site.configure({ requiredClaims: new Map() });
    site.world.clock.advance(PROOF_TTL_MS);
    expect((await browser.submit(form, { password: PASSWORD })).status).toBe(400);
  });
});

describe("SSO-26 signing out", () => {
  test("continues to the provider on request, by a new navigation", async () => {
    await using site = await createProviderSite({ ...JIT, logout: "idp" });
    const browser = site.browser();
    const start = await signInAt(site, browser);
    const page = await browser.submit(formTo(start, "/sign-out"), {});
    const [, refresh = ""] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(page.html) ?? [];
    const url = new URL(refresh.replaceAll("&amp;", "&"));
    expect(url.origin).toBe(site.idp.origin);
    expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${BASE_URL}/signed-out`);
    expect(browser.cookies.has(SESSION)).toBe(false);
    expect((await browser.visit("/signed-out")).path).toBe("/sign-out");
  });

  test("ends here even if the provider does not answer", async () => {
    await using site = await createProviderSite({ ...JIT, logout: "idp" });
    const browser = site.browser();
    const start = await signInAt(site, browser);
    site.idp.faults = { discovery: "down", metadata: { end_session_endpoint: undefined } };
    await browser.submit(formTo(start, "/sign-out"), {});
    expect(browser.cookies.has(SESSION)).toBe(false);
  });
});

describe("SSO-27 the provider announces a logout", () => {
  const announce = ({ request }: ProviderSite, token: string, id = "oidc") =>
    request("POST", `/api/auth/backchannel-logout/${id}`, {
      body: new URLSearchParams({ logout_token: token }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });

  test("signs the browser out; the token is valid once", async () => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    await signInAt(site, browser);
    const token = await site.idp.logoutToken();
    const answer = await announce(site, token);
    expect([answer.status, await answer.text(), answer.headers.get("cache-control")]).toEqual([
      200,
      "",
      "no-store",
    ]);
    expect((await browser.visit("/account")).path).toStartWith("/login");
    const again = await announce(site, token);
    expect([again.status, await again.json()]).toEqual([
      400,
      { error: "invalid_request", error_description: expect.any(String) },
    ]);
  });

  test("ends even unnamed sessions of the person if the logout names a session and its person", async () => {
    await using site = await createProviderSite(JIT);
    const [named, other, unnamed] = [site.browser(), site.browser(), site.browser()];
    const ada = site.idp.claims;
    for (const [browser, sid] of [
      [named, "1"],
      [other, "2"],
      [unnamed, undefined],
    ] as const) {
      site.idp.claims = { ...ada, ...(sid && { sid }) };
      await signInAt(site, browser);
    }
    const stranger = site.browser();
    site.idp.claims = { ...ada, sub: "eve", email: "eve@example.com" };
    await signInAt(site, stranger);
    site.idp.claims = ada;
    expect((await announce(site, await site.idp.logoutToken({ sid: "1" }))).status).toBe(200);
    const paths = [named, other, unnamed, stranger].map(async (one) => (await one.visit("/account")).path);
    const away = "/login?callbackURL=%2Faccount";
    expect(await Promise.all(paths)).toEqual([away, "/account", away, "/account"]);
  });

  /** One second of the clock passes between the departure, the logout and the return. */
  async function leaveAndLogOut(site: ProviderSite, browser: FormBrowser): Promise<string> {
    const { clock } = site.world;
    const way = await leave(site, browser);
    clock.advance(1_000);
    await announce(site, await site.idp.logoutToken());
    clock.advance(1_000);
    return way;
  }

  test.each([true, false])(
    "opens no session for a sign-in that was under way: auth_time %p",
    async (isTold) => {
      await using site = await createProviderSite(JIT);
      const browser = site.browser();
      const ada = site.idp.claims;
      const auth_time = isTold ? Math.floor(site.world.clock.nowMs() / 1_000) : undefined;
      site.idp.claims = { ...ada, auth_time };
      const late = await browser.visit(await leaveAndLogOut(site, browser));
      expect([late.status, browser.cookies.has(SESSION)]).toEqual([403, false]);
      expect(late.html).toContain("signed out at the identity provider");
      site.idp.claims = ada;
      await signInAt(site, browser);
      expect(browser.cookies.has(SESSION)).toBe(true);
    },
  );

  test("signs in a person who has logged on again in the meantime", async () => {
    await using site = await createProviderSite(JIT);
    const browser = site.browser();
    await browser.visit(await leaveAndLogOut(site, browser));
    expect(browser.cookies.has(SESSION)).toBe(true);
  });

  test("links no account for a password form from before", async () => {
    await using site = await createProviderSite({ provisioning: "invited" });
    await addUser(site, ADA);
    const browser = site.browser();
    const proof = await signInAt(site, browser);
    const { clock } = site.world;
    site.idp.claims = { ...site.idp.claims, auth_time: undefined };
    clock.set(clock.nowMs() + 2_000);
    await announce(site, await site.idp.logoutToken());
    const refused = await browser.submit(formTo(proof, "/login/link"), { password: PASSWORD });
    expect([refused.status, browser.cookies.has(SESSION)]).toEqual([403, false]);
  });

  test("refuses announcements beyond an address's limit before they are read", async () => {
    await using site = await createProviderSite(JIT);
    for (let count = 0; count < LOGOUTS.burst; count += 1)
      expect((await announce(site, "a.b.c", "other")).status).toBe(404);
    const refused = await announce(site, await site.idp.logoutToken());
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 1]);
  });

  test.each([
    ["no token", ""],
    ["garbage", "a.b.c"],
  ])("%s is refused", async (_, token) => {
    await using site = await createProviderSite(JIT);
    expect((await announce(site, token)).status).toBe(400);
    expect((await announce(site, token, "other")).status).toBe(404);
  });

  test("a token of another issuer is refused", async () => {
    await using site = await createProviderSite(JIT);
    const token = await site.idp.logoutToken({ iss: "https://other.example" });
    expect((await announce(site, token)).status).toBe(400);
  });
});

test.each([
  [SIGN_INS_PER_ADDRESS - 1, 303],
  [SIGN_INS_PER_ADDRESS, 429],
])("SSO-36 the next request after %i of one address is %i", async (before, status) => {
  await using site = await createProviderSite(JIT);
  const browser = site.browser();
  for (let count = 0; count < before; count += 1) await site.browser().request("/login/oidc");
  const response = await browser.request("/login/oidc");
  expect(response.status).toBe(status);
  if (status === 429) expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await site.browser("198.51.100.1").request("/login/oidc")).status).toBe(303);
});

test("SSO-36 callbacks count with the requests to the link", async () => {
  await using site = await createProviderSite(JIT);
  const callback = async () => (await site.browser().request(`${CALLBACK}?state=a&code=b`)).status;
  for (let count = 0; count < SIGN_INS_PER_ADDRESS; count += 1) expect(await callback()).toBe(400);
  expect(await callback()).toBe(429);
  expect((await site.browser().request("/login/oidc")).status).toBe(429);
  expect(site.idp.requests).toEqual([]);
});

test("SSO-28 discovery and token endpoints for workstations stay identical", async () => {
  await using site = await createProviderSite(JIT);
  await using plain = await createProviderSite();
  plain.configure(undefined);
  for (const path of ["/.well-known/metaharness", "/.well-known/oauth-authorization-server/api/auth"]) {
    const [one, other] = await Promise.all([site.request("GET", path), plain.request("GET", path)]);
    expect(await one.text()).toBe(await other.text());
  }
});

test("SSO-47 a thousand people who never return leave no row", async () => {
  await using site = await createProviderSite(JIT);
  const begin = async (host: number) => {
    const address = `10.0.${host >> 8}.${host & 255}`;
    return (await site.browser(address).request("/login/oidc?callbackURL=/device")).status;
  };
  expect(await begin(0)).toBe(303); // the first one fetches the provider's metadata, which is cached
  const traces = await tracesOf(site.world.file, {}, async () => {
    for (let host = 1; host <= 1_000; host += 1) if ((await begin(host)) !== 303) throw new Error("refused");
  });
  expect(traces).toEqual({ actions: [], tables: [] });
});
