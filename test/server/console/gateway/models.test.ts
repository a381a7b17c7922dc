// CON-78: the models of the gateway in the console, over a real gateway: discovery, acknowledging, and assignments in the draft.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { GATEWAY_MODELS_MAX } from "../../../../src/domain/governance/model.ts";
import { MODEL_COLUMNS } from "../../../../src/server/console/gateway/model-list.tsx";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const MODELS = "/console/gateway/models";
const CODEX = `${MODELS}/harnesses/codex`;

const site = await createGatewayServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "root@example.com" });
const browser = consoleBrowser(site, admin);
const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));
const { drafts, revisions } = site.domain.governance;
const refresh = async () => browser.submit(formTo(await browser.visit(MODELS), `${MODELS}/refresh`), {});
const assign = async (fields: Record<string, string>) =>
  browser.submit(formTo(await browser.visit(CODEX), CODEX), fields);
const drafted = () => drafts.own(admin.actor)?.document.harnesses.codex?.gateway_models;

beforeAll(async () => {
  await publishFirst(site, { allowed_harnesses: ["codex", "claude"] });
  site.upstream.models = [{ id: "b/one", display_name: "B", metadata: { context: 8 } }, "a"];
});

test("CON-78 the list has the state of discovery, and fills with a refresh", async () => {
  expect((await browser.visit(MODELS)).html).toContain("Not refreshed yet");
  const { html, path } = await refresh();
  expect(path).toBe(MODELS);
  for (const text of ["The list of models is refreshed.", "Up to date", "2</span> models", "b/one"])
    expect(html).toContain(text);
  expect((await browser.visit(`${MODELS}?q=B%2F&state=available`)).html).toContain("1</span> model");
  expect((await browser.visit(`${MODELS}?harness=codex`)).html).toContain("No models match these filters.");
  expect((await browser.visit(`${MODELS}?state=odd&harness=vim&per_page=7000`)).status).toBe(400);
  const csv = await (await browser.request(`${MODELS}.csv?q=one`)).text();
  expect(csv.split("\r\n")[1]).toStartWith("b/one,B,available,,");
});

test("CON-131 a list renders each row once; a benchmark measures the time of 100 rows", async () => {
  const cells = MODEL_COLUMNS.map((column) => spyOn(column, "cell"));
  await browser.visit(MODELS);
  expect(cells.slice(0, 5).map(({ mock }) => mock.calls.length)).toEqual([2, 2, 2, 2, 2]);
  for (const cell of cells) cell.mockRestore();
});

test("CON-78 a failed refresh shows the reason, and the list stays", async () => {
  site.upstream.fail("GET /v1/models", { kind: "status", status: 500 });
  const { html } = await refresh();
  expect(html).toContain("notice attention");
  expect(html).toContain("The last refresh failed");
  expect(html).toContain("b/one");
  site.upstream.heal();
});

test("CON-78 a changed model shows its former and new figures, and only that state is acknowledged", async () => {
  const path = `${MODELS}/model?id=${encodeURIComponent("b/one")}`;
  site.upstream.models = [{ id: "b/one", display_name: "B", metadata: { context: 16 } }, "a"];
  await refresh();
  const page = await browser.visit(path);
  expect(page.html).toContain("metadata.context");
  expect(page.html).toMatch(/Acknowledged"><bdi>8<.*Now"><bdi>16</);
  site.upstream.models = [{ id: "b/one", display_name: "B", metadata: { context: 32 } }, "a"];
  await refresh();
  const stale = await browser.submit(formTo(page, path), {});
  expect([stale.status, stale.html.includes("has changed again")]).toEqual([409, true]);
  const done = await browser.submit(formTo(stale, path), {});
  expect(done.html).toContain("The model is acknowledged.");
  expect(done.html).toContain("Available");
  expect((await browser.visit(`${MODELS}/model?id=none`)).status).toBe(404);
});

test("CON-78 models are assigned in the draft, in the order of the policy, and nothing is published", async () => {
  const before = revisions.inForce(admin.actor.organizationId).id;
  const typed = " typed \r\n\r\n";
  const first = await assign({ model_1: "b/one", others: typed, default: "typed" });
  expect([first.heading, drafted()]).toEqual(["Review your draft", ["b/one", "typed"]]);
  const page = await browser.visit(CODEX);
  expect(page.html).toMatch(/value="b\/one" checked/);
  expect(page.html).toContain("Never offered");
  await assign({ model_0: "a" });
  expect(drafted()).toEqual(["b/one", "typed", "a"]);
  expect((await browser.visit(MODELS)).html).toContain("These assignments are from your draft.");
  expect(revisions.inForce(admin.actor.organizationId).id).toBe(before);
});

test("CON-78 a refused assignment keeps the choices, with every problem", async () => {
  const { status, html } = await assign({
    others: `${"x".repeat(513)}\n${"y".repeat(600)}`,
    default: "none",
  });
  expect(status).toBe(400);
  expect(html).toContain("has 513 characters; the limit is 512");
  expect(html).toContain("has 600 characters; the limit is 512");
  expect(html).toContain('value="none"');
  const many = Array.from({ length: GATEWAY_MODELS_MAX + 1 }, (_, index) => `m${index}`).join("\n");
  expect((await assign({ others: many })).status).toBe(400);
  expect(drafted()).toEqual(["b/one", "typed", "a"]);
});

test("CON-78 an outdated form asks again and overwrites nothing", async () => {
  const page = await browser.visit(CODEX);
  await assign({ others: "early\nb/one", default: "early" });
  const kept = drafted();
  const { status, html } = await browser.submit(formTo(page, CODEX), { others: "late", default: "" });
  expect([status, drafted()]).toEqual([409, kept]);
  expect(html).toContain("late");
  expect(html).toContain(kept?.join(", ") ?? "");
});

test("CON-49 the form of models warns that it removes the comments of the policy's text", async () => {
  const sentence = "saving this form rewrites the text of the policy";
  expect((await browser.visit(CODEX)).html).not.toContain(sentence);
  const { drafts } = site.domain.governance;
  const text = `# ours\n${await drafts.textOf(drafts.existing(admin.actor))}`;
  await drafts.savePolicy(admin.actor, drafts.existing(admin.actor), text);
  expect((await browser.visit(CODEX)).html).toContain(sentence);
});

test("CON-78 an auditor reads the pages without buttons", async () => {
  for (const path of [MODELS, CODEX, `${MODELS}/model?id=a`]) {
    const { status, html } = await auditor.visit(path);
    expect([status, /Refresh now|Save and review|Acknowledge the/.test(html)]).toEqual([200, false]);
  }
});
