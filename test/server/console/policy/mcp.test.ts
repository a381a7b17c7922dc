// MCP servers in the console, over the real domain: the list, and the form that works without a script.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo, type Page } from "../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { drafts, deployments } = site.domain.governance;
const NEW = "/console/mcp/new";

beforeAll(async () => {
  await deployments.apply(site.world.system, undefined);
});

const mcpOf = (key: "codex" | "claude") => drafts.own(admin.actor)?.document.harnesses[key]?.mcp;

/** The form browser does not distinguish checkboxes and choices, so a test names all of them. */
async function press(page: Page, act: string, fields: Record<string, string>) {
  const form = page.forms.find(({ action }) => action.startsWith("/console/mcp/"));
  if (!form) throw new Error(`no form of a server under "${page.heading}"`);
  const { csrf = "", by = "", version = "", from = "", args = "", variables = "" } = form.fields;
  const kept = { csrf, by, version, from, args, variables };
  return browser.submit({ ...form, fields: kept }, { ...fields, act });
}

const LOCAL = { name: "docs", kind: "local", command: "npx", enabled: "yes", harness_codex: "yes" };
const RULES = [
  "A server has a command or a URL",
  "without arguments or variables",
  "receive values in clear text",
];

test("CON-69 a server is entered row by row without a script, and saved in the draft", async () => {
  const empty = await browser.visit(NEW);
  for (const rule of RULES) expect(empty.html).toContain(rule);
  const one = await press(empty, "add_arg:0", LOCAL);
  const two = await press(one, "add_arg:1", { ...LOCAL, arg0: "first\nline" });
  expect(two.html).toContain("first\nline</textarea>");
  const moved = await press(two, "up:1", { ...LOCAL, arg0: "second", arg1: "-y" });
  expect(moved.html).toMatch(/arg0.*-y.*arg1.*second/s);
  const more = await press(moved, "add_env:0", { ...LOCAL, arg0: "-y", arg1: "second" });
  expect(drafts.versionOf(admin.actor)).toBe(0);
  const fields = { ...LOCAL, arg0: "-y", arg1: "second", env_name0: "REGION", env_value0: "eu" };
  const { html } = await press(more, "save", { ...fields, harness_claude: "yes" });
  expect(html).toContain("Review your draft");
  const server = {
    name: "docs",
    command: "npx",
    args: ["-y", "second"],
    env: { REGION: "eu" },
    disabled: false,
  };
  expect([mcpOf("codex"), mcpOf("claude")]).toEqual([[server], [server]]);
});

test("CON-69 the list shows the draft, and filters it", async () => {
  const { html } = await browser.visit("/console/mcp");
  for (const text of ["These are the servers of your draft", "docs", "npx", "Codex, Claude", "Enabled"])
    expect(html).toContain(text);
  expect((await browser.visit("/console/mcp?kind=remote")).html).toContain("No MCP servers match");
  expect((await browser.visit("/console/mcp?kind=odd")).status).toBe(400);
  const file = await (await browser.request("/console/mcp.csv?q=NPX")).text();
  expect(file).toBe("name,kind,target,harnesses,state\r\ndocs,local,npx,codex claude,enabled\r\n");
});

test("CON-69 a server that is changed for one harness becomes a separate one", async () => {
  const page = await browser.visit("/console/mcp/docs");
  const remote = {
    name: "docs",
    kind: "remote",
    url: "https://mcp.example.com/",
    transport: "http",
    enabled: "yes",
  };
  await press(page, "save", { ...remote, harness_codex: "yes" });
  const server = { name: "docs", url: "https://mcp.example.com/", transport: "http", disabled: false };
  expect([mcpOf("codex"), mcpOf("claude")]).toEqual([[server], []]);
  await press(await browser.visit(NEW), "save", {
    ...LOCAL,
    name: "docs",
    harness_codex: "",
    harness_claude: "yes",
  });
  expect((await browser.visit("/console/mcp/docs?harness=claude")).html).toContain(
    "different server of this name",
  );
  const { html } = await browser.visit("/console/mcp");
  expect(html).toContain("/console/mcp/docs?harness=claude");
});

