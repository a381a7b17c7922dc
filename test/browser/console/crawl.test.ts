// CON-153: a crawl from the start of the console finds no dead or forbidden link, for each kind of user.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { type Account, openSite, type Site } from "../../support/browser/browser.ts";
import { addManyRows } from "../../support/content/many-rows.ts";
import { seedConsole } from "./scenes.ts";

const AUDITOR = "auditor@example.com";
const ROWS = 100;
/** More pages than a console with these rows has. */
const CRAWL_PAGES_MAX = 10_000;
const LIMIT_MS = 240_000;

let site: Site;
let accounts: Record<"admin" | "member" | "auditor", Account>;
beforeAll(async () => {
  site = await openSite({ consoleAuditors: () => [AUDITOR], hasGateway: true });
  const [member, auditor] = [await site.member("member@example.com"), await site.member(AUDITOR)];
  accounts = { admin: site.admin, member, auditor };
  await seedConsole(site);
  const { file, clock } = site.server.world;
  using connection = openConnection(file, {});
  addManyRows(connection, { count: ROWS, nowMs: clock.nowMs() });
});
afterAll(() => site[Symbol.asyncDispose]());

/**
 * @returns paths of this site that a page links to. From a view of a list with a query, links to other views of the same list are left
 *   out, because their combinations have no end.
 */
async function linksOf(html: string, at: string): Promise<string[]> {
  const links: string[] = [];
  const from = new URL(at, site.baseUrl);
  await new HTMLRewriter()
    .on("a[href]", {
      element(link) {
        const url = new URL((link.getAttribute("href") ?? "").replaceAll("&amp;", "&"), from);
        const isOtherView = from.search !== "" && from.pathname === url.pathname;
        if (url.origin === site.baseUrl && !isOtherView) links.push(url.pathname + url.search);
      },
    })
    .transform(new Response(html))
    .text();
  return links;
}

describe("CON-153 a crawl from the console", () => {
  const find = "as %s finds no dead or forbidden link";
  test.each(["admin", "member", "auditor"] as const)(find, { timeout: LIMIT_MS }, async (who) => {
    const cookie = `${SESSION_COOKIE}=${accounts[who].session}`;
    const seen = new Set(["/console"]);
    const wrong: string[] = [];
    for (const path of seen) {
      if (seen.size > CRAWL_PAGES_MAX) throw new Error(`more than ${CRAWL_PAGES_MAX} pages`);
      const answer = await fetch(`${site.baseUrl}${path}`, { headers: { cookie } });
      if (answer.status >= 400) wrong.push(`${answer.status} ${path}`);
      const isPage =
        answer.headers.get("content-type")?.startsWith("text/html") && path.startsWith("/console");
      if (!isPage) await answer.body?.cancel();
      else for (const link of await linksOf(await answer.text(), path)) seen.add(link);
    }
    expect(wrong).toEqual([]);
    expect(seen.size).toBeGreaterThan(who === "member" ? 1 : 2 * ROWS);
  });
});
