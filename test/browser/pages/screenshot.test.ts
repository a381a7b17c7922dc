// The approval page in the demo: the screenshot of the README and the handbook. QUARTERMASTER_UPDATE_GOLDEN=1 takes it again;
// review it before you commit it. The page differs in each run, so the test compares its words and not its pixels.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beginDeviceLogin, heading, signIn } from "../../support/browser/browser.ts";
import { launchChromium } from "../../support/browser/chromium.ts";
import { startDemo } from "../../support/browser/demo.ts";

const PICTURE = join(import.meta.dir, "../../../src/handbook/chapters/pictures/approval.png");
const MUST_WRITE = process.env.QUARTERMASTER_UPDATE_GOLDEN === "1";
/** pixels; the column of the page is not wider */
const WIDTH = 560;

test("a user of the demo is shown who asks for access, and can approve or deny", async () => {
  await using demo = await startDemo(1);
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
