// The workstations in the console: the list with its filters, pages and export, and the page of one workstation.
import { afterAll, describe, expect, test } from "bun:test";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { STALE_AFTER_DAYS } from "../../../../src/domain/clients/limits.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { COMPARED_ROWS_MAX, comparisonOf } from "../../../../src/server/console/workstations/comparison.ts";
import { remedyOf } from "../../../../src/server/console/workstations/words.ts";
import { createClientsWorld } from "../../../domain/clients/clients-world.ts";
import { reportedHarness, reportedPackage, reportWith } from "../../../domain/clients/policies.ts";

const HOSTILE = `<script>alert("x")</script>\u202E\u0000${"e\u0301\u0301".repeat(20)}`;

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
let admin = await site.signedIn("admin");

const get = (path: string) => site.request("GET", path, { cookie: admin.cookie });
const shown = async (path: string) => {
  const answer = await get(path);
  return { status: answer.status, html: await answer.text() };
};
/** @returns the hosts of the rows, in order */
const hostsAt = async (query: string): Promise<string[]> =>
  [
    ...(await shown(`/console/clients?${query}`)).html.matchAll(
      /<a href="\/console\/clients\/[\w-]+"><bdi>([^<]*)/g,
    ),
  ].map(([, host = ""]) => host);

const { html: emptyList } = await shown("/console/clients");
const former = await site.publish();
await site.report({ instance_id: "old", hostname: "lab-09", config_revision: former });
site.world.clock.advance((STALE_AFTER_DAYS + 1) * DAY_MS);
admin = await site.signInAgain(admin.user);
const current = await site.publish();
await site.report({
  instance_id: "a",
  hostname: "lab-14",
  config_revision: current,
  client_version: "0.2.0",
});
site.world.clock.advance(1_000);
const failing = {
  config_revision: current,
  platform: "macos",
  files_ok: false,
  harnesses: [reportedHarness({ name: "claude" })],
};
await site.report({ instance_id: "b", hostname: "lab-15", ...failing });

test("CON-28 the page says what would fill it if there is no workstation", () => {
  expect(emptyList).toContain("No workstation has reported yet");
});

