// The pages in a browser: sign in, approve or deny, accept an invitation, sign out. Forged forms and foreign sites are
// refused, and errors are pages. pages.test.ts tests the documents.
import { describe, expect, test } from "bun:test";
import { budgets, deviceLogins } from "../../../../src/domain/access/tables.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import {
  contentSecurityPolicy,
  styleSheetBody,
  styleSheetPath,
} from "../../../../src/server/pages/assets.ts";
import { FormBrowser, formTo, type Page } from "../../../support/browser/form-browser.ts";
import { ADDRESS, BASE_URL, createTestServer, PASSWORD, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(() => createTestServer({ hasConsole: false }));

const ADA = { email: "ada@example.com", password: PASSWORD };
const EVE = { email: "eve@example.com", password: PASSWORD };
const DEVICE_COOKIE = "__Host-quartermaster_device";
const FORM_COOKIE = "__Host-quartermaster_form";
const SESSION_COOKIE = "__Secure-better-auth.session_token";
const FOREIGN: Record<string, string>[] = [
  { origin: "https://evil.example" },
  { origin: "https://neighbor.control.example.com" },
  { origin: "null", "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
];

const browse = (server: TestServer): FormBrowser =>
  new FormBrowser("http://localhost", (request) => server.server.handle(request, () => ADDRESS));

async function withAda() {
  const server = await createTestServer({ hasConsole: false });
  await addUser(server, ADA);
  return server;
}

const addUser = ({ domain, world }: TestServer, { email, password }: typeof ADA) =>
  domain.identity.users.create(world.system, { email, role: "member", password: new Secret(password) });

/** A browser in which that person is signed in. */
async function signedIn(server: TestServer, credential = ADA): Promise<FormBrowser> {
  const browser = browse(server);
  await browser.signIn(await browser.visit("/login"), credential);
  return browser;
}

/** A device login as a workstation begins it. */
async function begin({ domain }: TestServer) {
  const client = { clientId: "blue-cli", scope: "governance:read offline_access" };
  const login = await domain.access.deviceLogins.request({ ...client, address: ADDRESS });
  const { deviceCode, userCode, linkToken } = login;
  const redeem = async () => {
    const tokens = domain.access.grants.redeem({ ...client, deviceCode });
    return await tokens.then(({ scope }) => scope).catch(({ code }) => code);
  };
  return { path: `/device/${linkToken}`, userCode, redeem };
}

const decide = (browser: FormBrowser, page: Page, decision: string) =>
  browser.submit(formTo(page, page.path), { decision });

/** Every page masks its form token differently. */
const MASKED_TOKEN = /[\da-f]{128}/;

describe("signing in", () => {
  test("WEB-1 leads from a workstation's link to sign-in and back to the decision", async () => {
    await using server = await withAda();
    const browser = browse(server);
    const { path } = await begin(server);
    const token = path.slice("/device/".length);
    const redirect = await server.request("GET", path);
    expect(redirect.status).toBe(303);
    expect(redirect.headers.get("location")).toBe(`/login?callbackURL=%2Fdevice%2F${token}`);
    const question = await browser.visit(path);
    expect([question.status, question.heading]).toEqual([200, "Sign in"]);
    const shown = await browser.signIn(question, ADA);
    expect([shown.status, shown.path, shown.heading]).toEqual([200, path, "Allow workstation access?"]);
  });

  test("redirects with only the session cookie and the device cookie", async () => {
    await using server = await withAda();
    const browser = browse(server);
    const page = await browser.visit("/login");
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-quartermaster_form=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
    ]);
    const body = new URLSearchParams({ ...formTo(page, "/login").fields, ...ADA });
    const response = await browser.request("/login", { method: "POST", body });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Secure-better-auth\.session_token=[\w-]{43}; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(
        /^__Host-quartermaster_device=[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=34560000; Secure; HttpOnly; SameSite=Strict$/,
      ),
    ]);
  });

  test("uses plain cookies on http", async () => {
    const access = { baseUrl: () => "http://127.0.0.1:8080" };
    await using server = await createTestServer({ hasConsole: false, access });
    await addUser(server, ADA);
    const browser = browse(server);
    await browser.signIn(await browser.visit("/login"), ADA);
    expect([...browser.cookies.keys()].sort()).toEqual([
      "better-auth.session_token",
      "quartermaster_device",
      "quartermaster_form",
    ]);
    expect((await browser.visit("/")).heading).toBe("Your account");
  });

  test("uses one form secret for all tabs of a browser", async () => {
    await using server = await withAda();
    const browser = browse(server);
    const [first, second] = [await browser.visit("/login"), await browser.visit("/login")];
    expect(second.headers.getSetCookie()).toEqual([]);
    const response = await browser.submit(formTo(first, "/login"), {
      email: "ada@example.com",
      password: "wrong",
    });
    expect(response.status).toBe(401); // the token of the first tab is still accepted
  });

  test("does not reveal whether an account exists", async () => {
    await using server = await withAda();
    const browser = browse(server);
    const page = await browser.visit("/login");
    const pages = [];
    for (const email of ["ada@example.com", "bob@example.com"]) {
      const again = await browser.signIn(page, { email, password: "a wrong password" });
      expect(again.status).toBe(401);
      expect(again.html).toContain("There is a problem");
      expect(formTo(again, "/login").fields.email).toBe(email);
      pages.push(again.html.replaceAll(email, "somebody").replace(MASKED_TOKEN, "token"));
    }
    expect(pages[0]).toBe(pages[1] ?? "");
    expect(browser.cookies.has(SESSION_COOKIE)).toBe(false);
  });

  test("shows the time to wait after too many guesses", async () => {
    await using server = await createTestServer({
      hasConsole: false,
      limits: { passwordGuessesPerAccountAndAddress: 1 },
    });
    const browser = browse(server);
    const page = await browser.visit("/login");
    await browser.signIn(page, ADA);
    const refused = await browser.signIn(page, ADA);
    expect([refused.status, refused.heading]).toEqual([429, "Sign in"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.html).toContain("Too many attempts; try again in 15 minutes.");
  });

  test("works in a browser that has signed in before while other addresses have locked the account", async () => {
    await using server = await createTestServer({
      hasConsole: false,
      limits: { passwordGuessesPerAccountAndAddress: 1, passwordGuessesPerAccount: 2 },
    });
    await addUser(server, ADA);
    const browser = await signedIn(server);
    await browser.submit(formTo(await browser.visit("/"), "/sign-out"), {});
    for (const address of ["192.0.2.50", "192.0.2.51"]) {
      const body = { ...ADA, password: "a wrong password" };
      expect((await server.request("POST", "/api/auth/sign-in/email", { body, address })).status).toBe(401);
    }
    const stranger = browse(server);
    expect((await stranger.signIn(await stranger.visit("/login"), ADA)).status).toBe(429);
    expect((await browser.signIn(await browser.visit("/login"), ADA)).heading).toBe("Your account");
  });

  test.each([
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/%09/evil.example",
    "/.//evil.example",
  ])("never redirects to another site: %s", async (next) => {
    await using server = await withAda();
    const browser = browse(server);
    const page = await browser.visit(`/login?callbackURL=${encodeURIComponent(decodeURIComponent(next))}`);
    expect(formTo(page, "/login").fields.next).toBeUndefined();
    const landed = await browser.submit(formTo(page, "/login"), { ...ADA, next: decodeURIComponent(next) });
    expect([landed.path, landed.heading]).toEqual(["/", "Your account"]);
  });

  test("replaces only the session of this browser, of any user", async () => {
    await using server = await withAda();
    await addUser(server, EVE);
    const [browser, elsewhere] = [browse(server), await signedIn(server)];
    const form = await browser.visit("/login"); // in a tab that stays open
    const cookies: string[] = [];
    for (const credential of [ADA, EVE, EVE]) {
      await browser.signIn(form, credential);
      cookies.push(browser.cookies.get(SESSION_COOKIE) ?? "");
    }
    const open = cookies.map((cookie) => server.domain.access.sessions.find(cookie) !== undefined);
    expect(open).toEqual([false, false, true]);
    expect((await elsewhere.visit("/account")).path).toBe("/account");
  });

  test("redirects a signed-in visitor immediately", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    expect((await browser.visit("/login?callbackURL=%2Fdevice&utm_source=mail")).heading).toBe(
      "Enter the code",
    );
    expect((await browser.visit("/login")).heading).toBe("Your account");
  });
});

