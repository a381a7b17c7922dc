// The pages of the second factor over the real server: sign-in in two steps, the first factor of a user who must have one, the
// account pages, and the confirmation before sensitive operations. No script runs here; test/browser runs the passkey script.
import { describe, expect, test } from "bun:test";
import { contentSecurityPolicy, passkeyScriptPath } from "../../../../src/server/pages/assets.ts";
import { FormBrowser, formTo, type Page, passkeyOptionsIn } from "../../../support/browser/form-browser.ts";
import { appCode } from "../../../support/second-factor/authenticator-app.ts";
import { giveApp, givePasskey } from "../../../support/second-factor/given-factors.ts";
import { createAuthenticator } from "../../../support/second-factor/software-authenticator.ts";
import {
  ADDRESS,
  BASE_URL,
  type Caller,
  createTestServer,
  PASSWORD,
  type TestServer,
} from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(() => createTestServer({ hasConsole: false }));
const sameStrict = sharedServer(() =>
  createTestServer({ hasConsole: false, access: { secondFactor: "everyone" } }),
);

const EMAIL = "ada@example.com";
const CREDENTIAL = { email: EMAIL, password: PASSWORD };
const PROOF = "/login/second-factor";
const FACTORS = "/account/second-factor";
const STEP_MS = 30_000;

const browse = ({ server }: TestServer) =>
  new FormBrowser("http://localhost", (request) => server.handle(request, () => ADDRESS));

const member = (site: TestServer): Promise<Caller> => site.signedIn("member", { email: EMAIL });

const hasSession = async (browser: FormBrowser): Promise<boolean> =>
  (await (await browser.request("/api/auth/get-session")).json()) !== null;

const metricsOf = async (site: TestServer): Promise<string> => {
  const admin = await site.signedIn("admin");
  return await (await site.request("GET", "/metrics", { cookie: admin.cookie })).text();
};

const codesIn = ({ html }: Page): string[] =>
  [...html.matchAll(/<code>([A-Z2-9-]{19})<\/code>/g)].map(([, code = ""]) => code);

/** @returns the code of an app that was set up with the key on this page */
function codeOn({ world }: TestServer, { html }: Page): string {
  const [, secret = ""] = /<code>([A-Z2-7 ]+)<\/code>/.exec(html) ?? [];
  return appCode(secret, world.clock.nowMs());
}

/** A member with an app, and a browser after the password. */
async function afterPassword(site: TestServer, next = "/login") {
  const caller = await member(site);
  const app = await giveApp(site, caller);
  site.world.clock.advance(STEP_MS);
  const browser = browse(site);
  const page = await browser.signIn(await browser.visit(next), CREDENTIAL);
  return { caller, app, browser, page };
}

