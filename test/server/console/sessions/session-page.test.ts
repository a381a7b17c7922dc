// SES-31: the page of one captured session: facts, sharing, download and deletion.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo, type Page } from "../../../support/browser/form-browser.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  pathIn,
  presign,
} from "../../../support/content/sessions.ts";
import { type Caller, createTestServer } from "../../../support/server.ts";

const SESSIONS = "/console/sessions";
const AUDITOR = "auditor@example.com";
const HOSTILE = `<script>"'\u202e${"\u0301".repeat(100)}`;
const UNKNOWN = "01890000-0000-7000-8000-000000000000";

const site = await createSessionServer({ consoleAuditors: () => [AUDITOR] });
afterAll(() => site[Symbol.asyncDispose]());
const [ada, ben, admin, auditor] = [
  await site.signedIn("member", { email: "ada@example.com" }),
  await site.signedIn("member", { email: "ben@example.com" }),
  await site.signedIn("admin", { email: "root@example.com" }),
  await site.signedIn("member", { email: AUDITOR }),
];
const browserOf = (who: Caller) => consoleBrowser(site, who);
const visit = (who: Caller, path: string) => browserOf(who).visit(path);
const confirm = async (who: Caller, path: string): Promise<Page> => {
  const browser = browserOf(who);
  return browser.submit(formTo(await browser.visit(path), path), {});
};
const entriesOf = (action: string) =>
  site.world.db.read.select().from(auditEntries).where(eq(auditEntries.action, action)).all();

let id: string;
let path: string;
beforeAll(async () => {
  await capture(site, { token: ada.accessToken }, "an older version", { session_id: "native" });
});
beforeEach(async () => {
  const more = { session_id: "native", title: HOSTILE, summary: HOSTILE, cwd: HOSTILE };
  ({ sessionId: id } = await capture(
    site,
    { token: ada.accessToken },
    `bytes of ${crypto.randomUUID()}`,
    more,
  ));
  path = `${SESSIONS}/${id}`;
});
const lose = (lostAtMs: number | null) =>
  site.world.db.write(
    (tx) => tx.update(sessionArtifacts).set({ lostAtMs }).where(eq(sessionArtifacts.sessionId, id)).run(),
    "unobserved",
  );

