// The approval without a pointing device and without scripts: tab order, a visible focus at each stop, keys.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { ADMIN, heading, openSite, PASSWORD, type Site } from "../../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

interface Stop {
  /** id or text of what has the focus */
  name: string;
  outlineWidthPixels: number;
}

async function tab(page: Page): Promise<Stop> {
  await page.keyboard.press("Tab");
  return await page.locator(":focus").evaluate((element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const outlineWidthPixels = outlineStyle === "solid" ? Number.parseFloat(outlineWidth) : 0;
    return { name: element.id || (element.textContent ?? ""), outlineWidthPixels };
  });
}

/** @returns the names of the next stops; each must show that it has the focus */
async function tabThrough(page: Page, stops: number): Promise<string[]> {
  const names: string[] = [];
  for (let stop = 0; stop < stops; stop += 1) {
    const { name, outlineWidthPixels } = await tab(page);
    expect(outlineWidthPixels).toBeGreaterThanOrEqual(2);
    names.push(name);
  }
  return names;
}

const pressEnter = (page: Page) => Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);

test("signs in, reads the code and approves with the keyboard alone", async () => {
  const workstation = await site.workstation();
  await using visitor = await site.visitor();
  const { page } = visitor;
  await page.goto(workstation.link);
  expect(await tabThrough(page, 1)).toEqual(["email"]);
  await page.keyboard.type(ADMIN);
  expect(await tabThrough(page, 1)).toEqual(["password"]);
  await page.keyboard.type(PASSWORD);
  await pressEnter(page);

  expect(await heading(page)).toBe("Allow workstation access?");
  const stops = ["confirmation-code", "Authorize", "Deny", "admin@example.com", "Sign out"];
  expect(await tabThrough(page, 5)).toEqual(stops);
  for (let back = 0; back < 3; back += 1) await page.keyboard.press("Shift+Tab");
  await pressEnter(page);
  expect(await heading(page)).toBe("CLI authorized");
  expect((await workstation.poll()).status).toBe(200);
});

test("Enter in the displayed code decides nothing", async () => {
  const workstation = await site.workstation();
  await using visitor = await site.visitor({ as: site.admin });
  const { page } = visitor;
  await page.goto(workstation.link);
  expect(await tabThrough(page, 1)).toEqual(["confirmation-code"]);
  await page.keyboard.press("Enter");
  await page.goto("/");
  expect((await workstation.poll()).body.error).toBe("authorization_pending");
});

test("the first tab stop after a wrong code is the link to the field", async () => {
  await using visitor = await site.visitor({ as: site.admin });
  const { page } = visitor;
  await page.goto("/device");
  expect(await tabThrough(page, 1)).toEqual(["user_code"]);
  await page.keyboard.type("wrong");
  await pressEnter(page);
  await page.locator("[role=alert]:focus").waitFor();
  await tabThrough(page, 1);
  await page.keyboard.press("Enter");
  expect(await page.locator(":focus").getAttribute("id")).toBe("user_code");
});

test("shows the focus in forced colors too", async () => {
  await using visitor = await site.visitor({ forcedColors: "active" });
  await visitor.page.goto("/login");
  expect(await tabThrough(visitor.page, 3)).toEqual(["email", "password", "Sign in"]);
});
