// SES-31, SES-56: the owner shares a session in the console. The page first lists the strings that look like keys.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { sessionPath } from "../../../../src/server/console/sessions/words.ts";
import { ADDRESSES_MAX } from "../../../../src/server/routes/console/sessions/share-pages.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { type FormBrowser, formTo, type Page } from "../../../support/browser/form-browser.ts";
import { bundleOf, linesOf } from "../../../support/content/session-bundles.ts";
import { capture, createSessionServer } from "../../../support/content/sessions.ts";
import { createTestServer } from "../../../support/server.ts";

const TOKEN = `ghp_${"a".repeat(36)}`;

const site = await createSessionServer();
afterAll(() => site[Symbol.asyncDispose]());
const [ada, ben, admin] = [
  await site.signedIn("member", { email: "ada@example.com" }),
  await site.signedIn("member", { email: "ben@example.com" }),
  await site.signedIn("admin", { email: "root@example.com" }),
];
const { id: cleoId } = (await site.signedIn("member", { email: "cleo@example.com" })).user;
let browser: FormBrowser;
let id: string;
let path: string;
beforeAll(() => {
  browser = consoleBrowser(site, ada);
});
beforeEach(async () => {
  id = await captured(linesOf({ text: "nothing secret" }));
  path = `${sessionPath(id)}/share`;
});

async function captured(transcript: string | Uint8Array): Promise<string> {
  const bytes = typeof transcript === "string" ? bundleOf("codex", transcript) : transcript;
  const more = { session_id: crypto.randomUUID() };
  return (await capture(site, { token: ada.accessToken }, bytes, more)).sessionId;
}
const send = async (fields: Record<string, string>, page?: Page): Promise<Page> =>
  browser.submit(formTo(page ?? (await browser.visit(path)), path), fields);
const sharing = async (of = id) =>
  await (await site.request("GET", `/session-uploads/${of}/sharing`, { token: ada.accessToken })).json();
const textareaOf = ({ html }: Page): string => /<textarea[^>]*>(.*?)<\/textarea>/s.exec(html)?.[1] ?? "";

