// The catalog in the console, over the real domain: the list, one package, and changes of the draft.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { openBlobs, parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import type { Form, Page } from "../../../support/browser/form-browser.ts";
import { seedCatalog, writeArchive } from "../../../support/content/catalog.ts";
import { tarFile } from "../../../support/content/tar.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance, catalog } = site.domain;
const { actor } = admin;
const PATH = "/console/catalog";

const guideOf = (version: string) => ({
  id: "guide",
  name: "Review guide",
  version,
  adapters: { codex: { skills_dir: "skills" } },
  ...writeArchive(site, `guide-${version}`, [tarFile("skills/guide/SKILL.md", `version ${version}`)]),
});
const HELPER = { helpers: { ticket: { paths: { default: "bin/ticket" } } } };
const ticket = packageOf("ticket", { adapters: { codex: HELPER, claude: HELPER } });
const taken = packageOf("taken");

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  await seedCatalog(site, [guideOf("1.0.0")]);
  const { id: baseRevision } = governance.revisions.inForce(site.world.organizationId);
  const published = catalog.get(site.world.organizationId, "guide");
  await governance.publishing.publishExtensions(actor, { baseRevision, packages: [published, taken] });
  await seedCatalog(site, [ticket, guideOf("1.3.0"), taken]);
});

/** @returns the form of the page that does this */
function formOn({ forms }: Page, act: string): Form {
  const form = forms.find(({ fields }) => fields.act === act);
  if (!form) throw new Error(`no form to ${act}`);
  return form;
}

const idsOn = (html: string): string[] =>
  [...html.matchAll(/<a href="\/console\/catalog\/([a-z0-9-]+)"/g)].map(([, id = ""]) => id);
const discard = () => governance.drafts.discard(actor, governance.drafts.existing(actor).id);

test("the catalog is listed in its order, with the packages of the policy", async () => {
  const { html } = await browser.visit(PATH);
  expect(idsOn(html)).toEqual(["ticket", "guide", "taken"]);
  for (const text of [
    ...["Not in the policy", "Other version than in the policy", "As in the policy"],
    ...["Runs code", "Stored here, digest checked", "Elsewhere, not checked", "Review guide"],
  ])
    expect(html).toContain(text);
});

test.each([
  ["offer=new", ["ticket"]],
  ["offer=update", ["guide"]],
  ["offer=taken", ["taken"]],
  ["archive=here", ["guide"]],
  ["archive=elsewhere&sort=id", ["taken", "ticket"]],
  ["sort=-id", ["ticket", "taken", "guide"]],
  ["kind=helpers", ["ticket"]],
  ["harness=claude", ["ticket"]],
  ["q=review", ["guide"]],
])("the filters are in the address: %s", async (query, ids) => {
  expect(idsOn((await browser.visit(`${PATH}?${query}`)).html)).toEqual(ids);
});

test("wrong values of the address are named beside their filters", async () => {
  const { status, html } = await browser.visit(`${PATH}?offer=x&archive=x&sort=size`);
  expect(status).toBe(400);
  for (const name of ["offer", "archive"]) expect(html).toContain(`#filter-${name}`);
  expect(html).toContain("The list has no such order.");
});

test("CON-24 the file has all entries that match", async () => {
  const { html } = await browser.visit(`${PATH}.csv?offer=new`);
  expect(html.trimEnd().split("\r\n")).toEqual([
    "package,version,published,offer,contains,harnesses,archive,name,executable,sha256,source",
    `ticket,1.0.0,,new,helpers,codex claude,elsewhere,,true,${ticket.sha256},${ticket.source_ref}`,
  ]);
});

test("a package is added to the draft, and only as it was shown", async () => {
  const shown = await browser.visit(`${PATH}/ticket`);
  expect(shown.html).toContain("Add to your draft");
  await seedCatalog(site, [{ ...ticket, version: "2", sha256: "cd".repeat(32) }, guideOf("1.3.0"), taken]);
  const stale = await browser.submit(formOn(shown, "draft"), {});
  expect(stale.status).toBe(409);
  expect(stale.html).toContain("catalog has changed");
  const { html } = await browser.submit(formOn(stale, "draft"), {});
  expect(html).toContain("Review your draft");
  const ids = () =>
    governance.drafts.existing(actor).document.packages.map(({ id, version }) => `${id} ${version}`);
  expect(ids()).toEqual(["guide 1.0.0", "taken 1.0.0", "ticket 2"]);
  expect((await browser.visit(`${PATH}/ticket`)).html).toContain("in your draft");
  expect((await browser.visit(PATH)).html).toContain("in your draft");
  await browser.submit(formOn(await browser.visit(`${PATH}/guide`), "draft"), {});
  expect(ids()).toEqual(["guide 1.3.0", "taken 1.0.0", "ticket 2"]);
  expect((await browser.visit(`${PATH}/taken`)).html).not.toContain("your draft");
  await discard();
});

test("the archive of a package is shown on request, and checked again", async () => {
  expect((await browser.visit(`${PATH}/guide?contents=all`)).html).toContain("skills/guide/SKILL.md");
  const check = async () =>
    (await browser.submit(formOn(await browser.visit(`${PATH}/guide`), "check"), {})).html;
  expect(await check()).toContain("The archive is intact");
  const blobs = await openBlobs(`${site.world.directory}/artifacts`);
  const { sha256 } = catalog.get(site.world.organizationId, "guide");
  writeFileSync(blobs.path(parseDigest(sha256)), "damaged");
  expect(await check()).toContain("The archive is damaged");
  await blobs.remove(parseDigest(sha256));
  expect(await check()).toContain("The bytes of the archive are missing");
  expect((await browser.visit(`${PATH}/ticket`)).html).not.toContain("Check the archive");
});

test("a package that only the catalog has is shown there; one that it lacks is not found", async () => {
  const { html } = await browser.visit("/console/packages/ticket");
  expect(html).toContain("Add to your draft");
  expect((await browser.visit(`${PATH}/none`)).status).toBe(404);
});
