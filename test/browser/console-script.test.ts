// Additions of the script to the pages of the console: regions replaced in place, copy buttons, the reader's time zone,
// keyboard shortcuts, colors.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { SESSION_COOKIE } from "../../src/domain/access/wire.ts";
import { COMPACTED_LENGTH_MIN, compactHtml } from "../../src/server/console/frame/compact-html.ts";
import { heading, openSite, type Site } from "../support/browser/browser.ts";
import { publishFirst } from "../support/content/policy.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

const scripted = () => site.visitor({ javaScriptEnabled: true, as: site.admin, timezoneId: "Europe/Zurich" });

test("CON-21 a filter swaps the list in place, and the address, the title and the way back follow", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto("/console/audit");
  await page.evaluate(() => document.body.setAttribute("data-same-document", ""));
  await page.getByLabel("Actor").fill("nobody");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("No entries match these filters.").waitFor();
  expect(new URL(page.url()).search).toBe("?actor=nobody");
  expect(await page.locator("[data-same-document]").count()).toBe(1);
  await page.goBack();
  await page.getByText("No entries match these filters.").waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("");
  await page.goForward();
  await page.getByRole("link", { name: /Remove filter/ }).click();
  await page.locator("table.rows").waitFor();
  expect(await page.locator("[data-same-document]").count()).toBe(1);
});

test("CON-114 times are in the reader's zone from the second page on", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto("/console/audit");
  expect(await page.locator("td time").first().textContent()).toContain("UTC");
  await page.reload();
  expect(await page.locator("td time").first().textContent()).toMatch(/GMT\+[12]/);
});

test("CON-112 the chosen colors are in the first response, and remain after the visit", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("/console/audit?sort=-at");
  await page.locator(".account-menu summary").click();
  await page.getByRole("button", { name: "Dark", exact: true }).click();
  await page.waitForURL("**/console/audit?sort=-at");
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(29, 32, 36)");
});

test("CON-113 keys lead to pages and rows, and never act inside of fields", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto("/console/audit");
  await page.keyboard.press("j");
  expect(await page.evaluate(() => document.activeElement?.closest("tbody tr")?.id)).toMatch(/^row-/);
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("search");
  await page.keyboard.type("ga");
  expect(new URL(page.url()).pathname).toBe("/console/audit");
  await page.keyboard.press("Tab");
  await page.keyboard.press("g");
  await Promise.all([page.waitForURL("**/console/audit"), page.keyboard.press("a")]);
  expect(await heading(page)).toBe("Audit log");
});

test("CON-113 `e` opens the editor for the content of the page", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await publishFirst(site.server);
  await page.goto("/console/policy");
  await Promise.all([page.waitForURL("**/console/policy/edit"), page.keyboard.press("e")]);
  expect(await heading(page)).toBe("Edit the policy");
});

test("CON-15 the skip link comes first and leads to the content", async () => {
  await using visitor = await site.visitor({ as: site.admin });
  const { page } = visitor;
  await page.goto("/console/audit");
  await page.keyboard.press("Tab");
  expect(await page.locator(":focus").textContent()).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
});

test("CON-23 each value of a card has the label of its column if the script is off", async () => {
  await using visitor = await site.visitor({ as: site.admin });
  const { page } = visitor;
  await page.setViewportSize({ width: 375, height: 720 });
  for (const path of ["/console/audit", "/console/audit?columns=-actor,-target", "/console/logins"]) {
    await page.goto(path);
    const labels = await page
      .locator("tbody tr:first-child td")
      .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, "::before").content));
    const headings = await page.locator("thead th").allTextContents();
    expect([path, labels]).toEqual([path, headings.map((text) => `"${text}: "`)]);
  }
});

test("CON-17 the buttons copy the shown command, and the whole id of a shortened revision", async () => {
  await using visitor = await scripted();
  const { page } = visitor;
  await page.goto("/console/users?status=active");
  await page.evaluate(() => {
    const writeText = (text: string) => Promise.resolve(document.body.setAttribute("data-copied", text));
    Object.defineProperty(navigator, "clipboard", { value: { writeText } });
  });
  const copied = () => page.locator("body").getAttribute("data-copied");
  await page.locator(".list-foot .as-command summary").last().click();
  await page.getByRole("button", { name: "Copy command" }).last().click();
  expect(await copied()).toBe("quartermaster users list --status active");
  await page.getByRole("button", { name: "Copy revision id" }).click();
  expect(await copied()).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
});

test("CON-133 browsers build the same document from the shortened markup of a long page", async () => {
  await using visitor = await site.visitor({ javaScriptEnabled: true });
  const headers = { cookie: `${SESSION_COOKIE}=${site.admin.session}` };
  for (const path of ["/console/users", "/console/clients", "/console/audit"]) {
    const html = await (await fetch(`${site.baseUrl}${path}`, { headers })).text();
    const long = `${html}<!--${" ".repeat(COMPACTED_LENGTH_MIN)}-->`;
    const short = compactHtml(long, path);
    expect(short.length).toBeLessThan(long.length);
    const isSame = await visitor.page.evaluate(
      ([one = "", other = "", address = ""]) => {
        const [first, second] = [one, other].map((text) =>
          new DOMParser().parseFromString(text, "text/html"),
        );
        for (const page of [first, second])
          for (const link of page?.querySelectorAll("a") ?? [])
            link.href = new URL(link.getAttribute("href") ?? "", address).href;
        return first?.isEqualNode(second ?? null);
      },
      [long, short, `${site.baseUrl}${path}`],
    );
    expect([path, isSame]).toEqual([path, true]);
  }
});