describe("SES-31 the page of a captured session", () => {
  test("has facts, versions and what its owner can do, with the hostile texts as text", async () => {
    const { html, status, forms } = await visit(ada, path);
    expect(status).toBe(200);
    for (const text of [
      "Stored</b>",
      "Current</b>",
      "Older</b>",
      "Open the transcript",
      ">Share</a>",
      ">Delete</a>",
      "only its owner and administrators",
      `quartermaster sessions show ${id}`,
      `GET /session-uploads/${id}`,
      "&lt;script>",
      "[U+202E]",
    ])
      expect(html).toContain(text);
    expect(html).not.toMatch(/<script>"|\u202e|\u0301{9}/);
    expect(html).not.toContain("recorded in the audit log");
    expect(forms.map(({ action }) => action)).toContain(`${path}/download`);
  });

  test("CON-12 is not for people who may not see it, nor for anybody without one", async () => {
    expect((await visit(ben, path)).status).toBe(403);
    expect((await visit(ada, `${SESSIONS}/${UNKNOWN}`)).status).toBe(404);
    expect((await visit(ada, `${SESSIONS}/x`)).status).toBe(404);
    await using other = await createTestServer();
    const stranger = await other.signedIn("admin");
    expect((await consoleBrowser(other, stranger).visit(path)).status).toBe(404);
  });

  test("CON-37 tells administrators that they do not open transcripts here, and still offers the bytes", async () => {
    const { html, forms } = await visit(admin, path);
    expect(html).toContain("sessions.administrators_may_read");
    expect(html).toContain(`href="/console/users/${ada.user.id}"`);
    const theirs = await visit(admin, `/console/users/${ada.user.id}`);
    expect(theirs.html).toContain(`href="${SESSIONS}?user=ada%40example.com"`);
    expect(html).not.toContain("Open the transcript");
    expect(html).not.toContain(">Share</a>");
    expect(forms.map(({ action }) => action)).toContain(`${path}/download`);
    const audited = await visit(auditor, path);
    expect(audited.html).not.toContain(">Delete</a>");
    expect(audited.forms.map(({ action }) => action)).not.toContain(`${path}/download`);
  });

  test("says that its bytes are lost, held, announced again, or over their retention", async () => {
    const pending = announcementOf("newer", { session_id: "native" });
    await presign(site, { token: ada.accessToken }, pending);
    expect((await visit(ada, path)).html).toContain("its upload is not finished");
    await lose(site.world.clock.nowMs());
    const lost = await visit(ada, path);
    expect(lost.html).toContain("The stored bytes are missing or damaged");
    expect(lost.html).not.toContain("Open the transcript");
    expect(lost.forms.map(({ action }) => action)).not.toContain(`${path}/download`);
    await lose(null);
    await site.domain.sessions.retention.hold(site.world.system, id, true);
    const held = await visit(ada, path);
    expect(held.html).toContain("It cannot be deleted while an administrator holds it.");
    expect(held.html).not.toContain(">Delete</a>");
    expect((await visit(ada, `${path}/delete`)).path).toBe(path);
    await site.domain.sessions.retention.hold(site.world.system, id, false);
  });

  test("says that its retention is over once the bytes are removed", async () => {
    await using old = await createSessionServer({ sessions: { retentionDays: 1 } });
    const eva = await old.signedIn("member");
    const { sessionId } = await capture(old, { token: eva.accessToken }, "bytes");
    old.world.clock.advance(DAY_MS);
    const browser = consoleBrowser(old, await old.signInAgain(eva.user));
    expect((await browser.visit(`${SESSIONS}/${sessionId}`)).html).toContain("Retention over</b>");
    await old.domain.sessions.retention.run(old.world.system, new AbortController().signal);
    const gone = await browser.visit(`${SESSIONS}/${sessionId}`);
    expect(gone.html).toContain("and its bytes were removed");
    expect(gone.html).toContain("All versions were removed.");
  });
});

describe("SES-28 the download of the console", () => {
  test("gives an address that works without a credential, and is recorded", async () => {
    const before = entriesOf("captured_session.download").length;
    const browser = browserOf(ada);
    const page = await browser.submit(formTo(await browser.visit(path), `${path}/download`), {});
    expect(page.heading).toBe("Download the session");
    const [, url = ""] = /href="([^"]*\/session-objects\/[^"]*)"/.exec(page.html) ?? [];
    const answer = await site.request("GET", pathIn(url.replaceAll("&amp;", "&")));
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("bytes of ")]);
    expect(entriesOf("captured_session.download")).toHaveLength(before + 1);
  });

  test("is refused to people who may not see the session, and to auditors", async () => {
    for (const who of [ben, auditor]) {
      const browser = browserOf(who);
      const own = await browser.visit("/console/me/account");
      const [form] = own.forms.filter(({ fields }) => fields.by !== undefined);
      const fields = form?.fields ?? formTo(own, "/console/theme").fields;
      const page = await browser.submit({ action: `${path}/download`, fields, buttons: [] }, {});
      expect(page.status).toBe(403);
    }
  });

  test("returns to the page with the reason if the bytes are gone in the meantime", async () => {
    const browser = browserOf(ada);
    const form = formTo(await browser.visit(path), `${path}/download`);
    await lose(site.world.clock.nowMs());
    const page = await browser.submit(form, {});
    expect(page.path).toBe(path);
    expect(page.html).toContain('class="notice attention">The bytes of this session are lost');
    await lose(null);
  });
});

describe("SES-30 the deletion of the console", () => {
  test("asks first, then deletes the session with its bytes", async () => {
    const question = await visit(ada, `${path}/delete`);
    expect(question.html).toContain("for everybody");
    expect(question.html).toContain(`quartermaster sessions remove ${id}`);
    const done = await confirm(ada, `${path}/delete`);
    expect(done.path).toBe(SESSIONS);
    expect(done.html).toContain("is deleted.");
    expect((await visit(ada, path)).status).toBe(404);
  });

  test("is for administrators too, and for nobody else", async () => {
    await site.domain.sessions.sharing.replace(
      ada.actor,
      { userId: ada.user.id, organizationId: ada.user.organizationId, isAdministrator: false },
      { id, request: { mode: "workspace" } },
    );
    const browser = browserOf(ben);
    const seen = await browser.visit(path);
    expect(seen.html).not.toContain(">Delete</a>");
    expect((await browser.visit(`${path}/delete`)).path).toBe(path);
    const { fields } = formTo(seen, `${path}/download`);
    const refused = await browser.submit({ action: `${path}/delete`, fields, buttons: [] }, {});
    expect(refused.status).toBe(403);
    expect((await confirm(admin, `${path}/delete`)).path).toBe(SESSIONS);
  });

  test("is refused if an administrator holds the session in the meantime", async () => {
    const browser = browserOf(ada);
    const form = formTo(await browser.visit(`${path}/delete`), `${path}/delete`);
    await site.domain.sessions.retention.hold(site.world.system, id, true);
    const refused = await browser.submit(form, {});
    expect(refused.status).toBe(409);
    expect(refused.html).toContain("An administrator holds this session");
    await site.domain.sessions.retention.hold(site.world.system, id, false);
  });
});