describe("approving by the link", () => {
  test("gives the workstation its tokens once", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { path, userCode, redeem } = await begin(server);
    const page = await browser.visit(path);
    expect(page.html).toContain(userCode);
    expect(page.html).toContain(ADDRESS);
    expect(page.html).toContain("blue-cli");
    expect(page.html).toContain(ADA.email);
    expect(formTo(page, path).buttons.map(({ label, value }) => [label, value])).toEqual([
      ["Authorize", "approve"],
      ["Deny", "deny"],
    ]);
    const done = await decide(browser, page, "approve");
    expect([done.status, done.path, done.heading]).toEqual([200, "/device/approved", "CLI authorized"]);
    expect(await redeem()).toBe("governance:read");
    const again = await browser.visit(path);
    expect([again.status, again.heading]).toEqual([404, "This link is unavailable"]);
    const twice = await decide(browser, page, "approve");
    expect([twice.status, twice.heading]).toEqual([404, "This link is unavailable"]);
  });

  test("can be denied, and the workstation is notified", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { path, redeem } = await begin(server);
    const done = await decide(browser, await browser.visit(path), "deny");
    expect([done.status, done.path, done.heading]).toEqual([200, "/device/denied", "Request denied"]);
    expect(await redeem()).toBe("access_denied");
  });

  test("shows the same text for an expired, an unknown and a malformed link", async () => {
    await using server = await withAda();
    const { path } = await begin(server);
    server.world.clock.advance(600_000);
    const browser = await signedIn(server);
    const pages = [];
    for (const link of [path, `/device/${"A".repeat(43)}`, "/device/x", "/device/%2F%2Fevil"]) {
      const { status, html } = await browser.visit(link);
      pages.push({ status, html });
    }
    expect(new Set(pages.map((page) => JSON.stringify(page))).size).toBe(1);
    expect(pages[0]).toMatchObject({
      status: 404,
      html: expect.stringContaining("This link is unavailable"),
    });
  });

  test("is limited to the account that opened the link first; another one can sign out and return", async () => {
    await using server = await withAda();
    await addUser(server, EVE);
    const { path, redeem } = await begin(server);
    const ada = await signedIn(server);
    const page = await ada.visit(path);
    const eve = await signedIn(server, EVE);
    const refused = await eve.visit(path);
    expect([refused.status, refused.heading]).toEqual([409, "This request belongs to another account"]);
    expect(refused.html).not.toContain(ADA.email);
    const question = await eve.submit(formTo(refused, "/sign-out"), {});
    expect(question.heading).toBe("Sign in");
    expect((await eve.signIn(question, ADA)).path).toBe(path);
    await decide(ada, page, "approve");
    expect(await redeem()).toBe("governance:read");
  });

  test("asks for the password again when the session has ended, and decides nothing", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { path, redeem } = await begin(server);
    const page = await browser.visit(path);
    browser.cookies.delete(SESSION_COOKIE);
    const question = await decide(browser, page, "approve");
    expect(question.heading).toBe("Sign in");
    expect(await redeem()).toBe("authorization_pending");
    expect((await browser.signIn(question, ADA)).path).toBe(path);
  });

  test("refuses an unknown decision", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { path, redeem } = await begin(server);
    const page = await browser.visit(path);
    expect((await decide(browser, page, "perhaps")).status).toBe(400);
    expect((await browser.submit(formTo(page, path), {})).status).toBe(400);
    expect(await redeem()).toBe("authorization_pending");
  });
});

