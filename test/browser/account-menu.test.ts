// The menu of the account in the header of the console: on every screen, all of it can be reached, because it holds the only way to
// sign out.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Account, openSite, type Site } from "../support/browser/browser.ts";

/** Addresses with which the header breaks into lines in different ways. */
const ADDRESSES = [
  "a@b.example",
  "maximilian.brandenburger@engineering.example.com",
  `${"x".repeat(64)}@example.com`,
];
const WIDTHS = [320, 360, 375, 390, 414, 600, 768, 1280];

let site: Site;
let accounts: readonly (readonly [role: string, account: Account])[];
beforeAll(async () => {
  site = await openSite();
  const created: [string, Account][] = [];
  for (const address of ADDRESSES) {
    created.push(["member", await site.member(address)]);
    created.push(["administrator", await site.administrator(address.replace(/^./, "z"))]);
  }
  accounts = created;
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** @returns the links and buttons of the open menu that are not wholly between the two sides of the screen */
const beyond = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".menu, .menu a, .menu button")].flatMap((part) => {
      const { left, right, width } = part.getBoundingClientRect();
      const isInside = width > 0 && left >= 0 && right <= document.documentElement.clientWidth;
      return isInside ? [] : [`${part.textContent.slice(0, 20)}: ${left} to ${right}`];
    }),
  );

describe.each([true, false])("the menu with scripts: %p", (javaScriptEnabled) => {
  test("CON-110 is on the screen for every width, address and direction", async () => {
    const found: string[] = [];
    for (const [role, account] of accounts) {
      await using visitor = await site.visitor({ as: account, javaScriptEnabled });
      const { page } = visitor;
      await page.goto("/console/me");
      await page.locator(".account-menu summary").click();
      for (const direction of ["ltr", "rtl"]) {
        await page.evaluate((dir) => document.documentElement.setAttribute("dir", dir), direction);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 720 });
          const where = `${role} ${account.email.slice(0, 12)} ${direction} ${width}`;
          found.push(...(await beyond(page)).map((part) => `${where}: ${part}`));
        }
      }
    }
    expect(found).toEqual([]);
  });
});

test("CON-110 an administrator signs out on a phone", async () => {
  await using visitor = await site.visitor({ as: await site.administrator("phone@b.example") });
  const { page } = visitor;
  await page.setViewportSize({ width: 375, height: 720 });
  await page.goto("/console/me");
  await page.locator(".account-menu summary").click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
});
