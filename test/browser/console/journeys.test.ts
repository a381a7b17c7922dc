// CON-151: tasks in the console, each with and without its script: invite and accept, suspend a user, and continue after the
// session ended.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import { heading, openSite, PASSWORD, press, type Site } from "../../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** Writes an address into the form that invites people. */
async function fillInvitation(page: Page, email: string): Promise<void> {
  await page.goto("/console/invitations");
  await page.getByText("Invite people").click();
  await page.getByLabel("Addresses").fill(email);
}

describe.each([
  ["with the script", true],
  ["without the script", false],
])("CON-151 %s", (_, javaScriptEnabled) => {
  const name = javaScriptEnabled ? "scripted" : "plain";
  const opened = () => site.visitor({ javaScriptEnabled, as: site.admin });

  test("an administrator invites somebody, who accepts", async () => {
    await using visitor = await opened();
    const { page } = visitor;
    const email = `invited-${name}@example.com`;
    await fillInvitation(page, email);
    await press(page, "Invite");
    expect(await heading(page)).toBe("1 person invited");
    const link = await page.locator("td code").textContent();

    await using stranger = await site.visitor();
    await stranger.page.goto(link ?? "");
    await stranger.page.getByLabel("Password").fill(PASSWORD);
    await press(stranger.page, "Create account");
    expect(await heading(stranger.page)).toBe("Your account is ready");

    await page.goto(`/console/invitations?q=${email}`);
    expect(await page.locator("tbody tr").textContent()).toContain("Accepted");
  });

  test("CON-19 an administrator suspends somebody after a confirmation, and reads the result", async () => {
    await using visitor = await opened();
    const { page } = visitor;
    const email = `suspended-${name}@example.com`;
    await site.member(email);
    await page.goto(`/console/users?q=${email}`);
    await page.getByRole("link", { name: email, exact: true }).click();
    await page.getByRole("link", { name: "Suspend", exact: true }).click();
    const question = page.getByRole("heading", { name: `Suspend ${email}?` });
    await question.waitFor();
    expect(await page.getByRole("dialog").count()).toBe(javaScriptEnabled ? 1 : 0);
    await press(page, "Suspend");
    expect(await page.getByRole("status").textContent()).toContain(email);
    expect(await page.getByRole("link", { name: "Resume" }).count()).toBe(1);
  });

  test("a form that is sent after the session ended continues after the next sign-in", async () => {
    await using visitor = await opened();
    const { page, context } = visitor;
    const email = `late-${name}@example.com`;
    await fillInvitation(page, email);
    await context.clearCookies({ name: SESSION_COOKIE });
    if (javaScriptEnabled) {
      await page.getByRole("button", { name: "Invite", exact: true }).click();
      await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    } else {
      await press(page, "Invite");
      expect(await heading(page)).toBe("Sign in again");
    }
    // The same person signs in in the second tab.
    const cookie = { name: SESSION_COOKIE, httpOnly: true, sameSite: "Lax" } as const;
    await context.addCookies([{ ...cookie, url: site.baseUrl, value: site.admin.session }]);
    if (!javaScriptEnabled) {
      await press(page, "Continue");
      expect(await heading(page)).toBe("Send the form again?");
    }
    await press(page, javaScriptEnabled ? "Send" : "Send again");
    expect(await heading(page)).toBe("1 person invited");
  });
});