const sendCode = async (browser: FormBrowser, userCode: string): Promise<Page> =>
  browser.submit(formTo(await browser.visit("/device"), "/device"), { user_code: userCode });

describe("approving by the typed code", () => {
  test("does not start with a GET: a link with a code opens the entry page, counts as no guess and binds nothing", async () => {
    await using server = await createTestServer({ hasConsole: false, limits: { userCodeGuessesPerUser: 1 } });
    await addUser(server, ADA);
    const browser = await signedIn(server);
    const { userCode } = await begin(server);
    const budgetsBefore = server.world.db.read.select().from(budgets).all();
    for (const code of [userCode, "ABCDEFGH", "x", "%2Fevil"]) {
      const response = await browser.request(`/device/code/${code}`, {
        headers: { "sec-fetch-site": "cross-site" },
      });
      expect([response.status, response.headers.get("location")]).toEqual([303, "/device"]);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
    expect(server.world.db.read.select().from(budgets).all()).toEqual(budgetsBefore);
    expect(server.world.db.read.select().from(deviceLogins).all()).toMatchObject([{ userId: null }]);
    expect((await sendCode(browser, userCode)).heading).toBe("Allow workstation access?");
  });

  test("keeps the code in a cookie of this browser for the lifetime of the code", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { userCode } = await begin(server);
    const form = formTo(await browser.visit("/device"), "/device");
    const body = new URLSearchParams({ ...form.fields, user_code: userCode });
    const response = await browser.request("/device", { method: "POST", body });
    expect(response.headers.getSetCookie()).toEqual([
      `__Host-quartermaster_user_code=${userCode}; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax`,
    ]);
  });

  test("asks for a code if none was sent", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    expect((await browser.visit("/device/confirm")).path).toBe("/device");
    expect((await browse(server).visit("/device/confirm")).path).toBe("/login?callbackURL=%2Fdevice");
  });

  test("refuses a cookie or form with another code, and counts no guess for it", async () => {
    await using server = await createTestServer({ hasConsole: false, limits: { userCodeGuessesPerUser: 1 } });
    await addUser(server, ADA);
    const browser = await signedIn(server);
    const [own, other] = [await begin(server), await begin(server)];
    const page = await sendCode(browser, own.userCode);
    const form = formTo(page, "/device/confirm");
    for (const user_code of [other.userCode, "ABCDEFGH", ""]) {
      browser.cookies.set("__Host-quartermaster_user_code", user_code);
      expect((await browser.visit("/device/confirm")).html).not.toContain("Authorize");
      const refused = await browser.submit(form, { user_code, decision: "approve" });
      expect([refused.status, refused.heading]).toEqual([404, "This link is unavailable"]);
    }
    expect(await other.redeem()).toBe("authorization_pending");
    expect((await browser.submit(form, { decision: "approve" })).heading).toBe("CLI authorized");
  });

  test("WEB-3 accepts the code in any spelling, shows the requester, and gives the workstation its tokens", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { userCode, redeem } = await begin(server);
    const entry = await browser.visit("/device");
    const typed = ` ${userCode.slice(0, 4)}-${userCode.slice(4)} `.toLowerCase();
    const page = await browser.submit(formTo(entry, "/device"), { user_code: typed });
    expect([page.status, page.path, page.heading]).toEqual([
      200,
      "/device/confirm",
      "Allow workstation access?",
    ]);
    expect(page.html).toContain(`value="${userCode.slice(0, 4)}-${userCode.slice(4)}"`);
    expect((await decide(browser, page, "approve")).heading).toBe("CLI authorized");
    expect(await redeem()).toBe("governance:read");
  });

  test("can be denied", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { userCode, redeem } = await begin(server);
    const page = await sendCode(browser, userCode);
    expect((await decide(browser, page, "deny")).heading).toBe("Request denied");
    expect(await redeem()).toBe("access_denied");
  });

  test("shows a wrong code beside the field and slows guessing", async () => {
    await using server = await createTestServer({ hasConsole: false, limits: { userCodeGuessesPerUser: 1 } });
    await addUser(server, ADA);
    const browser = await signedIn(server);
    const entry = await browser.visit("/device");
    const guess = () => browser.submit(formTo(entry, "/device"), { user_code: "ABCD EFGH" });
    const wrong = await guess();
    expect([wrong.status, wrong.heading]).toEqual([404, "Enter the code"]);
    expect(formTo(wrong, "/device").fields.user_code).toBe("ABCD EFGH");
    expect(wrong.html).toContain("There is a problem");
    const slowed = await guess();
    expect([slowed.status, slowed.heading]).toEqual([429, "Enter the code"]);
    expect(Number(slowed.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("asks signed-out visitors to sign in first and returns them to the page", async () => {
    await using server = await withAda();
    const browser = browse(server);
    const question = await browser.visit("/device");
    expect(question.path).toBe("/login?callbackURL=%2Fdevice");
    expect((await browser.signIn(question, ADA)).heading).toBe("Enter the code");
  });

  test("carries a code that was typed after the session ended through the sign-in, without a guess and without a URL", async () => {
    await using server = await createTestServer({ hasConsole: false, limits: { userCodeGuessesPerUser: 1 } });
    await addUser(server, ADA);
    const browser = await signedIn(server);
    const { userCode } = await begin(server);
    const entry = await browser.visit("/device");
    browser.cookies.delete(SESSION_COOKIE);
    const question = await browser.submit(formTo(entry, "/device"), {
      user_code: ` ${userCode.toLowerCase()}`,
    });
    expect(question.path).toBe("/login?callbackURL=%2Fdevice");
    expect(server.world.db.read.select().from(budgets).all()).not.toContainEqual(
      expect.objectContaining({ name: "user_code.user" }),
    );
    const back = await browser.signIn(question, ADA);
    expect([back.path, formTo(back, "/device").fields.user_code]).toEqual(["/device", userCode]);
    expect((await browser.submit(formTo(back, "/device"), {})).heading).toBe("Allow workstation access?");
    expect(formTo(await browser.visit("/device"), "/device").fields.user_code).toBe("");
  });

  test("lets no other site choose the code that a person finds after a sign-in", async () => {
    await using server = await withAda();
    const { userCode } = await begin(server);
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, {}]) {
      const browser = browse(server);
      const body = new URLSearchParams({ user_code: userCode });
      const response = await browser.request("/device", { method: "POST", headers, body });
      expect([response.status, response.headers.getSetCookie()]).toEqual([303, []]);
    }
    const browser = browse(server);
    browser.cookies.set("__Host-quartermaster_waiting_code", "not a code");
    const page = await browser.signIn(await browser.visit("/login?callbackURL=%2Fdevice"), ADA);
    expect(formTo(page, "/device").fields.user_code).toBe("");
  });
});