describe("sign-in", () => {
  test("asks for the code, and only then gives access and continues to the requested page", async () => {
    const site = await sameServer();
    const { app, browser, page } = await afterPassword(site, "/login?callbackURL=%2Fdevice");
    expect(page.path).toBe(`${PROOF}?callbackURL=%2Fdevice`);
    expect(page.heading).toBe("Confirm that it is you");
    expect(await hasSession(browser)).toBe(false);
    expect((await browser.visit("/account")).heading).toBe("Sign in");
    const wrong = await browser.submit(formTo(page, PROOF), { code: "000000" });
    expect(wrong).toMatchObject({ status: 403, heading: "Confirm that it is you" });
    expect(wrong.html).toContain("The code is wrong or was used before; wait for the app's next code");
    const code = appCode(app.secret, site.world.clock.nowMs());
    const done = await browser.submit(formTo(wrong, PROOF), { code });
    expect(done.path).toBe("/device");
    expect(await hasSession(browser)).toBe(true);
    expect([...browser.cookies.keys()].some((name) => name.includes("quartermaster_sign_in"))).toBe(false);
    const text = await metricsOf(site);
    expect(text).toMatch(/second_factor_checks_total\{factor="authenticator_app",result="accepted"\} [1-9]/);
    expect(text).toMatch(/second_factor_checks_total\{factor="authenticator_app",result="refused"\} [1-9]/);
  });

  test("a page with a passkey has the script and the policy that allows it, others have neither", async () => {
    const site = await sameServer();
    const { caller, browser, page } = await afterPassword(site);
    expect(page.html).not.toContain("<script");
    expect(page.headers.get("content-security-policy")).toBe(contentSecurityPolicy);
    const passkey = await givePasskey(site, caller);
    const offering = await browser.visit(PROOF);
    expect(offering.html).toContain(`<script src="${passkeyScriptPath}" defer>`);
    expect(offering.headers.get("content-security-policy")).toContain(
      "script-src 'self'; require-trusted-types-for 'script'",
    );
    const response = passkey.get(passkeyOptionsIn(offering));
    await browser.submit(formTo(offering, PROOF), { answer: response });
    expect(await hasSession(browser)).toBe(true);
  });

  test("the script is served under its digest", async () => {
    const site = await sameServer();
    const response = await site.request("GET", passkeyScriptPath);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect(await response.text()).toContain("navigator.credentials.get");
  });

  test("an expired sign-in starts again, and a form of another site is refused", async () => {
    const site = await sameServer();
    const { browser, page } = await afterPassword(site);
    const foreign = await browser.submit(
      formTo(page, PROOF),
      { code: "1" },
      { origin: "https://evil.example" },
    );
    expect(foreign.status).toBe(403);
    const forged = await browser.submit({ ...formTo(page, PROOF), fields: { csrf: "x" } }, { code: "1" });
    expect(forged.html).toContain("out of date");
    site.world.clock.advance(10 * 60_000);
    const late = await browser.submit(formTo(page, PROOF), { code: "000000" });
    expect(late).toMatchObject({ status: 401, heading: "Sign in" });
    expect(late.html).toContain("This sign-in has expired");
    expect((await browser.visit(PROOF)).path).toBe("/login");
  });

  test.each([PROOF, `${PROOF}/setup`, `${PROOF}/setup/authenticator-app`, `${PROOF}/setup/passkey`])(
    "%s leads a stranger to the sign-in page",
    async (path) => {
      const site = await sameServer();
      const page = await browse(site).visit(`${path}?callbackURL=%2Fdevice`);
      expect(page.path).toBe("/login?callbackURL=%2Fdevice");
    },
  );

  test("refuses a sign-in over JSON without a code with the reason, and accepts one with a code", async () => {
    const site = await sameServer();
    const { app } = await afterPassword(site);
    const signIn = async (body: object) => {
      const response = await site.request("POST", "/api/auth/sign-in/email", { body });
      return {
        status: response.status,
        body: await response.json(),
        cookies: response.headers.getSetCookie(),
      };
    };
    const refused = await signIn(CREDENTIAL);
    expect(refused).toMatchObject({
      status: 403,
      body: { reason: "access.second_factor_needed" },
      cookies: [],
    });
    const code = appCode(app.secret, site.world.clock.nowMs());
    const wrong = await signIn({ ...CREDENTIAL, code: "000000" });
    expect(wrong).toMatchObject({ status: 403, body: { reason: "access.second_factor_wrong" } });
    expect(await signIn({ ...CREDENTIAL, code })).toMatchObject({ status: 200, body: { redirect: false } });
  });
});

