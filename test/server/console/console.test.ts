// The frame of the console over the real domain: who may open pages, headers, forms of another session, and files of the browser.
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { bundledPackages } from "../../../src/app/release/bundled-packages.ts";
import {
  assetNames,
  consoleScriptPath,
  editorScriptPath,
} from "../../../src/server/console/assets/assets.ts";
import { visibleText } from "../../../src/server/console/parts/texts.ts";
import { type Caller, createTestServer } from "../../support/server.ts";

const ROOT = join(import.meta.dir, "../../..");
const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const member = await site.signedIn("member");
const auditor = await site.signedIn("member", { email: "auditor@example.com" });

/** Paths that members may open; all other pages of the console are for administrators. */
const ANYBODY = /^\/console(?:$|\/(?:me|sessions|theme|help)(?:\/|$|\.))/;

const pages = (await site.server.allRoutes()).filter(
  ({ method, path }) => method === "GET" && path.startsWith("/console"),
);
const statusOf = async (path: string, cookie?: string): Promise<number> => {
  const answer = await site.request("GET", path, { ...(cookie && { cookie }) });
  await answer.body?.cancel();
  return answer.status;
};

const token = (html: string): string => /name="csrf" value="(\w+)"/.exec(html)?.[1] ?? "";
const markOf = ({ user }: Caller): string => site.domain.access.formOwners.mark(user.id);
const post = (cookie: string, fields: Record<string, string>) =>
  site.request("POST", "/console/theme", {
    cookie,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  });

describe("CON-12 every page of the console", () => {
  test("CON-13 redirects an unauthenticated reader to the sign-in page and back to the same address", async () => {
    expect(pages.length).toBeGreaterThan(0);
    for (const { path } of pages) {
      const input = `${path.replaceAll(/:\w+/g, "x")}?q=a%20b&page=2`;
      const answer = await site.request("GET", input, {});
      expect([path, answer.status]).toEqual([path, 303]);
      expect(answer.headers.get("location")).toBe(`/login?callbackURL=${encodeURIComponent(input)}`);
    }
  });

  test("is refused to members unless it is about themselves", async () => {
    for (const { path } of pages.filter((page) => !ANYBODY.test(page.path)))
      expect([path, await statusOf(path.replaceAll(/:\w+/g, "x"), member.cookie)]).toEqual([path, 403]);
  });

  test("CON-117 shows parts of its address without control and direction characters", async () => {
    const names = ["q", "kind", "role", "state", "harness", "user", "actor", "id", "revision", "from", "to"];
    const query = new URLSearchParams(names.map((name) => [name, "a\u001b[2J\u202eb"])).toString();
    for (const { path } of pages) {
      const answer = await site.request("GET", `${path.replaceAll(/:\w+/g, "%1b%E2%80%AE")}?${query}`, {
        cookie: admin.cookie,
      });
      const html = answer.headers.get("content-type")?.startsWith("text/html") ? await answer.text() : "";
      const text = html.replaceAll(/="[^"]*"/g, "");
      expect([path, visibleText(text) === text]).toEqual([path, true]);
    }
  });

  test("CON-72 is read by administrators and auditors, but auditors get no confirmations of changes", async () => {
    const refused: string[] = [];
    for (const { path } of pages) {
      const opened = path.replaceAll(/:\w+/g, "x");
      const answer = await site.request("GET", opened, { cookie: admin.cookie });
      expect([403, 500]).not.toContain(answer.status);
      const isPage = answer.headers.get("content-type")?.startsWith("text/html") ?? false;
      if (!isPage) await answer.body?.cancel();
      const isQuestion = isPage && (await answer.text()).includes('class="confirmation"');
      const status = await statusOf(opened, auditor.cookie);
      expect(status).not.toBe(500);
      expect([path, status === 403]).toEqual([path, isQuestion && !ANYBODY.test(path)]);
      if (status === 403) refused.push(path);
    }
    expect(refused).toContain("/console/logins/end-all");
  });
});

