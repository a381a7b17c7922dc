// CON-90: the audit log in the console, over the real domain.
import { afterAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { shortened } from "../../../src/server/console/parts/texts.ts";
import { consoleBrowser } from "../../support/browser/console-browser.ts";
import { formTo } from "../../support/browser/form-browser.ts";
import { capture, withCapture } from "../../support/content/sessions.ts";
import { createTestServer } from "../../support/server.ts";

const HOSTILE = `<script>alert(1)</script> "quoted" 'single' \0 \u202e${"\u0301".repeat(500)} ${"x".repeat(16_384)}`;

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const { world } = site;
const admin = await site.signedIn("admin", { email: "root@example.com" });
const browser = consoleBrowser(site, admin);
const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));

await world.db.write((tx) => {
  const actor = { ...admin.actor, requestId: "req-17", credential: "grant:17" };
  for (let number = 1; number <= 30; number += 1)
    world.audit.record(tx, { actor, action: "job.run", target: `job-${number}` });
  world.audit.record(tx, {
    actor,
    action: "user.update",
    target: HOSTILE,
    before: { email: "ana@example.org", role: "member", status: "active" },
    after: { email: "ana@example.org", role: HOSTILE, status: "active" },
  });
});
const newest = site.domain.auditLog.lastId();
const rowsIn = (html: string): number => html.match(/<tr><td/g)?.length ?? 0;

