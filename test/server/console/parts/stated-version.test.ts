// Forms that save to a draft that does not exist yet: the draft begins from the revision that the form shows, so that a
// later revision is merged instead of reverted.
import { expect, test } from "bun:test";
import { statedBody, statedIn, versionText } from "../../../../src/server/console/parts/stated-version.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../support/server.ts";

test.each([
  [{ version: 0, baseRevision: "0192-a" }, "0 0192-a", { version: 0, base_revision: "0192-a" }],
  [{ version: 0 }, "0", { version: 0 }],
  [{ version: 0, baseRevision: "" }, "0", { version: 0 }],
  [{ version: 7, baseRevision: "0192-a" }, "7", { version: 7 }],
])("%j is %p in a form", (read, text, body) => {
  expect(versionText(read)).toBe(text);
  expect(statedBody(text)).toEqual(body);
});

test.each([undefined, "", "x", "-1", "0 a b", `0 ${"a".repeat(65)}`, "1e3"])("%p has no meaning", (text) => {
  expect(statedIn(text)).toEqual({ version: 0 });
});

test.each([
  ["/console/policy/edit", (text: string) => ({ text: `${text}# ours\n` })],
  ["/console/harnesses/codex", () => ({ allowed: "yes", settings: "model: ours" })],
])("CON-53 %s does not revert later publications", async (path, fieldsOf) => {
  await using site = await createTestServer();
  const admin = await site.signedIn("admin", { email: "ana@example.com" });
  const ben = await site.signedIn("admin", { email: "ben@example.com" });
  const browser = consoleBrowser(site, admin);
  const { deployments, draftPublishing, drafts, revisions } = site.domain.governance;
  await deployments.apply(site.world.system, undefined);
  const before = revisions.inForce(admin.actor.organizationId);
  const form = formTo(await browser.visit(path), path);
  const text = await drafts.textOf(drafts.ownOrNew(admin.actor));
  const other = await drafts.savePolicy(ben.actor, { version: 0 }, `${text}ttl_seconds: 777\n`);
  await draftPublishing.publish(ben.actor, { draft: other.id, version: other.version });
  await browser.submit(form, fieldsOf(text));
  expect(drafts.existing(admin.actor).baseRevision).toBe(before.id);
  expect((await browser.visit("/console/policy/review")).html).toContain("/console/policy/merge");
});
