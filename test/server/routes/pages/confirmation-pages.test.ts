// The confirmation before severe actions for every kind of account: with a second factor, with a password only, and with neither.
import { afterAll, describe, expect, test } from "bun:test";
import { CONFIRMATION_TTL_MS } from "../../../../src/domain/access/second-factor/model.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { type FormBrowser, formTo } from "../../../support/browser/form-browser.ts";
import {
  createProviderSite,
  leave,
  type ProviderSite,
  signInAt,
} from "../../../support/provider/provider-site.ts";
import { giveApp } from "../../../support/second-factor/given-factors.ts";
import { createTestServer, PASSWORD } from "../../../support/server.ts";

const CONFIRM = "/account/second-factor/confirm";
const INVITATIONS = "/admin/invitations";
const ROTATE = "/console/system/keys/sealing/rotate";

let invited = 0;

/** Requests a severe action with the API. @returns `done` or the reason of the refusal */
async function severe(browser: FormBrowser): Promise<string> {
  const body = JSON.stringify({ email: `new-${++invited}@example.com`, role: "admin" });
  const headers = { "content-type": "application/json" };
  const response = await browser.request(INVITATIONS, { method: "POST", headers, body });
  return response.ok ? "done" : (await response.json()).reason;
}

describe.each(["off", "optional"] as const)("the second factor %s", (secondFactor) => {
  const site = createTestServer({ access: { secondFactor } });
  afterAll(async () => (await site)[Symbol.asyncDispose]());

  test("CON-146 an account without a factor gives its password before a severe action", async () => {
    const { world, domain, ...rest } = await site;
    const caller = await rest.signedIn("admin");
    const browser = consoleBrowser(await site, caller);
    world.clock.advance(CONFIRMATION_TTL_MS - 1);
    expect(await severe(browser)).toBe("done");
    world.clock.advance(1);
    expect(await severe(browser)).toBe("access.confirmation_needed");
    const before = domain.sealingKeys.list().length;
    const form = formTo(await browser.visit(ROTATE), ROTATE);
    const kept = await browser.submit(form, { typed: "rotate" });
    expect([kept.status, kept.heading]).toEqual([403, "Confirm that it is you"]);
    const link = `${CONFIRM}?next=${encodeURIComponent(ROTATE)}`;
    expect([kept.html.includes(`href="${link}"`), domain.sealingKeys.list().length]).toEqual([true, before]);
    const question = await browser.visit(link);
    const wrong = await browser.submit(formTo(question, CONFIRM), { password: "not the password" });
    expect([wrong.status, await severe(browser)]).toEqual([403, "access.confirmation_needed"]);
    const back = await browser.submit(formTo(wrong, CONFIRM), { password: PASSWORD });
    expect(back.path).toBe(ROTATE);
    expect((await browser.submit(formTo(kept, ROTATE), {})).html).toContain("The new key is in use.");
    expect(await severe(browser)).toBe("done");
  });

  test("CON-146 a token needs no confirmation", async () => {
    const { world, ...rest } = await site;
    const { accessToken: token, cookie } = await rest.signedIn("admin");
    world.clock.advance(CONFIRMATION_TTL_MS);
    const body = { email: `by-token-${secondFactor}@example.com`, role: "admin" };
    expect((await rest.request("POST", INVITATIONS, { cookie, body })).status).toBe(403);
    expect((await rest.request("POST", INVITATIONS, { token, body })).status).toBe(201);
  });
});

test.each(["resend", "regenerate"])(
  "CON-146 an invitation of an administrator is confirmed before it is renewed: %s",
  async (act) => {
    await using site = await createTestServer();
    const caller = await site.signedIn("admin");
    const browser = consoleBrowser(site, caller);
    const invite = async (role: "admin" | "member") =>
      (await site.domain.identity.invitations.create(caller.actor, { email: `${role}@example.com`, role }))
        .invitation.id;
    const [admin, member] = [await invite("admin"), await invite("member")];
    site.world.clock.advance(CONFIRMATION_TTL_MS);
    const renew = async (id: string) =>
      (await browser.request(`${INVITATIONS}/${id}/${act}`, { method: "POST" })).status;
    expect([await renew(admin), await renew(member)]).toEqual([403, 200]);
  },
);

test("CON-146 a factor that was set up is required only while the setting is on", async () => {
  await using site = await createTestServer();
  const caller = await site.signedIn("admin");
  await giveApp(site, caller);
  const request = () => site.domain.access.ownFactors.confirmsWith(caller.actor);
  expect(request()).toBe("factor");
  await using off = await createTestServer({ world: site.world, access: { secondFactor: "off" } });
  expect(off.domain.access.ownFactors.confirmsWith(caller.actor)).toBe("password");
});

/** Signs in as the confirmation page requires. */
async function forced(site: ProviderSite, browser: FormBrowser) {
  const begun = await browser.request("/login/oidc?prompt=login");
  const there = new URL(begun.headers.get("location") ?? "");
  expect(there.searchParams.get("max_age")).toBe("0");
  return await browser.visit(`/api/auth/callback/oidc?${await site.idp.authorize(there)}`);
}

