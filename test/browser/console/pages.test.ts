// The console in a real browser: every page is accessible and causes no error or warning of the browser.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectAccessible } from "../../support/browser/accessible.ts";
import { type Account, heading, openSite, type Site } from "../../support/browser/browser.ts";
import { SCENES, seedConsole } from "./scenes.ts";

const AUDITOR = "auditor@example.com";

let site: Site;
let accounts: Record<"admin" | "member" | "auditor", Account>;
beforeAll(async () => {
  site = await openSite({ consoleAuditors: () => [AUDITOR], hasGateway: true });
  const [member, auditor] = [await site.member("member@example.com"), await site.member(AUDITOR)];
  accounts = { admin: site.admin, member, auditor };
  await seedConsole(site);
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** Just above the widths at which rows become cards and the menu moves to the side, where tables have the least room. */
const MIDDLE_WIDTHS = [725, 965];

const measured = { javaScriptEnabled: true, reducedMotion: "reduce" } as const;

const named = SCENES.map((scene) => ({
  ...scene,
  name: [scene.title, ...(scene.state ? [scene.state] : [])].join(", "),
}));

describe.each(named)("the page $name", ({ title, as = "admin", open }) => {
  test("CON-110 CON-111 CON-150 CON-152 is accessible in both schemes, narrow, enlarged and in forced colors", async () => {
    await using visitor = await site.visitor({ ...measured, as: accounts[as] });
    const { page } = visitor;
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    await (typeof open === "string" ? page.goto(open) : open(page, site));
    expect(await heading(page)).toBe(title);
    await expectAccessible(page);
    for (const width of MIDDLE_WIDTHS) {
      await page.setViewportSize({ width, height: 720 });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([width, Math.max(0, over)]).toEqual([width, 0]);
    }
    await page.setViewportSize({ width: 320, height: 720 });
    await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
    const beyond = await page.evaluate(() => Math.min(0, document.body.getBoundingClientRect().left));
    expect(beyond).toBe(0);
  });
});
