// CON-151: tasks of administrators on the policy, each with and without the script of the console.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import { FORM_TEXT_BYTES_MAX } from "../../../src/server/console/long-form.ts";
import { managedText } from "../../domain/governance/governance-world.ts";
import {
  type Account,
  heading,
  openSite,
  PASSWORD,
  press,
  publish,
  type Site,
} from "../../support/browser/browser.ts";
import { largePolicyYaml } from "../../support/content/large-content.ts";

const EDIT = "/console/policy/edit";
/** A browser sends and receives megabytes. */
const LIMIT_MS = 60_000;

let site: Site;
let other: Account;
beforeAll(async () => {
  site = await openSite();
  const { domain, world } = site.server;
  await domain.governance.deployments.apply(world.system, undefined);
  other = await site.administrator("other@example.com");
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(async () => {
  expect(site.takeComplaints()).toEqual([]);
  const { domain, world } = site.server;
  const operator = { ...world.system, kind: "operator" } as const;
  for (const { id } of domain.governance.drafts.list(world.organizationId))
    await domain.governance.drafts.discard(operator, id);
});

const inForce = () => site.server.domain.governance.revisions.inForce(site.server.world.organizationId);

/** Replaces the text on the page of the editor, like a paste: typing megabytes would take a browser minutes. */
async function write(page: Page, text: string): Promise<void> {
  const editor = page.locator(".cm-content");
  if (!(await editor.isVisible())) {
    await page.locator("#text").evaluate((field: HTMLTextAreaElement, value) => {
      field.value = value;
    }, text);
    return;
  }
  await editor.click();
  await page.keyboard.press("Control+A");
  await editor.evaluate((element, value) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", value);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

async function draft(page: Page, policy: object): Promise<void> {
  await page.goto(EDIT);
  await write(page, managedText(policy));
  await press(page, "Save and review");
  expect(await heading(page)).toBe("Review your draft");
}

describe.each([
  ["without the script", false],
  ["with the script", true],
] as const)("CON-151 %s", (_, javaScriptEnabled) => {
  const opened = (as = site.admin) => site.visitor({ javaScriptEnabled, as });

  test("CON-53 a conflict with a second administrator is decided place by place, and nothing is lost", async () => {
    await using mine = await opened();
    await using theirs = await opened(other);
    const { domain, world } = site.server;
    await domain.governance.publishing.publishPolicy(world.system, {
      baseRevision: inForce().id,
      managedYaml: managedText({}),
    });
    const settings = (model: string) => ({ codex: { managed_config: { model } } });
    await draft(mine.page, { ttl_seconds: 61, harnesses: settings("mine") });
    await draft(theirs.page, {
      harnesses: { ...settings("theirs"), claude: { managed_config: { model: "c" } } },
    });
    await publish(theirs.page);
    expect(await heading(theirs.page)).toBe(`Rollout of r${inForce().sequence}`);

    const { page } = mine;
    await page.reload();
    expect(await page.getByText("Somebody else has published").count()).toBe(1);
    expect(await page.getByRole("button", { name: /^Publish r/ }).count()).toBe(0);
    await press(page, `Merge r${inForce().sequence}`);
    expect(await heading(page)).toBe("Merge the draft");
    expect(await page.locator("main fieldset").allTextContents()).toEqual([
      expect.stringMatching(/Codex: model.*theirs.*mine/s),
    ]);
    await page.getByLabel("Draft: mine").check();
    await press(page, "Merge");
    expect(await heading(page)).toBe("Review your draft");
    await publish(page);
    expect(inForce()).toMatchObject({
      authorLabel: site.admin.email,
      document: {
        ttl_seconds: 61,
        harnesses: { ...settings("mine"), claude: { managed_config: { model: "c" } } },
      },
    });
  });

  test("CON-119 typed text stays when the session ends", async () => {
    await using visitor = await opened();
    const { page, context } = visitor;
    await page.goto(EDIT);
    await context.clearCookies({ name: SESSION_COOKIE });
    await write(page, managedText({ ttl_seconds: javaScriptEnabled ? 62 : 63 }));
    const save = page.getByRole("button", { name: "Save and review", exact: true });
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await save.click();
    if (javaScriptEnabled) {
      await dialog.getByRole("button", { name: "Send" }).click();
      await dialog.getByRole("link", { name: "Sign in in a new tab" }).waitFor(); // it checks again
    } else expect(await heading(page)).toBe("Sign in again");
    if (javaScriptEnabled) {
      const cookie = { name: SESSION_COOKIE, httpOnly: true, sameSite: "Lax" } as const;
      await context.addCookies([{ ...cookie, url: site.baseUrl, value: site.admin.session }]);
      await press(page, "Send");
    } else {
      await page.getByLabel("Email").fill(site.admin.email);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Sign in and send");
    }
    expect(await heading(page)).toBe("Review your draft");
    const row = page.getByRole("row", { name: /Seconds until a policy is fetched again/ });
    expect(await row.textContent()).toContain(javaScriptEnabled ? "62" : "63");
  });

  test("CON-51 two tabs: the second save loses neither text, and its author decides", async () => {
    await using visitor = await opened();
    const { page, context } = visitor;
    const second = await context.newPage();
    for (const tab of [page, second]) await tab.goto(EDIT);
    await write(page, managedText({ ttl_seconds: 64 }));
    await press(page, "Save and review");
    await write(second, managedText({ ttl_seconds: 65 }));
    await press(second, "Save and review");
    expect(await second.getByText("saved elsewhere after you opened it").count()).toBe(1);
    expect(await second.locator(".error-summary pre").textContent()).toContain("64");
    await press(second, "Save and review");
    expect(await heading(second)).toBe("Review your draft");
    await publish(second);
    expect(inForce().document.ttl_seconds).toBe(65);
    await publish(page);
    expect(await page.getByText("discarded in the meantime").count()).toBe(1);
  });

  test(
    "CON-46 a policy of 2 MiB is edited, reviewed and published",
    async () => {
      await using visitor = await opened();
      const { page } = visitor;
      page.setDefaultTimeout(LIMIT_MS);
      await page.goto(EDIT);
      const entries = javaScriptEnabled ? 2_001 : 2_000;
      await write(page, largePolicyYaml(FORM_TEXT_BYTES_MAX, entries));
      await press(page, "Save and review");
      expect(await heading(page)).toBe("Review your draft");
      await page.getByLabel(/^Comment/).fill("long");
      await publish(page);
      expect(await heading(page)).toBe(`Rollout of r${inForce().sequence}`);
      expect(inForce().document.harnesses.codex?.managed_config.notes).toHaveLength(entries);
      await page.goto("/console/policy");
      expect(await page.locator("#L2000").count()).toBe(1);
    },
    LIMIT_MS,
  );
});
