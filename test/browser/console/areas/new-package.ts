// Adding a package step by step, and importing a bundle into the catalog.
import { generateKeyPairSync } from "node:crypto";
import type { Page } from "playwright-core";
import { fileSigner } from "../../../../src/platform/crypto/file-signatures.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import type { Site } from "../../../support/browser/browser.ts";
import { tarFile, tarGzOf } from "../../../support/content/tar.ts";
import type { Area } from "../scenes.ts";
import { administratorOf } from "./packages.ts";

const NEW = "/console/packages/new";
const LONG = "long-".repeat(18);
const ARCHIVE = tarGzOf(
  tarFile("skills/guide/SKILL.md", "# Guide\n"),
  tarFile("agents/reviewer.md", "# Reviewer\n"),
  tarFile(`bin/${LONG}`, "#!/bin/sh\ncurl https://example.com/ticket\n"),
);
/** Selected by scenes that skip the steps before theirs. */
const NAMES = {
  id: "manual",
  version: "1.2.0",
  name: "Manual \u062f\u0644\u064a\u0644",
  isReplacement: true,
};

async function upload(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  await page
    .locator("#file")
    .setInputFiles({ name, mimeType: "application/gzip", buffer: Buffer.from(bytes) });
  await page.getByRole("button", { name: /^Upload and / }).click();
}

/** Uploads the archive, saves the steps before this one, and opens it. */
async function openStep(page: Page, site: Site, step: string): Promise<void> {
  const { packageAdditions } = site.server.domain;
  await page.goto(NEW);
  await upload(page, `guide-${LONG}.tar.gz`, ARCHIVE);
  await page.waitForURL("**/inspection");
  const actor = administratorOf(site);
  const read = () => packageAdditions.get(actor);
  if (step === "layout" || step === "check") await packageAdditions.identify(actor, read(), NAMES);
  if (step === "check") {
    await packageAdditions.layOut(actor, read(), { codex: { skills_dir: "skills" } });
    await packageAdditions.offer(actor, read(), { scope: "organization", user_ids: [] });
  }
  await page.goto(`${NEW}/${step}`);
}

const signer = fileSigner(
  new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
  "key",
);

/** Uploads the catalog of the site as a bundle of another installation. */
async function openPlan(page: Page, site: Site, trusted = signer.publicKey): Promise<void> {
  const { domain, world } = site.server;
  const { bytes } = domain.catalog.bundles.export(world.organizationId, { signer, leaveOutRemote: true });
  await page.goto("/console/catalog/import");
  await page.locator("#trust").fill(trusted);
  await upload(page, `${LONG}.bundle`, Buffer.concat(await Array.fromAsync(bytes)));
  await page.waitForURL("**/import/plan**");
}

export const newPackageArea: Area = {
  scenes: [
    { title: "Add a package", open: NEW },
    {
      title: "Add a package",
      state: "with an archive that is cut",
      async open(page) {
        await page.goto(NEW);
        await upload(page, "guide.tar.gz", ARCHIVE.subarray(0, 90));
        await page.getByRole("alert").waitFor();
      },
    },
    { title: "What is in the archive", open: (page, site) => openStep(page, site, "inspection") },
    { title: "Name the package", open: (page, site) => openStep(page, site, "identity") },
    {
      title: "Name the package",
      state: "wrong",
      async open(page, site) {
        await openStep(page, site, "identity");
        await page.locator("#id").evaluate((field) => field.removeAttribute("pattern"));
        await page.locator("#id").fill("Not An Id");
        await page.locator("#version").fill("1.2.0");
        await page.getByRole("button", { name: "Continue" }).click();
        await page.getByRole("alert").waitFor();
      },
    },
    { title: "What harnesses use", open: (page, site) => openStep(page, site, "layout") },
    {
      title: "What harnesses use",
      state: "wrong",
      async open(page, site) {
        await openStep(page, site, "layout");
        await page.locator("#codex-skills_dir").fill("../out");
        await page.locator("#codex-helpers").fill("ticket");
        await page.getByRole("button", { name: "Continue" }).click();
        await page.getByRole("alert").waitFor();
      },
    },
    { title: "Check the package", open: (page, site) => openStep(page, site, "check") },
    {
      title: "Add a package",
      state: "begun",
      async open(page, site) {
        await openStep(page, site, "check");
        await page.goto(NEW);
      },
    },
    { title: "Import a bundle", open: "/console/catalog/import" },
    {
      title: "Import a bundle",
      state: "without a file",
      async open(page) {
        await page.goto("/console/catalog/import");
        await page.locator("#file").evaluate((field) => field.removeAttribute("required"));
        await page.locator("#trust").fill("x");
        await page.getByRole("button", { name: "Upload and show the plan" }).click();
        await page.getByRole("alert").waitFor();
      },
    },
    { title: "What the bundle changes", open: (page, site) => openPlan(page, site) },
    {
      title: "What the bundle changes",
      state: "with a wrong key",
      open: (page, site) => openPlan(page, site, "not a key"),
    },
  ],
};
