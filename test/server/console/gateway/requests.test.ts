// CON-79: the requests to the gateway in the console, with their figures.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { NUMBERS_SHOWN_MAX } from "../../../../src/server/console/gateway/request-curves.tsx";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";
import { rowOf, until } from "../../../support/inference/request-rows.ts";
import { createTestServer } from "../../../support/server.ts";
import { START_MS } from "../../../support/world.ts";

const REQUESTS = "/console/gateway/requests";
const HOSTILE = `<script>"'\u0000\u202e${"\u0301".repeat(500)}${"x".repeat(500)}`;

const site = await createGatewayServer();
afterAll(() => site[Symbol.asyncDispose]());
site.world.clock.set(START_MS + DAY_MS);
const admin = await site.signedIn("admin", { email: "root@example.com" });
const browser = consoleBrowser(site, admin);
const ana = await site.signedIn("member", { email: "ana@example.com" });

beforeAll(async () => {
  expect((await browser.visit(REQUESTS)).html).toContain("No request was recorded yet.");
  const rows = [
    rowOf(1, { model: HOSTILE, repository: HOSTILE, harness: HOSTILE }),
    rowOf(2, { httpStatus: 429, outcome: "refused", refusal: "inference.budget" }),
    rowOf(3, { httpStatus: null, outcome: "upstream_closed", userId: crypto.randomUUID() }),
    rowOf(4, { outcome: null, httpStatus: null, model: null }),
    ...Array.from({ length: 30 }, (_, at) => rowOf(10 + at, { model: "gpt-6" })),
  ];
  const { id: userId, organizationId } = ana.user;
  for (const row of rows)
    site.requestLog.add({ ...row, organizationId, userId: row.id === rowOf(3).id ? row.userId : userId });
  await until(async () => (await site.domain.requestLogs.list({})).total === rows.length);
});

