// Texts of a draft with problems in the console: they are named and linked, no other form replaces them, and a question
// precedes discarding.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { managedText, packageOf } from "../../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../../support/browser/console-browser.ts";
import { formTo } from "../../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const ana = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, ana);
const { governance } = site.domain;
const { drafts } = governance;
const [EDIT, REVIEW, CODEX, CLAUDE] = [
  "/console/policy/edit",
  "/console/policy/review",
  "/console/harnesses/codex",
  "/console/harnesses/claude",
];
const BROKEN = "model: x\nmodel: y\n";

beforeAll(() => governance.deployments.apply(site.world.system, undefined));
afterEach(async () => {
  const draft = drafts.own(ana.actor);
  if (draft) await drafts.discard(ana.actor, draft.id);
});

const send = async (path: string, fields: Record<string, string>) =>
  await browser.submit(formTo(await browser.visit(path), path), fields);
const breakHarness = (path: string) => send(path, { allowed: "yes", settings: BROKEN });
const publishAnother = async () => {
  const { id: baseRevision } = governance.revisions.inForce(site.world.organizationId);
  const packages = [packageOf(`guide-${baseRevision.slice(0, 4).toLowerCase()}`)];
  await governance.publishing.publishExtensions(ana.actor, { baseRevision, packages });
};

test("CON-49 the text of the policy does not replace a harness with problems, and stays in its form", async () => {
  await breakHarness(CODEX);
  const opened = await browser.visit(EDIT);
  expect(opened.html).toContain('<a href="/console/harnesses/codex">the text of Codex</a>');
  const text = managedText({ ttl_seconds: 777 });
  const refused = await browser.submit(formTo(opened, EDIT), { text });
  expect(refused.status).toBe(409);
  for (const shown of ["777", "the text of Codex"]) expect(refused.html).toContain(shown);
  expect(drafts.own(ana.actor)?.typed.harnesses.codex?.input.managedConfigYaml).toBe(BROKEN);
});

test("CON-49 a text with problems is discarded after a question", async () => {
  await breakHarness(CODEX);
  const version = drafts.versionOf(ana.actor);
  const question = await send(CODEX, { act: "discard" });
  expect(question.html).toContain("Discard the text of Codex as typed?");
  expect(drafts.versionOf(ana.actor)).toBe(version);
  const { html } = await browser.submit(formTo(question, CODEX), {});
  expect(html).toContain("The text is discarded");
  expect(html).not.toContain("model: y");
  await send(EDIT, { text: "required: [\n" });
  expect((await browser.visit(CODEX)).html).toContain(`<a href="${EDIT}">the text of the policy</a>`);
  const questionPage = await send(EDIT, { act: "discard" });
  await breakHarness(CODEX); // refused: the policy has problems
  await drafts.share(ana.actor, drafts.existing(ana.actor), true);
  const again = await browser.submit(formTo(questionPage, EDIT), {});
  expect(again.path).toBe(EDIT);
  for (const shown of ["was saved after that page was opened", "required: ["])
    expect(again.html).toContain(shown);
  const last = await browser.submit(formTo(again, EDIT), { act: "discard" });
  expect((await browser.submit(formTo(last, EDIT), {})).html).not.toContain("required: [");
});

test("CON-118 a text that was saved after its page was opened is shown again instead of the question whether to discard it", async () => {
  await breakHarness(CODEX);
  const old = await browser.visit(CODEX);
  await breakHarness(CLAUDE);
  const again = await browser.submit(formTo(old, CODEX), { act: "discard" });
  for (const shown of ["was saved after that page was opened", "model: y"])
    expect(again.html).toContain(shown);
  expect((await browser.submit(formTo(again, CODEX), { act: "discard" })).html).toContain(
    "Discard the text of Codex",
  );
});

test("CON-55 the review names and links the text of each problem", async () => {
  await breakHarness(CODEX);
  await breakHarness(CLAUDE);
  const { html } = await browser.visit(REVIEW);
  for (const [path, key, label] of [
    [CODEX, "codex", "Codex"],
    [CLAUDE, "claude", "Claude"],
  ] as const) {
    expect(html).toContain(`In <a href="${path}">the text of ${label}</a>, line 2: `);
    expect(html).toContain(`/harnesses/${key}/managed_config_yaml the key`);
  }
});

test("CON-54 the review of an outdated draft with problems names the first step instead of offering a merge", async () => {
  await breakHarness(CODEX);
  const stale = await browser.visit(REVIEW);
  await publishAnother();
  const { html } = await browser.visit(REVIEW);
  expect(html).toContain("Somebody else has published");
  expect(html).not.toContain('action="/console/policy/merge"');
  expect(html).toContain("before the draft is merged");
  const csrf = formTo(stale, `${REVIEW}/share`);
  const sent = await browser.submit({ ...csrf, action: "/console/policy/merge" }, {});
  expect(sent.heading).toBe("Review your draft");
  expect(sent.html).toContain("solve the problems of its texts first");
});

test("CON-49 the API refuses to replace a text with problems, names its harness, and discards it", async () => {
  await breakHarness(CODEX);
  const put = async (part: object) => {
    const version = drafts.versionOf(ana.actor);
    const sent = { token: ana.accessToken, body: { version, ...part } };
    const answer = await site.request("PUT", "/admin/policy-draft", sent);
    return { status: answer.status, body: await answer.json() };
  };
  const text = { managed_yaml: managedText({ ttl_seconds: 777 }) };
  expect(await put(text)).toMatchObject({ status: 409, body: { reason: "policy_draft.broken_text" } });
  expect(await put({ shared: true })).toMatchObject({
    body: { problems: [{ text: "codex", pointer: "/harnesses/codex/managed_config_yaml", line: 2 }] },
  });
  expect((await put({ discard_text: "vim" })).status).toBe(400);
  expect(await put({ discard_text: "codex" })).toMatchObject({ status: 200, body: { problems: [] } });
  expect((await put(text)).status).toBe(200);
});
