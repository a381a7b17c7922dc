// CON-137: the work of a browser to show a page of 100 rows, and to answer a press on it. How long a slow processor
// takes depends on what else the machine does, so a benchmark measures it (test/bench/console/console-pages.ts), not
// this test.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { openSite, type Site } from "../../support/browser/browser.ts";
import { addManyRows } from "../../support/content/many-rows.ts";

/** Elements and texts; 100 rows of nine columns have 3,850. */
const NODES_MAX = 5_000;
/** One for the changes of the press, and one each for focus and for answers that arrive in the meantime. */
const LAYOUTS_MAX = 4;

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

/** @returns the files that must be loaded before the first paint, besides the document */
const blockingOf = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((entry) => "renderBlockingStatus" in entry && entry.renderBlockingStatus === "blocking")
      .map(({ name }) => name.slice(name.lastIndexOf(".") + 1)),
  );

/** @returns a function that reads a counter of the page's renderer */
async function countersOf(page: Page): Promise<(name: "Nodes" | "LayoutCount") => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async (name) => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  };
}

/** The parts of every page, and those of a list. */
const PRESSES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  "the menu": (page) => page.locator(".account-menu summary").click(),
  "the next row": (page) => page.keyboard.press("j"),
  "its box": (page) => page.keyboard.press("x"),
  "the palette": (page) => page.keyboard.press("Control+k"),
  "a letter": (page) => page.keyboard.press("h"),
  "the end of the palette": (page) => page.keyboard.press("Escape"),
};

describe.each(PATHS)("CON-137 %s", (path) => {
  test("needs two style sheets and few elements for the first paint, and few layouts to answer a press", async () => {
    await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
    const page = await visitor.context.newPage();
    await page.goto(`${path}?per_page=100`);
    expect(await blockingOf(page)).toEqual(["css", "css"]);
    const count = await countersOf(page);
    expect(await count("Nodes")).toBeLessThanOrEqual(NODES_MAX);
    for (const [name, press] of Object.entries(PRESSES)) {
      const before = await count("LayoutCount");
      await press(page);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
      expect([name, (await count("LayoutCount")) - before > LAYOUTS_MAX]).toEqual([name, false]);
    }
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