describe("CON-90 the audit log", () => {
  test("is paged by key, with a link to the first and the next page", async () => {
    const first = await browser.visit("/console/audit?action=job.run");
    expect(rowsIn(first.html)).toBe(25);
    const [, next = ""] = /href="([^"]+)" rel="next"/.exec(first.html) ?? [];
    const second = await browser.visit(next.replaceAll("&amp;", "&"));
    expect(rowsIn(second.html)).toBe(5);
    expect(second.html).toContain(">First</a>");
    expect(second.html).not.toContain('rel="next"');
  });

  test("shows the change in words, and untrusted values as text", async () => {
    const { html } = await browser.visit("/console/audit?action=user.update");
    expect(rowsIn(html)).toBe(1);
    expect(html).toContain("role: member → ");
    expect(html).not.toContain("<script>alert");
  });

  test("CON-116 shortens ids in the list, and shows whole ids on the page of the entry and in the file", async () => {
    const id = "01890000-0000-7000-8000-00000000abcd";
    const digest = `sha256:${"ab".repeat(32)}`;
    await world.db.write((tx) =>
      world.audit.record(tx, {
        actor: world.system,
        action: "job.pause",
        target: "ids",
        after: { login_session_id: id, digest },
      }),
    );
    const list = await browser.visit("/console/audit?target=ids");
    expect(list.html).toContain(`${shortened(id)}; digest: ${shortened(digest)}`);
    expect([list.html.includes(id), list.html.includes(digest)]).toEqual([false, false]);
    const [, path = ""] = /<td><a href="(\/console\/audit\/\d+)"/.exec(list.html) ?? [];
    const entry = await browser.visit(path);
    const file = await browser.visit("/console/audit.csv?target=ids");
    for (const { html } of [entry, file]) expect(html).toContain(id);
  });

  test("links each target with a page, and no removed target", async () => {
    const { users } = site.domain.identity;
    const { user } = await site.signedIn("member", { email: "linked@example.com" });
    await users.update(admin.actor, user.id, { role: "admin" });
    await site.domain.scim.tokens.create(admin.actor, { label: "entra", profile: "entra" });
    await site.domain.identity.invitations.create(admin.actor, { email: "new@example.com", role: "member" });
    const credential = { token: admin.accessToken };
    const ended = await site.signInAgain(user);
    await site.domain.access.logins.revoke(admin.actor, ended.loginSessionId);
    const { sessionId } = await capture(await withCapture(site), credential, "a");
    const removed = await capture(site, credential, "b", { session_id: "another" });
    await site.request("DELETE", `/session-uploads/${removed.sessionId}`, credential);
    const links = async () => {
      const { html } = await browser.visit("/console/audit?per_page=100");
      return [
        ...html
          .replaceAll("<wbr/>", "")
          .matchAll(/<td><code>([\w.]+)<\/code><\/td><td>(?:<a href="([^"]*)")?/g),
      ].map(([, action, href]) => `${action} ${href ?? "-"}`);
    };
    const revision = site.domain.governance.revisions.current(world.organizationId)?.id;
    const shown = await links();
    for (const link of [
      `user.update /console/users/${user.id}`,
      "scim_token.create /console/identity/tokens?show=all",
      "invitation.create /console/invitations",
      `captured_session.complete /console/sessions/${sessionId}`,
      "captured_session.complete -",
      `login_session.revoke /console/logins/${ended.loginSessionId}`,
      "job.run /console/system/jobs#row-job-30",
      "user.update -",
    ])
      expect(shown).toContain(link);
    expect(shown.filter((link) => link.startsWith("policy."))).toEqual([
      expect.stringContaining(`/console/policy/history/${revision}`),
    ]);
    const addresses = shown.flatMap((link) => (link.endsWith(" -") ? [] : (link.split(/[ #]/)[1] ?? [])));
    for (const href of new Set(addresses))
      expect([href, (await browser.visit(href)).status]).toEqual([href, 200]);
  });

  test("CON-22 names bad values beside their filters", async () => {
    const bad = "since=2027-02-31&until=x&action=user.explode&cursor=x&per_page=1000";
    const { status, html } = await browser.visit(`/console/audit?${bad}`);
    expect([status, rowsIn(html)]).toEqual([400, 0]);
    for (const name of ["since", "until", "action", "per_page"])
      expect(html).toContain(`href="#filter-${name}"`);
  });

  test("CON-17 CON-114 has days of the reader's zone, with their times in the command and the request", async () => {
    const zoned = consoleBrowser(site, admin);
    zoned.cookies.set("quartermaster_zone", "America/New_York");
    const at = world.clock.nowMs();
    const day = (shiftMs: number) =>
      Temporal.Instant.fromEpochMilliseconds(at + shiftMs)
        .toZonedDateTimeISO("America/New_York")
        .toPlainDate();
    const today = day(0);
    const { html } = await zoned.visit(`/console/audit?action=job.run&since=${today}&until=${today}`);
    expect(rowsIn(html)).toBe(25);
    expect(html).toContain("Day in America/New_York");
    const [from, to] = [today, today.add({ days: 1 })].map((date) =>
      date.toZonedDateTime("America/New_York").toInstant().toString({ smallestUnit: "millisecond" }),
    );
    expect(html).toContain(`quartermaster audit list --action job.run --since ${from} --until ${to}`);
    const { searchParams } = new URL(
      `http://x${/GET (\/admin\/audit[^<"\s]*)/.exec(html)?.[1]?.replaceAll("&amp;", "&")}`,
    );
    expect([searchParams.get("since"), searchParams.get("until")]).toEqual([from ?? "", to ?? ""]);
    const before = await zoned.visit(`/console/audit?action=job.run&until=${today.subtract({ days: 1 })}`);
    expect(rowsIn(before.html)).toBe(0);
  });

  test("explains that nothing matches, and how to see everything", async () => {
    const { status, html } = await browser.visit("/console/audit?actor=nobody@example.org");
    expect([status, rowsIn(html)]).toEqual([200, 0]);
    expect(html).toContain("Clear all filters");
  });

  test("CON-24 is exported with its filters, and the export is recorded", async () => {
    const file = await browser.request("/console/audit.csv?action=job.run");
    expect(file.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const lines = (await file.text()).trimEnd().split("\r\n");
    expect(lines[0]).toBe("at,actor,action,target,outcome,address");
    expect(lines).toHaveLength(31);
    const { organizationId } = admin.actor;
    const [entry] = site.domain.auditLog.listByKey(organizationId, { action: "list.export", limit: 1 }).items;
    expect(JSON.parse(entry?.after ?? "")).toEqual({ filter: "?action=job.run", rows: 30 });
  });

  test("CON-24 is not exported with invalid filters", async () => {
    const { status, path } = await browser.visit("/console/audit.csv?since=x");
    expect([status, path]).toEqual([400, "/console/audit?since=x"]);
  });
});

describe("CON-90 one audit entry", () => {
  test("has its change, request, credential and neighbors", async () => {
    const { status, html } = await browser.visit(`/console/audit/${newest}`);
    expect(status).toBe(200);
    expect(html).toContain("<del><bdi>member</bdi></del>");
    expect(html).not.toContain("<del><bdi>active</bdi></del>");
    for (const text of ["req-17", "grant:17", `/console/audit/${newest - 1}`, "Follows the entry before it"])
      expect(html).toContain(text);
    expect(html).not.toContain("<script>alert");
  });

  test.each(["0", "999999", "x", "1e3", "%00"])(
    "answers 404 for an audit entry that does not exist: %s",
    async (id) => {
      expect((await browser.visit(`/console/audit/${id}`)).status).toBe(404);
    },
  );
});

describe("CON-90 the chain", () => {
  const verify = async () =>
    browser.submit(formTo(await browser.visit("/console/audit"), "/console/audit/verify"), {});

  test("is verified on request, and the page keeps the result", async () => {
    expect((await browser.visit("/console/audit")).html).toContain("Not verified");
    expect((await verify()).html).toContain("The chain is intact.");
    expect((await browser.visit("/console/audit")).html).toContain(">Intact</b>");
  });

  test("is verified by administrators only, while auditors see the result and the command", async () => {
    const { html, forms } = await auditor.visit("/console/audit");
    expect(html).toContain("quartermaster audit verify");
    expect(forms.map(({ action }) => action)).not.toContain("/console/audit/verify");
  });

  test("names the entry at which the chain is broken", async () => {
    await world.db.write((tx) =>
      tx.update(auditEntries).set({ before: "tampered" }).where(eq(auditEntries.id, newest)).run(),
    );
    const { html } = await verify();
    expect(html).toContain(">Broken</b>");
    expect(html).toContain(`Entry ${newest} (user.update by root@example.com`);
    expect((await browser.visit(`/console/audit/${newest}`)).html).toContain("<bdi>tampered</bdi>");
  });
});
