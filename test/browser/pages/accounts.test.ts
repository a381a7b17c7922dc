// Sign-in and sign-out with a browser, without scripts: sign-in and its failures, where it redirects, sign-out, invitation,
// password link.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  ADMIN,
  changePassword,
  heading,
  openSite,
  PASSWORD,
  press,
  type Site,
  signIn,
} from "../../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite({ hasConsole: false });
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

describe("sign-in", () => {
  test("leads a signed-out visitor of the home page to the account", async () => {
    await using visitor = await site.visitor();
    const { page } = visitor;
    await page.goto("/");
    expect(await heading(page)).toBe("Sign in");
    await signIn(page, ADMIN);
    expect(await heading(page)).toBe("Your account");
    expect(await page.locator("main").textContent()).toContain("Your role is Administrator.");
    expect(await page.locator("main").textContent()).toContain(ADMIN);
  });

  test("fails with the same text for a wrong password and an unknown account, and keeps only the email", async () => {
    await using visitor = await site.visitor();
    const { page } = visitor;
    await page.goto("/login");
    await signIn(page, ADMIN, "not the password");
    const text = await page.getByRole("alert").textContent();
    expect(await page.locator(":focus").getAttribute("role")).toBe("alert");
    expect(await page.getByLabel("Email").inputValue()).toBe(ADMIN);
    expect(await page.getByLabel("Password").inputValue()).toBe("");
    await signIn(page, "nobody@example.com", "not the password");
    expect(await page.getByRole("alert").textContent()).toBe(text);
    await signIn(page, ADMIN);
    expect(await heading(page)).toBe("Your account");
  });

  test("does not redirect to another site in any spelling", async () => {
    await using stranger = await site.visitor();
    await using visitor = await site.visitor({ as: site.admin });
    for (const address of [
      "https://elsewhere.example/",
      "//elsewhere.example/",
      "/\\elsewhere.example/",
      "/\t/elsewhere.example/",
      "/.//elsewhere.example/",
      "javascript:alert(1)",
    ]) {
      const path = `/login?callbackURL=${encodeURIComponent(address)}`;
      await stranger.page.goto(path);
      expect(await stranger.page.locator("[name=next]").count()).toBe(0);
      await visitor.page.goto(path);
      expect(visitor.page.url()).toBe(`${site.baseUrl}/`);
    }
  });

  test("does not redirect to another site that was injected into the form", async () => {
    await using visitor = await site.visitor({ javaScriptEnabled: true });
    const { page } = visitor;
    await page.goto("/login?callbackURL=%2Fdevice");
    await page
      .locator("[name=next]")
      .evaluate((field) => field.setAttribute("value", "//elsewhere.example/"));
    await signIn(page, ADMIN);
    expect(page.url()).toBe(`${site.baseUrl}/`);
  });

  test("refuses a sign-in if cookies are off, with a page that explains what to do", async () => {
    await using visitor = await site.visitor();
    const { page, context } = visitor;
    await page.goto("/login");
    await context.clearCookies();
    await signIn(page, ADMIN);
    expect(await page.locator("main").textContent()).toContain("the browser must accept cookies");
  });
});

describe("sign-out", () => {
  test("ends the session in every tab, and restored cookies do not sign in again", async () => {
    await using visitor = await site.visitor();
    const { page, context } = visitor;
    await page.goto("/login");
    await signIn(page, ADMIN);
    const secondTab = await context.newPage();
    await secondTab.goto("/device");
    const cookies = await context.cookies();
    await press(page, "Sign out");
    expect(await heading(page)).toBe("You are signed out");
    await secondTab.reload();
    expect(await heading(secondTab)).toBe("Sign in");
    await context.addCookies(cookies);
    await page.goto("/");
    expect(await heading(page)).toBe("Sign in");
  });
});

