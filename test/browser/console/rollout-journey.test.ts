// CON-151: a change of the policy from the form to the workstations of the demo, and its rollback, with and without the script.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Started } from "../../../src/app/demo/events.ts";
import { heading, listen, press, publish, signIn } from "../../support/browser/browser.ts";
import { borrowChromium } from "../../support/browser/chromium.ts";
import { startDemo } from "../../support/browser/demo.ts";

const WORKSTATIONS = 3;
const LIMIT_MS = 60_000;
/** About how often a person reloads the page; the script reloads by itself. */
const CHECK_EVERY_MS = 500;

let demo: Started & AsyncDisposable;
const complaints: string[] = [];
beforeAll(async () => {
  demo = await startDemo(WORKSTATIONS);
}, LIMIT_MS);
afterAll(() => demo[Symbol.asyncDispose]());
afterEach(() => expect(complaints.splice(0)).toEqual([]));

/** Waits until every workstation has the revision of the page. */
async function arrived(page: Page, isScripted: boolean): Promise<void> {
  const all = page.getByText(`100% of ${WORKSTATIONS} workstations follow it.`);
  if (isScripted) return await all.waitFor({ timeout: LIMIT_MS });
  for (; (await all.count()) === 0; await page.reload()) await Bun.sleep(CHECK_EVERY_MS);
}

describe.each([
  ["without the script", false],
  ["with the script", true],
] as const)("CON-151 %s", (_, javaScriptEnabled) => {
  test(
    "CON-50 CON-62 CON-63 a setting and its rollback are reviewed, published and applied",
    async () => {
      await using chromium = await borrowChromium();
      const context = await chromium.browser.newContext({ javaScriptEnabled, baseURL: demo.url });
      await using _closing = { [Symbol.asyncDispose]: () => context.close() };
      listen(context, demo.url, complaints);
      const page = await context.newPage();
      await page.goto("/console/harnesses/codex");
      await signIn(page, demo.administrator, demo.password);
      await page.getByText("Settings, as YAML").waitFor();
      const model = `model-${javaScriptEnabled ? "scripted" : "plain"}`;
      if (javaScriptEnabled) {
        await page.locator(".cm-content").click();
        await page.keyboard.press("Control+Home");
        await page.keyboard.insertText(`model: ${model}\n`);
      } else await page.getByLabel("Settings, as YAML").fill(`model: ${model}`);
      await press(page, "Save and review");
      expect(await heading(page)).toBe("Review your draft");
      expect(await page.getByRole("row", { name: /Codex: model/ }).textContent()).toContain(model);
      const before = await page.getByText(/^Begun on r/).textContent();
      await publish(page);
      expect(await page.getByRole("status").textContent()).toContain("is published.");
      await arrived(page, javaScriptEnabled);

      const former = /r\d+/.exec(before ?? "")?.[0] ?? "";
      await page.goto("/console/policy/history");
      await page.getByRole("link", { name: former, exact: true }).click();
      await press(page, `Draft ${former} again`);
      expect(await heading(page)).toBe("Review your draft");
      await publish(page);
      await arrived(page, javaScriptEnabled);
      await page.goto("/console/harnesses/codex");
      expect(await page.locator("#settings").inputValue()).not.toContain(model);
    },
    LIMIT_MS,
  );
});
