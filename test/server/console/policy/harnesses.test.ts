// The harnesses in the console, over the real domain: the versions of the fleet next to the range, and the form.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { reportedHarness, reportWith } from "../../../domain/clients/policies.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance } = site.domain;
const PATH = "/console/harnesses/codex";

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  for (const [instance_id, version] of ["0.145.0", "0.145.0", "0.150.0", "odd"].entries()) {
    const report = reportWith({
      instance_id: String(instance_id),
      harnesses: [reportedHarness({ version })],
    });
    await site.request("POST", "/client-status", { token: admin.accessToken, body: report });
  }
});

const save = async (fields: Record<string, string>) =>
  browser.submit(formTo(await browser.visit(PATH), PATH), fields);

test("CON-47 all harnesses, with the workstations that the policy allows and refuses", async () => {
  const { html } = await browser.visit("/console/harnesses");
  for (const label of ["Codex", "Claude"]) expect(html).toContain(label);
  expect((await browser.visit("/console/harnesses/vim")).status).toBe(400);
});

test("CON-48 a range that would refuse versions is shown beside them, and reviewed", async () => {
  expect((await browser.visit(PATH)).html).toContain("0.145.0");
  const { html } = await save({
    requirement: ">=0.146.0",
    unverified: "yes",
    allowed: "yes",
    settings: "model: gpt-5",
  });
  expect(html).toContain("Review your draft");
  expect(html).toContain("Versions that would be refused");
  const again = (await browser.visit(PATH)).html;
  expect(again).toContain("does not satisfy the required");
  expect(again).toContain("model: gpt-5");
});

test("CON-49 invalid settings are kept as they were typed, with their line", async () => {
  const settings = "model: x # pinned\nmodel: y\n";
  const { html } = await save({ allowed: "yes", settings });
  expect(html).toContain("Line 2:");
  expect(html).toContain("model: x # pinned");
  expect((await browser.visit(PATH)).html).toContain("model: x # pinned");
});

const TYPED = "# ours\nmodel: gpt-5 # pinned\nunknown:   [1,  2]\n";
const draftText = () => governance.drafts.own(admin.actor)?.typed.harnesses.codex?.input.managedConfigYaml;

test("CON-48 fields of common settings are written into the text, and everything else in it stays", async () => {
  await save({ allowed: "yes", settings: TYPED });
  const { html } = await browser.visit(PATH);
  expect(html).toContain('name="set_model" value="gpt-5"');
  const changes = { set_model: "gpt-5.2", set_sandbox_mode: "read-only", set_auto_approve: "no" };
  const { heading } = await save({ allowed: "yes", settings: TYPED, ...changes });
  expect(heading).toBe("Review your draft");
  const text =
    "# ours\nmodel: gpt-5.2 # pinned\nunknown:   [1,  2]\nsandbox_mode: read-only\nauto_approve: false\n";
  expect(draftText()).toBe(text);
  expect((await browser.visit(PATH)).html).toContain('<option value="no" selected>No');
  await save({ allowed: "yes", settings: text, set_model: "", set_auto_approve: "no" });
  expect(draftText()).toBe(text.replace("model: gpt-5.2 # pinned\n", ""));
});

test("CON-48 the text alone may change, and a setting that differs in both is refused with both kept", async () => {
  await save({ allowed: "yes", settings: TYPED, set_sandbox_mode: "" });
  await save({ allowed: "yes", settings: TYPED.replace("gpt-5", "gpt-6") });
  expect(draftText()).toContain("model: gpt-6 # pinned");
  const both = { allowed: "yes", settings: TYPED.replace("gpt-5", "gpt-7"), set_model: "gpt-8" };
  const refused = await save(both);
  expect(refused.status).toBe(409);
  for (const kept of ["different values for model", "model: gpt-7", 'value="gpt-8"'])
    expect(refused.html).toContain(kept);
  expect(draftText()).toContain("gpt-6");
});

test("CON-48 fields are written into the text before it is saved, and wait while it cannot be read", async () => {
  const version = governance.drafts.versionOf(admin.actor);
  const typed = TYPED.replace("gpt-5", "gpt-6");
  const shown = await save({ allowed: "yes", settings: typed, set_model: "gpt-9", act: "write" });
  expect(shown.html).toContain("model: gpt-9 # pinned");
  expect(governance.drafts.versionOf(admin.actor)).toBe(version);
  const unread = { allowed: "yes", settings: "model: [\n", set_model: "gpt-10" };
  expect((await save({ ...unread, act: "write" })).html).toContain("cannot be read yet");
  const { html } = await save(unread);
  expect(html).toContain("Line 2:");
  expect(html).toContain('value="gpt-10"');
  expect((await browser.visit(PATH)).html).toContain("The text below cannot be read");
  expect((await save({ allowed: "yes", settings: "model: &m x\na: *m\n" })).heading).toBe(
    "Review your draft",
  );
  const used = { allowed: "yes", settings: "model: &m x\na: *m\n", set_model: "" };
  expect((await save(used)).html).toContain("used in another place");
});

test("a harness that was saved without saying whether it is allowed stays allowed in its form", async () => {
  const version = governance.drafts.versionOf(admin.actor);
  const harness = { harness: "codex", managed_config_yaml: "model: gpt-5" };
  const body = { version, harness };
  expect((await site.request("PUT", "/admin/policy-draft", { token: admin.accessToken, body })).status).toBe(
    200,
  );
  expect((await browser.visit(PATH)).html).toMatch(
    /name="allowed" value="yes" checked|checked name="allowed"/,
  );
});
