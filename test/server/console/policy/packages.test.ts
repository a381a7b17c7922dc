// Packages and the catalog in the console, over the real domain: the content of the pages, and the forms that change
// the draft.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { UPDATES_SHOWN_MAX } from "../../../../src/server/console/policy/review/remarks.tsx";
import { reportedPackage, reportWith } from "../../../domain/clients/policies.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { seedCatalog } from "../../../support/content/catalog.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance } = site.domain;

const { organizationId } = site.world;
const { actor } = admin;

/** @param packages that the policy is to have */
async function publish(packages: readonly object[]): Promise<void> {
  const { id: baseRevision } = governance.revisions.inForce(organizationId);
  await governance.publishing.publishExtensions(actor, { baseRevision, packages });
}

const HELPER = { helpers: { ticket: { paths: { default: "bin/ticket" } } } };

const report = (instance_id: string, packages: readonly Record<string, unknown>[], hostname = instance_id) =>
  site.request("POST", "/client-status", {
    token: admin.accessToken,
    body: reportWith({
      instance_id,
      hostname,
      packages: packages.map((members) => reportedPackage(members)),
    }),
  });

/** @returns the ids of the rows, in their order */
const idsOn = (html: string): string[] =>
  [...html.matchAll(/<a href="\/console\/packages\/([a-z0-9-]+)"/g)].map(([, id = ""]) => id);

beforeAll(() => governance.deployments.apply(site.world.system, undefined));

test.each([UPDATES_SHOWN_MAX - 1, UPDATES_SHOWN_MAX, UPDATES_SHOWN_MAX + 1])(
  "CON-56 the review names at most 50 of %d updates that a draft does not take",
  async (updates) => {
    const packages = Array.from({ length: updates }, (_, at) => packageOf(`package-${at}`));
    await publish(packages);
    await seedCatalog(
      site,
      packages.map((managed) => ({ ...managed, version: "1.3.0" })),
    );
    const harness = { managedConfigYaml: "model: gpt-5", isAllowed: true };
    const draft = await governance.drafts.saveHarness(actor, { version: 0 }, "codex", harness);
    const { html } = await browser.visit("/console/policy/review");
    expect(html.match(/stays at/g)).toHaveLength(Math.min(updates, UPDATES_SHOWN_MAX));
    expect(html.includes("And 1 more.")).toBe(updates > UPDATES_SHOWN_MAX);
    await governance.drafts.discard(actor, draft.id);
  },
);

test("CON-64 packages are listed with their content, their audience, and the workstations that apply them", async () => {
  await publish([
    packageOf("guide", { name: "Review guide", adapters: { codex: { skills_dir: "skills" } } }),
    packageOf("ticket", { adapters: { codex: HELPER, claude: HELPER } }),
  ]);
  await seedCatalog(site, [packageOf("guide", { version: "1.3.0" })]);
  await report("one", [{ id: "guide", version: "1.0.0" }]);
  await report("two", [
    { id: "guide", version: "1.0.0" },
    { id: "guide", harness: "claude", state: "failed" },
  ]);
  await report("old", [{ id: "guide", version: "0.9.0" }, { id: "unknown" }]);
  const { html } = await browser.visit("/console/packages");
  expect(idsOn(html)).toEqual(["guide", "ticket"]);
  for (const text of ["Review guide", "Catalog: 1.3.0", "Skills", "Helpers", "Everybody", "1 of 3"])
    expect(html).toContain(text);
  expect(html.match(/Runs code/g)).toHaveLength(1);
  expect(html).toContain("no workstation yet");
});

test.each([
  ["kind=helpers", ["ticket"]],
  ["harness=claude", ["ticket"]],
  ["harness=codex&sort=-id", ["ticket", "guide"]],
  ["audience=users", []],
  ["origin=catalog", ["guide"]],
  ["origin=own", ["ticket"]],
  ["update=true", ["guide"]],
  ["update=false", ["ticket"]],
  ["q=REVIEW", ["guide"]],
  ["per_page=25&page=9", ["guide", "ticket"]],
])("CON-64 the filters are in the address: %s", async (query, ids) => {
  const { html } = await browser.visit(`/console/packages?${query}`);
  expect(idsOn(html)).toEqual(ids);
});

test("CON-64 wrong values of the address are named beside their filters", async () => {
  const { status, html } = await browser.visit("/console/packages?kind=x&harness=vim&update=maybe&sort=size");
  expect(status).toBe(400);
  for (const name of ["kind", "harness", "update"]) expect(html).toContain(`#filter-${name}`);
  expect(html).toContain("The list has no such order.");
});

test("CON-64 a draft is marked in the list", async () => {
  const { drafts } = governance;
  const first = await drafts.removePackage(actor, { version: 0 }, "guide");
  const second = await drafts.takePackage(actor, first, packageOf("ticket", { version: "2" }));
  const draft = await drafts.takePackage(actor, second, packageOf("added"));
  const { html } = await browser.visit("/console/packages");
  expect(idsOn(html)).toEqual(["added", "guide", "ticket"]);
  expect(html.match(/(New|Changed|Removed) in your draft/g)).toEqual([
    "New in your draft",
    "Removed in your draft",
    "Changed in your draft",
  ]);
  await drafts.discard(actor, draft.id);
});

test("CON-24 the file has all packages that match, more than a page shows", async () => {
  await seedCatalog(site, []);
  const names = Array.from({ length: 601 }, (_, at) => `package-${at}`);
  await publish([packageOf("other"), ...names.map((name) => packageOf(name, { name: "=1+1" }))]);
  const { html } = await browser.visit("/console/packages.csv?q=package-");
  const lines = html.trimEnd().split("\r\n");
  expect(lines).toHaveLength(1 + names.length);
  expect(lines[0]).toBe(
    "package,version,contains,harnesses,audience,state,origin,applied,name,executable,catalog_version,newer_commit",
  );
  expect(lines[1]).toBe("package-0,1.0.0,,,Everybody,published,own,,'=1+1,false,,");
});
