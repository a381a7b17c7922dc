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
  expect((await browser.submit(formTo(shown, path), { keep: "/ttl_seconds" })).status).toBe(409);
  expect((await browser.submit(formTo(shown, path), { take: "/ttl_seconds" })).status).toBe(404);
  expect((await browser.submit(formTo(shown, path), {})).status).toBe(400);
  const again = await conflicting(310);
  await governance.drafts.savePolicy(admin.actor, { version: 0 }, managedText({ ttl_seconds: 315 }));
  // CON-118: the draft has another value at this place since the page was opened.
  expect((await browser.submit(formTo(again, path), { take: "/ttl_seconds" })).status).toBe(409);
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

test("CON-45 a value of the file that needs another one is not taken, and the page says so", async () => {
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
  const refused = await browser.submit(formTo(await browser.visit("/console/policy"), path), { take: use });
  expect([refused.status, refused.path]).toEqual([200, "/console/policy"]);
  expect(refused.html).toContain("take that one first");
  expect(governance.drafts.own(admin.actor)).toBeUndefined();
});

test("CON-45 the text is in parts that can be folded, each with the one who changes it", async () => {
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
  // The first test has left one conflict.
  const names = Array.from({ length: count - 1 }, (_, at) => `K${at}`);
  const inFile = (value: string) => {
    const managed_config = Object.fromEntries(names.map((name) => [name, `${value}${more}`]));
    return { harnesses: { codex: { managed_config } } };
  };
  await publishFirst(site, { ttl_seconds: 320, ...inFile("a") });
  const { id: baseRevision, document } = current();
  await governance.publishing.publishPolicy(admin.actor, {
    baseRevision,
    managedYaml: managedText({ ttl_seconds: document.ttl_seconds, ...inFile("b") }),
  });
  await publishFirst(site, { ttl_seconds: 320, ...inFile("c") });
  expect(governance.deployments.conflicts(site.world.organizationId)).toHaveLength(count);
  const { html } = await browser.visit("/console/policy");
  expect(html.match(/name=take/g)).toHaveLength(Math.min(count, CONFLICTS_SHOWN_MAX));
  expect(html.includes("1 more place differs")).toBe(more > 0);
});