describe("a user who must have a factor", () => {
  test("sets up an app right after the password, sees the recovery codes once, and continues", async () => {
    const site = await sameStrict();
    await member(site);
    const browser = browse(site);
    const choice = await browser.signIn(await browser.visit("/login?callbackURL=%2Fdevice"), CREDENTIAL);
    expect(choice).toMatchObject({
      heading: "Set up a second factor",
      path: `${PROOF}/setup?callbackURL=%2Fdevice`,
    });
    expect(await hasSession(browser)).toBe(false);
    expect((await browser.visit(PROOF)).heading).toBe("Set up a second factor");
    const action = `${PROOF}/setup/authenticator-app`;
    const page = await browser.visit(`${action}?callbackURL=%2Fdevice`);
    expect(page.html).toContain('role="img" aria-label="QR code for the authenticator app"');
    const wrong = await browser.submit(formTo(page, action), { code: "000000" });
    expect(wrong.status).toBe(400);
    expect(codeOn(site, wrong)).toBe(codeOn(site, page));
    const codes = await browser.submit(formTo(wrong, action), { code: codeOn(site, wrong) });
    expect(codes.heading).toBe("Keep your recovery codes");
    expect(codesIn(codes)).toHaveLength(10);
    expect(codes.html).toContain('href="/device"');
    expect(await hasSession(browser)).toBe(true);
  });

  test("sets up a passkey right after the password", async () => {
    const site = await sameStrict();
    await member(site);
    const browser = browse(site);
    await browser.signIn(await browser.visit("/login"), CREDENTIAL);
    const action = `${PROOF}/setup/passkey`;
    const page = await browser.visit(action);
    const refused = await browser.submit(formTo(page, action), { answer: "{}" });
    expect(refused.html).toContain("The passkey was not accepted");
    const response = createAuthenticator(BASE_URL).create(passkeyOptionsIn(refused));
    const codes = await browser.submit(formTo(refused, action), { answer: response });
    expect(codesIn(codes)).toHaveLength(10);
    expect(await hasSession(browser)).toBe(true);
  });

  test("is refused over JSON with the reason", async () => {
    const site = await sameStrict();
    await member(site);
    const response = await site.request("POST", "/api/auth/sign-in/email", { body: CREDENTIAL });
    expect(await response.json()).toMatchObject({ reason: "access.second_factor_enrollment_needed" });
  });

  test("cannot perform sensitive operations in an earlier session", async () => {
    const site = await sameStrict();
    const { cookie } = await site.signedIn("admin");
    const body = { email: "eve@example.com", role: "admin" };
    const response = await site.request("POST", "/admin/invitations", { cookie, body });
    expect(await response.json()).toMatchObject({ reason: "access.second_factor_enrollment_needed" });
  });
});

describe("the account", () => {
  test("asks for the password before the first factor of a session that is not fresh", async () => {
    const site = await sameServer();
    const { cookie } = await member(site);
    site.world.clock.advance(10 * 60_000);
    const browser = browse(site);
    const [name = "", value = ""] = cookie.split("=");
    browser.cookies.set(name, value);
    expect((await browser.visit("/account")).html).toContain("Set up a second factor");
    const question = await browser.visit(`${FACTORS}/authenticator-app`);
    expect(question.path).toBe(
      `${FACTORS}/confirm?next=${encodeURIComponent(`${FACTORS}/authenticator-app`)}`,
    );
    const form = formTo(question, `${FACTORS}/confirm`);
    expect((await browser.submit(form, { password: "wrong" })).html).toContain(
      "The current password is wrong.",
    );
    const page = await browser.submit(form, { password: PASSWORD });
    expect(page.heading).toBe("Set up an authenticator app");
    const codes = await browser.submit(formTo(page, `${FACTORS}/authenticator-app`), {
      code: codeOn(site, page),
    });
    expect(codesIn(codes)).toHaveLength(10);
    const list = await browser.visit(`${FACTORS}?done=added`);
    expect(list.html).toContain("Your second factor is set up.");
    expect(list.html).toContain("10 recovery codes");
    const removed = await browser.submit(formTo(list, `${FACTORS}/authenticator-app/remove`), {});
    expect(removed.html).toContain("It was removed.");
  });

  test("redirects an unauthenticated caller to the sign-in page, and shows nothing where the setting is off", async () => {
    const site = await sameServer();
    expect((await browse(site).visit(FACTORS)).heading).toBe("Sign in");
    await using off = await createTestServer({ hasConsole: false, access: { secondFactor: "off" } });
    const { cookie } = await off.signedIn("member");
    const account = await off.request("GET", "/account", { cookie });
    expect(await account.text()).not.toMatch(/second factor/i);
    expect((await off.request("GET", FACTORS, { cookie })).headers.get("location")).toBe("/account");
  });
});