describe("CON-40 the list of workstations", () => {
  test("shows state, share of packages, revision and client of each, last seen first", async () => {
    const { html, status } = await shown("/console/clients");
    expect(status).toBe(200);
    expect(await hostsAt("")).toEqual(["lab-15", "lab-14", "lab-09"]);
    for (const text of ["Needs attention", "Up to date", "macos-x86_64", "r2", "ana@example.org", "1 of 1"])
      expect(html).toContain(text);
  });

  test.each([
    ["health=attention", ["lab-15"]],
    ["health=outdated", ["lab-09"]],
    ["stale=true", ["lab-09"]],
    ["not_seen_for_days=30", ["lab-09"]],
    ["revision=r1", ["lab-09"]],
    ["client_version=0.2.0", ["lab-14"]],
    ["platform=macos", ["lab-15"]],
    ["platform=macos-x86_64", ["lab-15"]],
    ["platform=macos-aarch64", []],
    ["harness=claude", ["lab-15"]],
    ["harness=kimi", []],
    ["user=ANA%40example.org&sort=host", ["lab-09", "lab-14", "lab-15"]],
    ["sort=-version", ["lab-14", "lab-15", "lab-09"]],
    ["q=LAB-1&sort=-host", ["lab-15", "lab-14"]],
    ["last_seen_from=2026-01-02", ["lab-15", "lab-14"]],
    ["last_seen_to=2026-01-01", ["lab-09"]],
    ["page=99", ["lab-15", "lab-14", "lab-09"]],
  ])("finds by %s", async (query, hosts) => {
    const answer = await get(`/console/clients?${query}`);
    const to = answer.headers.get("location");
    expect(await hostsAt(to === null ? query : (to.split("?")[1] ?? ""))).toEqual(hosts);
  });

  test.each([
    ["user=an", "did you mean ana@example.org?"],
    ["user=nobody%40example.org", "no user has the address or id"],
    ["revision=r99", "there is no revision r99"],
    ["revision=x", "there is no revision &quot;x&quot;"],
    ["health=fine", "State: choose one of the list."],
    ["harness=zz", "No workstation has reported the harness &quot;zz&quot;."],
    ["stale=yes", "Last report: choose one of the list."],
    ["not_seen_for_days=x", "Not seen for must be a whole number"],
    ["last_seen_from=2026-02-30", "Seen from must be a day"],
    ["last_seen_from=2026-12-01&last_seen_to=2026-11-01", "Seen until must not be before “Seen from”."],
    ["sort=color", `<a href="/console/clients">The list has no such order.`],
    ["q=%00", "Search must not contain"],
    ["cursor=x&stale=true", `<a href="/console/clients?stale=true">The list has no such place.`],
    ["page=x&per_page=1000", "Rows: choose 25, 50 or 100."],
  ])("CON-22 says what is wrong with %s", async (query, problem) => {
    const { status, html } = await shown(`/console/clients?${query}`);
    expect([status, html.toLowerCase().includes(problem.toLowerCase())]).toEqual([400, true]);
    expect(html).not.toContain("<td");
    expect(html).not.toContain("NaN");
  });

  test("CON-41 offers the reported harnesses once the filters are open, and keeps a value of a closed filter", async () => {
    const option = '<option value="codex">codex</option>';
    expect((await shown("/console/clients")).html).not.toContain(option);
    expect((await shown("/console/clients?filters=all")).html).toContain(option);
    expect((await shown("/console/clients?harness=codex")).html).toContain('name="harness"');
  });

  test("CON-17 shows the command and the request with ids filled in", async () => {
    const { html } = await shown("/console/clients?revision=r1&health=outdated&sort=host");
    expect(html).toContain(`clients list --summary --health outdated --revision ${former} --sort host_asc`);
    expect(html).toContain(`/admin/client-status?view=summary&amp;health=outdated&amp;revision=${former}`);
  });

  test("CON-24 is exported whole with its filters, and the export is recorded", async () => {
    const answer = await get("/console/clients.csv?harness=codex&sort=host");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="workstations.csv"');
    const [head, ...rows] = (await answer.text()).trim().split("\r\n");
    expect(head).toBe(
      "id,host,user,state,client,harnesses,packages,revision,last_seen,platform,instance_id,first_seen",
    );
    expect(rows.map((row) => row.split(",")[1])).toEqual(["lab-09", "lab-14"]);
    const entry = site.world.db.read.select().from(auditEntries).all().at(-1);
    expect(entry).toMatchObject({ action: "list.export", target: "clients" });
    expect(entry?.after).toContain('"rows":2');
    expect((await get("/console/clients.csv?health=fine")).headers.get("location")).toBe(
      "/console/clients?health=fine",
    );
    const reversed = "last_seen_from=2026-12-01&last_seen_to=2026-11-01";
    expect((await get(`/console/clients.csv?${reversed}`)).headers.get("location")).toBe(
      `/console/clients?${reversed}`,
    );
  });

  test("CON-117 CON-148 shows a hostile report as text, never as a link or an image", async () => {
    const text = HOSTILE.slice(0, 128);
    await site.report({
      instance_id: "x",
      hostname: text,
      client_version: text,
      platform: "=1+1",
      config_revision: text,
    });
    const { html } = await shown("/console/clients?q=script");
    expect(html).not.toContain("<script>alert");
    expect(html).not.toMatch(/(?:href|src)="(?![/#])/);
    expect(html).toContain("&lt;script>alert(&quot;x&quot;)&lt;/script>[U+202E]␀");
    expect(await (await get("/console/clients.csv?q=script")).text()).toContain(",'=1+1");
  });
});

describe("CON-42 the page of a workstation", () => {
  const { inventory } = site.domain.clients;
  const pageOf = (reference: string) =>
    shown(`/console/clients/${inventory.find(site.organizationId, reference).id}`);

  test("says what to do about each reason", async () => {
    const { html } = await pageOf("lab-15");
    expect(html).toContain("Managed files are missing or were changed");
    expect(html).toContain("its client writes the files again");
    const late = await pageOf("lab-09");
    expect(late.html).toContain("fetches revision r2");
    expect(late.html).toContain("has not reported for a long time");
    expect((await pageOf("lab-14")).html).toContain("reports no problem");
  });

  test("compares harnesses and packages with the current policy, and names its lines", async () => {
    const odd = {
      harnesses: [
        reportedHarness({ version: "latest" }),
        reportedHarness({ name: "vim" }),
        { name: "kimi", installed: false },
      ],
    };
    await site.report({
      instance_id: "c",
      hostname: "lab-16",
      packages: [reportedPackage({ id: "extra" })],
      ...odd,
    });
    const { html } = await pageOf("lab-16");
    const rows = [...html.matchAll(/<tr><td data-label="(?:Harness|Package)">.*?<\/tr>/gs)].map(([row]) =>
      row
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    );
    expect(rows).toEqual([
      "codex latest – Applied allowed",
      "vim 0.145.0 – Applied the policy cannot manage this harness",
      "kimi not installed – not allowed",
      "review codex Missing – 1.0.0 line 9",
      "extra codex Applied 1.0.0 ababab…ababab not wanted",
    ]);
    const revision = site.domain.governance.revisions.current(site.organizationId)?.id;
    const lines = [...html.matchAll(/<a href="([^"]*)">line (\d+)<\/a>/g)].map(([, href, line]) => [
      href,
      line,
    ]);
    expect(lines.length).toBeGreaterThan(0);
    for (const [href, line] of lines) {
      expect(href).toBe(`/console/policy/history/${revision}#L${line}`);
      expect((await shown(`/console/policy/history/${revision}`)).html).toContain(`id="L${line}"`);
    }
    expect(html).toContain("quartermaster policy explain --user ana@example.org --harness codex");
    expect(html).toContain('href="/console/policy/explain?user=ana%40example.org&amp;harness=codex');
  });

  test("shows the login that reported, and links to the owner and to the workstations of the same login", async () => {
    const bob = await site.signedIn("member", { email: "bob@example.org" });
    for (const instance_id of ["bob-1", "bob-2"])
      await site.request("POST", "/client-status", {
        token: bob.accessToken,
        body: reportWith({ instance_id, hostname: instance_id }),
      });
    const { html } = await pageOf("bob-1");
    expect(html).toContain(`href="/console/users/${bob.user.id}"`);
    const [, login = ""] = /href="(\/console\/logins\/[^"]+)"/.exec(html) ?? [];
    expect((await shown(login)).html).toMatch(/<a href="\/console\/clients\/[\w-]+"><bdi>bob-\d/);
    expect((await shown(`/console/users/${bob.user.id}`)).html).toContain(`href="${login}"`);
    expect(html).toContain(
      `href="/console/clients/${inventory.find(site.organizationId, "bob-2").id}"><bdi>bob-2`,
    );
    expect(html).toMatch(/<dt>Kind<\/dt><dd>Workstation/);
  });

  test("lists the problems first and counts packages above the limit of the table", () => {
    const packages = Array.from({ length: COMPARED_ROWS_MAX + 1 }, (_, at) =>
      reportedPackage({ id: `p-${at}` }),
    );
    const compared = (count: number) =>
      comparisonOf({ harnesses: [], packages: packages.slice(0, count) }, () => undefined);
    for (const [count, more] of [
      [COMPARED_ROWS_MAX - 1, 0],
      [COMPARED_ROWS_MAX, 0],
      [COMPARED_ROWS_MAX + 1, 1],
    ] as const)
      expect([compared(count).packages.length, compared(count).morePackages]).toEqual([count - more, more]);
  });

  test("folds an error of 16 KiB, and shows it as text", async () => {
    const error = `<script>${"e".repeat(16_000)}`;
    await site.report({
      instance_id: "d",
      hostname: "lab-17",
      error,
      config_revision: site.domain.governance.revisions.current(site.organizationId)?.id ?? null,
    });
    const { html } = await pageOf("lab-17");
    expect(html).not.toContain("<script>e");
    expect(html).toContain('<details class="long">');
  });

  test("answers 404 for an unknown workstation", async () => {
    expect((await shown("/console/clients/nope")).status).toBe(404);
  });
});

test.each([
  "no revision of the policy was applied yet",
  "the revision x is not one of this organization",
  "the revision x is not applied",
  "managed files are missing or were changed",
  "codex: the client does not support it",
  "codex: no version was reported",
  "codex: version 0.1.0 does not satisfy the required >=1.0.0",
  "codex: version 0.1.0 is older than any that is known",
  "codex: version 9.0.0 is not certified; certified are versions below 2.0.0",
  "review (codex): has no archive for linux-x86_64",
  "review (codex): is missing",
  "review (codex): is not expected",
  "review (codex): is reported twice",
  "review (codex): is failed: no space left",
  "review (codex): has another version than 1.0.0",
  "review (codex): has another digest than the policy names",
  "and 12 more",
])("CON-42 knows what to do about: %s", (reason) => {
  expect(remedyOf(reason)).not.toBe(remedyOf("an error of the client"));
});
