// CON-153: a crawl from the start of the console finds no dead or forbidden link, for each kind of user.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import { type Account, openSite, type Site } from "../../support/browser/browser.ts";
import { seedConsole } from "./scenes.ts";

const AUDITOR = "auditor@example.com";
/** More pages than a console with a few rows has. */
const CRAWL_PAGES_MAX = 400;

let site: Site;
let accounts: Record<"admin" | "member" | "auditor", Account>;
beforeAll(async () => {
  site = await openSite({ consoleAuditors: () => [AUDITOR], hasGateway: true });
  const [member, auditor] = [await site.member("member@example.com"), await site.member(AUDITOR)];
  accounts = { admin: site.admin, member, auditor };
  await seedConsole(site);
});
afterAll(() => site[Symbol.asyncDispose]());

/** @returns paths of this site that a page links to */
async function linksOf(html: string, at: string): Promise<string[]> {
  const links: string[] = [];
  await new HTMLRewriter()
    .on("a[href]", {
      element(link) {
        const url = new URL(link.getAttribute("href") ?? "", `${site.baseUrl}${at}`);
        if (url.origin === site.baseUrl) links.push(url.pathname + url.search);
      },
    })
    .transform(new Response(html))
    .text();
  return links;
}

describe("CON-153 a crawl from the console", () => {
  test.each(["admin", "member", "auditor"] as const)("as %s finds no dead or forbidden link", async (who) => {
    const cookie = `${SESSION_COOKIE}=${accounts[who].session}`;
    const seen = new Set(["/console"]);
    const wrong: string[] = [];
    for (const path of seen) {
      if (seen.size > CRAWL_PAGES_MAX) break;
      const answer = await fetch(`${site.baseUrl}${path}`, { headers: { cookie } });
      if (answer.status >= 400) wrong.push(`${answer.status} ${path}`);
      const isPage =
        answer.headers.get("content-type")?.startsWith("text/html") && path.startsWith("/console");
      if (!isPage) await answer.body?.cancel();
      else for (const link of await linksOf(await answer.text(), path)) seen.add(link);
    }
    expect(wrong).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
  });
});
