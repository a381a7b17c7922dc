// The form of an MCP server in a real browser, without and with the script.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { heading, openSite, press, type Site } from "../../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
  await site.server.domain.governance.deployments.apply(site.server.world.system, undefined);
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

test.each([false, true])(
  "CON-144 a variable that the form does not show is kept, and shown when asked for; with the script: %p",
  async (javaScriptEnabled) => {
    await using visitor = await site.visitor({ javaScriptEnabled, as: site.admin });
    const { page } = visitor;
    const { domain, world } = site.server;
    const { drafts } = domain.governance;
    const { id } = domain.identity.users.find(world.organizationId, site.admin.email);
    const actor = { ...world.system, id };
    const env = { KEY: "first\n  second\n", OTHER: "hidden-1" };
    const server = { name: "kept", command: "npx", env };
    await drafts.saveMcp(actor, { version: drafts.versionOf(actor) }, { codex: [server] });
    await page.goto("/console/mcp/kept");
    expect(await page.content()).not.toMatch(/second|hidden-1/);
    await Promise.all([
      page.waitForEvent("load"),
      page.getByRole("button", { name: "Show the value of variable 1" }).click(),
    ]);
    expect(await page.locator("#env_value0").inputValue()).toBe(env.KEY);
    expect(await page.content()).not.toContain("hidden-1");
    await page.locator("#command").fill("uvx");
    await Promise.all([page.waitForURL("**/policy/review"), press(page, "Save and review")]);
    expect(await page.content()).not.toMatch(/second|hidden-1/);
    await page.getByRole("link", { name: "Show values" }).click();
    await page.getByRole("link", { name: "Hide values" }).waitFor();
    expect(drafts.existing(actor).document.harnesses.codex?.mcp).toEqual([
      { ...server, command: "uvx", disabled: false },
    ]);
  },
);

/** Uses only the keyboard after the name. */
test.each([false, true])(
  "CON-69 arguments are moved with the keyboard, and Enter in a field saves; with the script: %p",
  async (javaScriptEnabled) => {
    const name = `docs-${javaScriptEnabled}`;
    await using visitor = await site.visitor({ javaScriptEnabled, as: site.admin });
    const { page } = visitor;
    await page.goto("/console/mcp/new");
    expect(await page.getByLabel("URL", { exact: true }).isVisible()).toBe(false);
    await page.locator("#name").fill(name);
    await page.getByLabel("Codex").check();
    for (const [at, value] of ["one", "two", "three"].entries()) {
      await press(page, "Add an argument");
      expect(await page.locator(`#arg${at}`).evaluate((row) => row === document.activeElement)).toBe(true);
      await page.keyboard.type(value);
    }
    await page.getByRole("button", { name: "Move argument 3 up" }).focus();
    for (const at of [2, 1]) {
      await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
      expect(await page.locator(`#arg${at - 1}`).inputValue()).toBe("three");
    }
    await page.locator("[value='down:0']:focus").waitFor();
    await page.locator("#command").fill("npx");
    await Promise.all([page.waitForURL("**/policy/review"), page.keyboard.press("Enter")]);
    expect(await heading(page)).toBe("Review your draft");
    const { domain, world } = site.server;
    const { id } = domain.identity.users.find(world.organizationId, site.admin.email);
    const servers = domain.governance.drafts.own({ id })?.document.harnesses.codex?.mcp;
    expect(servers?.at(-1)).toEqual({ name, command: "npx", args: ["three", "one", "two"], disabled: false });
  },
);