describe("the account", () => {
  test("greets a signed-in visitor and sends a signed-out one to the password", async () => {
    await using server = await withAda();
    const browser = browse(server);
    const question = await browser.visit("/");
    expect([question.path, question.heading]).toEqual(["/login", "Sign in"]);
    const account = await browser.signIn(question, ADA);
    expect([account.path, account.heading]).toEqual(["/", "Your account"]);
    expect(account.html).toContain("Member");
  });

  test("signing out ends the session and clears its cookie", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const cookie = `${SESSION_COOKIE}=${browser.cookies.get(SESSION_COOKIE)}`;
    const left = await browser.submit(formTo(await browser.visit("/"), "/sign-out"), {});
    expect([left.path, left.heading]).toEqual(["/sign-out", "You are signed out"]);
    expect([...browser.cookies.keys()]).toEqual([FORM_COOKIE, DEVICE_COOKIE]);
    expect((await server.request("GET", "/auth/me", { cookie })).status).toBe(401);
  });

  test("does not describe a signed-in visitor as signed out", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    expect((await browser.visit("/sign-out")).heading).toBe("Your account");
  });

  test("is closed immediately when the user is suspended", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { domain, world } = server;
    const user = domain.identity.findUserByEmail(world.db.read, world.organizationId, ADA.email);
    await domain.identity.users.update(world.system, user?.id ?? "", { status: "suspended" });
    expect((await browser.visit("/")).heading).toBe("Sign in");
  });
});

