// CON-76: how often the page about gateway mode asks the proxy for its health.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { openSite, type Site } from "../../support/browser/browser.ts";

const GATEWAY = "/console/gateway";
const MINUTE_MS = 60_000;

let site: Site;
beforeAll(async () => {
  site = await openSite({ hasGateway: true });
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** @returns a function that tells how many forms the page has sent */
function countForms(page: Page): () => number {
  let sent = 0;
  page.on("request", (request) => {
    if (request.method() === "POST") sent += 1;
  });
  return () => sent;
}

const checked = (page: Page) => page.waitForResponse((answer) => answer.request().method() === "POST");

const setVisibility = (page: Page, state: "visible" | "hidden") =>
  page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
  }, state);

test("CON-76 the script asks at once, then every minute while the page is visible, and never twice for one view", async () => {
  await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  const page = await visitor.context.newPage();
  const sent = countForms(page);
  await page.clock.install();
  await Promise.all([checked(page), page.goto(GATEWAY)]);
  await page.getByText("Checked").waitFor();
  await page.clock.runFor(MINUTE_MS - 2_000);
  expect(sent()).toBe(1);
  await Promise.all([checked(page), page.clock.runFor(3_000)]);
  expect(sent()).toBe(2);
  await setVisibility(page, "hidden");
  await page.clock.runFor(3 * MINUTE_MS);
  expect(sent()).toBe(2);
  await setVisibility(page, "visible");
  await Promise.all([checked(page), page.clock.runFor(MINUTE_MS)]);
  expect(sent()).toBe(3);
  expect(page.url()).toEndWith(GATEWAY);
});

test("CON-76 without the script, the page asks when the button is pressed, and not when it is opened again", async () => {
  await using visitor = await site.visitor({ as: site.admin });
  const { page } = visitor;
  const sent = countForms(page);
  await page.goto(GATEWAY);
  expect(await page.getByText("Not checked yet").count()).toBe(1);
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Check now" }).click()]);
  expect(await page.getByText("Not checked yet").count()).toBe(0);
  await page.goto(page.url());
  expect([await page.getByText("Not checked yet").count(), sent()]).toEqual([1, 1]);
});

test("CON-115 a check that finds no session says that the page is old", async () => {
  await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  const page = await visitor.context.newPage();
  await page.clock.install();
  await Promise.all([checked(page), page.goto(GATEWAY)]);
  await visitor.context.clearCookies();
  await Promise.all([checked(page), page.clock.runFor(MINUTE_MS)]);
  await page.getByText("live updates stopped").waitFor();
});