test("CON-140 CON-149 a page has the policy with one trusted type, and is never stored", async () => {
  const { headers } = await site.request("GET", "/console/audit", { cookie: admin.cookie });
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types quartermaster; img-src 'self' data:",
  );
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test("CON-139 a page is compressed for browsers that ask, and has the same content", async () => {
  const ask = (encoding: string) =>
    site.request("GET", "/console/audit", { cookie: admin.cookie, headers: { "accept-encoding": encoding } });
  const [plain, packed] = [await ask("identity"), await ask("gzip, br")];
  expect([plain.headers.get("content-encoding"), packed.headers.get("content-encoding")]).toEqual([
    null,
    "gzip",
  ]);
  const unpacked = Buffer.from(Bun.gunzipSync(await packed.bytes())).toString();
  const masked = (html: string) => html.replaceAll(/[\da-f]{128}|[\w-]{22}\.[\w-]{43}/g, "token");
  expect(masked(unpacked)).toBe(masked(await plain.text()));
});

test("CON-143 the token of a form has a new mask on every page, and each mask is accepted", async () => {
  const tokens = await Promise.all(
    [1, 2].map(async () =>
      token(await (await site.request("GET", "/console/audit", { cookie: admin.cookie })).text()),
    ),
  );
  expect(new Set(tokens).size).toBe(2);
  for (const csrf of tokens) expect((await post(admin.cookie, { csrf, theme: "dark" })).status).toBe(303);
});

describe("CON-119 a form", () => {
  test("keeps the entered values after the session ended, except secrets", async () => {
    const answer = await post("", { theme: "dark", next: "/console/audit", password: "hunter2", csrf: "x" });
    const html = await answer.text();
    expect(answer.status).toBe(401);
    expect(html).toContain('name="theme" value="dark"');
    expect(html).not.toContain("hunter2");
  });

  test("asks the same person for confirmation after a form of an earlier session", async () => {
    const answer = await post(member.cookie, { theme: "dark", csrf: "0", by: markOf(member) });
    const html = await answer.text();
    expect([answer.status, html.includes('name="theme" value="dark"')]).toEqual([403, true]);
    expect((await post(member.cookie, { theme: "dark", csrf: token(html) })).status).toBe(303);
  });

  test("shows no values of another person", async () => {
    const answer = await post(member.cookie, { theme: "their choice", csrf: "0", by: markOf(admin) });
    expect([answer.status, (await answer.text()).includes("their choice")]).toEqual([403, false]);
  });
});

describe("CON-8 the browser's files", () => {
  test("sends the files compressed and immutable, and answers 304", async () => {
    const ask = (headers: Record<string, string>) => site.request("GET", consoleScriptPath, { headers });
    const packed = await ask({ "accept-encoding": "gzip, br" });
    const etag = packed.headers.get("etag") ?? "";
    expect(packed.headers.get("content-encoding")).toBe("br");
    expect(packed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(packed.headers.get("vary")).toBe("accept-encoding");
    expect(etag).toMatch(/^"[\w-]+"$/);
    const plain = await ask({ "accept-encoding": "br;q=0" });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(Buffer.from(brotliDecompressSync(await packed.bytes()))).toEqual(Buffer.from(await plain.bytes()));
    const again = await ask({ "accept-encoding": "br", "if-none-match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("CON-10 answers 404 without an error page for files of another version", async () => {
    expect(await statusOf("/assets/console/main-0000.js")).toBe(404);
  });

  test("CON-134 CON-135 CON-136 stay within 20 KB of script, 150 KB of editor and 12 KB of style", async () => {
    for (const name of assetNames) {
      const answer = await site.request("GET", `/assets/console/${name}`, {
        headers: { "accept-encoding": "br" },
      });
      const bytesMax = name.endsWith(".css") ? 12_288 : name.startsWith("editor-") ? 153_600 : 20_480;
      expect((await answer.bytes()).length).toBeLessThan(bytesMax);
    }
  });

  test("CON-4 CON-6 the editor has neither the old package nor a parser", async () => {
    const entries = ["src/server/console/browser/editor/editor.ts"];
    const packages = await bundledPackages(ROOT, [{ target: "browser", entries }]);
    const names = packages.map(({ name }) => name);
    expect(names).toContain("@codemirror/view");
    expect(names).not.toContain("codemirror");
    expect(names).not.toContain("yaml");
  });

  test("CON-135 pages without an editor do not load it", async () => {
    const page = async (path: string) => (await site.request("GET", path, { cookie: admin.cookie })).text();
    expect(await page("/console/audit")).not.toContain(editorScriptPath);
    expect(await page("/console/policy/edit")).toContain(editorScriptPath);
  });

  test("CON-141 contain no way around the policy", async () => {
    const script = await (await site.request("GET", consoleScriptPath, {})).text();
    expect(script).not.toMatch(/\beval\(|new Function\(|document\.write/);
  });
});

test("CON-3 an installation without a console has none of its routes", async () => {
  await using without = await createTestServer({ hasConsole: false });
  expect((await without.server.allRoutes()).filter(({ path }) => path.startsWith("/console"))).toEqual([]);
});
