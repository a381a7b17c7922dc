// The accessible appearance of every page: WCAG 2.2 AA as axe-core measures it, in both color schemes, on a narrow screen,
// enlarged, and with the colors of the system. The pages have no scripts; only the measuring has.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectAccessible } from "../../support/browser/accessible.ts";
import {
  type Account,
  changePassword,
  heading,
  openSite,
  press,
  type Site,
  signIn,
} from "../../support/browser/browser.ts";

let site: Site;
let member: Account;
beforeAll(async () => {
  site = await openSite({ hasConsole: false });
  member = await site.member("member@example.com");
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

interface Scene {
  title: string;
  /** distinguishes it from another page with the same title */
  after: string;
  as?: () => Account;
  /** opens the page */
  open(page: Page): Promise<unknown>;
}

const scenes: Scene[] = [
  { title: "Sign in", after: "", open: (page) => page.goto("/login") },
  {
    title: "Sign in",
    after: " after a mistake",
    open: async (page) => {
      await page.goto("/login");
      await signIn(page, "nobody@example.com");
    },
  },
  { title: "Handbook", after: "", open: (page) => page.goto("/help") },
  { title: "Backup and restore", after: "", open: (page) => page.goto("/help/backups") },
  { title: "You are signed out", after: "", open: (page) => page.goto("/sign-out") },
  { title: "Your account", after: "", as: () => site.admin, open: (page) => page.goto("/") },
  { title: "Account settings", after: "", as: () => site.admin, open: (page) => page.goto("/account") },
  {
    title: "Account settings",
    after: " after a mistake",
    as: () => member,
    open: async (page) => {
      await page.goto("/account");
      await changePassword(page, "not the password", "an entirely new password");
    },
  },
  {
    title: "Account settings",
    after: " after a change, with a workstation",
    as: () => site.admin,
    open: async (page) => {
      await page.goto((await site.workstation()).link);
      await press(page, "Authorize");
      await page.goto("/account?done=login");
    },
  },
  {
    title: "Sign out everywhere?",
    after: "",
    as: () => site.admin,
    open: (page) => page.goto("/account/sign-out-everywhere"),
  },
  {
    title: "You are signed out everywhere",
    after: "",
    open: async (page) => {
      const email = `${crypto.randomUUID()}@example.com`;
      await site.member(email);
      await page.goto("/login?callbackURL=%2Faccount%2Fsign-out-everywhere");
      await signIn(page, email);
      await press(page, "Sign out everywhere");
    },
  },
  {
    title: "Revoke your gateway key?",
    after: "",
    as: () => site.admin,
    open: (page) => page.goto("/account/gateway-key/revoke"),
  },
  { title: "Enter the code", after: "", as: () => site.admin, open: (page) => page.goto("/device") },
  {
    title: "Enter the code",
    after: " after a mistake",
    as: () => member,
    open: async (page) => {
      await page.goto("/device");
      await page.getByRole("textbox").fill("wrong");
      await press(page, "Continue");
    },
  },
  {
    title: "Allow workstation access?",
    after: "",
    as: () => site.admin,
    open: async (page) => page.goto((await site.workstation()).link),
  },
  { title: "CLI authorized", after: "", open: (page) => page.goto("/device/approved") },
  { title: "Request denied", after: "", open: (page) => page.goto("/device/denied") },
  {
    title: "This link is unavailable",
    after: "",
    as: () => site.admin,
    open: (page) => page.goto(`/device/${"A".repeat(43)}`),
  },
  {
    title: "This request belongs to another account",
    after: "",
    as: () => site.admin,
    open: async (page) => {
      const workstation = await site.workstation();
      await using other = await site.visitor({ as: member });
      await other.page.goto(workstation.link);
      await page.goto(workstation.link);
    },
  },
  {
    title: "Join Test",
    after: "",
    open: async (page) => page.goto(await site.invite("a@example.com")),
  },
  {
    title: "Join Test",
    after: " after a mistake",
    open: async (page) => {
      await page.goto(await site.invite("b@example.com"));
      await page.locator("form").evaluate((form) => form.setAttribute("novalidate", ""));
      await press(page, "Create account");
    },
  },
  {
    title: "This invitation is unavailable",
    after: "",
    open: (page) => page.goto("/accept-invitation?token=none"),
  },
  {
    title: "Set a password",
    after: "",
    open: async (page) => page.goto(await site.passwordLink(site.admin.email)),
  },
  { title: "Your account is ready", after: "", open: (page) => page.goto("/accept-invitation/done") },
  { title: "Page not found", after: "", open: (page) => page.goto("/device/a/b/c") },
];

describe.each(scenes)("the page '$title'$after", ({ title, as, open }) => {
  test("WEB-4 meets WCAG 2.2 AA in both schemes, at 320 pixels, with text at 200 % and in forced colors", async () => {
    // Without animation, because colors would otherwise be measured during a transition between schemes.
    const measured = { javaScriptEnabled: true, reducedMotion: "reduce" } as const;
    await using visitor = await site.visitor({ ...measured, ...(as && { as: as() }) });
    const { page } = visitor;
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    await open(page);
    expect(await heading(page)).toBe(title);
    await expectAccessible(page);
  });
});
