// Places where the policy differs from the configuration file, in the console: both values, and a button for each.
import { afterAll, expect, test } from "bun:test";
import { CONFLICTS_SHOWN_MAX } from "../../../../src/server/console/policy/conflicts-part.tsx";
import { managedText, packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance } = site.domain;
const current = () => governance.revisions.inForce(site.world.organizationId);

test("CON-45 a conflict with the configuration file is settled by its buttons", async () => {
  const path = "/console/policy/conflicts";
  const conflicting = async (ttl_seconds: number) => {
    await publishFirst(site, { ttl_seconds });
    await governance.publishing.publishPolicy(admin.actor, {
      baseRevision: current().id,
      managedYaml: managedText({ ttl_seconds: ttl_seconds + 1 }),
    });
    await publishFirst(site, { ttl_seconds: ttl_seconds + 2 });
    return await browser.visit("/console/policy");
  };
  const shown = await conflicting(300);
  for (const value of ["301", "302"]) expect(shown.html).toContain(`>${value}<`);
  const kept = await browser.submit(formTo(shown, path), { keep: "/ttl_seconds" });
  expect(kept.html).toContain("the value in force is kept");
  expect(kept.forms.map(({ action }) => action)).not.toContain(path);
  for (const late of [{ keep: "/ttl_seconds" }, { take: "/ttl_seconds" }]) {
    const { path: shownAt, html } = await browser.submit(formTo(shown, path), late);
    expect([shownAt, html.includes("Nothing was settled.")]).toEqual(["/console/policy", true]);
  }
  expect((await browser.submit(formTo(shown, path), {})).status).toBe(400);
  const again = await conflicting(310);
  await governance.drafts.savePolicy(admin.actor, { version: 0 }, managedText({ ttl_seconds: 315 }));
  // CON-118: the draft has another value at this place since the page was opened.
  const late = await browser.submit(formTo(again, path), { take: "/ttl_seconds" });
  expect([late.path, late.html.includes("Nothing was settled.")]).toEqual(["/console/policy", true]);
  const { id, document } = governance.drafts.existing(admin.actor);
  expect(document.ttl_seconds).toBe(315);
  await governance.drafts.discard(admin.actor, id);
  const review = await browser.submit(formTo(again, path), { take: "/ttl_seconds" });
  expect(review.html).toContain("your draft has the value of the file");
  await browser.submit(formTo(review, "/console/policy/review"), {});
  expect(current().document.ttl_seconds).toBe(312);
  const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));
  await conflicting(320);
  expect((await auditor.visit("/console/policy")).html).not.toContain("Take the file");
});

test("CON-45 values of the file that need each other are accepted one after the other; the review names the missing one", async () => {
  const path = "/console/policy/conflicts";
  const use = "/harnesses/codex/package_overrides/tool";
  const file = (version: string, enabled: boolean) =>
    publishFirst(site, {
      packages: [packageOf("tool", { version })],
      harnesses: { codex: { package_overrides: { tool: { enabled, settings: {} } } } },
    });
  await file("2.0.0", true);
  await governance.publishing.publishExtensions(admin.actor, {
    baseRevision: current().id,
    packages: [],
    mcp: { codex: [{ name: "own", command: "/own" }] },
  });
  await file("3.0.0", false);
  const take = async (place: string) =>
    await browser.submit(formTo(await browser.visit("/console/policy"), path), { take: place });
  const half = await take(use);
  expect(half.path).toBe("/console/policy/review");
  for (const text of ["Problems to solve first", "is not a package of this policy"])
    expect(half.html).toContain(text);
  expect((await take("/packages/tool")).html).not.toContain("Problems to solve first");
  const { document, id } = governance.drafts.existing(admin.actor);
  expect(document.harnesses.codex?.package_overrides).toMatchObject({ tool: { enabled: false } });
  await governance.drafts.discard(admin.actor, id);
});

test("CON-45 a value of the file that nobody has seen is not taken, and a text with problems is shown first", async () => {
  const path = "/console/policy/conflicts";
  const disagree = (ttl_seconds: number) => publishFirst(site, { ttl_seconds });
  await disagree(400);
  await governance.publishing.publishPolicy(admin.actor, {
    baseRevision: current().id,
    managedYaml: managedText({ ttl_seconds: 401 }),
  });
  await disagree(402);
  const opened = await browser.visit("/console/policy");
  await disagree(403);
  const unseen = await browser.submit(formTo(opened, path), { take: "/ttl_seconds" });
  expect([unseen.path, unseen.html.includes("has changed since")]).toEqual(["/console/policy", true]);
  expect(governance.drafts.own(admin.actor)).toBeUndefined();
  await governance.drafts.savePolicy(admin.actor, { version: 0 }, "required: [");
  const broken = await browser.submit(formTo(await browser.visit("/console/policy"), path), {
    take: "/ttl_seconds",
  });
  expect([broken.path, broken.html.includes("correct this text first")]).toEqual([
    "/console/policy/edit",
    true,
  ]);
  await governance.drafts.discard(admin.actor, governance.drafts.existing(admin.actor).id);
});

test("CON-45 the text is in parts that can be folded, each with the person who changes it", async () => {
  const mcp = { codex: [{ name: "docs", command: "docs" }] };
  const baseRevision = current().id;
  await governance.publishing.publishExtensions(admin.actor, {
    baseRevision,
    packages: [packageOf("a")],
    mcp,
  });
  const { html } = await browser.visit("/console/policy");
  const parts = [...html.matchAll(/<summary>([^<]*) <small>([^<]*)<.*?<ol class="?code"? start="?(\d+)/g)];
  expect(parts.map(([, ...part]) => part.join(" | "))).toEqual([
    "General | Policy | 1",
    "Codex | Harness | 11",
    "Codex: MCP servers and uses of packages | Extensions | 13",
    "Packages | Extensions | 18",
  ]);
  expect(html).toMatch(/id="?L18/);
});

test.each([-1, 0, 1])("a page lists the first conflicts and counts the others (limit %i)", async (more) => {
  const count = CONFLICTS_SHOWN_MAX + more;
  for (const { path } of (await governance.fileConflicts.list(site.world.organizationId)).conflicts) {
    const { version } = await governance.fileConflicts.list(site.world.organizationId);
    await governance.fileConflicts.keep(admin.actor, { version, paths: [path] });
  }
  const ttl_seconds = current().document.ttl_seconds ?? 0;
  const names = Array.from({ length: count }, (_, at) => `K${at}`);
  const inFile = (value: string) => {
    const managed_config = Object.fromEntries(names.map((name) => [name, `${value}${more}`]));
    return { harnesses: { codex: { managed_config } } };
  };
  await publishFirst(site, { ttl_seconds, ...inFile("a") });
  const { id: baseRevision } = current();
  await governance.publishing.publishPolicy(admin.actor, {
    baseRevision,
    managedYaml: managedText({ ttl_seconds, ...inFile("b") }),
  });
  await publishFirst(site, { ttl_seconds, ...inFile("c") });
  expect(governance.deployments.conflicts(site.world.organizationId)).toHaveLength(count);
  const { html } = await browser.visit("/console/policy");
  expect(html.match(/name=take/g)).toHaveLength(Math.min(count, CONFLICTS_SHOWN_MAX));
  expect(html.includes("1 more place differs")).toBe(more > 0);
});
