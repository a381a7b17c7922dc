// Sign-in at the identity provider in a real Chromium, without scripts: in the middle of a device login, in two tabs, with the back
// button, and after forms, whose redirects the content security policy may not break.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import type { SsoSettings } from "../../../src/domain/sso/service.ts";
import { heading, openSite, PASSWORD, press, type Site } from "../../support/browser/browser.ts";
import { createLyingProvider, type LyingProvider } from "../../support/provider/lying-provider.ts";
import { START_MS } from "../../support/world.ts";

const CONTINUE = "Continue with Example ID";

let idp: LyingProvider;
let site: Site;
let settings: SsoSettings;
beforeAll(async () => {
  idp = await createLyingProvider({ nowMs: () => START_MS });
  settings = idp.settings({ provisioning: "jit", allowedDomains: ["example.com"] });
  site = await openSite({ sso: () => settings });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
});
afterEach(() => {
  const isTheProvider = (complaint: string) => complaint.startsWith(`request to ${idp.origin}/`);
  expect(site.takeComplaints().filter((complaint) => !isTheProvider(complaint))).toEqual([]);
});

/** Goes to the provider, which immediately signs in every visitor and redirects back. */
const goToProvider = async (page: Page): Promise<void> => {
  await Promise.all([page.waitForEvent("load"), page.getByRole("link", { name: CONTINUE }).click()]);
};

const emailOf = async (accessToken: unknown): Promise<unknown> => {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await (await fetch(`${site.baseUrl}/auth/me`, { headers })).json()).email;
};

/** Holds browsers at the provider until they are released, like people who type a password there. */
async function holdAtProvider(context: BrowserContext): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await context.route(`${idp.origin}/authorize?**`, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

describe("a device login of a signed-out person", () => {
  test("goes from the link through the provider to the approval page, and the workstation signs in", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor();
    const { page } = visitor;
    await page.goto(workstation.link);
    expect(await heading(page)).toBe("Sign in");
    await goToProvider(page);
    expect([page.url(), await heading(page)]).toEqual([workstation.link, "Allow workstation access?"]);
    expect(await page.locator("main").textContent()).toContain("through Example ID");
    await press(page, "Authorize");
    expect(await heading(page)).toBe("CLI authorized");
    const { status, body } = await workstation.poll();
    expect([status, await emailOf(body.access_token)]).toEqual([200, "ada@example.com"]);
  });

  test("works in two tabs that were at the provider at the same time", async () => {
    const [first, second] = [await site.workstation(), await site.workstation()];
    await using visitor = await site.visitor();
    const { page, context } = visitor;
    const other = await context.newPage();
    const letGo = await holdAtProvider(context);
    await Promise.all([page.goto(first.link), other.goto(second.link)]);
    const [back, otherBack] = [page.waitForURL(first.link), other.waitForURL(second.link)];
    await page.getByRole("link", { name: CONTINUE }).click({ noWaitAfter: true });
    await other.getByRole("link", { name: CONTINUE }).click({ noWaitAfter: true });
    letGo();
    await Promise.all([back, otherBack]);
    await context.unrouteAll({ behavior: "wait" });
    await page.reload(); // the other tab may have replaced the session that this page was for
    await press(page, "Authorize");
    await other.reload();
    await press(other, "Authorize");
    expect([(await first.poll()).status, (await second.poll()).status]).toEqual([200, 200]);
  });
});

test("the back button after a sign-in, and a repeated callback, show that the user is already signed in", async () => {
  await site.member("grace@example.com");
  idp.claims = { sub: "grace-1", email: "grace@example.com", email_verified: true };
  await using visitor = await site.visitor();
  const { page } = visitor;
  await page.goto("/login");
  await goToProvider(page);
  expect(await heading(page)).toBe("Link your account");
  const callback = page.url();
  await page.getByLabel("Password").fill(PASSWORD);
  await Promise.all([page.waitForEvent("load"), page.locator("form button").click()]);
  expect(page.url()).toBe(`${site.baseUrl}/console/me`);
  await page.goBack();
  expect([page.url(), await heading(page)]).toEqual([callback, "You are already signed in"]);
  await page.goto(callback);
  expect(await heading(page)).toBe("You are already signed in");
});

describe("the policy for forms blocks no redirect to the provider", () => {
  test("lets a code that is sent while signed out continue to the provider", async () => {
    idp.claims = { sub: "ada-1", email: "ada@example.com", email_verified: true };
    settings = { ...settings, autoRedirect: true };
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: await site.member("early@example.com") });
    const { page, context } = visitor;
    await page.goto("/device");
    await context.clearCookies();
    await page.getByLabel("Code shown on your workstation").fill(workstation.userCode);
    const returned = page.waitForResponse((response) => response.url().includes("/api/auth/callback/oidc?"));
    await page.getByRole("button", { name: "Continue" }).click({ noWaitAfter: true });
    expect((await returned).status()).toBe(303);
    await page.waitForURL(`${site.baseUrl}/device`);
    expect(await page.locator("main").textContent()).toContain("ada@example.com");
  });

  test("lets a sign-out continue at the provider", async () => {
    settings = { ...settings, autoRedirect: false, logout: "idp" };
    await using visitor = await site.visitor();
    const { page } = visitor;
    await page.goto("/login");
    await goToProvider(page);
    await page.locator(".account-menu summary").click();
    const left = page.waitForURL((url) => url.href.startsWith(`${idp.origin}/logout?`));
    await page.getByRole("button", { name: "Sign out" }).click({ noWaitAfter: true });
    await left;
    const back = new URL(page.url()).searchParams.get("post_logout_redirect_uri");
    expect(back).toBe(`${site.baseUrl}/signed-out`);
  });
});
