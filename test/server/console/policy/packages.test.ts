// Packages and the catalog in the console, over the real domain: what the pages show, and the forms that change the draft.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { UPDATES_SHOWN_MAX } from "../../../../src/server/console/policy/review-page.tsx";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance } = site.domain;

const seed = (entries: readonly object[]) =>
  site.domain.catalog.seed.apply(site.world.system, {
    bytes: Buffer.from(JSON.stringify(entries)),
    fileName: "catalog.json",
    files: { resolve: (path) => path, open: () => Promise.reject(new Error("no local source here")) },
    prune: true,
  });

const { organizationId } = site.world;
const { actor } = admin;

/** @param packages that the policy is to have */
async function publish(packages: readonly object[]): Promise<void> {
  const { id: baseRevision } = governance.revisions.inForce(organizationId);
  await governance.publishing.publishExtensions(actor, { baseRevision, packages });
}

beforeAll(() => governance.deployments.apply(site.world.system, undefined));

test.each([UPDATES_SHOWN_MAX - 1, UPDATES_SHOWN_MAX, UPDATES_SHOWN_MAX + 1])(
  "CON-56 of %d updates that a draft does not take, the review names at most 50",
  async (updates) => {
    const packages = Array.from({ length: updates }, (_, at) => packageOf(`package-${at}`));
    await publish(packages);
    await seed(packages.map((managed) => ({ ...managed, version: "1.3.0" })));
    const harness = { managedConfigYaml: "model: gpt-5", isAllowed: true };
    const draft = await governance.drafts.saveHarness(actor, { version: 0 }, "codex", harness);
    const { html } = await browser.visit("/console/policy/review");
    expect(html.match(/stays at/g)).toHaveLength(Math.min(updates, UPDATES_SHOWN_MAX));
    expect(html.includes("And 1 more.")).toBe(updates > UPDATES_SHOWN_MAX);
    await governance.drafts.discard(actor, draft.id);
  },
);
