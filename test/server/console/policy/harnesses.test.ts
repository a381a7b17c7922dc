// The harnesses in the console, over the real domain: the versions of the fleet beside the range, and the form.
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
