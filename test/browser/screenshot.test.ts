// The approval page, as a user of the demo sees it: the screenshot of the README and the handbook. QUARTERMASTER_UPDATE_GOLDEN=1
// takes the picture again; look at it before you commit it. The page differs in each run, so the test compares its words and not
// its pixels.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runDemo } from "../../src/app/demo/demo.ts";
import type { Started } from "../../src/app/demo/events.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { systemIds } from "../../src/platform/ids.ts";
import { beginDeviceLogin, heading, signIn } from "../support/browser/browser.ts";
import { launchChromium } from "../support/browser/chromium.ts";

const PICTURE = join(import.meta.dir, "../../src/handbook/chapters/pictures/approval.png");
const MUST_WRITE = process.env.QUARTERMASTER_UPDATE_GOLDEN === "1";
/** pixels; the column of the page is not wider */
const WIDTH = 560;

/** Runs a demo that ends with the result. */
async function startDemo(): Promise<Started & AsyncDisposable> {
  const ending = new AbortController();
  const started = Promise.withResolvers<Started>();
  const demo = runDemo({
    ...{ directory: undefined, port: 0, workstations: 1, seed: "1", clock: systemClock, ids: systemIds },
    tell: (event) => event.event === "started" && started.resolve(event),
    signal: ending.signal,
  });
  const stop = async () => {
    ending.abort();
    await demo;
  };
  // A demo that fails must not be waited for.
  const facts = await Promise.race([started.promise, demo.then(() => started.promise)]);
  return { ...facts, [Symbol.asyncDispose]: stop };
}

test("a user of the demo is shown who asks for access, and can approve or deny", async () => {
  await using demo = await startDemo();
  await using chromium = await launchChromium();
  const page = await chromium.newPage({
    viewport: { width: WIDTH, height: WIDTH },
    colorScheme: "light",
    javaScriptEnabled: false,
  });
  const { link, userCode } = await beginDeviceLogin(demo.url);
  await page.goto(link);
  await signIn(page, demo.workstations[0]?.user ?? "", demo.password);
  expect(await heading(page)).toBe("Allow workstation access?");
  expect(await page.getByRole("banner").textContent()).toContain("Example organization");
  expect(await page.getByLabel("Confirmation code").inputValue()).toBe(
    `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
  );
  for (const name of ["Authorize", "Deny"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(1);
  const picture = await page.screenshot({ fullPage: true });
  if (MUST_WRITE) writeFileSync(PICTURE, picture);
});
