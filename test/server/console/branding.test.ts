// CON-97: the branding in the console, over the real domain.
import { afterAll, describe, expect, test } from "bun:test";
import { LOGO_BYTES_MAX } from "../../../src/domain/system/logo.ts";
import { consoleBrowser } from "../../support/browser/console-browser.ts";
import { formTo } from "../../support/browser/form-browser.ts";
import { createTestServer } from "../../support/server.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const browser = consoleBrowser(site, admin);
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

describe("CON-97 an uploaded logo", () => {
  const svg =
    '<?xml version="1.0"?><!-- ours --><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>';
  const upload = (body: string, token = admin.accessToken) =>
    site.request("PUT", "/admin/branding/logo", { token, body: Buffer.from(body) });

  test("is refused if it is HTML, and nothing is stored", async () => {
    const answer = await upload("<!doctype html><html><script>alert(1)</script></html>");
    expect([answer.status, (await answer.json()).reason]).toEqual([400, "branding.invalid_logo"]);
    expect((await site.request("GET", "/branding/logo", {})).status).toBe(404);
  });

  test("is served to everybody with a policy of its own, and is the logo of the pages", async () => {
    const saved = await (await upload(svg)).json();
    expect(saved.logo_url).toMatch(/^https:\/\/control\.example\.com\/branding\/logo\?v=[0-9a-f]{12}$/);
    const answer = await site.request("GET", "/branding/logo", {});
    expect(answer.headers.get("content-type")).toBe("image/svg+xml");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await answer.text()).toBe(svg);
    const etag = answer.headers.get("etag") ?? "";
    const again = await site.request("GET", "/branding/logo", { headers: { "if-none-match": etag } });
    expect([again.status, again.headers.get("content-security-policy") !== null]).toEqual([304, true]);
    expect((await browser.visit(PATH)).html).toContain(saved.logo_url);
  });

  test("of more than 256 KiB is refused", async () => {
    expect((await upload(svg.padEnd(LOGO_BYTES_MAX + 1))).status).toBe(413);
  });
});
