// The policy in the console, over the real domain: read, explained, edited as a draft, reviewed, merged, published and followed.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PLACES_LISTED_MAX } from "../../../../src/domain/governance/drafts/draft-merge.ts";
import { CHANGES_LISTED_MAX } from "../../../../src/domain/governance/shown/change-list.ts";
import { LINES_SHOWN_MAX } from "../../../../src/domain/governance/shown/shown-text.ts";
import { FORM_TEXT_BYTES_MAX, withoutReturns } from "../../../../src/server/console/long-form.ts";
import { EXPLAINED_ROWS_MAX } from "../../../../src/server/console/parts/not-shown.tsx";
import { OTHER_TEXT_SHOWN_MAX } from "../../../../src/server/console/parts/saved-elsewhere.tsx";
import { ESCAPED_FORM_BYTES_MAX, UPLOAD_FIELDS_MAX } from "../../../../src/server/http/bodies/upload.ts";
import { managedText } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo, type Page } from "../../../support/browser/form-browser.ts";
import { type Caller, createTestServer } from "../../../support/server.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance } = site.domain;
const current = () => governance.revisions.inForce(site.world.organizationId);
const HOSTILE = `<script>alert(1)</script>"' \u202e\u0000`;

beforeAll(async () => {
  expect((await browser.visit("/console/policy/edit")).html).toContain("allowed_harnesses");
  expect((await save(managedText({}))).html).toContain("Review your draft");
  await discard();
  await governance.deployments.apply(site.world.system, undefined);
});

const save = async (text: string, more: Record<string, string> = {}, from = browser): Promise<Page> =>
  from.submit(formTo(await from.visit("/console/policy/edit"), "/console/policy/edit"), { text, ...more });
const publish = (managedYaml: string, by: Caller = admin) =>
  governance.publishing.publishPolicy(by.actor, { baseRevision: current().id, managedYaml });
const discard = async () =>
  browser.submit(formTo(await browser.visit("/console/policy/discard"), "/console/policy/discard"), {});

test("CON-45 the policy is shown with numbered lines; auditors get no way to edit", async () => {
  const { html } = await browser.visit("/console/policy");
  expect(html).toContain('id="L1"');
  expect(html).toContain('href="/console/policy/edit"');
  const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));
  expect((await auditor.visit("/console/policy")).html).not.toContain('href="/console/policy/edit"');
});

test("CON-51 the draft is downloaded as a file that policy apply accepts", async () => {
  await save(managedText({ ttl_seconds: 45 }));
  const { html } = await browser.visit("/console/policy/review/draft.yaml");
  const source = { text: html, variable: () => undefined };
  const { document } = governance.documents.plan(site.world.organizationId, source);
  expect(document.ttl_seconds).toBe(45);
  await discard();
  expect((await browser.visit("/console/policy/review/draft.yaml")).status).toBe(404);
});

test("CON-50 pages and forms of a draft that ended in another tab lead to the policy, and say so", async () => {
  await save(managedText({ ttl_seconds: 46 }));
  const review = await browser.visit("/console/policy/review");
  await discard();
  const share = formTo(review, "/console/policy/review/share");
  for (const answer of [
    await browser.visit("/console/policy/review"),
    await browser.visit("/console/policy/discard"),
    await browser.submit(share, { shared: "yes" }),
  ]) {
    expect(answer.path).toBe("/console/policy");
    expect(answer.html).toContain("published or discarded in the meantime");
  }
});

test("CON-49 an invalid text is kept with its lines, and hostile text stays text", async () => {
  const text = `revision: x\nrequird: true\ncomment: "<script>alert(1)</script>\u202e"\n`;
  const { html, status } = await save(text);
  expect(status).toBe(200);
  expect(html).toContain("Line 2:");
  expect(html).not.toContain("<script>alert");
  expect((await browser.visit("/console/policy/edit")).html).toContain("requird: true");
  expect((await browser.visit("/console/policy/review")).html).toContain("Problems to solve first");
  expect((await discard()).html).toContain("The draft is discarded.");
});

test("CON-50 CON-55 a change goes through the draft and its review, and leads to its rollout", async () => {
  expect((await browser.visit("/console")).html).not.toContain(">Draft");
  const { html } = await save(managedText({ ttl_seconds: 60 }));
  expect((await browser.visit("/console")).html).toContain(">Draft: 1 change</a>");
  expect(html).toContain("Seconds until a policy is fetched again");
  const before = current().id;
  const review = await browser.visit("/console/policy/review");
  const { html: done } = await browser.submit(formTo(review, "/console/policy/review"), {
    comment: "shorter",
  });
  expect(done).toContain("r2 is published.");
  expect(done).toContain("Rollout of r2");
  expect(current()).toMatchObject({ comment: "shorter", document: { ttl_seconds: 60 } });
  expect(current().id).not.toBe(before);
});