describe("an invitation", () => {
  async function invite(server: TestServer, email = "new@example.com") {
    const { domain, world } = server;
    const { invitation, token } = await domain.identity.invitations.create(world.system, {
      email,
      role: "member",
    });
    return { id: invitation.id, path: `/accept-invitation?token=${token.reveal()}` };
  }

  test("creates an account with the chosen password once", async () => {
    const server = await sameServer();
    const browser = browse(server);
    const { path } = await invite(server);
    const page = await browser.visit(`${path}&utm_source=mail`);
    expect(page.html).toContain("new@example.com");
    const done = await browser.submit(formTo(page, "/accept-invitation"), { password: PASSWORD });
    expect([done.path, done.heading]).toEqual(["/accept-invitation/done", "Your account is ready"]);
    const credential = { email: "new@example.com", password: PASSWORD };
    expect((await browser.signIn(await browser.visit("/login"), credential)).heading).toBe("Your account");
    expect((await browser.visit(path)).status).toBe(404);
    expect((await browser.submit(formTo(page, "/accept-invitation"), { password: PASSWORD })).status).toBe(
      404,
    );
  });

  test("asks again for a password that is too short", async () => {
    const server = await sameServer();
    const browser = browse(server);
    const { path } = await invite(server);
    const page = await browser.visit(path);
    const again = await browser.submit(formTo(page, "/accept-invitation"), { password: "short" });
    expect(again.status).toBe(400);
    expect(again.html).toContain("12 to 256 characters");
    const done = await browser.submit(formTo(again, "/accept-invitation"), { password: PASSWORD });
    expect(done.heading).toBe("Your account is ready");
  });

  test("shows the same text when it is canceled, expired, unknown or missing", async () => {
    const server = await sameServer();
    const { domain, world } = server;
    const canceled = await invite(server);
    await domain.identity.invitations.cancel(world.system, canceled.id);
    const expired = await invite(server, "late@example.com");
    world.clock.advance(24 * 3_600_000);
    const browser = browse(server);
    const pages = [];
    for (const path of [canceled.path, expired.path, "/accept-invitation?token=x", "/accept-invitation"]) {
      const { status, html } = await browser.visit(path);
      pages.push({ status, html });
    }
    expect(new Set(pages.map((page) => JSON.stringify(page))).size).toBe(1);
    expect(pages[0]).toMatchObject({
      status: 404,
      html: expect.stringContaining("This invitation is unavailable"),
    });
  });
});

