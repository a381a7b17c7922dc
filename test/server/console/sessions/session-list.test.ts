// CON-36: the list of captured sessions, for each kind of reader.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { TITLE_LENGTH_MAX } from "../../../../src/domain/sessions/limits.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { announcementOf, capture, createSessionServer, presign } from "../../../support/content/sessions.ts";
import { type Caller, createTestServer } from "../../../support/server.ts";

const SESSIONS = "/console/sessions";
const AUDITOR = "auditor@example.com";
const HOSTILE = `<script>"'\u202e${"\u0301".repeat(100)}=1+1`;

const site = await createSessionServer({ consoleAuditors: () => [AUDITOR] });
afterAll(() => site[Symbol.asyncDispose]());
const [ada, ben, admin, auditor] = [
  await site.signedIn("member", { email: "ada@example.com" }),
  await site.signedIn("member", { email: "ben@example.com" }),
  await site.signedIn("admin", { email: "root@example.com" }),
  await site.signedIn("member", { email: AUDITOR }),
];
const visit = (who: Caller, query = "") => consoleBrowser(site, who).visit(`${SESSIONS}${query}`);

let ids: Record<"plain" | "shared" | "claude" | "bens", string>;
beforeAll(async () => {
  expect((await visit(ada)).html).toContain("Workstations upload a session when it ends.");
  const one = async (who: Caller, name: string, more: object = {}) => {
    site.world.clock.advance(60_000);
    const { sessionId } = await capture(site, { token: who.accessToken }, name, {
      session_id: name,
      ...more,
    });
    return sessionId;
  };
  ids = {
    plain: await one(ada, "one", { title: "Fix the clock", summary: "s".repeat(500) }),
    shared: await one(ada, "two", { title: HOSTILE.slice(0, TITLE_LENGTH_MAX), summary: HOSTILE }),
    claude: await one(ada, "three", {
      harness: "claude",
      compatibility_profile: "legacy",
      artifact_format: "legacy-raw",
      resumable: false,
      title: null,
      content_type: "application/x-ndjson",
    }),
    bens: await one(ben, "four", { title: "The session of Ben" }),
  };
  await site.request("PUT", `/session-uploads/${ids.shared}/sharing`, {
    token: ada.accessToken,
    body: { mode: "selected", user_ids: [ben.user.id] },
  });
});

const rowsOf = ({ html }: { html: string }): string[] =>
  Object.entries(ids).flatMap(([name, id]) => (html.includes(`href="${SESSIONS}/${id}"`) ? [name] : []));