test("CON-51 two tabs: the second save keeps both texts", async () => {
  const tabs = [await browser.visit("/console/policy/edit"), await browser.visit("/console/policy/edit")];
  const [first, second] = tabs.map((tab) => formTo(tab, "/console/policy/edit"));
  if (!first || !second) throw new Error("both tabs have the form");
  await browser.submit(first, { text: managedText({ ttl_seconds: 70 }), stay: "yes" });
  const { status, html } = await browser.submit(second, { text: managedText({ ttl_seconds: 80 }) });
  expect(status).toBe(409);
  expect(html).toContain("saved elsewhere");
  for (const seconds of [70, 80]) expect(html).toContain(`&quot;ttl_seconds&quot;:${seconds}`);
  await discard();
});

test("CON-53 a conflict with a second administrator is decided place by place", async () => {
  const { forms } = await save(managedText({ ttl_seconds: 90, required: true }));
  await publish(managedText({ ttl_seconds: 30 }), await site.signedIn("admin", { email: "ben@example.com" }));
  const review = await browser.visit("/console/policy/review");
  expect(review.html).toContain("Somebody else has published");
  const open = forms.find(({ action }) => action === "/console/policy/review");
  if (!open) throw new Error("the review was open before the other one published");
  const stale = await browser.submit(open, {});
  expect([stale.status, stale.html.includes("Your draft is kept")]).toEqual([409, true]);
  const question = await browser.submit(formTo(review, "/console/policy/merge"), {});
  expect(question.html).toContain("One place was changed by both");
  const merged = await browser.submit(formTo(question, "/console/policy/merge"), { choice0: "mine" });
  expect(merged.html).toContain("The draft is merged.");
  await browser.submit(formTo(merged, "/console/policy/review"), {});
  expect(current().document).toMatchObject({ ttl_seconds: 90, required: true });
});

test("CON-52 a shared draft is reviewed and published by another administrator", async () => {
  await save(managedText({}));
  const other = consoleBrowser(site, await site.signedIn("admin", { email: "cleo@example.com" }));
  const { id } = governance.drafts.existing(admin.actor);
  const path = `/console/policy/review?draft=${id}`;
  expect((await other.visit(path)).html).toContain("does not share it");
  const review = await browser.visit("/console/policy/review");
  await browser.submit(formTo(review, "/console/policy/review/share"), { shared: "yes" });
  const theirs = await other.visit(path);
  expect(review.html).not.toContain(path);
  const address = /https?:\/\/[^<]*draft=[^<]*/.exec((await browser.visit("/console/policy/review")).html);
  expect(address?.[0]).toEndWith(path);
  expect(theirs.html).toContain("Review the draft of ana@example.com");
  expect(theirs.forms.map(({ action }) => action)).not.toContain("/console/policy/review/share");
  expect((await other.submit(formTo(theirs, "/console/policy/review"), {})).html).toContain("is published.");
});

test("CON-57 a draft that changes nothing offers no publication", async () => {
  const { html, forms } = await save(managedText({}));
  expect(html).toContain("There is nothing to publish.");
  expect(forms.map(({ action }) => action)).not.toContain("/console/policy/review");
  await discard();
});

test("CON-61 CON-62 history, one revision, a difference, and a former revision as a draft", async () => {
  const { html } = await browser.visit("/console/policy/history");
  expect(html).toContain(">r1</a>");
  expect((await browser.visit("/console/policy/history?cursor=x")).status).toBe(400);
  expect((await browser.visit("/console/policy/history?cursor=2")).html).not.toContain(">r2</a>");
  await publish(managedText({ ttl_seconds: 12 }));
  const first = await browser.visit("/console/policy/history/1");
  const action = first.forms.map((form) => form.action).find((path) => path.endsWith("/draft")) ?? "";
  const draft = formTo(first, action);
  const again = await browser.submit(draft, {});
  expect(again.html).toContain("has the content of r1");
  const later = await browser.visit("/console/policy/review");
  for (const page of [again, later])
    expect(formTo(page, "/console/policy/review").fields.comment).toBe("back to r1");
  await discard();
  const rollout = await browser.visit(`/console/policy/rollout/${current().id}`);
  const { id: former, sequence } = governance.revisions.before(site.world.organizationId, current());
  const back = formTo(rollout, `/console/policy/history/${former}/draft`);
  expect((await browser.submit(back, {})).html).toContain(`has the content of r${sequence}`);
  await discard();
  expect((await browser.visit("/console/policy/diff?from=1&to=2")).html).toContain("From r1 to r2");
  for (const path of [
    "/console/policy/history/99",
    "/console/policy/diff?from=99",
    "/console/policy/rollout/x",
  ])
    expect((await browser.visit(path)).status).toBe(404);
});

