// The page of one package in the console, over the real domain: its content, and its forms, which change the draft.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PEOPLE_NAMED_MAX } from "../../../../src/server/routes/console/packages/package-detail.ts";
import { reportedPackage, reportWith } from "../../../domain/clients/policies.ts";
import { packageOf, refusalOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { type Form, formTo, type Page } from "../../../support/browser/form-browser.ts";
import { seedCatalog, writeArchive } from "../../../support/content/catalog.ts";
import { tarFile, tarFolder } from "../../../support/content/tar.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance, catalog } = site.domain;
const { organizationId } = site.world;
const { actor } = admin;
const PATH = "/console/packages/guide";
const adapters = {
  codex: { skills_dir: "skills" },
  opencode: { plugins: ["plugins/guide.ts"], helpers: { guide: { paths: { default: "bin/guide" } } } },
};

const archiveOf = (version: string) =>
  writeArchive(site, `guide-${version}`, [
    tarFolder("skills/"),
    tarFile("skills/guide/SKILL.md", `version ${version}`),
    tarFile("plugins/guide.ts", "export {}"),
    tarFile("bin/guide", "#!/bin/sh"),
  ]);
const entryOf = (version: string) => ({
  id: "guide",
  name: "Review guide",
  version,
  adapters,
  ...archiveOf(version),
});

async function publish(packages: readonly object[], more: object = {}): Promise<void> {
  const { id: baseRevision } = governance.revisions.inForce(organizationId);
  await governance.publishing.publishExtensions(actor, { baseRevision, packages, ...more });
}

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  await seedCatalog(site, [entryOf("1.0.0")]);
  await publish([catalog.get(organizationId, "guide")]);
  const failing = reportedPackage({ id: "guide", state: "failed", error: "no space left" });
  const body = reportWith({ packages: [failing] });
  await site.request("POST", "/client-status", { token: admin.accessToken, body });
});

/** @returns the first form of the page that does this */
function formOn({ forms }: Page, act: string): Form {
  const form = forms.find(({ fields }) => fields.act === act);
  if (!form) throw new Error(`no form to ${act}`);
  return form;
}

const post = async (act: string, fields: Record<string, string> = {}) =>
  browser.submit(formOn(await browser.visit(PATH), act), fields);
const discard = () => governance.drafts.discard(actor, governance.drafts.existing(actor).id);

test("CON-65 the page has facts, layouts, failures and revisions", async () => {
  const { status, html } = await browser.visit(PATH);
  expect(status).toBe(200);
  for (const text of [
    ...["Review guide", "guide-1.0.0.tar.gz", "Runs code", "Skills, Plugins, Helpers", "0 of 1"],
    ...["Skills: skills", "Command guide: default: bin/guide", "0.0.0 and later", "no space left"],
    ...["added as 1.0.0", "ana@example.com", "4</span> files and folders"],
  ])
    expect(html).toContain(text);
  expect(html).not.toContain("SKILL.md");
});

test("CON-65 the entries of the archive are shown on request, with their sizes", async () => {
  const { html } = await browser.visit(`${PATH}?contents=all`);
  for (const path of ["skills/", "skills/guide/SKILL.md", "bin/guide"]) expect(html).toContain(path);
  expect(html).toContain("13 B</span>");
});

test("CON-65 CON-56 an update is taken into the draft, and only the one that was shown", async () => {
  await seedCatalog(site, [entryOf("1.3.0")]);
  const shown = await browser.visit(PATH);
  expect(shown.html).toContain("Update to 1.3.0");
  await seedCatalog(site, [entryOf("1.4.0")]);
  const stale = await browser.submit(formOn(shown, "update"), {});
  expect(stale.status).toBe(409);
  expect(stale.html).toContain("catalog has changed");
  const { html } = await browser.submit(formOn(stale, "update"), {});
  expect(html).toContain("Review your draft");
  expect(governance.drafts.existing(actor).document.packages).toMatchObject([{ version: "1.4.0" }]);
  expect(governance.revisions.inForce(organizationId).document.packages).toMatchObject([
    { version: "1.0.0" },
  ]);
  expect((await browser.visit(PATH)).html).toContain("Changed in your draft");
  await discard();
});

test("CON-65 a harness turns a package off, with settings that are JSON or YAML", async () => {
  const fields = { harness: "opencode", enabled: "", settings: "depth: 3" };
  const page = await browser.visit(PATH);
  const forms = page.forms.filter(({ fields: { act } }) => act === "use");
  expect(forms.map(({ fields: { harness } }) => harness)).toEqual(["codex", "opencode"]);
  const { html } = await browser.submit(formOn(page, "use"), fields);
  expect(html).toContain("Review your draft");
  const { document } = governance.drafts.existing(actor);
  expect(document.harnesses.opencode?.package_overrides).toEqual({
    guide: { enabled: false, settings: { depth: 3 } },
  });
  const again = (await browser.visit(PATH)).html;
  expect(again).toContain("&quot;depth&quot;: 3");
  await discard();
});

