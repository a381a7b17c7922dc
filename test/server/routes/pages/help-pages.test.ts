// The handbook over HTTP: public, without a script, cached by browsers, and the same text that commands print.
import { afterAll, describe, expect, test } from "bun:test";
import { CHAPTERS } from "../../../../src/handbook/contents.ts";
import { contentSecurityPolicy } from "../../../../src/server/pages/assets.ts";
import { NAME_CHARACTERS_MAX } from "../../../../src/server/routes/pages/help-pages.ts";
import { createTestServer } from "../../../support/server.ts";

const server = await createTestServer();
afterAll(() => server[Symbol.asyncDispose]());

describe("the handbook", () => {
  test("lists every chapter to a caller without a credential", async () => {
    const response = await server.request("GET", "/help");
    const html = await response.text();
    expect(response.status).toBe(200);
    for (const { name, title } of CHAPTERS) expect(html).toContain(`<a href="/help/${name}">${title}</a>`);
  });

  test.each(CHAPTERS)(
    "shows $name under the content security policy of pages, without scripts and with working links",
    async ({ name, title }) => {
      const response = await server.request("GET", `/help/${name}`);
      const html = await response.text();
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("content-security-policy")).toBe(contentSecurityPolicy);
      expect(html).toContain(`<h1>${title}</h1>`);
      expect(html).not.toMatch(/<script|\sstyle=|\son\w+=|<!--/);
      const links = [...html.matchAll(/<a href="(\/help[^"#]*)/g)].map(([, path = ""]) => path);
      const paths = ["/help", ...CHAPTERS.map((chapter) => `/help/${chapter.name}`)];
      expect(links.filter((path) => !paths.includes(path))).toEqual([]);
    },
  );

  test("is not sent again to a browser that has it", async () => {
    const first = await server.request("GET", "/help/backups");
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    const second = await server.request("GET", "/help/backups", { headers });
    expect([first.headers.get("cache-control"), second.status, await second.text()]).toEqual([
      "no-cache",
      304,
      "",
    ]);
  });

  test.each([
    [-1, 404],
    [0, 404],
    [1, 400],
  ])("answers a name of %i characters more than the limit with %i", async (step, status) => {
    const response = await server.request("GET", `/help/${"x".repeat(NAME_CHARACTERS_MAX + step)}`);
    expect(response.status).toBe(status);
  });

  test("answers an unknown chapter with a page, even if its name is a topic or an object member", async () => {
    for (const name of ["nothing", "bundles", "constructor"]) {
      const response = await server.request("GET", `/help/${name}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        404,
        "text/html; charset=utf-8",
      ]);
    }
  });
});