test("CON-60 the policy is explained, and compared with another revision", async () => {
  await publish(managedText({ harnesses: { codex: { managed_config: { model: "gpt-5" } } } }));
  const question = "/console/policy/explain?user=ana@example.com&harness=codex";
  const { html } = await browser.visit(`${question}&with_revision=1`);
  expect(html).toContain("ana@example.com, r1");
  expect(html).toContain("line 1");
  const { html: former } = await browser.visit(`${question}&installed=0.150.0&revision=r1`);
  expect(former).toContain("--harness codex --installed 0.150.0 --revision r1");
  expect(former).toContain("harness=codex&amp;installed=0.150.0&amp;revision=r1");
  for (const wrong of ["&installed=1", "&revision=99", "&with_user=nobody@x.org", "&harness=vim"])
    expect((await browser.visit(question.replace("&harness=codex", "") + wrong)).status).toBe(400);
  expect(
    (await browser.visit(`/console/policy/explain?user=${encodeURIComponent(HOSTILE)}`)).html,
  ).not.toContain("<script>alert");
});

const textOf = (length: number) => `${managedText({})}\n#`.padEnd(length, "x");

test("CON-46 a text up to the limit of policies is saved and reviewed, a longer one is kept on the page", async () => {
  for (const length of [FORM_TEXT_BYTES_MAX - 1, FORM_TEXT_BYTES_MAX])
    expect((await save(textOf(length), { stay: "yes" })).status).toBe(200);
  const tooLong = await save(textOf(FORM_TEXT_BYTES_MAX + 1));
  expect([tooLong.status, tooLong.html.includes("a policy has at most 2097152")]).toEqual([413, true]);
  expect(tooLong.html).toContain(textOf(FORM_TEXT_BYTES_MAX + 1).slice(-FORM_TEXT_BYTES_MAX / 2));
  const { html } = await browser.visit("/console/policy/review");
  expect(html).toContain("Codex: model");
  const unread = await save(textOf(2 * FORM_TEXT_BYTES_MAX + 128 * 1024));
  expect([unread.status, unread.heading]).toEqual([413, "The text is too long"]);
  await discard();
});

test("CON-119 a long text of somebody who is not signed in is not read, a short one is kept", async () => {
  const form = formTo(await browser.visit("/console/policy/edit"), "/console/policy/edit");
  const stranger = consoleBrowser(site, { cookie: "none=none" });
  const kept = await stranger.submit(form, { text: "revision: <b>typed</b>" });
  expect([kept.status, kept.html.includes("typed&lt;/b>")]).toEqual([401, true]);
  const long = await stranger.submit(form, { text: textOf(FORM_TEXT_BYTES_MAX) });
  expect([long.status, long.forms, long.html.length < 4_096]).toEqual([401, [], true]);
  const member = consoleBrowser(site, await site.signedIn("member", { email: "mia@example.com" }));
  expect((await member.submit(form, { text: textOf(FORM_TEXT_BYTES_MAX) })).status).toBe(403);
});

