// The cost of a console page: its response, rendering and size, and the time until a browser shows it.

import type { Page } from "playwright-core";
import { renderConsole } from "../../../src/server/console/frame/frame.tsx";
import { navigationFor } from "../../../src/server/console/frame/navigation.ts";
import { userListPage } from "../../../src/server/console/people/user-list.tsx";
import type { Branding } from "../../../src/server/pages/layout.tsx";
import { launchChromium } from "../../support/browser/chromium.ts";
import { readerOf } from "../../support/browser/console-reader.ts";
import {
  firstPaintMs,
  SLOWED_TIMES,
  slowDown,
  slowestInteractionMs,
} from "../../support/browser/slow-browser.ts";
import { budgeted, type Figure } from "../figures.ts";
import { median } from "../tools/compare.ts";
import type { ConsoleSite } from "./console-site.ts";

const WARM_UPS = 10;
/** Until the runtime has compiled the code, as in a service that has answered some pages. */
const RENDERINGS_BEFORE = 100;
const TIMES = 100;
const PAINTS = 5;
const KB = 1_024;

/** @returns the 95th percentile of the whole response of each list, and its size */
export async function measureResponses({ origin, lists, cookies }: ConsoleSite): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const path of lists) {
    const ask = async (encoding: string) => {
      const headers = { cookie: cookies[0] ?? "", "accept-encoding": encoding };
      const answer = await fetch(origin + path, { headers, decompress: false, redirect: "manual" });
      const { length } = await answer.bytes();
      if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
      return length;
    };
    const times: number[] = [];
    for (let turn = 0; turn < WARM_UPS + TIMES; turn++) {
      const begin = performance.now();
      await ask("gzip");
      if (turn >= WARM_UPS) times.push(performance.now() - begin);
    }
    const late = times.toSorted((one, other) => one - other)[Math.floor(0.95 * TIMES) - 1] ?? Number.NaN;
    const told = (what: string, unit: string, ours: number, budget: number): Figure => ({
      what: `${path}, ${what}`,
      unit,
      ours,
      verdict: budgeted(budget, ours),
    });
    figures.push(
      told("CON-130 whole answer, p95", "ms", late, 60),
      told("CON-133 plain", "KB", (await ask("identity")) / KB, 60),
      told("CON-133 gzip", "KB", (await ask("gzip")) / KB, 8),
    );
  }
  return figures;
}

/** @returns the time to render the list of users in this process, after a warm-up */
export function measureRendering({ users, cookies, origin }: ConsoleSite): Figure {
  const reader = readerOf(`${origin}/console/users?per_page=100`, cookies[0] ?? "");
  const page = { items: [...users], page: 1, perPage: users.length, total: users.length };
  const times: number[] = [];
  for (let turn = 0; turn < RENDERINGS_BEFORE + TIMES; turn++) {
    const begin = performance.now();
    const shown = userListPage({ values: {}, page, problems: [], hasGateway: false, mayAdminister: true });
    const chrome = {
      branding: BRANDING,
      navigation: navigationFor(true, () => true),
      revision: undefined,
      draft: undefined,
      problems: 0,
    };
    renderConsole(shown, { reader, chrome, notice: undefined });
    if (turn >= RENDERINGS_BEFORE) times.push(performance.now() - begin);
  }
  const ours = median(times);
  return { what: `CON-131 rendering of ${users.length} users`, unit: "ms", ours, verdict: budgeted(3, ours) };
}

const BRANDING: Branding = { organizationName: "Example", logoUrl: null, faviconUrl: null };

/** @returns the time until a slow browser shows something of each list, from an empty cache */
export async function measurePaint({ origin, lists, cookies }: ConsoleSite): Promise<Figure[]> {
  const browser = await launchChromium();
  try {
    const figures: Figure[] = [];
    for (const path of lists) {
      const paints: number[] = [];
      const presses: number[] = [];
      for (let turn = 0; turn < PAINTS; turn++) {
        const context = await browser.newContext();
        const [name = "", value = ""] = (cookies[0] ?? "").split("=");
        await context.addCookies([{ url: origin, name, value }]);
        const page = await context.newPage();
        await slowDown(page);
        await page.goto(origin + path);
        paints.push(await firstPaintMs(page));
        presses.push(await slowestInteractionMs(page, () => pressEach(page)));
        await context.close();
      }
      for (const [what, times, budget] of [
        ["first contentful paint", paints, 500],
        ["slowest interaction to next paint", presses, 200],
      ] as const) {
        const ours = median(times);
        figures.push({
          what: `${path}, CON-137 ${what}, slowed ${SLOWED_TIMES} times`,
          unit: "ms",
          ours,
          verdict: budgeted(budget, ours),
        });
      }
    }
    return figures;
  } finally {
    await browser.close();
  }
}

/** Presses the menu, the next row, its checkbox, and the command palette. */
async function pressEach(page: Page): Promise<void> {
  await page.locator(".account-menu summary").click();
  for (const key of ["j", "x", "Control+k", "Escape"]) await page.keyboard.press(key);
}