describe("SES-31 sharing in the console", () => {
  test("asks before a session is shared with everybody, lists the shared content, and withdraws it with one button", async () => {
    const question = await send({ mode: "workspace", act: "save" });
    expect(question.heading).toBe("Share this session?");
    expect(question.html).toContain("will be found by everybody in the organization");
    expect(question.html).toContain(`PUT /session-uploads/${id}/sharing`);
    expect(await sharing()).toMatchObject({ mode: "private" });
    const done = await send({}, question);
    expect([done.path, done.html.includes("shared with everybody in the organization.")]).toEqual([
      sessionPath(id),
      true,
    ]);
    expect(await sharing()).toMatchObject({ mode: "workspace" });
    expect((await consoleBrowser(site, ben).visit(sessionPath(id))).status).toBe(200);
    const stopped = await send({}, done);
    expect(stopped.html).toContain("The session is shared with nobody now.");
    expect(await sharing()).toMatchObject({ mode: "private" });
    const recorded = site.world.db.read
      .select()
      .from(auditEntries)
      .where(eq(auditEntries.action, "captured_session.share"))
      .all();
    expect(recorded.map(({ target }) => target)).toEqual([id, id]);
  });

  test("CON-118 asks again if the sharing was changed after the form was opened, and shows both values and whose change it was", async () => {
    const opened = await browser.visit(path);
    await site.request("PUT", `/session-uploads/${id}/sharing`, {
      token: ada.accessToken,
      body: { mode: "selected", user_ids: [cleoId] },
    });
    const stale = await send({ mode: "workspace", act: "save" }, opened);
    expect([stale.status, (await sharing()).mode]).toEqual([409, "selected"]);
    expect(stale.html.replaceAll(/<[^>]+>/g, "")).toMatch(
      /ada@example.com changed the sharing .*shared with: cleo@example.com\./,
    );
    expect(stale.html).toMatch(/id="mode-workspace" value="workspace" checked/);
    const question = await send({ mode: "workspace", act: "save" }, stale);
    expect(question.heading).toBe("Share this session?");
    await site.request("PUT", `/session-uploads/${id}/sharing`, {
      token: ada.accessToken,
      body: { mode: "private" },
    });
    expect((await send({}, question)).status).toBe(409);
    expect((await sharing()).mode).toBe("private");
  });

  test("finds people by a part of their address, and asks nothing when fewer people remain", async () => {
    const found = await send({ person: "LEO", act: "find" });
    expect(found.html).toContain('name="add" value="cleo@example.com"');
    const added = await send({ add: "cleo@example.com" }, found);
    expect(textareaOf(added)).toBe("cleo@example.com");
    expect(added.html).toMatch(/id="mode-selected" value="selected" checked/);
    const whole = await send({ person: "BEN@example.com", act: "find", people: textareaOf(added) }, added);
    expect(textareaOf(whole)).toBe("cleo@example.com\nben@example.com");
    const fields = {
      mode: "selected",
      act: "save",
      people: "cleo@example.com,BEN@example.com cleo@example.com",
    };
    const question = await send(fields, whole);
    expect(question.html).toContain("will be found by 2 people");
    const done = await send({}, question);
    expect(done.html).toContain("The session is shared with 2 people.");
    expect(done.html).toContain("cleo@example.com");
    const fewer = await send({ mode: "selected", act: "save", people: "cleo@example.com" });
    expect(fewer.path).toBe(sessionPath(id));
    expect((await sharing()).recipients).toEqual([{ id: cleoId, email: "cleo@example.com" }]);
    expect((await consoleBrowser(site, ben).visit(sessionPath(id))).status).toBe(403);
    expect((await send({ mode: "workspace", act: "save" })).heading).toBe("Share this session?");
  });

  test("names every unknown address, and keeps the entries", async () => {
    await site.domain.identity.users.create(site.world.system, { email: "dan@example.com", role: "member" });
    const dan = site.domain.identity.users.find(ada.user.organizationId, "dan@example.com");
    await site.domain.identity.users.update(site.world.system, dan.id, { status: "suspended" });
    const people = "nobody@example.com\nben@example.com\ndan@example.com\n<script>";
    const page = await send({ mode: "selected", act: "save", people });
    expect(page.status).toBe(400);
    for (const address of ["nobody@example.com", "dan@example.com", "&lt;script>"])
      expect(page.html).toContain(`No active user has the address &quot;${address}&quot;`);
    expect(textareaOf(page)).toBe(people.replace("<", "&lt;"));
    expect(await sharing()).toMatchObject({ mode: "private" });
  });

  test("refuses another mode, nobody by name, and more people than may be named", async () => {
    const problems: (readonly [Record<string, string>, string])[] = [
      [{ mode: "public" }, "Mode must be one of private, workspace, selected"],
      [{ mode: "selected", people: "" }, "must name at least one user besides the owner"],
      [{ mode: "selected", people: "ada@example.com" }, "must name at least one user besides the owner"],
    ];
    for (const [fields, problem] of problems) {
      const page = await send({ act: "save", ...fields });
      expect([fields.mode, page.status, page.html.includes(problem)]).toEqual([fields.mode, 400, true]);
    }
    const addresses = (count: number) =>
      Array.from({ length: count }, (_, at) => `nobody-${at}@example.com`).join("\n");
    for (const [count, isTooMany] of [
      [ADDRESSES_MAX - 1, false],
      [ADDRESSES_MAX, false],
      [ADDRESSES_MAX + 1, true],
    ] as const) {
      const page = await send({ mode: "selected", act: "save", people: addresses(count) });
      expect([count, page.html.includes(`can be named, not ${count}.`)]).toEqual([count, isTooMany]);
    }
  });

  test("is for the owner only", async () => {
    for (const who of [ben, admin]) {
      const other = consoleBrowser(site, who);
      expect((await other.visit(path)).status).toBe(403);
      const { fields } = formTo(await other.visit("/console/me/account"), "/console/theme");
      const sent = await other.submit(
        { action: path, fields: { ...fields, mode: "workspace" }, buttons: [] },
        {},
      );
      expect(sent.status).toBe(403);
    }
    expect(await sharing()).toMatchObject({ mode: "private" });
    await using elsewhere = await createTestServer();
    const stranger = consoleBrowser(elsewhere, await elsewhere.signedIn("admin"));
    expect((await stranger.visit(path)).status).toBe(404);
  });

  test("a search text that is too long is reported beside the field", async () => {
    const page = await send({ person: "x".repeat(201), act: "find" });
    expect([page.status, page.html.includes('href="#person"')]).toEqual([400, true]);
    const none = await send({ person: "zzz", act: "find" });
    expect(none.html).toContain("No active colleague has such an address.");
  });
});

describe("SES-56 what looks like a key", () => {
  const question = async (of: string): Promise<string> => {
    path = `${sessionPath(of)}/share`;
    return (await send({ mode: "workspace", act: "save" })).html;
  };

  test("is counted by kind before more people find the session, and never shown", async () => {
    const secrets = linesOf({
      one: TOKEN,
      again: TOKEN,
      other: `AKIA${"B".repeat(16)}`,
      ci: `ghp_${"c".repeat(36)}`,
    });
    const html = await question(await captured(secrets));
    expect(html).toContain("3 strings in it look like a key:");
    expect(html).toContain("GitHub token (2) and AWS access key (1)");
    expect(html).not.toContain(TOKEN);
  });

  test("reports nothing where there is nothing", async () => {
    expect(await question(id)).toContain("No string in it looks like a key of a known kind.");
  });

  test("counts nothing in bytes that cannot be unpacked, and the page reports that", async () => {
    const html = await question(await captured(Buffer.from("no archive")));
    expect(html).toContain("It could not be searched for keys:");
    expect(html).toContain("damaged, truncated or not gzip data");
  });
});