describe("a sensitive operation in a browser session", () => {
  const operations: readonly [
    string,
    string,
    (site: TestServer) => Promise<{ path: string; body?: object }>,
  ][] = [
    [
      "a role change",
      "PATCH",
      async (site) => ({ path: `/admin/users/${(await member(site)).user.id}`, body: { role: "admin" } }),
    ],
    [
      "an invitation of an administrator",
      "POST",
      async () => ({ path: "/admin/invitations", body: { email: "eve@example.com", role: "admin" } }),
    ],
    [
      "a password link",
      "POST",
      async (site) => ({ path: `/admin/users/${(await member(site)).user.id}/password-link` }),
    ],
    [
      "the end of logins of many users",
      "POST",
      async (site) => ({
        path: "/admin/users/change",
        body: { action: "end_logins", ids: [(await member(site)).user.id] },
      }),
    ],
  ];

  test.each(operations)(
    "%s needs a confirmation of the last ten minutes",
    async (_name, method, operation) => {
      const site = await sameServer();
      const admin = await site.signedIn("admin");
      const { path, body } = await operation(site);
      const app = await giveApp(site, admin);
      const ask = async (credential: object) => {
        const sent = { ...credential, ...(body && { body }) };
        const response = await site.request(method, path, sent);
        return response.ok ? "done" : (await response.json()).reason;
      };
      site.world.clock.advance(10 * 60_000);
      expect(await ask({ cookie: admin.cookie })).toBe("access.confirmation_needed");
      const code = appCode(app.secret, site.world.clock.nowMs());
      const browser = browse(site);
      const [name = "", value = ""] = admin.cookie.split("=");
      browser.cookies.set(name, value);
      const page = await browser.visit(`${FACTORS}/confirm?next=%2Faccount`);
      expect((await browser.submit(formTo(page, `${FACTORS}/confirm`), { code })).path).toBe("/account");
      expect(await ask({ cookie: admin.cookie })).toBe("done");
    },
  );

  test("is not required for a token or for a change that is not sensitive", async () => {
    const site = await sameServer();
    const admin = await site.signedIn("admin");
    const { user } = await member(site);
    await giveApp(site, admin);
    site.world.clock.advance(10 * 60_000);
    const change = async (credential: object, body: object) =>
      (await site.request("PATCH", `/admin/users/${user.id}`, { ...credential, body })).status;
    expect(await change({ cookie: admin.cookie }, { status: "suspended" })).toBe(200);
    expect(await change({ cookie: admin.cookie }, { role: "admin" })).toBe(403);
    expect(await change({ token: admin.accessToken }, { role: "admin" })).toBe(200);
  });

  test("leads from the page of the gateway key to the confirmation", async () => {
    const { createGatewayServer } = await import("../../../support/gateway/gateway-server.ts");
    await using site = await createGatewayServer({ hasConsole: false });
    const caller = await member(site);
    await giveApp(site, caller);
    const browser = browse(site);
    const [name = "", value = ""] = caller.cookie.split("=");
    browser.cookies.set(name, value);
    await browser.submit(formTo(await browser.visit("/account"), "/account/gateway-key/ensure"), {});
    site.world.clock.advance(10 * 60_000);
    const page = await browser.visit("/account");
    const question = await browser.submit(formTo(page, "/account/gateway-key/rotate"), {});
    expect(question.path).toBe(`${FACTORS}/confirm?next=%2Faccount`);
    const response = await site.request("POST", "/gateway/key/rotate", { cookie: caller.cookie });
    expect(await response.json()).toMatchObject({ reason: "access.confirmation_needed" });
  });
});
