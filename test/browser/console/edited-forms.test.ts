// CON-120: the browser's question before it leaves a form with unsaved values.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { heading, openSite, press, type Site } from "../../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** Each test has its own tab: a tab with an open question would keep the next test from opening a page. */
async function openTab(): Promise<AsyncDisposable & { page: Page }> {
  const visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  return { ...visitor, page: await visitor.context.newPage() };
}

/** Leaves the page, and stays if the browser asks. @returns whether it asked */
async function asksAt(page: Page, leave: () => Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  page.once("dialog", async (dialog) => {
    await dialog.dismiss();
    resolve(dialog.type() === "beforeunload");
  });
  page.once("domcontentloaded", () => resolve(false));
  await leave();
  return await promise;
}

const openAudit = (page: Page) =>
  page.getByRole("link", { name: "Audit log", exact: true }).first().click({ noWaitAfter: true });

async function openInvitations(page: Page): Promise<void> {
  await page.goto("/console/invitations");
  await page.getByText("Invite people").click();
}

test("CON-120 leaving asks only while a value differs from the stored one", async () => {
  await using visitor = await openTab();
  const { page } = visitor;
  await openInvitations(page);
  const field = page.getByLabel("Addresses");
  await field.fill("somebody@example.com");
  expect(await asksAt(page, () => openAudit(page))).toBe(true);
  expect(await field.inputValue()).toBe("somebody@example.com");
  await field.fill("");
  expect(await asksAt(page, () => openAudit(page))).toBe(false);
});

test("CON-120 a choice among options counts as a value", async () => {
  await using visitor = await openTab();
  const { page } = visitor;
  await openInvitations(page);
  await page.locator("#role").selectOption("admin");
  expect(await asksAt(page, () => openAudit(page))).toBe(true);
});

test("CON-120 another form of the page asks too, and works again for readers who stay", async () => {
  await using visitor = await openTab();
  const { page } = visitor;
  await openInvitations(page);
  await page.getByLabel("Addresses").fill("somebody@example.com");
  await page.locator(".account-menu summary").click();
  const dark = page.getByRole("button", { name: "Dark", exact: true });
  for (const _ of [1, 2]) expect(await asksAt(page, () => dark.click({ noWaitAfter: true }))).toBe(true);
});

test("CON-120 the form itself is sent without a question, and leaving refused values asks", async () => {
  await using visitor = await openTab();
  const { page } = visitor;
  await openInvitations(page);
  await page
    .getByLabel("Addresses")
    .fill(Array.from({ length: 101 }, (_, n) => `p${n}@example.com`).join("\n"));
  await press(page, "Invite");
  expect(await heading(page)).toBe("Invitations");
  await page.getByLabel("Addresses").focus();
  await page.keyboard.press("End");
  expect(await asksAt(page, () => openAudit(page))).toBe(true);
});