describe("CON-79 the page of requests", () => {
  test("has totals, curves with their numbers as a table, models, users and rows", async () => {
    const { html, status } = await browser.visit(`${REQUESTS}?per_page=50`);
    expect(status).toBe(200);
    for (const text of [
      "34</span> requests",
      'role="img" aria-label="Requests per day; the highest value is 33.',
      "The numbers as a table",
      `href="${REQUESTS}?per_page=50&amp;model=gpt-6"`,
      `href="${REQUESTS}?per_page=50&amp;user=ana%40example.com"`,
      "a removed user",
      "Refused here",
      "inference.budget",
      "Running",
      "quartermaster gateway logs summary",
      "GET /gateway/request-logs/summary",
    ])
      expect(html).toContain(text);
    expect(html).not.toContain('<th scope="col">Repository');
  });

  test("shows texts of workstations as text", async () => {
    const { html } = await browser.visit(`${REQUESTS}?columns=${encodeURIComponent("+repository")}&page=2`);
    expect(html).toContain('<th scope="col">Repository');
    expect(html).toContain("&lt;script>");
    expect(html).toContain("[U+202E]");
    expect(html).not.toMatch(/<script>"|\u202e|\u0301{9}/);
  });

  test("follows its filters, in the figures too", async () => {
    const { html } = await browser.visit(`${REQUESTS}?model=gpt-6&user=ANA@example.com&bucket=hour`);
    expect(html).toContain("30</span> requests");
    expect(html).toContain("Requests per hour; the highest value is 30.");
    expect(html).toContain(`quartermaster gateway logs list --user ${ana.user.id} --model gpt-6`);
    expect((await browser.visit(`${REQUESTS}?q=nowhere`)).html).toContain("No requests match these filters.");
  });

  test("CON-17 CON-114 has days of the reader's zone, and the commands and the requests have their times", async () => {
    const zoned = consoleBrowser(site, admin);
    zoned.cookies.set("quartermaster_zone", "America/New_York");
    const query = `${REQUESTS}?model=gpt-6&occurred_from=2020-01-01`;
    const other = await zoned.visit(query);
    expect(other.html).toContain("Day in America/New_York");
    for (const verb of ["list", "summary"])
      expect(other.html).toContain(`gateway logs ${verb} --model gpt-6 --from 2020-01-01T05:00:00.000Z`);
    const sent = "/gateway/request-logs?model=gpt-6&occurred_from=2020-01-01T05%3A00%3A00.000Z";
    expect(other.html).toContain(`GET ${sent.replace("&", "&amp;")}`);
    expect((await site.request("GET", sent, { cookie: admin.cookie })).status).toBe(200);
    expect((await zoned.visit(`${REQUESTS}?model=gpt-6`)).html).toContain("gateway logs list --model gpt-6");
    expect((await browser.visit(query)).html).toContain("gateway logs list --model gpt-6 --from 2020-01-01");
  });

  test("CON-22 names bad values of the address beside their filters", async () => {
    const bad = "user=x&result=x&outcome=x&bucket=week&min_tokens=x&occurred_from=x&per_page=7000";
    const { status, html } = await browser.visit(`${REQUESTS}?${bad}`);
    expect([status, html.includes("<tbody>")]).toEqual([400, false]);
    for (const name of ["user", "result", "outcome", "min_tokens", "occurred_from", "per_page"])
      expect(html).toContain(`href="#filter-${name}"`);
    expect((await browser.visit(`${REQUESTS}?bucket=week`)).html).toContain('href="#filter-bucket"');
  });

  test("redirects from a page after the end to the last page", async () => {
    expect((await browser.visit(`${REQUESTS}?page=99`)).path).toBe(`${REQUESTS}?page=2`);
  });

  test("CON-24 is exported with every column, and the export is recorded", async () => {
    const { html } = await browser.visit(`${REQUESTS}.csv?model=gpt-6`);
    expect(html.split("\r\n")).toHaveLength(32);
    expect(html).toStartWith("at,user,model,agent,result,latency_ms,");
    const [entry] = site.domain.auditLog.listByKey(ana.user.organizationId, { limit: 1 }).items;
    expect(entry).toMatchObject({ action: "list.export", target: "requests" });
    expect((await browser.visit(`${REQUESTS}.csv?result=x`)).status).toBe(400);
  });

  test("CON-12 is for administrators, and without gateway mode it names the setting", async () => {
    expect((await consoleBrowser(site, ana).visit(REQUESTS)).status).toBe(403);
    await using off = await createTestServer();
    const { status, html } = await consoleBrowser(off, await off.signedIn("admin")).visit(REQUESTS);
    expect([status, html.includes("gateway.type")]).toEqual([404, true]);
  });
});

describe("the numbers of hours", () => {
  const MOST = 380;
  beforeAll(async () => {
    const { id: userId, organizationId } = ana.user;
    for (const [group, hours] of [
      NUMBERS_SHOWN_MAX - 1,
      NUMBERS_SHOWN_MAX,
      NUMBERS_SHOWN_MAX + 1,
      MOST,
    ].entries())
      for (let hour = 0; hour < hours; hour++)
        site.requestLog.add({
          ...rowOf(1_000 + group * MOST + hour, { model: `hours-${hours}` }),
          organizationId,
          userId,
          occurredAtMs: START_MS + DAY_MS - hour * HOUR_MS,
        });
    await until(async () => (await site.domain.requestLogs.list({ model: `hours-${MOST}` })).total === MOST);
  });
  const visit = async (hours: number, more = "") => {
    const query = `bucket=hour&per_page=100&model=hours-${hours}&occurred_from=2025-12-17${more}`;
    const { status, html } = await browser.visit(`${REQUESTS}?${query}`);
    expect(status).toBe(200);
    return html;
  };
  const rowsIn = (html: string) => html.split(/<th scope="?row"?>/).length - 1;

  test.each([
    [NUMBERS_SHOWN_MAX - 1, NUMBERS_SHOWN_MAX - 1, false],
    [NUMBERS_SHOWN_MAX, NUMBERS_SHOWN_MAX, false],
    [NUMBERS_SHOWN_MAX + 1, NUMBERS_SHOWN_MAX, true],
  ])("%d: %d are shown", async (hours, shown, hasMore) => {
    const html = await visit(hours);
    expect([rowsIn(html), html.includes(`These are the last ${shown}.`)]).toEqual([shown, hasMore]);
  });

  test("all are shown on request, and CON-133 without it the page stays within its budget", async () => {
    expect(rowsIn(await visit(MOST, "&numbers=all"))).toBe(MOST);
    const html = await visit(MOST);
    expect(html).toContain(`Show all ${MOST}`);
    expect(html.length).toBeLessThan(60 * 1024);
  });
});