test("CON-69 all problems are shown together beside the input, and nothing is saved", async () => {
  const before = drafts.versionOf(admin.actor);
  const wrong = { ...LOCAL, name: "", command: "", harness_codex: "" };
  const empty = await press(await browser.visit(NEW), "save", wrong);
  expect(empty.status).toBe(400);
  const problems = ["Name must not be blank", "The server needs a command", "Harnesses must be at least one"];
  for (const problem of problems) expect(empty.html).toContain(problem);
  const taken = await press(await browser.visit(NEW), "save", { ...LOCAL, env_value0: "x" });
  expect(taken.html).toContain("Name is already that of another server of Codex");
  expect(drafts.versionOf(admin.actor)).toBe(before);
});

test("CON-69 what looks like a token is named, and saved only when that is accepted", async () => {
  const before = drafts.versionOf(admin.actor);
  const page = await press(await browser.visit(NEW), "add_env:0", { ...LOCAL, name: "git" });
  const fields = { ...LOCAL, name: "git", env_name0: "GITHUB_TOKEN", env_value0: "ghp_1" };
  const warned = await press(page, "save", fields);
  expect(warned.html).toContain("look like keys or tokens");
  expect(warned.html).toContain("Variable GITHUB_TOKEN");
  expect(drafts.versionOf(admin.actor)).toBe(before);
  await press(warned, "save", { ...fields, accepted: "yes" });
  expect(mcpOf("codex")?.at(-1)).toMatchObject({ name: "git", env: { GITHUB_TOKEN: "ghp_1" } });
});

test("CON-118 a draft that was saved elsewhere in the meantime is shown beside the entries", async () => {
  const page = await browser.visit("/console/mcp/git");
  await drafts.saveMcp(admin.actor, drafts.existing(admin.actor), { kimi: [] });
  const stale = await press(page, "save", { ...LOCAL, name: "git", command: "uvx" });
  expect(stale).toMatchObject({ status: 409 });
  expect(stale.html).toContain("saved elsewhere after you opened it");
  expect(stale.html).toContain('value="uvx"');
  await press(stale, "save", { ...LOCAL, name: "git", command: "uvx" });
  expect(mcpOf("codex")?.at(-1)).toMatchObject({ name: "git", command: "uvx" });
});

test("CON-69 names that are addresses, and names with slashes, lead to their servers", async () => {
  for (const name of ["new", "..", "~x", "a/b ?#é", "100%"]) {
    await press(await browser.visit(NEW), "save", { ...LOCAL, name });
    const { html } = await browser.visit("/console/mcp");
    const links = [...html.matchAll(/href="(\/console\/mcp\/[^"]+)"/g)].map(([, link = ""]) => link);
    const pages = await Promise.all(links.filter((link) => link !== NEW).map((link) => browser.visit(link)));
    expect(pages.map(({ html: text }) => text.includes(`value="${name}"`)).filter(Boolean)).toHaveLength(1);
  }
  expect((await browser.visit("/console/mcp/nobody")).status).toBe(404);
});

test("CON-69 a server is removed from the draft, and only administrators may change one", async () => {
  const { html } = await press(await browser.visit("/console/mcp/git"), "remove", {});
  expect(html).toContain("Review your draft");
  expect(mcpOf("codex")?.map(({ name }) => name)).not.toContain("git");
  const member = consoleBrowser(site, await site.signedIn("member"));
  for (const path of ["/console/mcp", "/console/mcp.csv", NEW, "/console/mcp/docs"])
    expect((await member.visit(path)).status).toBe(403);
  const form = formTo(await browser.visit(NEW), NEW);
  expect((await member.submit(form, LOCAL)).status).toBe(403);
});