describe("a form", () => {
  /** All forms, in a browser that may send them. */
  async function everyForm(server: TestServer) {
    const ada = await signedIn(server);
    const stranger = browse(server);
    const { domain, world } = server;
    const { token } = await domain.identity.invitations.create(world.system, {
      email: EVE.email,
      role: "member",
    });
    const link = await begin(server);
    const code = await begin(server);
    const invitation = await stranger.visit(`/accept-invitation?token=${token.reveal()}`);
    const { user } = await server.signedIn("member");
    const { token: secret } = await domain.identity.passwordLinks.create(world.system, user.id);
    const setting = await stranger.visit(`/set-password?token=${secret.reveal()}`);
    return [
      { browser: stranger, form: formTo(await stranger.visit("/login"), "/login"), fields: ADA },
      { browser: stranger, form: formTo(invitation, "/accept-invitation"), fields: { password: PASSWORD } },
      { browser: stranger, form: formTo(setting, "/set-password"), fields: { password: PASSWORD } },
      {
        browser: ada,
        form: formTo(await ada.visit("/device"), "/device"),
        fields: { user_code: code.userCode },
      },
      { browser: ada, form: formTo(await ada.visit(link.path), link.path), fields: { decision: "approve" } },
      {
        browser: ada,
        form: formTo(await sendCode(ada, code.userCode), "/device/confirm"),
        fields: { decision: "approve" },
      },
      { browser: ada, form: formTo(await ada.visit("/"), "/sign-out"), fields: {} },
    ];
  }

  test("refuses a form without a token of this browser or from a foreign site on every page", async () => {
    await using server = await withAda();
    const other = await signedIn(server);
    const others = formTo(await other.visit("/"), "/sign-out").fields.csrf ?? "";
    for (const { browser, form, fields } of await everyForm(server)) {
      for (const csrf of ["", "wrong", others]) {
        const refused = await browser.submit(form, { ...fields, csrf });
        expect([form.action, refused.status, refused.heading]).toEqual([form.action, 403, "Not allowed"]);
      }
      for (const headers of FOREIGN) {
        const refused = await browser.submit(form, fields, headers);
        expect([form.action, headers, refused.status]).toEqual([form.action, headers, 403]);
      }
      expect((await browser.submit(form, fields)).status).toBe(200);
    }
  });

  test("accepts our form with our own, an opaque or no origin", async () => {
    for (const headers of [{ origin: BASE_URL }, { origin: "null" }, {}]) {
      await using server = await withAda();
      const browser = browse(server);
      const page = await browser.visit("/login");
      const body = new URLSearchParams({ ...formTo(page, "/login").fields, ...ADA });
      const response = await browser.request("/login", { method: "POST", body, headers: { ...headers } });
      expect(response.status).toBe(303);
    }
  });

  test("refuses a form from a visitor without cookies", async () => {
    await using server = await withAda();
    const browser = browse(server);
    const page = await browser.visit("/login");
    browser.cookies.clear();
    const refused = await browser.signIn(page, ADA);
    expect(refused.status).toBe(403);
    expect(refused.html).toContain("the browser must accept cookies");
  });
});

