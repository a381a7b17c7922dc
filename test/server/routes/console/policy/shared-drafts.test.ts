// Shared drafts in the console: read, downloaded as a file, and explained. Also tests forms that are sent after their
// draft has ended.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { managedText } from "../../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../../support/browser/console-browser.ts";
import { createTestServer } from "../../../../support/server.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const [ana, ben] = [
  await site.signedIn("admin", { email: "ana@example.com" }),
  await site.signedIn("admin", { email: "ben@example.com" }),
];
const other = consoleBrowser(site, ben);
const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));
const { governance, identity } = site.domain;
const { drafts } = governance;
const [REVIEW, FILE] = ["/console/policy/review", "/console/policy/review/draft.yaml"];

beforeAll(() => governance.deployments.apply(site.world.system, undefined));
afterEach(async () => {
  for (const { actor } of [ana, ben]) {
    const draft = drafts.own(actor);
    if (draft) await drafts.discard(actor, draft.id);
  }
});

const saved = (seconds: number, { actor } = ana) =>
  drafts.savePolicy(actor, { version: 0 }, managedText({ ttl_seconds: seconds }));

test("CON-52 the file of a shared draft has that draft, and only administrators get it", async () => {
  const { id, version } = await saved(777);
  await saved(555, ben);
  expect((await other.visit(`${FILE}?draft=${id}`)).html).toContain("does not share it");
  await drafts.share(ana.actor, { version }, true);
  expect((await other.visit(`${REVIEW}?draft=${id}`)).html).toContain(`href="${FILE}?draft=${id}"`);
  expect((await other.visit(`${FILE}?draft=${id}`)).html).toContain("ttl_seconds: 777");
  expect((await other.visit(FILE)).html).toContain("ttl_seconds: 555");
  const shown = await auditor.visit(`${FILE}?draft=${id}`);
  expect([shown.path, shown.html.includes(FILE)]).toEqual([`${REVIEW}?draft=${id}`, false]);
});

test("CON-60 a suspended person may run nothing, and the page shows the reason", async () => {
  const member = await site.signedIn("member", { email: "cleo@example.com" });
  const question = "/console/policy/explain?user=cleo@example.com&harness=codex";
  const allowed = { allowed_harnesses: ["codex"] };
  const draft = await drafts.savePolicy(ana.actor, { version: 0 }, managedText(allowed));
  await governance.draftPublishing.publish(ana.actor, {
    draft: draft.id,
    version: draft.version,
    comment: "x",
  });
  expect((await other.visit(question)).html).not.toContain("the user is suspended");
  await identity.users.setStatus(ana.actor, member.actor.id ?? "", "suspended");
  expect((await other.visit(question)).html).toContain("the user is suspended");
});

test("CON-54 a merge that is sent after the draft ended leads to the policy in force", async () => {
  const draft = await saved(777);
  const { id: baseRevision } = governance.revisions.inForce(site.world.organizationId);
  await governance.publishing.publishPolicy(ben.actor, {
    baseRevision,
    managedYaml: managedText({ ttl_seconds: 5 }),
  });
  const own = consoleBrowser(site, ana);
  const [form] = (await own.visit(REVIEW)).forms.filter(({ action }) => action === "/console/policy/merge");
  await drafts.discard(ana.actor, draft.id);
  if (!form) throw new Error("the review offers no merge");
  const { path, html } = await own.submit(form, {});
  expect([path, html.includes("published or discarded in the meantime")]).toEqual(["/console/policy", true]);
});
