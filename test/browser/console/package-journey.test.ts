// CON-151: a package from its archive to the workstations of the demo, and a bundle into the catalog, with and without the script.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import type { Page } from "playwright-core";
import type { Started } from "../../../src/app/demo/events.ts";
import { fileSigner } from "../../../src/platform/crypto/file-signatures.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { packageOf } from "../../domain/governance/governance-world.ts";
import { heading, listen, press, publish, signIn } from "../../support/browser/browser.ts";
import { borrowChromium } from "../../support/browser/chromium.ts";
import { startDemo } from "../../support/browser/demo.ts";
import { seedCatalog, writeArchive } from "../../support/content/catalog.ts";
import { tarFile, tarGzOf } from "../../support/content/tar.ts";
import { createTestServer } from "../../support/server.ts";

const WORKSTATIONS = 3;
const LIMIT_MS = 60_000;
/** About how often a person reloads the page; the script reloads by itself. */
const CHECK_EVERY_MS = 500;

const ARCHIVE = tarGzOf(tarFile("skills/guide/SKILL.md", "---\nname: guide\ndescription: A guide\n---\n"));
const archive = (name: string, bytes: Uint8Array = ARCHIVE) => ({
  name,
  mimeType: "application/gzip",
  buffer: Buffer.from(bytes),
});

let demo: Started & AsyncDisposable;
const complaints: string[] = [];
beforeAll(async () => {
  demo = await startDemo(WORKSTATIONS);
}, LIMIT_MS);
afterAll(() => demo[Symbol.asyncDispose]());
afterEach(() => expect(complaints.splice(0)).toEqual([]));

/** Sends a file with the form of the page, and waits for the page that shows its contents. */
async function send(page: Page, file: ReturnType<typeof archive>, answer: string): Promise<void> {
  await page.locator("#file").setInputFiles(file);
  await page.getByRole("button", { name: /^Upload and / }).click();
  await page.getByRole("heading", { level: 1, name: answer }).waitFor();
}

/** @returns a bundle with one package, as another installation exports it */
async function bundleOf(id: string) {
  await using other = await createTestServer();
  const { catalog } = other.domain;
  await seedCatalog(other, [
    { ...packageOf(id), ...writeArchive(other, id, [tarFile("skills/a/SKILL.md")]) },
  ]);
  const key = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  const signer = fileSigner(new Secret(key.toString()), "key");
  const { organizationId } = other.world;
  const { bytes } = catalog.bundles.export(organizationId, { signer, leaveOutRemote: false });
  const { publicKey, keyId } = signer;
  return { bytes: Buffer.concat(await Array.fromAsync(bytes)), publicKey, keyId };
}

/** Waits until the page of the package says that every workstation has applied it. */
async function applied(page: Page): Promise<void> {
  const all = page.getByText(`${WORKSTATIONS} of ${WORKSTATIONS} workstations`);
  for (; (await all.count()) === 0; await page.reload()) await Bun.sleep(CHECK_EVERY_MS);
}

describe.each([
  ["without the script", false],
  ["with the script", true],
] as const)("CON-151 %s", (_, javaScriptEnabled) => {
  test(
    "CON-66 a package is uploaded, inspected, laid out, given to everybody, reviewed, published and applied",
    async () => {
      await using chromium = await borrowChromium();
      const context = await chromium.browser.newContext({ javaScriptEnabled, baseURL: demo.url });
      await using _closing = { [Symbol.asyncDispose]: () => context.close() };
      listen(context, demo.url, complaints);
      const page = await context.newPage();
      await page.goto("/console/packages");
      await signIn(page, demo.administrator, demo.password);
      await page.getByRole("link", { name: "Add a package" }).click();
      const id = javaScriptEnabled ? "scripted" : "plain";
      await send(page, archive(`${id}-1.2.0.tar.gz`, ARCHIVE.subarray(0, 60)), "Add a package");
      expect(await page.getByRole("alert").textContent()).toContain("ends in the middle");

      await send(page, archive(`${id}-1.2.0.tar.gz`), "What is in the archive");
      await page.getByRole("link", { name: "Continue" }).click();
      expect(await heading(page)).toBe("Name the package");
      expect(await page.locator("#id").inputValue()).toBe(id);
      await press(page, "Continue");
      expect(await heading(page)).toBe("What harnesses use");
      expect(await page.locator("#codex-skills_dir").inputValue()).toBe("skills");
      await press(page, "Continue");
      await page.getByLabel("Everybody").check();
      await press(page, "Continue");
      expect(await heading(page)).toBe("Check the package");
      await press(page, "Add to your draft");
      expect(await heading(page)).toBe("Review your draft");
      expect(await page.getByRole("row", { name: new RegExp(`Package ${id}`) }).count()).toBeGreaterThan(0);
      await publish(page);
      expect(await page.getByRole("status").textContent()).toContain("is published.");
      await page.goto(`/console/packages/${id}`);
      await applied(page);
    },
    LIMIT_MS,
  );

  test("CON-68 a bundle is uploaded, its plan is shown with the key that signed it, and it is imported", async () => {
    await using chromium = await borrowChromium();
    const context = await chromium.browser.newContext({ javaScriptEnabled, baseURL: demo.url });
    await using _closing = { [Symbol.asyncDispose]: () => context.close() };
    listen(context, demo.url, complaints);
    const page = await context.newPage();
    await page.goto("/console/catalog/import");
    await signIn(page, demo.administrator, demo.password);
    const id = javaScriptEnabled ? "scripted" : "plain";
    const { bytes, publicKey, keyId } = await bundleOf(id);
    await page.locator("#trust").fill("no key");
    await send(page, archive("catalog.bundle", bytes), "What the bundle changes");
    expect(await page.getByRole("alert").count()).toBe(1);
    await page.locator("#trust").fill(publicKey);
    await press(page, "Try with this key");
    expect(await page.locator("main").textContent()).toContain(keyId.slice(0, 6));
    expect(await page.locator("main section").allTextContents()).toEqual([`Added (1)${id} 1.0.0`]);
    await press(page, "Import");
    expect(await page.getByRole("status").textContent()).toContain("1 added, 0 changed, 0 removed");
    expect(await page.getByRole("link", { name: id, exact: true }).count()).toBe(1);
  });
});
