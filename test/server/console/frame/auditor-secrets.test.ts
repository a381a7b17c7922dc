// CON-144: an auditor reads every page of the policy and sees no secret; an administrator sees secrets while editing
// them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HIDDEN } from "../../../../src/domain/governance/shown/hidden-secrets.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { createTestServer } from "../../../support/server.ts";

const AUDITOR = "auditor@example.com";
const site = await createTestServer({ consoleAuditors: () => [AUDITOR] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const auditor = consoleBrowser(site, await site.signedIn("member", { email: AUDITOR }));
const { governance } = site.domain;

/** text that occurs in every secret */
const MARK = "s3cr3tW0rd";
const SOURCE = `https://ana:${MARK}@archives.example/guide.tar.gz`;

beforeAll(async () => {
  const docs = {
    name: "docs",
    command: "docs",
    args: ["--token", `ghp_${MARK}${"a1B2".repeat(7)}`],
    env: { TOKEN: MARK },
    disabled: false,
  };
  await publishFirst(site, {
    harnesses: { codex: { managed_config: { api_key: MARK, model: "large" }, mcp: [docs] } },
  });
  const { id: baseRevision } = governance.revisions.inForce(site.world.organizationId);
  await governance.publishing.publishExtensions(admin.actor, {
    baseRevision,
    packages: [packageOf("guide", { source_ref: SOURCE })],
    mcp: { codex: [docs] },
    packageOverrides: { codex: { guide: { enabled: true, settings: { api_key: MARK, color: "blue" } } } },
  });
});

const CONCRETE = [
  ...["/console/harnesses/codex", "/console/mcp/docs", "/console/packages/guide"],
  ...["/console/policy/history/1", "/console/policy/history/2", "/console/policy/diff?from=1&to=2"],
  ...["/console/policy/explain?user=ana@example.com&harness=codex", "/console/mcp?q=docs"],
];
/** A stream of events has numbers only, and does not end. */
const paths = (await site.server.allRoutes()).flatMap(({ method, path }) =>
  method === "GET" && /^\/console(?!.*(?::|\/events$))/.test(path) ? path : [],
);

test("CON-144 pages and files for an auditor contain no secret of the policy, even if the address requests it", async () => {
  expect(paths).toContain("/console/policy/edit");
  const found: string[] = [];
  for (const path of [...paths, ...CONCRETE])
    for (const more of ["", `${path.includes("?") ? "&" : "?"}values=shown`])
      if ((await auditor.visit(path + more)).html.includes(MARK)) found.push(path + more);
  expect(found).toEqual([]);
  for (const path of ["/console/policy", ...CONCRETE.slice(0, 3)]) {
    const { status, html } = await auditor.visit(path);
    expect([path, status, html.includes(HIDDEN)]).toEqual([path, 200, true]);
  }
  expect((await auditor.visit("/console/harnesses/codex")).html).toContain("large");
  expect((await auditor.visit("/console/packages/guide")).html).toContain("blue");
});

test("CON-144 an auditor sees a note that values are hidden, and no buttons for them", async () => {
  for (const path of CONCRETE.slice(0, 3)) {
    const told = "Values that may be secrets are hidden from auditors.";
    expect([path, (await auditor.visit(path)).html.includes(told)]).toEqual([path, true]);
    expect([path, (await browser.visit(path)).html.includes(told)]).toEqual([path, false]);
  }
  const buttons = /value="(?:up|drop_arg|show_env|add_env):\d/g;
  expect((await auditor.visit("/console/mcp/docs")).html).not.toMatch(buttons);
  expect(new Set((await browser.visit("/console/mcp/docs")).html.match(buttons)).size).toBe(6);
});

test("CON-144 an auditor finds no secret by searching for it", async () => {
  const { html } = await auditor.visit(`/console/mcp?q=${MARK.slice(0, 6)}`);
  expect(html).toContain("No MCP servers match these filters.");
});

test("CON-144 the source of a package is shown without its password until an administrator asks for it", async () => {
  const path = "/console/packages/guide";
  expect((await browser.visit(path)).html).not.toContain(SOURCE);
  expect((await browser.visit(`${path}?values=shown`)).html).toContain(SOURCE);
});

test("CON-144 an administrator edits possible secrets", async () => {
  for (const path of ["/console/harnesses/codex", "/console/mcp/docs", "/console/policy/edit"])
    expect([path, (await browser.visit(path)).html.includes(MARK)]).toEqual([path, true]);
});
