// CON-151 of captured sessions: an owner shares one, a colleague reads it, the owner downloads and deletes it, each with and without
// the script.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { heading, openSite, press, type Site } from "../../support/browser/browser.ts";
import { bundleOf, TRANSCRIPTS } from "../../support/content/session-bundles.ts";
import { capture, withCapture } from "../../support/content/sessions.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
  await withCapture(site.server);
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

describe.each([
  ["with the script", true],
  ["without the script", false],
])("CON-151 %s", (_, javaScriptEnabled) => {
  const name = javaScriptEnabled ? "scripted" : "plain";

  test("an owner shares a session with a colleague, who reads it, and deletes it", async () => {
    const owner = await site.member(`owner-${name}@example.com`);
    const colleague = await site.member(`colleague-${name}@example.com`);
    const { domain, world } = site.server;
    const user = domain.identity.users.find(world.organizationId, owner.email);
    const { accessToken: token } = await site.server.signInAgain(user);
    const bytes = bundleOf("codex", TRANSCRIPTS.codex ?? "", name);
    await capture(site.server, { token }, bytes, { session_id: name, title: `Session ${name}` });

    await using own = await site.visitor({ javaScriptEnabled, as: owner, acceptDownloads: true });
    const { page } = own;
    await page.goto("/console/sessions");
    await page.getByRole("link", { name: `Session ${name}` }).click();
    const detail = page.url();
    await page.getByRole("link", { name: "Share", exact: true }).click();
    await page.getByLabel("People you choose").check();
    const person = page.getByLabel("Add a person");
    await person.pressSequentially("colleague-");
    if (javaScriptEnabled) {
      const proposal = page.locator(`datalist option[value="${colleague.email}"]`);
      await proposal.waitFor({ state: "attached" });
    }
    await press(page, "Find");
    await press(page, `Add ${colleague.email}`);
    expect(await page.getByLabel("People", { exact: true }).inputValue()).toBe(colleague.email);
    await press(page, "Continue");
    expect(await heading(page)).toBe("Share this session?");
    expect(await page.locator(".confirmation").textContent()).toContain("No string in it looks like a key");
    await press(page, "Share");
    expect(await page.getByRole("status").textContent()).toBe("The session is shared with 1 person.");

    await using other = await site.visitor({ javaScriptEnabled, as: colleague });
    await other.page.goto("/console/sessions");
    await other.page.getByRole("link", { name: `Session ${name}` }).click();
    await other.page.getByText("is recorded in the audit log with your name").waitFor();
    await other.page.getByRole("link", { name: "Open the transcript" }).click();
    await other.page.getByText("The clock is fixed.").waitFor();
    const call = other.page.getByText('"bun"', { exact: false }).last();
    expect(await call.isVisible()).toBe(false);
    await other.page.getByText("6 lines").click();
    expect(await call.isVisible()).toBe(true);

    await page.goto(detail);
    await press(page, "Download");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^codex-[\da-f]{8}\.tgz$/);

    await page.goto(detail);
    await page.getByRole("link", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "Delete this session?" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(javaScriptEnabled ? 1 : 0);
    await press(page, "Delete");
    expect(await page.getByRole("status").textContent()).toContain("is deleted.");
    await other.page.goto("/console/sessions");
    expect(await other.page.getByRole("link", { name: `Session ${name}` }).count()).toBe(0);
  });
});
