// The account settings in a browser: password, browsers, workstations, gateway key, signing out everywhere.
import { beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../../src/domain/identity/tables.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { ROWS_SHOWN } from "../../../../src/server/pages/account/account-view.ts";
import { browserText } from "../../../../src/server/pages/user-agent.ts";
import { reportWith } from "../../../domain/clients/policies.ts";
import { FormBrowser, formTo, type Page } from "../../../support/browser/form-browser.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";
import {
  ADDRESS,
  type Caller,
  createTestServer,
  PASSWORD,
  type TestServer,
} from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(() => createTestServer({ hasConsole: false }));

const ADA = { email: "ada@example.com", password: PASSWORD };
const NEXT = "an entirely new password";
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";

const browse = ({ server }: TestServer, userAgent = FIREFOX): FormBrowser =>
  new FormBrowser("http://localhost", (request) => {
    request.headers.set("user-agent", userAgent);
    return server.handle(request, () => ADDRESS);
  });

async function signedIn(site: TestServer, userAgent?: string): Promise<FormBrowser> {
  const browser = browse(site, userAgent);
  await browser.signIn(await browser.visit("/login"), ADA);
  return browser;
}

const forms = (page: Page, action: RegExp) => page.forms.filter((form) => action.test(form.action));
const END = /^\/account\/logins\/[^/]+\/end$/;

describe("the account settings", () => {
  let site: TestServer;
  /** another browser of the same user, with a workstation that it approved */
  let ada: Caller;
  beforeEach(async () => {
    site = await sameServer();
    ada = await site.signedIn("member", { email: ADA.email });
  });

  const change = async (browser: FormBrowser, current = PASSWORD, next = NEXT) =>
    browser.submit(formTo(await browser.visit("/account"), "/account/password"), {
      current_password: current,
      new_password: next,
    });

  test("send a signed-out visitor to sign in and back to the same page", async () => {
    const response = await site.request("GET", `/account?browsers=${UNKNOWN_ID}`);
    const place = encodeURIComponent(`/account?browsers=${UNKNOWN_ID}`);
    expect([response.status, response.headers.get("location")]).toEqual([303, `/login?callbackURL=${place}`]);
    const browser = browse(site);
    const page = await browser.signIn(await browser.visit("/account"), ADA);
    expect([page.path, page.heading]).toEqual(["/account", "Account settings"]);
    const unsigned = browse(site);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    for (const form of [
      "password",
      `logins/${UNKNOWN_ID}/end`,
      "sign-out-everywhere",
      "gateway-key/revoke",
    ]) {
      const sent = await unsigned.request(`/account/${form}`, { method: "POST", body: "csrf=x", headers });
      expect(sent.headers.get("location")).toBe("/login?callbackURL=%2Faccount");
    }
  });

  test("links the account settings from every other page of a signed-in user", async () => {
    const browser = await signedIn(site);
    for (const path of ["/", "/device"])
      expect((await browser.visit(path)).html).toContain('href="/account"');
  });

  test("change the password, keep this browser with a new cookie, and sign the others out", async () => {
    const [browser, other] = [await signedIn(site), await signedIn(site)];
    const before = browser.cookies.get("__Secure-better-auth.session_token");
    const page = await change(browser);
    expect([page.status, page.path]).toEqual([200, "/account?done=password"]);
    expect(page.html).toContain("every other browser was signed out. Workstations stay signed in");
    expect(browser.cookies.get("__Secure-better-auth.session_token")).not.toBe(before);
    expect((await other.visit("/account")).heading).toBe("Sign in");
    const workstation = await site.request("GET", "/auth/me", { token: ada.accessToken });
    expect(workstation.status).toBe(200);
    const again = browse(site);
    const wrong = await again.signIn(await again.visit("/login"), ADA);
    expect(wrong.status).toBe(401);
    const right = await again.signIn(wrong, { ...ADA, password: NEXT });
    expect(right.heading).toBe("Your account");
  });

  test.each([
    ["a wrong current password", "wrong wrong wrong", NEXT, 403, "current_password"],
    ["a short new password", PASSWORD, "short", 400, "new_password"],
    ["the same password again", PASSWORD, PASSWORD, 400, "new_password"],
  ])("show the error for %s beside its field", async (_name, current, next, status, field) => {
    const browser = await signedIn(site);
    const page = await change(browser, current, next);
    expect(page.status).toBe(status);
    expect(page.html).toContain(`<a href="#${field}">`);
    expect(page.html).toContain(`id="${field}-error"`);
    for (const secret of [current, next]) expect(page.html).not.toContain(secret);
  });

  test("refuse further guesses after too many wrong passwords", async () => {
    const browser = await signedIn(site);
    let page = await change(browser, "wrong");
    for (let guess = 1; guess < 100 && page.status === 403; guess += 1) page = await change(browser, "wrong");
    expect(page.status).toBe(429);
    expect(page.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(page.html).toContain("Too many attempts");
  });

  test("tell a provisioned user where to change the password instead of showing the form", async () => {
    const browser = await signedIn(site);
    const provisioned = { provisioningSource: "scim", passwordHash: null } as const;
    await site.world.db.write((tx) =>
      tx.update(users).set(provisioned).where(eq(users.id, ada.user.id)).run(),
    );
    const page = await browser.visit("/account");
    expect(page.html).toContain("Your organization manages how you sign in");
    expect(forms(page, /password/)).toEqual([]);
  });

  test("describe each login and mark the current browser", async () => {
    await site.request("POST", "/client-status", { token: ada.accessToken, body: reportWith() });
    const browser = await signedIn(site);
    const { html } = await browser.visit("/account");
    expect(html).toContain("Firefox on Linux");
    expect(html).toContain(ADDRESS);
    expect(html.split("This browser").length).toBe(2);
    expect(html.indexOf("This browser")).toBeLessThan(html.indexOf("Unknown browser"));
    expect(html).toContain("1 workstation");
    const { hostname } = reportWith();
    expect(html).toContain(`>${hostname}</h3>`);
  });

  test("end another browser with the workstation it approved, and keep the current one", async () => {
    const browser = await signedIn(site);
    const end = formTo(await browser.visit("/account"), `/account/logins/${ada.loginSessionId}/end`);
    const page = await browser.submit(end, {});
    expect([page.status, page.path]).toEqual([200, "/account?done=login"]);
    expect(forms(page, END)).toEqual([]);
    for (const sent of [{ cookie: ada.cookie }, { token: ada.accessToken }])
      expect((await site.request("GET", "/auth/me", sent)).status).toBe(401);
    expect((await browser.submit({ ...end, fields: formTo(page, "/sign-out").fields }, {})).status).toBe(200);
  });

  test("end one workstation alone, and its open event stream", async () => {
    await publishFirst(site);
    const browser = await signedIn(site);
    const stream = await site.request("GET", "/governance-config/events", { token: ada.accessToken });
    const [grant] = site.domain.access.logins.list({ kind: "grant" }).items;
    const page = await browser.visit("/account");
    await browser.submit(formTo(page, `/account/logins/${grant?.id}/end`), {});
    await stream.text(); // it ends
    expect((await site.request("GET", "/auth/me", { cookie: ada.cookie })).status).toBe(200);
  });

  test("offer an ordinary sign-out for the current browser, which also ends when its id is submitted", async () => {
    const browser = await signedIn(site);
    const page = await browser.visit("/account");
    expect(forms(page, /^\/sign-out$/)).toHaveLength(2);
    const { items } = site.domain.access.logins.list({ kind: "login_session" });
    const { fields } = formTo(page, "/sign-out");
    const action = `/account/logins/${items[0]?.id}/end`;
    const left = await browser.submit({ action, fields, buttons: [] }, {});
    expect([left.path, left.heading]).toEqual(["/sign-out", "You are signed out"]);
    expect(browser.cookies.has("__Secure-better-auth.session_token")).toBe(false);
  });

  test("answer 404 for another user's login and leave it unchanged", async () => {
    const eve = await site.signedIn("member");
    const browser = await signedIn(site);
    const { fields } = formTo(await browser.visit("/account"), "/sign-out");
    for (const id of [eve.loginSessionId, UNKNOWN_ID, "no-id"]) {
      const action = `/account/logins/${id}/end`;
      const page = await browser.submit({ action, fields, buttons: [] }, {});
      expect([page.status, page.heading]).toEqual([404, "Page not found"]);
    }
    expect((await site.request("GET", "/auth/me", { cookie: eve.cookie })).status).toBe(200);
  });

  test("refuse every form without its token and from another site's page", async () => {
    const browser = await signedIn(site);
    const { fields } = formTo(await browser.visit("/account"), "/sign-out");
    const actions = [
      "password",
      `logins/${ada.loginSessionId}/end`,
      "sign-out-everywhere",
      ...["ensure", "validate", "rotate", "revoke"].map((verb) => `gateway-key/${verb}`),
    ];
    for (const name of actions) {
      const form = { action: `/account/${name}`, fields, buttons: [] };
      const stale = await browser.submit(form, { csrf: "x" });
      const foreign = await browser.submit(form, {}, { origin: "https://evil.example" });
      expect([name, stale.status, foreign.status]).toEqual([name, 403, 403]);
    }
    expect((await site.request("GET", "/auth/me", { cookie: ada.cookie })).status).toBe(200);
  });

  test("show the counts before and after signing out everywhere, and change nothing on GET", async () => {
    const browser = await signedIn(site);
    const question = await browser.visit("/account/sign-out-everywhere");
    expect(question.html).toContain("This signs out 2 browsers, this one included, and 1 workstation.");
    expect((await browser.visit("/account")).heading).toBe("Account settings");
    const done = await browser.submit(formTo(question, "/account/sign-out-everywhere"), {});
    expect(done.heading).toBe("You are signed out everywhere");
    expect(done.html).toContain("2 browsers and 1 workstation were signed out");
    expect(browser.cookies.has("__Secure-better-auth.session_token")).toBe(false);
    for (const sent of [{ cookie: ada.cookie }, { token: ada.accessToken }])
      expect((await site.request("GET", "/auth/me", sent)).status).toBe(401);
  });

  test.each([ROWS_SHOWN - 1, ROWS_SHOWN, ROWS_SHOWN + 1])("show %d browsers in pages", async (count) => {
    const browser = await signedIn(site);
    for (let other = 2; other < count; other += 1) await site.signInAgain(ada.user);
    const page = await browser.visit("/account");
    const older = /href="(\/account\?browsers=[^"#]+)#browsers"/.exec(page.html)?.[1];
    expect(older !== undefined).toBe(count > ROWS_SHOWN);
    if (older === undefined) return;
    const rest = await browser.visit(older);
    expect(forms(rest, new RegExp(ada.loginSessionId))).toHaveLength(1);
    expect(rest.html).toContain('href="/account#browsers"');
  });

  test("refuse an invalid list position", async () => {
    const browser = await signedIn(site);
    expect((await browser.visit("/account?browsers=x")).status).toBe(400);
    expect((await browser.visit("/account?done=anything")).html).not.toContain('role="status"');
  });

  test("hide administration from a member, and show an administrator working links", async () => {
    expect((await (await signedIn(site)).visit("/account")).html).not.toContain("Administration");
    await publishFirst(site);
    const { cookie } = await site.signedIn("admin");
    const html = await (await site.request("GET", "/account", { cookie })).text();
    const links = [...html.slice(html.indexOf("Administration")).matchAll(/<li><a href="([^"]+)"/g)];
    expect(links.length).toBeGreaterThan(10);
    for (const [, path = ""] of links)
      expect(`${path} ${(await site.request("GET", path, { cookie })).status}`).toBe(`${path} 200`);
  });
});

describe("the gateway key on the account settings", () => {
  test("is shown as off without gateway mode", async () => {
    await using site = await createTestServer({ hasConsole: false });
    const { cookie } = await site.signedIn("member");
    const html = await (await site.request("GET", "/account", { cookie })).text();
    expect(html).toContain("Gateway mode is off, so you do not need a key.");
  });

  test("can be created, checked, replaced and revoked, and is never shown", async () => {
    await using site = await createGatewayServer({ hasConsole: false });
    await site.signedIn("member", { email: ADA.email });
    const browser = await signedIn(site);
    let page = await browser.visit("/account");
    const press = async (verb: string) => {
      page = await browser.submit(formTo(page, `/account/gateway-key/${verb}`), {});
      return page.html;
    };
    expect(page.html).toContain("You have no key.");
    expect(await press("ensure")).toContain("You have a working key.");
    expect(await press("validate")).toContain("You have a working key.");
    expect(await press("rotate")).toContain("You have a working key.");
    expect(page.html).not.toMatch(/\bsk-/);
    page = await browser.visit("/account/gateway-key/revoke");
    expect(page.heading).toBe("Revoke your gateway key?");
    expect(await press("revoke")).toContain("You have no key.");
  });

  test("shows the gateway's refusal and how to try again", async () => {
    await using site = await createGatewayServer({ hasConsole: false });
    const { domain, world } = site;
    const password = new Secret(PASSWORD);
    await domain.identity.users.create(world.system, { email: ADA.email, role: "member", password });
    const browser = await signedIn(site); // without an account at the gateway
    const form = formTo(await browser.visit("/account"), "/account/gateway-key/ensure");
    const page = await browser.submit(form, {});
    expect(page.status).toBe(200);
    expect(page.html).toContain("You have no working key");
    expect(formTo(page, "/account/gateway-key/ensure").buttons[0]?.label).toBe("Try again");
  });
});

test.each([
  [FIREFOX, "Firefox on Linux"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15",
    "Safari on macOS",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
    "Chrome on Android",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    "Safari on iOS",
  ],
  ["curl/8.7.1", "curl/8.7.1"],
  ["", "Unknown browser"],
  [null, "Unknown browser"],
])("the user agent %j is shown as %s", (userAgent, words) => {
  expect(browserText(userAgent)).toBe(words);
});
