// The editor of the policy: additions of the script to the form, which works without it.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { heading, openSite, press, type Site } from "../../support/browser/browser.ts";

/** The list ignores keys right after it opens, so that an Enter meant for the text selects nothing. */
const INTERACTION_DELAY_MS = 100;
const EDIT = "/console/policy/edit";

let site: Site;
beforeAll(async () => {
  site = await openSite();
  const { domain, world } = site.server;
  await domain.governance.deployments.apply(world.system, undefined);
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(async () => {
  const { domain, world } = site.server;
  const { id } = domain.identity.users.find(world.organizationId, site.admin.email);
  const { governance } = domain;
  const operator = { ...world.system, kind: "operator" } as const;
  if (governance.drafts.versionOf({ id }) > 0) await governance.drafts.discard(operator, id);
  expect(site.takeComplaints()).toEqual([]);
});

const scripted = () => site.visitor({ javaScriptEnabled: true, as: site.admin });
const state = (page: Page, name: string) => page.locator(`.editor-state[data-state=${name}]`).waitFor();

async function type(page: Page, text: string): Promise<void> {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText(text);
}

test("CON-5 CON-46 the editor marks problems at their lines, under the policy of the page", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto(EDIT);
  expect(await page.locator("textarea[name=text]").isVisible()).toBe(false);
  expect(await page.locator(".cm-scroller").evaluate((element) => getComputedStyle(element).display)).toBe(
    "flex",
  );
  await type(page, "requird: true\n");
  const problem = page.getByRole("button", { name: /Line 1: .*requird/ });
  await problem.waitFor();
  expect(await page.locator(".cm-lintRange-error").first().textContent()).toBe("requird: true");
  await page.keyboard.press("Control+End");
  await problem.click();
  expect(await page.locator(".cm-activeLine").textContent()).toBe("requird: true");
});

test("CON-46 members and known values are completed where they are allowed", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto(EDIT);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  const options = page.locator(".cm-tooltip-autocomplete li");
  for (const [typed, offered] of [
    ["require", ["required", "required_capabilities", "required_client_version"]],
    ["t", ["true"]],
    ["\nallowed_harnesses:\n  - c", ["claude", "codex"]],
    ["\nharnesses:\n  codex:\n    managed_config:\n      fast", ["fast_mode"]],
  ] as const) {
    for (const [at, line] of typed.split("\n").entries()) {
      if (at > 0) await page.keyboard.press("Enter");
      if (at > 0) await page.keyboard.press("Shift+Home"); // the indentation that the editor proposes
      await page.keyboard.insertText(line);
    }
    await options.first().waitFor();
    expect(await options.allTextContents()).toEqual([...offered]);
    await page.waitForTimeout(INTERACTION_DELAY_MS);
    await page.keyboard.press("Enter");
  }
  const lines = await page.locator(".cm-line").allTextContents();
  expect(lines.slice(0, 3)).toEqual(["required: true", "allowed_harnesses:", "  - claude"]);
});

test("CON-50 the text is saved while it is typed, and Ctrl+Enter leads to the review", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto(EDIT);
  await type(page, "ttl_seconds: 61\n");
  await state(page, "saved");
  await page.reload();
  expect(await page.locator(".cm-line").first().textContent()).toBe("ttl_seconds: 61");
  await page.locator(".cm-content").focus();
  await Promise.all([page.waitForURL("**/review"), page.keyboard.press("Control+Enter")]);
  expect(await heading(page)).toBe("Review your draft");
});

test("CON-59 Ctrl+Enter publishes from the review, after a required comment", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto(EDIT);
  await type(page, "ttl_seconds: 61\n");
  await page.keyboard.press("Control+Enter");
  await page.getByText(/Publish r\d+\? 1 change; 0 workstations become outdated/).waitFor();
  await Promise.all([page.waitForURL("**/rollout/*"), page.keyboard.press("Control+Enter")]);
  expect(await page.getByRole("status").textContent()).toContain("is published.");

  await page.goto("/console/harnesses/codex");
  await page.getByLabel("Versions", { exact: true }).fill(">=0.1");
  await press(page, "Save and review");
  await page.keyboard.press("Control+Enter");
  expect(await page.getByLabel("Comment").evaluate((field) => field.matches(":focus:invalid"))).toBe(true);
  await page.keyboard.type("why");
  await Promise.all([page.waitForURL("**/rollout/*"), page.keyboard.press("Control+Enter")]);
});

test("CON-51 a save of another tab is not overwritten, and both texts are kept", async () => {
  await using visitor = await scripted();
  const { page, context } = visitor;
  await page.goto(EDIT);
  const other = await context.newPage();
  await other.goto(EDIT);
  for (const [tab, text, expected] of [
    [other, "# other\n", "saved"],
    [page, "# mine\n", "conflict"],
  ] as const) {
    await type(tab, text);
    await tab.getByRole("heading", { level: 1 }).click();
    await state(tab, expected);
  }
  await press(page, "Save");
  expect(await page.getByText("saved elsewhere after you opened it").count()).toBe(1);
  expect(await page.locator(".cm-line").first().textContent()).toBe("# mine");
  expect(await page.locator(".error-summary pre").textContent()).toContain("# other");
});

test("CON-50 the same form saves and reviews if the script is off", async () => {
  await using visitor = await site.visitor({ as: site.admin });
  const { page } = visitor;
  await page.goto(EDIT);
  const field = page.getByLabel("Policy without packages");
  await field.fill(`${await field.inputValue()}\n# plain`);
  await press(page, "Save and review");
  expect(await heading(page)).toBe("Review your draft");
  await page.goto(EDIT);
  expect(await field.inputValue()).toEndWith("\n# plain");
});