describe("CON-146 an account that has neither a password nor a factor", () => {
  const CLAIMS = { sub: "subject-ada", email: "ada@example.com", email_verified: true, groups: ["admins"] };
  const create = () =>
    createProviderSite(
      {
        provisioning: "jit",
        allowedDomains: ["example.com"],
        groupRoleMappings: new Map([["admins", "admin"]]),
      },
      { access: { identityMode: "oidc" } },
    );

  test("signs in at the provider again", async () => {
    await using site = await create();
    site.idp.claims = { ...CLAIMS };
    const browser = site.browser();
    await signInAt(site, browser);
    const change = () => severe(browser);
    expect(await change()).toBe("done");
    site.world.clock.advance(CONFIRMATION_TTL_MS);
    expect(await change()).toBe("access.confirmation_needed");
    const page = await browser.visit(`${CONFIRM}?next=%2Faccount`);
    expect(page.html).toContain('href="/login/oidc?prompt=login&amp;callbackURL=%2Faccount"');
    expect((await browser.request("/login/oidc?callbackURL=%2Faccount")).headers.get("location")).toBe(
      "/account",
    );
    const started = await browser.request("/login/oidc?prompt=login&callbackURL=%2Faccount");
    const there = new URL(started.headers.get("location") ?? "");
    expect([there.searchParams.get("prompt"), there.searchParams.get("login_hint")]).toEqual([
      "login",
      "ada@example.com",
    ]);
    const back = await browser.visit(`/api/auth/callback/oidc?${await site.idp.authorize(there)}`);
    expect([back.status, back.path]).toEqual([200, "/account"]);
    expect(await change()).toBe("done");
  });

  test("must sign in again if the provider only remembered an earlier sign-in", async () => {
    await using site = await create();
    const authTime = Math.floor(site.world.clock.nowMs() / 1000);
    site.idp.claims = { ...CLAIMS, auth_time: authTime };
    site.world.clock.advance(CONFIRMATION_TTL_MS);
    const browser = site.browser();
    await browser.visit(await leave(site, browser));
    expect(await severe(browser)).toBe("access.confirmation_needed");
  });

  test("is not fresh without auth_time, and a forced log-on without it is refused: the browser may have changed the link", async () => {
    await using site = await create();
    site.idp.claims = { ...CLAIMS, auth_time: undefined };
    const browser = site.browser();
    await signInAt(site, browser);
    expect(await severe(browser)).toBe("access.confirmation_needed");
    const refused = await forced(site, browser);
    expect([refused.status, refused.html.includes("did not say when you logged on")]).toEqual([403, true]);
    expect(await severe(browser)).toBe("access.confirmation_needed"); // still signed in
    site.idp.claims = { ...CLAIMS };
    await forced(site, browser);
    expect(await severe(browser)).toBe("done");
  });

  test("is refused after a forced log-on whose auth_time is old: the browser may have changed the link", async () => {
    await using site = await create();
    const authTime = Math.floor(site.world.clock.nowMs() / 1000);
    site.idp.claims = { ...CLAIMS, auth_time: authTime };
    const browser = site.browser();
    await signInAt(site, browser);
    site.world.clock.advance(CONFIRMATION_TTL_MS);
    const refused = await forced(site, browser);
    expect([refused.status, refused.html.includes("too long ago")]).toEqual([403, true]);
    expect(await severe(browser)).toBe("access.confirmation_needed");
  });

  test("cannot confirm while no provider is configured, and the page explains what to do", async () => {
    await using site = await create();
    site.idp.claims = { ...CLAIMS };
    const browser = site.browser();
    await signInAt(site, browser);
    site.configure(undefined);
    const page = await browser.visit(CONFIRM);
    expect(page.html).toContain("Ask an administrator for a password link.");
    const form = { action: CONFIRM, fields: { csrf: "x" }, buttons: [] };
    expect((await browser.submit(form, { password: "" })).status).toBe(403);
  });
});

test("CON-146 the password that links an account confirms its first session", async () => {
  await using site = await createProviderSite({ provisioning: "invited" });
  const account = { email: "ada@example.com", role: "admin", password: new Secret(PASSWORD) } as const;
  await site.domain.identity.users.create(site.world.system, account);
  site.idp.claims = { ...site.idp.claims, auth_time: undefined };
  const browser = site.browser();
  await browser.submit(formTo(await signInAt(site, browser), "/login/link"), { password: PASSWORD });
  expect(await severe(browser)).toBe("done");
});

test("CON-146 an account with a password that came through the provider confirms with either", async () => {
  await using site = await createProviderSite();
  const { users } = site.domain.identity;
  const account = { email: "root@example.com", role: "admin", password: new Secret(PASSWORD) } as const;
  const { user } = await users.create(site.world.system, account);
  await site.domain.sso.identities.create(site.world.system, {
    userId: user.id,
    issuer: site.idp.issuer,
    subject: "subject-root",
  });
  site.idp.claims = { sub: "subject-root", email: account.email, email_verified: true };
  const browser = site.browser();
  await signInAt(site, browser);
  expect(await severe(browser)).toBe("done");
  site.world.clock.advance(CONFIRMATION_TTL_MS);
  expect(await severe(browser)).toBe("access.confirmation_needed");
  const page = await browser.visit(CONFIRM);
  await browser.submit(formTo(page, CONFIRM), { password: PASSWORD });
  expect(await severe(browser)).toBe("done");
});
