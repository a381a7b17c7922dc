// CON-97: the branding in the console, over the real domain.
import { afterAll, describe, expect, test } from "bun:test";
import { consoleBrowser } from "../../support/browser/console-browser.ts";
import { formTo } from "../../support/browser/form-browser.ts";
import { createTestServer } from "../../support/server.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const browser = consoleBrowser(site, await site.signedIn("admin"));
const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));
const PATH = "/console/branding";
const LOGO = "https://images.example.com/logo.png";

describe("CON-97 the branding", () => {
  const save = async (fields: Record<string, string>) =>
    browser.submit(formTo(await browser.visit(PATH), PATH), fields);

  test("is saved and shown on light and on dark, and only the origin of the logo is allowed", async () => {
    expect((await browser.visit(PATH)).html).toContain("no logo of its own");
    const { html, headers } = await save({ logo_url: LOGO, favicon_url: "" });
    expect(html).toContain("The branding is saved.");
    expect(html.match(/class="preview"/g)).toHaveLength(2);
    expect(headers.get("content-security-policy")).toContain(
      "img-src 'self' data: https://images.example.com",
    );
  });

  test.each([
    "javascript:alert(1)",
    "http://images.example.com/x.png",
    `https://a.example/${"x".repeat(2_048)}`,
  ])("keeps what was entered beside the problem: %p", async (address) => {
    const { status, html } = await save({ logo_url: address });
    expect(status).toBe(400);
    expect(html).toContain(`value="${address}"`);
    expect(html).toContain('id="logo_url-error"');
    expect(html).not.toContain(`src="${address}"`);
  });

  test("is read by auditors, who get no form", async () => {
    const { html, forms } = await auditor.visit(PATH);
    expect(html).toContain(LOGO);
    expect(forms.map(({ action }) => action)).not.toContain(PATH);
  });
});
