// What axe-core and the window report about a page: WCAG 2.2 AA in both color schemes, a narrow screen, enlarged text, and the
// colors of the system.
import { expect } from "bun:test";
import axe from "axe-core";
import type { Page } from "playwright-core";

/** @returns one line for each violated rule */
async function violations(page: Page, options: axe.RunOptions): Promise<string[]> {
  const report = await page.evaluate((run) => axe.run(document, run), options);
  return report.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}

const AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** @returns how many pixels overflow the window horizontally */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Expects that everybody can use a page that is shown in the light scheme, 1280 pixels wide and without animation. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  expect(await violations(page, { runOnly: AA })).toEqual([]);

  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violations(page, { runOnly: ["color-contrast"] })).toEqual([]);

  await page.setViewportSize({ width: 320, height: 640 });
  expect(await overflow(page)).toBe(0);
  // Text alone at 200 %, like a browser's font setting, on a screen half as wide, like zooming.
  await page.setViewportSize({ width: 640, height: 640 });
  await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
  expect(await overflow(page)).toBe(0);
  await page.evaluate(() => document.documentElement.style.removeProperty("font-size"));

  // A difference that only a background shows is lost when the system chooses the colors: a border must remain.
  await page.emulateMedia({ forcedColors: "active" });
  // The browser draws checkboxes and radio buttons itself.
  const flat = await page
    .locator(
      "button, a.button, input:not([type=hidden], [type=checkbox], [type=radio]), .error-summary, .warning",
    )
    .evaluateAll((controls) =>
      controls
        .filter((control) => {
          const { borderTopStyle, borderTopWidth, borderTopColor, backgroundColor } =
            getComputedStyle(control);
          return borderTopStyle === "none" || borderTopWidth === "0px" || borderTopColor === backgroundColor;
        })
        .map((control) => control.outerHTML),
    );
  expect(flat).toEqual([]);
}