describe("a form with a long text", () => {
  const EDIT = "/console/policy/edit";
  const post = async (type: string, body: string, from = browser) => {
    const headers = { origin: "null", "sec-fetch-site": "same-origin", "content-type": type };
    const answer = await from.request(EDIT, { method: "POST", body, headers });
    return { status: answer.status, bytes: (await answer.bytes()).length };
  };
  const PARTS = 'multipart/form-data; charset=utf-8; boundary="a:b"';
  const ESCAPED = "application/x-www-form-urlencoded";
  const PART = '--a:b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n';

  // Without its token the form is refused after it is read.
  test.each([
    ["below", UPLOAD_FIELDS_MAX - 1, 403],
    ["at", UPLOAD_FIELDS_MAX, 403],
    ["above", UPLOAD_FIELDS_MAX + 1, 400],
  ])("limits the number of fields: %s the limit", async (_, count, status) => {
    expect((await post(PARTS, `${PART.repeat(count)}--a:b--\r\n`)).status).toBe(status);
    expect((await post(ESCAPED, "a&".repeat(count).slice(0, -1))).status).toBe(status);
  });

  test.each([
    ["below", ESCAPED_FORM_BYTES_MAX - 1, 403],
    ["at", ESCAPED_FORM_BYTES_MAX, 403],
    ["above", ESCAPED_FORM_BYTES_MAX + 1, 413],
  ])("limits the size of a form without parts: %s the limit", async (_, bytes, status) => {
    expect((await post(ESCAPED, "a=".padEnd(bytes, "x"))).status).toBe(status);
  });

  test.each([
    ["small fields", Array.from({ length: UPLOAD_FIELDS_MAX }, (_, at) => `a${at}`).join("&")],
    ["text that is escaped", `text=${'"'.repeat(60_000)}`],
  ])("is not kept for a stranger if that makes a page of more than 64 KiB: %s", async (_, body) => {
    const stranger = consoleBrowser(site, { cookie: "none=none" });
    const answer = await post(ESCAPED, body, stranger);
    expect([answer.status, answer.bytes < 4_096]).toEqual([401, true]);
  });
});

test.each(["\r\n\r\n", "a\r\n\r\r\nb\r", "日本\r\né\n", "a\nb", ""])(
  "line ends of %j are those before it was sent",
  (text) => {
    expect(withoutReturns(text)).toBe(text.replaceAll("\r\n", "\n"));
  },
);

test("CON-51 a long text of another tab is linked", async () => {
  for (const [length, isShown] of [
    [OTHER_TEXT_SHOWN_MAX - 1, true],
    [OTHER_TEXT_SHOWN_MAX, true],
    [OTHER_TEXT_SHOWN_MAX + 1, false],
  ] as const) {
    const stale = formTo(await browser.visit("/console/policy/edit"), "/console/policy/edit");
    await save(textOf(length), { stay: "yes" });
    const { html } = await browser.submit(stale, { text: "revision: mine" });
    expect([html.includes("<summary>The text as it is now"), html.includes("in a new tab")]).toEqual([
      isShown,
      !isShown,
    ]);
  }
  await discard();
});

test("pages of long policies stay short: lines, changes and conflicts have limits", async () => {
  expect([LINES_SHOWN_MAX, CHANGES_LISTED_MAX, PLACES_LISTED_MAX]).toEqual([2_000, 200, 40]);
  const settings = (count: number, value: number) =>
    managedText({
      harnesses: {
        codex: {
          managed_config: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value])),
        },
      },
    });
  const rows = async () => (await browser.visit("/console/policy/diff")).html.match(/>Codex: k\d+</g)?.length;
  for (const count of [CHANGES_LISTED_MAX - 1, CHANGES_LISTED_MAX, CHANGES_LISTED_MAX + 1]) {
    await publish(settings(count, 1));
    await publish(settings(count, 2));
    expect(await rows()).toBe(Math.min(count, CHANGES_LISTED_MAX));
  }
  for (const count of [LINES_SHOWN_MAX - 20, LINES_SHOWN_MAX + 20]) {
    await publish(settings(count, 3));
    const lines = (await browser.visit("/console/policy")).html.match(/id="L\d+"/g)?.length ?? 0;
    expect(lines).toBeLessThanOrEqual(LINES_SHOWN_MAX);
  }
  for (const count of [EXPLAINED_ROWS_MAX - 1, EXPLAINED_ROWS_MAX, EXPLAINED_ROWS_MAX + 1]) {
    await publish(settings(count, 3));
    for (const path of ["/console/policy/explain?user=ana@example.com&harness=codex", "/console/me/policy"]) {
      const { html } = await browser.visit(path);
      expect(html.match(/>managed_config\.k\d+</g)).toHaveLength(Math.min(count, EXPLAINED_ROWS_MAX));
      expect(html.includes("more are not shown here")).toBe(count > EXPLAINED_ROWS_MAX);
    }
  }
  const base = current();
  for (const count of [PLACES_LISTED_MAX - 1, PLACES_LISTED_MAX, PLACES_LISTED_MAX + 1]) {
    await publish(settings(count, 4));
    await save(settings(count, 5));
    await publish(settings(count, 6));
    const question = await browser.submit(
      formTo(await browser.visit("/console/policy/review"), "/console/policy/merge"),
      {},
    );
    expect(question.html.match(/value="mine"/g)).toHaveLength(Math.min(count, PLACES_LISTED_MAX));
    await discard();
  }
  expect(base.sequence).toBeLessThan(current().sequence);
});
