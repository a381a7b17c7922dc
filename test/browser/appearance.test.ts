// The accessible appearance of the sign-in page and the start of the console. The tests in the folders next to this file check
// every page in every state; only `bun run test:browser` runs them.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { expectAccessible } from "../support/browser/accessible.ts";
import { heading, openSite, type Site } from "../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

test.each([
  ["/login", "Sign in", false],
  ["/console", "Overview", true],
] as const)(
  "%s meets WCAG 2.2 AA in both schemes, narrow, enlarged and in forced colors",
  async (path, title, isAdmin) => {
    // Without animation, because colors would otherwise be measured during a transition between schemes.
    const measured = { javaScriptEnabled: true, reducedMotion: "reduce" } as const;
    await using visitor = await site.visitor({ ...measured, ...(isAdmin && { as: site.admin }) });
    const { page } = visitor;
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    await page.goto(path);
    expect(await heading(page)).toBe(title);
    await expectAccessible(page);
  },
);