describe("every page", () => {
  test("WEB-5 forbids scripts, frames, caches and referrers", async () => {
    await using server = await withAda();
    const browser = await signedIn(server);
    const { path } = await begin(server);
    const paths = [
      "/",
      "/device",
      path,
      "/device/x",
      "/device/approved",
      "/device/denied",
      "/accept-invitation",
      "/set-password",
    ];
    const pages = [await browse(server).visit("/login"), await browse(server).visit("/sign-out")];
    for (const one of paths) pages.push(await browser.visit(one));
    for (const { headers } of pages) {
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("content-security-policy")).toBe(contentSecurityPolicy);
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test("shows the organization's name and logo", async () => {
    const server = await sameServer();
    const { domain, world } = server;
    await domain.branding.update(world.system, { logoUrl: "https://example.com/logo.svg" });
    const { html } = await browse(server).visit("/login");
    expect(html).toContain("Test");
    expect(html).toContain("https://example.com/logo.svg");
  });

  test.each([
    ["POST", "/login", { body: "{}", headers: { "content-type": "application/json" } }, 415],
    [
      "POST",
      "/login",
      { body: "a=1&a=2", headers: { "content-type": "application/x-www-form-urlencoded" } },
      400,
    ],
    ["DELETE", "/", {}, 405],
    ["PUT", "/device/x", {}, 405],
    ["GET", "/device/x/y/z", {}, 404],
    ["GET", "/accept-invitation/x", {}, 404],
  ])("answers %s %s as a page with its status and the request id", async (method, path, sent, status) => {
    const server = await sameServer();
    const response = await server.request(method, path, sent);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await response.text()).toContain(response.headers.get("x-request-id") ?? "no id");
  });

  test("answers an internal error with only the request id", async () => {
    await using server = await createTestServer({ hasConsole: false });
    await server.world.db.close();
    const response = await server.request("GET", "/login");
    expect(response.status).toBe(500);
    const html = await response.text();
    expect(html).toContain(response.headers.get("x-request-id") ?? "no id");
    expect(html).not.toMatch(/sqlite|database|closed/i);
  });

  const LOST = ["/nothing", "/api/nothing", "/loginx", "/logout"];

  test.each(LOST)("answers a browser at the unknown address %s with a page and a link", async (path) => {
    const server = await sameServer();
    const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const response = await server.request("GET", path, { headers: { accept } });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    const html = await response.text();
    expect(html).toContain("<h1>Page not found</h1>");
    expect(html).toContain('href="/"');
    expect(html).toContain("– Test</title>");
  });

  test.each(["", "*/*", "application/json", "application/problem+json, text/html;q=0.5"])(
    "is replaced by JSON for a program that accepts '%s' at an unknown address",
    async (accept) => {
      const server = await sameServer();
      for (const path of LOST) {
        const response = await server.request("GET", path, { headers: { accept } });
        expect([response.status, response.headers.get("content-type")]).toEqual([
          404,
          "application/problem+json",
        ]);
      }
    },
  );

  test.each(["/governance-config", "/api/auth/oauth2/token", "/scim/v2/Users"])(
    "is distinct from an API refusal, which is JSON at %s for any Accept header",
    async (path) => {
      const server = await sameServer();
      const response = await server.request("GET", path, { headers: { accept: "text/html" } });
      expect(response.headers.get("content-type")).toMatch(/json/);
    },
  );

  test("shows the organization's icon, or else the product's", async () => {
    await using server = await createTestServer({ hasConsole: false });
    const { html } = await browse(server).visit("/login");
    const own = /<link rel="icon" href="([^"]+)"/.exec(html)?.[1] ?? "";
    const response = await server.request("GET", own);
    expect(response.headers.get("content-type")).toBe("image/svg+xml");
    expect(await response.text()).toStartWith("<svg ");
    const { domain, world } = server;
    await domain.branding.update(world.system, { faviconUrl: "https://example.com/icon.png" });
    expect((await browse(server).visit("/login")).html).toContain('href="https://example.com/icon.png"');
  });

  test("links its style sheet, which may be cached forever", async () => {
    const server = await sameServer();
    const response = await server.request("GET", styleSheetPath);
    expect(response.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(await response.text()).toBe(styleSheetBody);
    expect((await browse(server).visit("/login")).html).toContain(styleSheetPath);
  });
});