test("CON-65 settings that cannot be read stay as they were typed, with their line", async () => {
  const { status, html } = await post("use", { harness: "codex", settings: "a: 1\na: 2" });
  expect(status).toBe(400);
  expect(html).toContain("Line 2:");
  expect(html).toContain("a: 1\na: 2");
  expect(governance.drafts.own(actor)).toBeUndefined();
});

test("CON-65 CON-118 a form of an older version of the draft saves nothing, and the page shows both values and when the draft was saved", async () => {
  const page = await browser.visit(PATH);
  const removal = await browser.visit(`${PATH}/remove`);
  const elsewhere = { harness: "codex", settings: "theirs: 7" };
  await browser.submit(formOn(await browser.visit(PATH), "use"), elsewhere);
  const { status, html } = await browser.submit(formOn(page, "use"), {
    harness: "codex",
    settings: "mine: true",
  });
  expect(status).toBe(409);
  expect(html).toContain("saved elsewhere after you opened it, by you, <time");
  expect(html).toContain("mine: true");
  expect(html).toMatch(
    /<dt>Codex<\/dt><dd>On<\/dd>.*Its settings as they are now<\/summary><pre><bdi>\{[^}]*theirs[^}]*7/s,
  );
  const kept = await browser.submit(formTo(removal, `${PATH}/remove`), {});
  expect(kept.status).toBe(409);
  expect(kept.html).toContain("Nothing was saved. The page shows the current state.");
  const during = await browser.visit(PATH);
  await discard();
  const ended = await browser.submit(formOn(during, "use"), { harness: "codex", settings: "mine: true" });
  expect(ended.html).toMatch(/The policy is r\d+ now, published by <bdi>/);
});

test("CON-65 a package is removed in the draft after a question, and its page shows the removal", async () => {
  const question = await browser.visit(`${PATH}/remove`);
  expect(question.html).toContain("Its archive stays here.");
  const { html } = await browser.submit(formTo(question, `${PATH}/remove`), {});
  expect(html).toContain("Review your draft");
  const page = await browser.visit(PATH);
  expect(page.html).toContain("Removed in your draft");
  expect(page.html).not.toContain("Save and review");
  expect((await browser.visit(`${PATH}/remove`)).status).toBe(404);
  await discard();
});

test("CON-65 a change that the policy cannot have is named by the review, which does not publish it", async () => {
  await governance.publishing.publishPolicy(actor, {
    baseRevision: governance.revisions.inForce(organizationId).id,
    managedYaml: "revision: x\nallowed_harnesses: [codex]\n",
  });
  await seedCatalog(site, [
    { ...entryOf("2.0.0"), adapters: { codex: { before: "0.1.0", skills_dir: "skills" } } },
  ]);
  const { path, html } = await post("update");
  expect(path).toBe("/console/policy/review");
  for (const text of ["Problems to solve first", "package guide cannot serve it"])
    expect(html).toContain(text);
  const { id: draft, version } = governance.drafts.existing(actor);
  const publishing = governance.draftPublishing.publish(actor, { draft, version });
  expect(await refusalOf(() => publishing)).toMatchObject({ reason: "governance.invalid" });
  await governance.drafts.discard(actor, draft);
});

test.each([PEOPLE_NAMED_MAX - 1, PEOPLE_NAMED_MAX, PEOPLE_NAMED_MAX + 1])(
  "names at most ten of %d people who get a package",
  async (people) => {
    const ids: string[] = [];
    for (let at = 0; at < people; at++)
      ids.push((await site.signedIn("member", { email: `p${at}-${people}@example.com` })).user.id);
    const packageAudiences = { guide: { scope: "users" as const, user_ids: ids } };
    await publish(
      [catalog.get(organizationId, "guide")].map((managed) => ({ ...managed, adapters })),
      {
        packageAudiences,
      },
    );
    const { html } = await browser.visit(PATH);
    expect(html).toContain(`${people} people`);
    expect(html.match(/p\d+-\d+@example\.com/g)).toHaveLength(Math.min(people, PEOPLE_NAMED_MAX));
  },
);

test("a package that only the catalog has leads there; one that nobody has is not found", async () => {
  await seedCatalog(site, [entryOf("2.0.0"), packageOf("offered")]);
  expect((await browser.visit("/console/packages/nobody")).status).toBe(404);
});
