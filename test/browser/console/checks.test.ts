// Updates of open pages: CON-115, and CON-76, the interval at which the page about gateway mode asks the proxy for its
// health.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { openSite, type Site } from "../../support/browser/browser.ts";
import { publishFirst } from "../../support/content/policy.ts";
import { until } from "../../support/inference/request-rows.ts";

const GATEWAY = "/console/gateway";
const MINUTE_MS = 60_000;

let site: Site;
beforeAll(async () => {
  site = await openSite({ hasGateway: true });
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** @returns a function that returns the number of forms that the page has sent */
function countForms(page: Page): () => number {
  let sent = 0;
  page.on("request", (request) => {
    if (request.method() === "POST") sent += 1;
  });
  return () => sent;
}

const checked = (page: Page) => page.waitForResponse((answer) => answer.request().method() === "POST");

/** Changes the visibility of the page as a change of the tab does. */
const setVisibility = (page: Page, state: "visible" | "hidden") =>
  page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

let seconds = 60;
/** Publishes a revision that differs from all before. */
const publishNext = () => publishFirst(site.server, { ttl_seconds: seconds++ });

test("CON-76 the script asks immediately, then every minute while the page is visible, and never twice for one view", async () => {
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

test("CON-76 the page without the script asks when the button is pressed, and not when it is opened again", async () => {
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

test("CON-115 a check without a session shows that the page is outdated", async () => {
  await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  const page = await visitor.context.newPage();
  await page.clock.install();
  await Promise.all([checked(page), page.goto(GATEWAY)]);
  await visitor.context.clearCookies();
  await Promise.all([checked(page), page.clock.runFor(MINUTE_MS)]);
  await page.getByText(/live updates stopped\. Your session has ended/).waitFor();
  expect(await page.getByRole("link", { name: "Sign in again" }).getAttribute("href")).toBe(page.url());
});

const EVENTS = "**/console/events";
/** @returns a function that returns the number of times that the script has read the page */
function countReads(page: Page, path: string): () => number {
  let reads = 0;
  page.on("request", (request) => {
    if (request.resourceType() === "fetch" && new URL(request.url()).pathname === path) reads += 1;
  });
  return () => reads;
}

const notice = (page: Page) => page.locator("#messages .stale");

test("CON-28 a page with a refused event stream shows a notice, is read at intervals, and is live again when the stream returns", async () => {
  await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  const page = await visitor.context.newPage();
  await page.clock.install();
  let refused = 0;
  await page.route(EVENTS, (route) => {
    refused += 1;
    return route.fulfill({ status: 503, contentType: "application/problem+json", body: "{}" });
  });
  const read = countReads(page, "/console");
  await page.goto("/console");
  await until(() => refused === 1);
  expect(await notice(page).count()).toBe(0);
  await page.clock.runFor(15_000);
  await notice(page).waitFor();
  expect(await notice(page).textContent()).toMatch(
    /^Shown as of \d.*, live updates stopped\. This page refreshes every 30 seconds until they are available again\. Reload this page$/,
  );
  const before = read();
  await page.clock.runFor(30_000);
  await until(() => refused === 2 && read() > before);
  expect(await notice(page).count()).toBe(1);
  await page.unroute(EVENTS);
  await Promise.all([page.waitForRequest(EVENTS), page.clock.runFor(30_000)]);
  await until(async () => {
    await page.clock.runFor(1_000);
    return (await notice(page).count()) === 0;
  });
  await page.clock.runFor(5_000); // the page is read once more when the stream is back
  const ended = read();
  await page.clock.runFor(60_000);
  expect(read()).toBe(ended);
  site.takeComplaints(); // the refused streams
});

test("CON-28 a page shows a notice while the service does not answer, and removes it afterwards", async () => {
  await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  const page = await visitor.context.newPage();
  await page.clock.install();
  await page.goto("/console");
  await page.route("**/*", (route) => route.abort());
  await setVisibility(page, "hidden");
  await setVisibility(page, "visible");
  await notice(page).waitFor();
  expect(await notice(page).textContent()).toContain("The service does not answer.");
  expect(await page.locator("main").getByText("Reload this page").count()).toBe(1);
  await page.unroute("**/*");
  await Promise.all([page.waitForRequest(EVENTS), page.clock.runFor(31_000)]);
  await until(async () => {
    await page.clock.runFor(1_000);
    return (await notice(page).count()) === 0;
  });
  site.takeComplaints(); // the requests that were not answered
});

test("CON-115 a check that ends while its region has the focus is shown when the focus has left, without another check", async () => {
  await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  const page = await visitor.context.newPage();
  const sent = countForms(page);
  const focused = Promise.withResolvers<void>();
  await page.route("**/*", async (route) => {
    if (route.request().method() === "POST") await focused.promise;
    await route.continue();
  });
  await page.goto(GATEWAY);
  await page.getByRole("button", { name: "Check now" }).focus();
  const answered = checked(page);
  focused.resolve();
  await (await answered).finished();
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  expect(await page.getByText("Not checked yet").count()).toBe(1);
  await page.keyboard.press("Shift+Tab");
  await page.getByText("Not checked yet").waitFor({ state: "detached" });
  expect(sent()).toBe(1);
});

const overview = async () => {
  await publishNext();
  const visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
  await Promise.all([visitor.page.waitForRequest("**/console/events"), visitor.page.goto("/console")]);
  return visitor;
};
const firstRevision = (page: Page) => page.locator("#revisions tbody tr").first().textContent();

test("CON-115 a button shows the number of new rows where rows would move, and then the rows", async () => {
  await using visitor = await overview();
  const { page } = visitor;
  const before = await firstRevision(page);
  await publishNext();
  const button = page.locator("#revisions").getByRole("button", { name: "1 new", exact: true });
  await button.waitFor();
  expect(await firstRevision(page)).toBe(before);
  await publishNext();
  await page.locator("#revisions").getByRole("button", { name: "2 new", exact: true }).click();
  await page.locator("#revisions .new-rows").waitFor({ state: "detached" });
  expect(await firstRevision(page)).not.toBe(before);
  expect(await page.evaluate(() => document.activeElement?.closest("#revisions")?.id)).toBe("revisions");
});

test("CON-115 a region under the pointer does not change until the pointer leaves it", async () => {
  await using visitor = await overview();
  const { page } = visitor;
  const added = page.locator("#revisions .new-rows");
  await page.locator("#revisions").hover();
  const read = page.waitForResponse(`${site.baseUrl}/console`);
  await publishNext();
  await (await read).finished();
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  expect(await added.count()).toBe(0);
  await page.mouse.move(0, 0);
  await added.waitFor();
});

test("CON-115 a hidden page is not read, and is read again when it is shown", async () => {
  await using visitor = await overview();
  const { page } = visitor;
  const other = await visitor.context.newPage();
  await Promise.all([other.waitForRequest("**/console/events"), other.goto("/console")]);
  const reads = countReads(page, "/console");
  await setVisibility(page, "hidden");
  for (const rows of [1, 2]) {
    await publishNext();
    await other
      .locator("#revisions")
      .getByRole("button", { name: `${rows} new`, exact: true })
      .waitFor();
  }
  expect(reads()).toBe(0);
  await setVisibility(page, "visible");
  await page.locator("#revisions .new-rows").waitFor();
});
