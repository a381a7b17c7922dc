// The policy: text, history, one revision, difference, explanation, rollout, editor, and the review of a draft.

import type { Page } from "playwright-core";
import { press, type Site } from "../../../support/browser/browser.ts";
import { withCapture } from "../../../support/content/sessions.ts";
import type { Area } from "../scenes.ts";
import { packagesOfPolicy } from "./extensions.ts";

const LONG = "long-".repeat(40);
const SERVERS = {
  codex: [
    { name: "docs", command: "npx", args: ["-y", "@example/docs", ""], env: { REGION: "eu" } },
    {
      name: `<script>${LONG}`,
      command: `/opt/${LONG}`,
      args: [LONG, "two\nlines"],
      env: { [LONG.slice(0, 99)]: LONG },
    },
  ],
  claude: [
    { name: "docs", command: "npx", args: ["-y", "@example/docs", ""], env: { REGION: "eu" } },
    {
      name: "\u062e\u0627\u062f\u0645",
      url: `https://mcp.example.com/${LONG}`,
      transport: "http",
      disabled: true,
    },
  ],
  kimi: [{ name: "docs", url: "https://mcp.example.com/docs" }],
};

const HARNESSES = Object.fromEntries(Object.entries(SERVERS).map(([key, mcp]) => [key, { mcp }]));
let packages: object[] = [];

/** The configuration file and an administrator change the same places to different values. */
async function openConflicts(page: Page, { server }: Site): Promise<void> {
  const { governance } = server.domain;
  const operator = { ...server.world.system, kind: "operator" as const };
  const text = await governance.views.text(governance.revisions.inForce(operator.organizationId));
  const source = { text: `${text}ttl_seconds: 61\ntelemetry: {sink_url: "https://a.example/${LONG}"}\n` };
  const plan = governance.documents.plan(operator.organizationId, { ...source, variable: () => undefined });
  await governance.documents.apply(operator, plan, { comment: undefined });
  const telemetry = { sink_url: `https://b.example/${LONG}` };
  await withCapture(server, { harnesses: HARNESSES, packages, ttl_seconds: 62, telemetry });
  await page.goto("/console/policy");
}

export const policyArea: Area = {
  async seed({ server }) {
    packages = await packagesOfPolicy(server);
    await withCapture(server, { harnesses: HARNESSES, packages }); // the area of captured sessions uploads some
  },
  scenes: [
    { title: "Policy", open: "/console/policy" },
    { title: "Edit the policy", open: "/console/policy/edit" },
    { title: "History of the policy", open: "/console/policy/history" },
    { title: "Revision r1, the current one", open: "/console/policy/history/1" },
    { title: "From r1 to r1", open: "/console/policy/diff" },
    { title: "Explain the policy", open: "/console/policy/explain?user=admin@example.com&harness=codex" },
    {
      title: "Explain the policy",
      state: "asked wrongly",
      open: "/console/policy/explain?user=nobody@example.com",
    },
    { title: "Harnesses", open: "/console/harnesses" },
    { title: "Codex", open: "/console/harnesses/codex" },
    { title: "MCP servers", open: "/console/mcp" },
    { title: "MCP servers", state: "none match", open: "/console/mcp?q=nothing" },
    { title: "MCP servers", state: "filtered wrongly", open: "/console/mcp?kind=odd" },
    { title: "docs", open: "/console/mcp/docs?harness=codex" },
    { title: "docs", state: "remote", open: "/console/mcp/docs?harness=kimi" },
    {
      title: `<script>${LONG}`,
      state: "long",
      open: `/console/mcp/${encodeURIComponent(`<script>${LONG}`)}`,
    },
    { title: "New MCP server", open: "/console/mcp/new" },
    {
      title: "New MCP server",
      state: "wrong",
      async open(page) {
        await page.goto("/console/mcp/new");
        await press(page, "Add a variable");
        await press(page, "Save and review");
      },
    },
    {
      title: "New MCP server",
      state: "with a token",
      async open(page) {
        await page.goto("/console/mcp/new");
        await page.locator("#name").fill("git");
        await page.locator("#command").fill("npx");
        await page.getByLabel("Codex").check();
        await page.getByRole("button", { name: "Add an argument" }).click();
        await page.locator("#arg0").fill("--token=ghp_1");
        await press(page, "Save and review");
      },
    },
    { title: "Rollout of r1", open: "/console/policy/rollout/1" },
    { title: "Policy", state: "with conflicts", open: openConflicts },
  ],
};