describe("the account settings", () => {
  const NEXT = "an entirely new password";

  test("change the password: this browser stays signed in, and another one signs in with the new password", async () => {
    const { email } = await site.member("changes@example.com");
    await using visitor = await site.visitor();
    await using other = await site.visitor();
    for (const { page } of [visitor, other]) {
      await page.goto("/login?callbackURL=%2Faccount");
      await signIn(page, email);
    }
    const { page } = visitor;
    await changePassword(page, "not the password", NEXT);
    expect(await page.locator(":focus").getAttribute("role")).toBe("alert");
    expect(await page.locator("#current_password-error").isVisible()).toBe(true);
    await changePassword(page, PASSWORD, NEXT);
    expect(await page.getByRole("status").textContent()).toContain("Your password was changed");
    await page.reload();
    expect(await heading(page)).toBe("Account settings");
    await other.page.reload();
    expect(await heading(other.page)).toBe("Sign in");
    await signIn(other.page, email);
    expect(await other.page.getByRole("alert").isVisible()).toBe(true);
    await signIn(other.page, email, NEXT);
    expect(other.page.url()).toBe(`${site.baseUrl}/account`);
  });

  test("sign out one workstation, then every login, with buttons that have unique names", async () => {
    const account = await site.member("leaves@example.com");
    await using visitor = await site.visitor({ as: account });
    const { page } = visitor;
    const workstation = await site.workstation();
    await page.goto(workstation.link);
    await press(page, "Authorize");
    const { body } = await workstation.poll();
    const identity = async () => {
      const headers = { authorization: `Bearer ${body.access_token}` };
      return (await fetch(`${site.baseUrl}/auth/me`, { headers })).status;
    };
    expect(await identity()).toBe(200);
    await page.goto("/");
    await page.getByRole("link", { name: "Account settings" }).click();
    const names = await page.getByRole("button", { name: /^Sign out/ }).allTextContents();
    expect(new Set(names).size).toBe(names.length);
    await page.getByRole("button", { name: /^Sign out Workstation/ }).click();
    expect(await page.getByRole("status").textContent()).toBe("The login has ended.");
    expect(await identity()).toBe(401);
    await page.getByRole("link", { name: "Sign out everywhere" }).click();
    expect(await page.locator("main").textContent()).toContain("This signs out this browser.");
    await press(page, "Sign out everywhere");
    expect(await heading(page)).toBe("You are signed out everywhere");
    await page.goto("/account");
    expect(await heading(page)).toBe("Sign in");
  });
});

describe("an invitation", () => {
  test("creates an account after a sufficiently long password, and then its link is used up", async () => {
    const link = await site.invite("invited@example.com");
    await using visitor = await site.visitor({ javaScriptEnabled: true });
    const { page } = visitor;
    await page.goto(link);
    expect(await page.locator("main").textContent()).toContain("You are invited as Member.");
    expect(await page.getByLabel("Email").inputValue()).toBe("invited@example.com");

    // The browser itself refuses to send a short password; another one would send it.
    await page.locator("form").evaluate((form) => form.setAttribute("novalidate", ""));
    await page.getByLabel("Password").fill("too short");
    await press(page, "Create account");
    expect(await page.getByRole("alert").textContent()).toContain("12");
    expect(await page.locator("#password-error").isVisible()).toBe(true);
    expect(await page.getByLabel("Password").inputValue()).toBe("");

    await page.getByLabel("Password").fill(PASSWORD);
    await press(page, "Create account");
    expect(await heading(page)).toBe("Your account is ready");
    await page.getByRole("link", { name: "Sign in" }).click();
    await signIn(page, "invited@example.com");
    expect(await page.locator("main").textContent()).toContain("Your role is Member.");

    await page.goto(link);
    expect(await heading(page)).toBe("This invitation is unavailable");
  });
});

describe("a password link", () => {
  test("replaces a forgotten password, signs other browsers out, and is then used up", async () => {
    const email = "forgetful@example.com";
    const account = await site.member(email);
    await using other = await site.visitor({ as: account });
    const link = await site.passwordLink(email);
    await using visitor = await site.visitor();
    const { page } = visitor;
    await page.goto(link);
    expect(await heading(page)).toBe("Set a password");
    expect(await page.getByLabel("Email").inputValue()).toBe(email);
    await page.getByLabel("New password").fill("a password from the link");
    await press(page, "Set password");
    expect(await heading(page)).toBe("Your password is set");
    await page.getByRole("link", { name: "Sign in" }).click();
    await signIn(page, email, "a password from the link");
    expect(await heading(page)).toBe("Your account");

    await other.page.goto("/account");
    expect(await heading(other.page)).toBe("Sign in");
    await page.goto(link);
    expect(await heading(page)).toBe("This link is unavailable");
  });
});
