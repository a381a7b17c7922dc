// CON-37: the transcript of a captured session in the console, whose text may be anything.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { unlink } from "node:fs/promises";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { ENTRY_CHARACTERS_MAX, PAGE_ENTRIES_MAX } from "../../../../src/domain/sessions/transcript/limits.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import {
  foldedAs,
  OPEN_CHARACTERS_MAX,
  OPEN_LINES_MAX,
} from "../../../../src/server/console/sessions/transcript-entries.tsx";
import { sessionPath } from "../../../../src/server/console/sessions/words.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { bundleOf, linesOf, TRANSCRIPTS } from "../../../support/content/session-bundles.ts";
import { announcementOf, capture, createSessionServer, presign } from "../../../support/content/sessions.ts";
import type { Caller, TestServer } from "../../../support/server.ts";

const HOSTILE = `<script>alert("1")</script><img src=x onerror=1>\u0000\u202e${"\u0301".repeat(100)}[link](https://evil.example)`;

const said = (text: string, role = "user") => ({
  type: "response_item",
  payload: { type: "message", role, content: [{ type: "input_text", text }] },
});
const result = (output: string) => ({
  type: "response_item",
  payload: { type: "function_call_output", output },
});

let site: TestServer;
let [ada, ben, admin]: Caller[] = [];
beforeAll(async () => {
  site = await createSessionServer();
  [ada, ben, admin] = [
    await site.signedIn("member", { email: "ada@example.com" }),
    await site.signedIn("member", { email: "ben@example.com" }),
    await site.signedIn("admin", { email: "root@example.com" }),
  ];
});
afterAll(() => site[Symbol.asyncDispose]());

let captured = 0;
async function captureOf(bytes: string | Uint8Array, more: object = {}, server = site, owner = ada) {
  captured += 1;
  const announced = { session_id: `native-${captured}`, ...more };
  const { sessionId } = await capture(server, { token: owner?.accessToken }, bytes, announced);
  return { id: sessionId, path: `${sessionPath(sessionId)}/transcript` };
}
const visit = (path: string, who = ada, server = site) =>
  consoleBrowser(server, who ?? { cookie: "" }).visit(path);
const readings = (server = site) =>
  server.world.db.read
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.action, "captured_session.read"))
    .all();