describe("CON-36 the list of captured sessions", () => {
  test("has the own sessions of a member and those shared with them, with state, size, owner and sharing", async () => {
    const page = await visit(ada);
    expect(rowsOf(page)).toEqual(["plain", "shared", "claude"]);
    for (const text of [
      "Fix the clock",
      "Claude session",
      `${"s".repeat(100)}…`,
      "Stored</b>",
      "1 person",
      "Nobody",
      ">You<",
      "5 B",
      "GET /session-uploads?page=1",
    ])
      expect(page.html).toContain(text);
    expect(page.html).not.toContain('name="user"');
    const bens = await visit(ben);
    expect(rowsOf(bens)).toEqual(["shared", "bens"]);
    expect(bens.html).toContain("ada@example.com");
    expect(rowsOf(await visit(ben, "?whose=mine"))).toEqual(["bens"]);
    expect((await visit(ben, "?whose=mine")).html).toContain(
      "quartermaster sessions list --user ben@example.com",
    );
  });

  test("has all sessions of the organization for administrators and auditors, who filter by owner", async () => {
    for (const who of [admin, auditor]) {
      expect(rowsOf(await visit(who))).toEqual(["plain", "shared", "claude", "bens"]);
      const bens = await visit(who, "?user=BEN@example.com");
      expect(rowsOf(bens)).toEqual(["bens"]);
      expect(bens.html).toContain(`GET /session-uploads?page=1&amp;user_id=${ben.user.id}`);
    }
    expect(rowsOf(await visit(ada, "?user=ben@example.com"))).toEqual(["plain", "shared", "claude"]);
    expect((await visit(admin, "?whose=mine")).html).toContain("No sessions match these filters.");
  });

  test("follows text, harness, days, order and the state of uploads", async () => {
    expect(rowsOf(await visit(ada, "?q=CLOCK"))).toEqual(["plain"]);
    expect(rowsOf(await visit(ada, "?harness=claude"))).toEqual(["claude"]);
    expect((await visit(ada, "?updated_to=2020-01-01")).html).toContain("No sessions match these filters.");
    const { html } = await visit(ada, "?sort=updated");
    expect(html.indexOf(ids.plain)).toBeLessThan(html.indexOf(ids.claude));
    expect(html).toContain("sort=updated_asc");
    expect((await visit(ada)).html.indexOf(ids.claude)).toBeLessThan(
      (await visit(ada)).html.indexOf(ids.plain),
    );

    const unfinished = announcementOf("five", { session_id: "five", title: "Never sent" });
    await presign(site, { token: ada.accessToken }, unfinished);
    expect((await visit(ada)).html).not.toContain("Never sent");
    const pending = await visit(ada, "?status=pending");
    expect(pending.html).toContain("Never sent");
    expect(pending.html).toContain("Not uploaded yet</b>");
    expect((await visit(ben, "?status=pending")).html).not.toContain("Never sent");
  });

  test("CON-17 CON-114 has days of the reader's zone, with their times in the command and the request", async () => {
    const zone = "Asia/Tokyo"; // 9 hours before UTC
    const zoned = consoleBrowser(site, admin);
    zoned.cookies.set("quartermaster_zone", zone);
    const uploaded = site.world.clock.nowMs();
    const day = Temporal.Instant.fromEpochMilliseconds(uploaded).toZonedDateTimeISO(zone).toPlainDate();
    const rows = async (query: string) => rowsOf(await zoned.visit(`${SESSIONS}?${query}`)).length;
    expect(await rows(`updated_from=${day}&updated_to=${day}`)).toBe(4);
    expect(await rows(`updated_from=${day.add({ days: 1 })}`)).toBe(0);
    expect(await rows(`updated_to=${day.subtract({ days: 1 })}`)).toBe(0);
    const page = await zoned.visit(`${SESSIONS}?updated_from=${day}`);
    expect(page.html).toContain(`Day in ${zone}`);
    const start = day.toZonedDateTime(zone).toInstant().toString({ fractionalSecondDigits: 3 });
    expect(page.html).toContain(`quartermaster sessions list --updated-from ${start}`);
    const sent = `/session-uploads?page=1&updated_from=${encodeURIComponent(start)}`;
    expect(page.html).toContain(`GET ${sent.replace("&", "&amp;")}`);
    const answer = await site.request("GET", sent, { cookie: admin.cookie });
    expect((await answer.json()).total).toBe(await rows(`updated_from=${day}`));
    const reversed = `updated_from=${day}&updated_to=${day.subtract({ days: 1 })}`;
    expect((await zoned.visit(`${SESSIONS}?${reversed}`)).status).toBe(400);
    expect((await visit(admin, `?updated_from=${day}`)).html).toContain(
      `sessions list --updated-from ${day}`,
    );
  });

  test("says whose bytes are lost, held or over their retention", async () => {
    const { db, clock } = site.world;
    const current = eq(sessionArtifacts.sessionId, ids.claude);
    await db.write(
      (tx) => tx.update(sessionArtifacts).set({ lostAtMs: clock.nowMs() }).where(current).run(),
      "unobserved",
    );
    expect((await visit(ada)).html).toContain("Bytes lost</b>");
    await db.write(
      (tx) => tx.update(sessionArtifacts).set({ lostAtMs: null }).where(current).run(),
      "unobserved",
    );
    await site.domain.sessions.retention.hold(site.world.system, ids.claude, true);
    expect((await visit(ada)).html).toContain("Stored, on hold</b>");
    await site.domain.sessions.retention.hold(site.world.system, ids.claude, false);
    expect((await visit(ada)).html).not.toContain("on hold");
  });

  test("CON-148 shows texts of workstations as text", async () => {
    const { html } = await visit(ada, `?columns=${encodeURIComponent("+summary,+cwd")}`);
    expect(html).toContain("&lt;script>");
    expect(html).toContain("[U+202E]");
    expect(html).not.toMatch(/<script>"|\u202e|\u0301{9}/);
  });

  test("CON-22 names bad values of the address beside their filters", async () => {
    const bad =
      "whose=x&user=x&harness=zz&status=x&updated_from=x&updated_to=2020-02-30&per_page=7000&sort=x";
    const { status, html } = await visit(admin, `?${bad}`);
    expect([status, html.includes("<tbody>")]).toEqual([400, false]);
    for (const name of ["whose", "user", "harness", "status", "updated_from", "updated_to", "per_page"])
      expect(html).toContain(`href="#filter-${name}"`);
    const reversed = await visit(ada, "?updated_from=2026-12-01&updated_to=2026-11-01");
    const reason = "Uploaded to must not be before “Uploaded from”.";
    expect([reversed.status, reversed.html.split(reason).length - 1]).toEqual([400, 2]);
    const both = await visit(admin, "?whose=mine&user=ben@example.com");
    expect([both.status, both.html.includes('href="#filter-user"')]).toEqual([400, true]);
    expect((await visit(ada, "?page=99")).path).toBe(SESSIONS);
  });

  test("CON-24 is exported with every column, and the export is recorded", async () => {
    const { html } = await consoleBrowser(site, ada).visit(`${SESSIONS}.csv?q=clock`);
    const [head, row, end] = html.split("\r\n");
    expect(head).toStartWith("title,harness,user,size_bytes,updated_at,retention_expires_at,shared_with,");
    expect(row).toStartWith("Fix the clock,codex,ada@example.com,3,");
    expect(row).toEndWith(ids.plain);
    expect(end).toBe("");
    const [entry] = site.domain.auditLog.listByKey(ada.user.organizationId, { limit: 1 }).items;
    expect(entry).toMatchObject({ action: "list.export", target: "sessions" });
    expect((await consoleBrowser(site, ada).visit(`${SESSIONS}.csv?status=x`)).status).toBe(400);
    const all = await consoleBrowser(site, ben).visit(`${SESSIONS}.csv`);
    expect(all.html.split("\r\n")).toHaveLength(4);
  });

  test("says that capture is off by default, and how an administrator turns it on", async () => {
    await using off = await createTestServer();
    const admins = await consoleBrowser(off, await off.signedIn("admin")).visit(SESSIONS);
    expect(admins.html).toContain("which is off by default");
    expect(admins.html).toContain("<code>session_upload</code>");
    const members = await consoleBrowser(off, await off.signedIn("member")).visit(SESSIONS);
    expect(members.html).toContain("which is off by default");
    expect(members.html).not.toContain('href="/console/policy"');
  });
});
