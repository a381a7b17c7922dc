// CON-18: the search page, which the palette shows, and its JSON counterpart, over the real domain. The page of keys.
import { afterAll, describe, expect, test } from "bun:test";
import { SEARCH_LENGTH_MAX } from "../../../../src/domain/shared/page.ts";
import { runInTurnsUntil } from "../../../../src/platform/steps.ts";
import { createSearch, HITS_MAX, SEARCH_KINDS } from "../../../../src/server/search/search.ts";
import { SEARCH_LIMIT } from "../../../../src/server/search/search-budget.ts";
import { createClientsWorld } from "../../../domain/clients/clients-world.ts";

const HOSTILE = `<script>alert("x")</script>\u202E`;

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
const { domain } = site;
const admin = await site.signedIn("admin", { email: "root@example.com" });
const member = await site.signedIn("member");
const { organizationId } = admin.actor;

/** A busy machine may need several requests until a search ends within SEARCH_MS. */
const page = async (q: string | undefined, { cookie } = admin) => {
  const query = q === undefined ? "" : `?${new URLSearchParams({ q })}`;
  for (let left = 100; ; left -= 1) {
    const answer = await site.request("GET", `/console/search${query}`, { cookie });
    const html = await answer.text();
    if (left === 0 || !html.includes("the search was not finished")) return { status: answer.status, html };
  }
};
const api = async (q: string) => {
  const path = `/admin/search?${new URLSearchParams({ q })}`;
  const answer = await site.request("GET", path, { cookie: admin.cookie });
  return { status: answer.status, body: await answer.json() };
};
/** Asks again like `page`. */
const found = async (q: string): Promise<string[]> => {
  for (let left = 100; ; left -= 1) {
    const { items, unfinished } = (await api(q)).body;
    if (left === 0 || unfinished.length === 0)
      return items.map(({ kind, label }: { kind: string; label: string }) => `${kind} ${label}`);
  }
};

const revision = await site.publish();
for (let at = 0; at <= HITS_MAX; at += 1)
  await site.report({
    instance_id: `lab-${at}`,
    hostname: `lab-${at}.example.org`,
    config_revision: revision,
  });
await site.report({ instance_id: "x", hostname: HOSTILE, config_revision: revision });

describe("CON-18 the search", () => {
  test("finds users, workstations, revisions and audit entries, and at most 5 of a kind", async () => {
    expect(await found("ROOT@example")).toEqual(["user root@example.com"]);
    expect(await found("lab-3")).toEqual(["workstation lab-3.example.org"]);
    expect(await found("lab-")).toHaveLength(HITS_MAX);
    expect(await found("r1")).toContain("revision r1");
    expect(await found(revision.slice(0, 20))).toContain("revision r1");
    expect(await found("1")).toEqual(expect.arrayContaining(["revision r1", "audit_entry Entry 1"]));
    expect(await found("%")).toEqual([]);
    expect(await found("  ")).toEqual([]);
  });

  test("names bad texts, on the page beside the field", async () => {
    for (const bad of ["\0", "x".repeat(SEARCH_LENGTH_MAX + 1)]) {
      expect((await api(bad)).status).toBe(400);
      const { status, html } = await page(bad);
      expect([status, html.includes('id="search-problem"')]).toEqual([400, true]);
    }
    expect((await api("x".repeat(SEARCH_LENGTH_MAX))).status).toBe(200);
  });

  test("gives up in time and names the unfinished parts", async () => {
    const endless = {
      *listInSteps() {
        for (;;) yield;
      },
    };
    const search = createSearch({
      ...domain,
      identity: { users: Object.assign(Object.create(domain.identity.users), endless) },
    });
    const { unfinished } = await search(organizationId, "lab-");
    expect(unfinished[0]).toBe("user");
    expect(SEARCH_KINDS).toContain("user");
  });

  test("is for administrators", async () => {
    expect((await site.request("GET", "/admin/search?q=a", { cookie: member.cookie })).status).toBe(403);
  });
});

describe("CON-147 the budget of searches", () => {
  const { burst, perSecond } = SEARCH_LIMIT;

  test("is kind, one for each user, and shared by the page, the API and lists that are offered while typing", async () => {
    const other = await site.signedIn("admin", { email: "typing@example.com" });
    const typed = async (path: string, body?: object) => {
      const sent = { token: other.accessToken, ...(body && { body }) };
      return (await site.request(body ? "POST" : "GET", path, sent)).status;
    };
    for (let at = 1; at < burst; at += 1) expect(await typed("/admin/search?q=")).toBe(200);
    expect(await typed("/admin/users/options", { q: "none" })).toBe(200);
    expect(await typed("/admin/users/options", { q: "none" })).toBe(429);
    expect(await typed("/admin/search?q=a")).toBe(429);
    const shown = await page("a", other);
    expect([
      shown.status,
      shown.html.includes("too many searches") || shown.html.includes("Too many searches"),
    ]).toEqual([429, true]);
    expect((await api("a")).status).toBe(200);
    site.world.clock.advance(1_000 / perSecond);
    expect([await typed("/admin/search?q="), await typed("/admin/search?q=")]).toEqual([200, 429]);
  });
});

describe("CON-18 the page of the search", () => {
  test("has pages and actions, all pages for a blank text, and links to the results", async () => {
    expect((await page("audit verify")).html).toContain(">Verify the audit log</a>");
    expect((await page(undefined)).html).toContain('<a href="/console/clients">Workstations</a>');
    const { html } = await page("lab-2");
    expect(html).toMatch(
      /<div id="results".*href="\/console\/clients\/[\da-f-]{36}"><bdi>lab-2\.example\.org/s,
    );
  });

  test("says that nothing was found, and shows everything as text", async () => {
    expect((await page("no such thing")).html).toContain("Nothing has <bdi>no such thing</bdi> in its name");
    const { html } = await page("<script>alert");
    expect(html).toContain("&lt;script>alert(");
    expect(html).not.toContain("<script>alert");
  });
});

test("work in steps ends with its result or at its time", async () => {
  const count = function* () {
    yield;
    return 2;
  };
  expect(await runInTurnsUntil(count(), performance.now() + 1_000)).toBe(2);
});

test("CON-113 the page of keys lists them for members too, with a switch that the script shows", async () => {
  const { cookie } = member;
  const html = await (await site.request("GET", "/console/help/keys", { cookie })).text();
  expect(html).toContain("<kbd>g m</kbd>");
  expect(html).not.toContain("<kbd>g u</kbd>");
  expect(html).toContain("data-keys-switch");
});
