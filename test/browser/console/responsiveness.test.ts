// CON-137: how soon a browser with a slow processor shows a page of 100 rows, and responds to input on it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { openSite, type Site } from "../../support/browser/browser.ts";
import { firstPaintMs, slowDown, slowestInteractionMs } from "../../support/browser/slow-browser.ts";
import { addManyRows } from "../../support/content/many-rows.ts";

const FIRST_PAINT_MAX_MS = 500;
const INTERACTION_MAX_MS = 200;
/** Other tests may use the processor at the same time, so the best attempt counts. */
const ATTEMPTS = 4;

const PATHS = ["/console/clients", "/console/users", "/console/audit", "/console"];

let site: Site;
beforeAll(async () => {
  site = await openSite();
  const { file, clock } = site.server.world;
  using connection = openConnection(file, {});
  addManyRows(connection, { count: 100, nowMs: clock.nowMs() });
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** @returns the lowest of some measurements, or the first one within the limit */
async function best(budgetMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least > budgetMs; attempt++)
    least = Math.min(least, await measure());
  return least;
}

/** Presses elements that every page has, and those of a list. */
async function use(page: Page): Promise<void> {
  await page.locator(".account-menu summary").click();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("searchbox").pressSequentially("host");
  await page.getByRole("dialog").getByText("host-1").first().waitFor();
  await page.keyboard.press("Escape");
}

describe.each(PATHS)("CON-137 %s", (path) => {
  test("is shown within 500 ms and answers presses within 200 ms on a slow processor", async () => {
    await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
    const page = await visitor.context.newPage();
    await slowDown(page);
    const paint = await best(FIRST_PAINT_MAX_MS, async () => {
      await page.goto(`${path}?per_page=100`);
      return await firstPaintMs(page);
    });
    expect(paint).toBeLessThanOrEqual(FIRST_PAINT_MAX_MS);
    const slowest = await best(INTERACTION_MAX_MS, () => slowestInteractionMs(page, () => use(page)));
    expect(slowest).toBeLessThanOrEqual(INTERACTION_MAX_MS);
  });
});