describe("CON-37 the transcript", () => {
  test.each(["codex", "claude", "kimi", "opencode"])(
    "shows the messages, folded calls, results and tokens of %s",
    async (harness) => {
      const bytes = bundleOf(harness, TRANSCRIPTS[harness] ?? "");
      const { path } = await captureOf(bytes, { harness, compatibility_profile: "legacy", resumable: false });
      const { html, status } = await visit(path);
      expect(status).toBe(200);
      for (const text of [
        "Why does the test fail?",
        "The clock is fixed.",
        "Run it first.",
        "1 fail",
        "Failed</b>",
        "</code></h2>",
        "1,200</span> tokens read",
        "the last ones",
      ])
        expect(html).toContain(text);
      expect(html).toMatch(/<article class="entry call">.*?<details><summary>/);
      expect(html).toContain(`${path.replace("/console/sessions/", "GET /session-uploads/")}`);
    },
  );

  test("CON-148 is always shown as text: no markup, no image, no link", async () => {
    const long = `${"x".repeat(ENTRY_CHARACTERS_MAX)} end`;
    const { path } = await captureOf(
      bundleOf("codex", linesOf(said(HOSTILE), said(long, "assistant"), result(HOSTILE))),
    );
    const { html } = await visit(path);
    const main = html.slice(html.indexOf("<main"));
    expect(main).toContain("&lt;script>alert(&quot;1&quot;)&lt;/script>&lt;img src=x onerror=1>␀[U+202E]");
    expect(main).not.toMatch(/<script|<img|\u202e|\u0301{9}/);
    expect(main).not.toContain("\0");
    expect([...main.matchAll(/href="(?!\/)([^"]*)"/g)]).toEqual([]);
    expect(main).toContain("Only the first <span");
    expect(main).not.toContain("x end");
  });

  test("folds tool results above 20 lines, and never messages of people and the agent", async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join("\n");
    const [at, above] = [lines(OPEN_LINES_MAX), lines(OPEN_LINES_MAX + 1)];
    expect(foldedAs({ kind: "result", text: lines(OPEN_LINES_MAX - 1) })).toBeUndefined();
    expect(foldedAs({ kind: "result", text: at })).toBeUndefined();
    expect(foldedAs({ kind: "result", text: `${at}\n` })).toBeUndefined();
    expect(foldedAs({ kind: "result", text: above })).toBe("21 lines");
    for (const length of [-1, 0])
      expect(foldedAs({ kind: "system", text: "x".repeat(OPEN_CHARACTERS_MAX + length) })).toBeUndefined();
    expect(foldedAs({ kind: "system", text: "x".repeat(OPEN_CHARACTERS_MAX + 1) })).toBe("2,001 characters");
    expect(foldedAs({ kind: "assistant", text: above })).toBeUndefined();
    expect(foldedAs({ kind: "call", text: "ls" })).toBe("2 characters");
  });

  test("has 200 entries a page, and the next page begins where this one ends", async () => {
    const texts = Array.from({ length: PAGE_ENTRIES_MAX + 5 }, (_, at) => said(`message ${at}.`));
    const { path, id } = await captureOf(bundleOf("codex", linesOf(...texts)), { session_id: "paged" });
    const first = await visit(path);
    expect(first.html.match(/<article/g)).toHaveLength(PAGE_ENTRIES_MAX);
    expect(first.html).not.toContain("message 200.");
    const [, next = ""] = /href="?([^" >]*transcript\?cursor[^" >]*)"? rel/.exec(first.html) ?? [];
    const second = await visit(next.replaceAll("&amp;", "&"));
    expect(second.html.match(/<article/g)).toHaveLength(5);
    expect(second.html).toContain("message 200.");
    expect(second.html).toContain(`href="${path}">First`);
    expect(second.html).not.toContain("A newer version");

    const newer = bundleOf("codex", linesOf(...texts, said("more")));
    expect((await captureOf(newer, { session_id: "paged" })).id).toBe(id);
    expect((await visit(next.replaceAll("&amp;", "&"))).html).toContain(
      "A newer version of the session was uploaded",
    );
  });

  test("an address that is not one of its pages is answered with a link to the first page", async () => {
    const { path } = await captureOf(bundleOf("codex", TRANSCRIPTS.codex ?? ""));
    for (const cursor of ["x", "7.0.0", "999999999.0.0", "1.2.3.4"]) {
      const page = await visit(`${path}?cursor=${cursor}`);
      expect([cursor, page.status]).toEqual([cursor, 400]);
      expect(page.html).toContain("Begin with the first page.");
    }
  });

  test.each([
    ["that is no archive", "no archive at all", "damaged, truncated or not gzip data"],
    ["of an unknown form", bundleOf("codex", linesOf({ type: "unknown" })), "nothing in it has a known form"],
  ])("offers only the download of a session %s", async (_, bytes, why) => {
    const { path, id } = await captureOf(bytes);
    const { html, status } = await visit(path);
    expect(status).toBe(200);
    expect(html).toContain(why);
    expect(html).toContain("Download the session; its bytes are unchanged.");
    expect(html).toContain(`href="${sessionPath(id)}"`);
  });

  test("explains the missing transcript of a session without bytes", async () => {
    const bytes = bundleOf("codex", TRANSCRIPTS.codex ?? "", "only of this session");
    const { path } = await captureOf(bytes);
    const digest = sha256Hex(bytes);
    await unlink(`${site.world.directory}/sessions/sha256/${digest.slice(0, 2)}/${digest}`);
    const lost = await visit(path);
    expect([lost.status, lost.html.includes("The bytes of this session are lost")]).toEqual([410, true]);
    const announced = announcementOf("never sent", { session_id: "unfinished" });
    await presign(site, { token: ada?.accessToken }, announced);
    const pending = await visit("/console/sessions?status=pending");
    const [, id = ""] = /href="?\/console\/sessions\/([\da-f-]{36})/.exec(pending.html) ?? [];
    expect((await visit(`${sessionPath(id)}/transcript`)).status).toBe(404);
  });

  test("offers another try if the store of a session cannot be reached", async () => {
    const { path, id } = await captureOf("moved");
    const isOfSession = eq(sessionArtifacts.sessionId, id);
    const move = (tx: Tx) => tx.update(sessionArtifacts).set({ store: "s3" }).where(isOfSession).run();
    await site.world.db.write(move, "unobserved");
    const page = await visit(path);
    expect([page.status, page.html.includes(">Try again</a>")]).toEqual([503, true]);
    expect(page.html).toContain("The store of this session is not configured.");
  });
});

describe("CON-37 the transcript of somebody else", () => {
  test("opens for a colleague after a page that says that it is recorded, and each page is", async () => {
    const { path, id } = await captureOf(bundleOf("codex", TRANSCRIPTS.codex ?? ""));
    await visit(path);
    expect(readings()).toEqual([]);
    expect((await visit(path, ben)).status).toBe(403);
    await site.request("PUT", `/session-uploads/${id}/sharing`, {
      token: ada?.accessToken,
      body: { mode: "workspace" },
    });
    const before = await visit(path, ben);
    expect(before.path).toBe(sessionPath(id));
    expect(before.html).toContain("is recorded in the audit log with your name");
    expect(readings()).toEqual([]);
    const read = await visit(`${path}?recorded=yes`, ben);
    expect(read.html).toContain("The clock is fixed.");
    expect(read.html).toContain("The audit log records that you opened this page");
    expect(readings().map(({ actorId, target }) => [actorId, target])).toEqual([[ben?.user.id ?? null, id]]);
  });

  test("stays closed for administrators unless the operator lets them", async () => {
    const { path } = await captureOf(bundleOf("codex", TRANSCRIPTS.codex ?? ""));
    const refused = await visit(`${path}?recorded=yes`, admin);
    expect(refused.status).toBe(403);
    expect(refused.html).toContain("may not read the transcripts of others");

    await using open = await createSessionServer({ sessions: { administratorsMayRead: true } });
    const [eva, root] = [await open.signedIn("member"), await open.signedIn("admin")];
    const theirs = await captureOf(bundleOf("codex", TRANSCRIPTS.codex ?? ""), {}, open, eva);
    const page = await visit(theirs.path, root, open);
    expect(page.html).toContain(`href="${theirs.path}?recorded=yes"`);
    expect((await visit(`${theirs.path}?recorded=yes`, root, open)).html).toContain("The clock is fixed.");
    expect(readings(open)).toHaveLength(1);
  });
});
