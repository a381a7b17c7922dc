// CON-97: the branding in the console, over the real domain.
import { afterAll, describe, expect, test } from "bun:test";
import { IMAGE_BYTES_MAX } from "../../../src/domain/system/branding-image.ts";
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
  ])("keeps the entered text beside the problem: %p", async (address) => {
    const { status, html } = await save({ logo_url: address });
    expect(status).toBe(400);
    expect(html).toContain(`value="${address}"`);
    expect(html).toContain('id="logo_url-error"');
    expect(html).not.toContain(`src="${address}"`);
  });

  test.each(["images.example.com;sandbox", "images.example.com,default-src", "*", "*.example.com"])(
    "CON-140 adds nothing to the content security policy for the host %p",
    async (host) => {
      const { headers } = await save({ logo_url: `https://${host}/logo.png` });
      expect(headers.get("content-security-policy")).toEndWith("; img-src 'self' data:");
      await save({ logo_url: LOGO });
    },
  );

  test("CON-118 an outdated form overwrites nothing, and shows both values and the author of the change", async () => {
    const [mine, theirs] = ["https://images.example.com/mine.png", "https://images.example.com/theirs.png"];
    const opened = formTo(await browser.visit(PATH), PATH);
    await save({ logo_url: theirs });
    const stale = await browser.submit(opened, { logo_url: mine });
    expect([stale.status, site.domain.branding.get(site.world.organizationId).logoUrl]).toEqual([
      409,
      theirs,
    ]);
    expect(stale.html).toContain(`value="${mine}"`);
    for (const text of [theirs, `${admin.user.email}</bdi> changed the branding`])
      expect(stale.html).toContain(text);
    expect((await browser.submit(formTo(stale, PATH), { logo_url: mine })).status).toBe(200);
    await save({ logo_url: LOGO });
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

  test("is served to everybody with its own policy, and is the logo of the pages", async () => {
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

  test("refuses a logo of more than 256 KiB", async () => {
    expect((await upload(svg.padEnd(IMAGE_BYTES_MAX + 1))).status).toBe(413);
  });
});

describe("CON-97 the form with a file", () => {
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
  const PNG = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000049454e44ae426082";
  const BOMB = PNG.replace("0000000100000001", "0000ffff0000ffff");
  const bytesOf = (text: string) => new TextEncoder().encode(text);

  /** Sends the form as a browser does, with or without a file. */
  async function send(
    kind: "logo" | "icon",
    file: Uint8Array<ArrayBuffer> | undefined,
    fields: Record<string, string> = {},
  ) {
    const { fields: own } = formTo(await browser.visit(PATH), `${PATH}/${kind}`);
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...own, ...fields }))
      if (name !== "file") body.set(name, value);
    body.set("file", new File(file ? [file] : [], file ? "image.svg" : ""));
    const headers = { origin: "null", "sec-fetch-site": "same-origin" };
    const answer = await browser.request(`${PATH}/${kind}`, { method: "POST", body, headers });
    return { status: answer.status, location: answer.headers.get("location"), html: await answer.text() };
  }
  const stored = async (kind: string) => {
    const answer = await site.request("GET", `/branding/${kind}`, {});
    return [
      answer.headers.get("content-type"),
      answer.headers.get("content-security-policy")?.includes("sandbox"),
    ];
  };

  test.each([
    ["logo", bytesOf(SVG), "image/svg+xml"],
    ["icon", Uint8Array.fromHex(PNG), "image/png"],
  ] as const)("keeps the %s and shows it", async (kind, file, type) => {
    expect(await send(kind, file)).toMatchObject({ status: 303, location: PATH });
    expect(await stored(kind)).toEqual([type, true]);
    const { html } = await browser.visit(PATH);
    expect(html).toContain(`The ${kind} is saved.`);
    expect(html).toMatch(new RegExp(`<img[^>]*src="[^"]*/branding/${kind}\\?v=`));
    expect((await site.domain.auditLog.list(site.world.organizationId, {})).items[0]?.action).toBe(
      "branding.update",
    );
  });

  test("CON-118 an outdated form replaces nothing, and shows the author of the change", async () => {
    const { fields } = formTo(await browser.visit(PATH), `${PATH}/logo`);
    await browser.submit(formTo(await browser.visit(PATH), PATH), { logo_url: LOGO });
    const stale = await send("logo", bytesOf(SVG), { version: fields.version ?? "" });
    expect([stale.status, site.domain.branding.get(site.world.organizationId).logoUrl]).toEqual([409, LOGO]);
    expect(stale.html.replaceAll(/<[^>]+>/g, "")).toContain("Your logo was not saved.");
    expect(stale.html).toContain(`${admin.user.email}</bdi> changed the branding`);
    expect((await send("logo", bytesOf(SVG))).status).toBe(303);
  });

  test.each([
    ["HTML", bytesOf("<!doctype html><script>alert(1)</script>"), "must be a PNG or SVG image", 400],
    [
      "an SVG with a script",
      bytesOf(SVG.replace("></", "><script>alert(1)</script></")),
      "must not have scripts",
      400,
    ],
    ["an SVG with an entity", bytesOf(`<!DOCTYPE svg [<!ENTITY a "b">]>${SVG}`), "PNG or SVG image", 400],
    ["too large", bytesOf(SVG.padEnd(IMAGE_BYTES_MAX + 1)), "has more than 256 KiB", 400],
    ["far too large", bytesOf(SVG.padEnd(8 * IMAGE_BYTES_MAX)), "has more than 256 KiB", 413],
    ["a PNG of 65,535 pixels", Uint8Array.fromHex(BOMB), "is 65535 by 65535 pixels", 400],
    ["nothing", undefined, "Choose an image first", 400],
    ["no image", Uint8Array.fromHex("00ff00ff"), "PNG or SVG image", 400],
  ])("shows next to the field why it refuses %s", async (_, file, why, status) => {
    const before = await stored("logo");
    const answer = await send("logo", file);
    expect([answer.status, await stored("logo")]).toEqual([status, before]);
    expect(answer.html).toContain(why);
    expect(answer.html).toContain('id="logo-error"');
    expect(answer.html).not.toContain("<script>alert");
  });

  test("is refused without its token, and to auditors and members", async () => {
    expect((await send("logo", bytesOf(SVG), { csrf: "0" })).status).toBe(403);
    const body = new FormData();
    body.set("file", new File([SVG], "image.svg"));
    const headers = { origin: "null", "sec-fetch-site": "same-origin" };
    const post = (from: typeof browser) => from.request(`${PATH}/logo`, { method: "POST", body, headers });
    expect((await post(auditor)).status).toBe(403);
    expect((await post(consoleBrowser(site, await site.signedIn("member")))).status).toBe(403);
    const stranger = await site.request("POST", `${PATH}/logo`, { body: "x" });
    expect([stranger.status, await stranger.text()]).toEqual([
      401,
      expect.stringContaining("Your session has ended"),
    ]);
  });

  test.each([
    ["text/plain", "x", 415],
    ["multipart/form-data; boundary=b", "no parts at all", 400],
    ["multipart/form-data", "x", 400],
  ])("a body that is not such a form is refused: %s", async (type, body, status) => {
    const headers = { origin: "null", "sec-fetch-site": "same-origin", "content-type": type };
    const answer = await browser.request(`${PATH}/logo`, { method: "POST", body, headers });
    expect(answer.status).toBe(status);
  });
});
