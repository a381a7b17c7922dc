// A device login with a browser and a terminal, without scripts: by link or by typed code, approved or denied, too late, twice,
// with the wrong account, or guessed.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { ADMIN, heading, openSite, press, type Site, signIn } from "../../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

const grouped = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`;
const pathOf = (page: Page) => page.url().slice(site.baseUrl.length);

async function enterCode(page: Page, code: string): Promise<void> {
  if (pathOf(page) !== "/device") await page.goto("/device");
  await page.getByLabel("Code shown on your workstation").fill(code);
  await press(page, "Continue");
}

describe("the link", () => {
  test("leads a signed-out visitor through sign-in and approval to a signed-in workstation", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor();
    const { page } = visitor;

    await page.goto(workstation.link);
    expect(await heading(page)).toBe("Sign in");
    await signIn(page, ADMIN);

    expect(page.url()).toBe(workstation.link);
    expect(await page.getByLabel("Confirmation code").inputValue()).toBe(grouped(workstation.userCode));
    expect(await page.locator("dl").textContent()).toContain("127.0.0.1");
    const permissions = await page.getByRole("listitem").allTextContents();
    expect(permissions).toHaveLength(4);
    expect(permissions.join()).toContain("Administer the service");
    expect(await page.getByText("Deny this request if you did not start it yourself.").isVisible()).toBe(
      true,
    );
    await press(page, "Authorize");

    expect(await heading(page)).toBe("CLI authorized");
    expect(await page.getByText("You can close this page and return to the workstation.").isVisible()).toBe(
      true,
    );
    const { status, body } = await workstation.poll();
    expect([status, body.scope]).toEqual([200, "governance:read session:write client-status:write"]);
    const me = await fetch(`${site.baseUrl}/auth/me`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(await me.json()).toMatchObject({ email: ADMIN, role: "admin" });
  });

  test("WEB-2 approves nothing when it is opened: the workstation keeps waiting", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin });
    await visitor.page.goto(workstation.link);
    expect((await workstation.poll()).body.error).toBe("authorization_pending");
  });

  test("tells the workstation when it is denied, and reloading the confirmation repeats nothing", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin });
    const { page } = visitor;
    await page.goto(workstation.link);
    await press(page, "Deny");
    expect(await heading(page)).toBe("Request denied");
    await page.reload();
    expect(await heading(page)).toBe("Request denied");
    expect(await workstation.poll()).toMatchObject({ status: 400, body: { error: "access_denied" } });
  });

  test("is unavailable after use: in a second tab, by going back, and when opened again", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin });
    const { page, context } = visitor;
    const secondTab = await context.newPage();
    await secondTab.goto(workstation.link);
    await page.goto(workstation.link);
    await press(page, "Authorize");
    await press(secondTab, "Deny");
    expect(await heading(secondTab)).toBe("This link is unavailable");
    await page.goBack();
    expect(await heading(page)).toBe("This link is unavailable");
    await page.goto(workstation.link);
    expect(await heading(page)).toBe("This link is unavailable");
    expect((await workstation.poll()).status).toBe(200);
  });

  test("is unavailable after it has expired, even on a page that was opened in time", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin });
    const { page } = visitor;
    await page.goto(workstation.link);
    await site.expire(workstation);
    await press(page, "Authorize");
    expect(await heading(page)).toBe("This link is unavailable");
    await page.goto(workstation.link);
    expect(await heading(page)).toBe("This link is unavailable");
    expect((await workstation.poll()).body.error).toBe("expired_token");
    await page.getByRole("link", { name: "Enter a code" }).click();
    expect(pathOf(page)).toBe("/device");
  });

  test("shows the same page if it never existed", async () => {
    const used = await site.workstation();
    await site.expire(used);
    await using visitor = await site.visitor({ as: site.admin });
    const { page } = visitor;
    await page.goto(used.link);
    const text = await page.locator("main").textContent();
    await page.goto(`/device/${"A".repeat(43)}`);
    expect(await page.locator("main").textContent()).toBe(text);
  });

  test("offers to return with the other account if another user opened it first", async () => {
    const workstation = await site.workstation();
    const other = await site.member("other@example.com");
    await using first = await site.visitor({ as: other });
    await first.page.goto(workstation.link);
    await using visitor = await site.visitor({ as: await site.member("mistaken@example.com") });
    const { page } = visitor;

    await page.goto(workstation.link);
    expect(await heading(page)).toBe("This request belongs to another account");
    expect(await page.locator("main").textContent()).not.toContain(other.email);
    await press(page, "Sign out");
    await signIn(page, other.email);

    expect(page.url()).toBe(workstation.link);
    await press(page, "Authorize");
    const { body } = await workstation.poll();
    const me = await fetch(`${site.baseUrl}/auth/me`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect((await me.json()).email).toBe(other.email);
  });
});

describe("the typed code", () => {
  test("accepts lower case, spaces and dashes, and leads to the same decision", async () => {
    const workstation = await site.workstation();
    const { userCode } = workstation;
    await using visitor = await site.visitor({ as: site.admin });
    const { page } = visitor;
    await enterCode(page, ` ${userCode.slice(0, 4).toLowerCase()} - ${userCode.slice(4)} `);
    expect(pathOf(page)).toBe("/device/confirm");
    expect(await page.getByLabel("Confirmation code").inputValue()).toBe(grouped(userCode));
    await press(page, "Authorize");
    expect(await heading(page)).toBe("CLI authorized");
    expect((await workstation.poll()).status).toBe(200);
  });

  test("handles reloads and denials like a link", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin });
    const { page } = visitor;
    await enterCode(page, workstation.userCode);
    await page.reload();
    await press(page, "Deny");
    expect((await workstation.poll()).body.error).toBe("access_denied");
  });

  test("is decided according to its own page, even after another tab sent another code", async () => {
    const [first, second] = [await site.workstation(), await site.workstation()];
    await using visitor = await site.visitor({ as: site.admin });
    const { page, context } = visitor;
    await enterCode(page, first.userCode);
    const secondTab = await context.newPage();
    await secondTab.goto("/device");
    await enterCode(secondTab, second.userCode);
    await press(page, "Authorize");
    expect((await first.poll()).status).toBe(200);
    expect((await second.poll()).body.error).toBe("authorization_pending");
    await secondTab.reload();
    expect(await secondTab.getByLabel("Confirmation code").inputValue()).toBe(grouped(second.userCode));
  });

  test("is restored after signing in again, and is unavailable to another account", async () => {
    const workstation = await site.workstation();
    const own = await site.member("owner@example.com");
    await using visitor = await site.visitor({ as: own });
    const { page } = visitor;
    await enterCode(page, workstation.userCode);
    await press(page, "Sign out");
    await signIn(page, (await site.member("next@example.com")).email);
    expect([pathOf(page), await heading(page)]).toEqual(["/device/confirm", "This link is unavailable"]);
    await page.getByRole("link", { name: "Enter a code" }).click();
    await press(page, "Sign out");
    await signIn(page, own.email);
    await page.goto("/device/confirm");
    await press(page, "Authorize");
    expect((await workstation.poll()).status).toBe(200);
  });

  test("is not counted as a guess when a link of another site contains it", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: await site.member("victim@example.com") });
    const { page } = visitor;
    for (const letter of "ABCDEF") {
      await page.goto(`/device/code/${letter.repeat(8)}`);
      expect([pathOf(page), await heading(page)]).toEqual(["/device", "Enter the code"]);
    }
    await enterCode(page, workstation.userCode);
    expect(await heading(page)).toBe("Allow workstation access?");
  });

  test("stays in the form when it is wrong, with the error beside the field and in a focused summary", async () => {
    await using visitor = await site.visitor({ as: await site.member("typist@example.com") });
    const { page } = visitor;
    await enterCode(page, "WRONG-234");
    const field = page.getByLabel("Code shown on your workstation");
    expect(await field.inputValue()).toBe("WRONG-234");
    expect(await page.title()).toStartWith("Error: ");
    const description = (await field.getAttribute("aria-describedby")) ?? "";
    expect(description).toContain("user_code-error");
    const error = (await page.locator("#user_code-error").textContent()) ?? "none";
    const summary = page.getByRole("alert");
    expect(await summary.textContent()).toContain(error);
    expect(await page.locator(":focus").getAttribute("role")).toBe("alert");
    await summary.getByRole("link").click();
    expect(await page.locator(":focus").getAttribute("id")).toBe("user_code");
  });

  test("WEB-3 shows the same page for an expired, a used, a foreign and an unknown login", async () => {
    const [expired, used, foreign] = [
      await site.workstation(),
      await site.workstation(),
      await site.workstation(),
    ];
    await site.expire(expired);
    await using owner = await site.visitor({ as: site.admin });
    await owner.page.goto(used.link);
    await press(owner.page, "Deny");
    await owner.page.goto(foreign.link);
    await using visitor = await site.visitor({ as: await site.member("guesser@example.com") });
    const errors = new Set<string | null>();
    for (const code of [expired.userCode, used.userCode, foreign.userCode, "ABCDEFGH"]) {
      await enterCode(visitor.page, code);
      errors.add(await visitor.page.locator("#user_code-error").textContent());
    }
    expect(errors.size).toBe(1);
  });

  test("WEB-3 has to wait after five wrong guesses, even if the next one is right", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: await site.member("impatient@example.com") });
    const { page } = visitor;
    for (const letter of "ABCDE") {
      await enterCode(page, letter.repeat(8));
      expect(await page.getByRole("alert").textContent()).not.toContain("Too many");
    }
    const refused = page.waitForResponse((response) => response.request().method() === "POST");
    await enterCode(page, workstation.userCode);
    expect((await refused).status()).toBe(429);
    expect(Number((await refused).headers()["retry-after"])).toBeGreaterThan(0);
    expect(await page.getByRole("alert").textContent()).toContain("Too many attempts");
  });
});
