// CON-68: a bundle is uploaded, its plan is shown, and only a confirmation changes the catalog; over the real domain, and with the
// API.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readdirSync } from "node:fs";
import {
  BUNDLE_KEPT_MS,
  BUNDLE_UPLOAD_BYTES_MAX,
} from "../../../../src/domain/catalog/bundles/pending-bundles.ts";
import { fileSigner } from "../../../../src/platform/crypto/file-signatures.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo, type Page } from "../../../support/browser/form-browser.ts";
import { seedCatalog, writeArchive } from "../../../support/content/catalog.ts";
import { tarFile } from "../../../support/content/tar.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { catalog, governance } = site.domain;
const { organizationId } = site.world;
const [IMPORT, PLAN] = ["/console/catalog/import", "/console/catalog/import/plan"];
const signerOf = () =>
  fileSigner(
    new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
    "key",
  );
const [signer, stranger] = [signerOf(), signerOf()];
const guideOf = (version: string) => ({
  id: "guide",
  version,
  adapters: { codex: { skills_dir: "skills" } },
  ...writeArchive(site, `guide-${version}`, [
    tarFile("skills/guide/SKILL.md", `curl https://example.com/${version}`),
  ]),
});
const used = packageOf("used");
let bundle: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  await seedCatalog(site, [guideOf("2.0.0"), { ...guideOf("1.0.0"), id: "fresh" }]);
  const { bytes } = catalog.bundles.export(organizationId, { signer, leaveOutRemote: false });
  bundle = new Uint8Array(Buffer.concat(await Array.fromAsync(bytes)));
  await governance.deployments.apply(site.world.system, undefined);
  const { id: baseRevision } = governance.revisions.inForce(organizationId);
  await governance.publishing.publishExtensions(admin.actor, { baseRevision, packages: [used] });
});
beforeEach(() => seedCatalog(site, [guideOf("1.0.0"), used]));

const versions = () =>
  [...catalog.versions(organizationId)].map(([id, { version }]) => `${id} ${version}`).sort();
const kept = () =>
  readdirSync(`${site.world.directory}/artifacts/imports/sha256`, { recursive: true }).filter(
    (name) => String(name).length > 60,
  );
async function upload(fields: Record<string, string> = {}, bytes = bundle): Promise<Page> {
  const form = formTo(await browser.visit(IMPORT), IMPORT);
  const sent: Record<string, string> = { ...form.fields, trust: signer.publicKey, ...fields };
  const { keep, ...others } = sent;
  const file = new File([bytes], "catalog.bundle");
  return await browser.upload({ ...form, fields: keep === "" ? others : sent }, "file", file);
}

test("CON-68 a bundle shows its plan and the key that signed it, survives a reload, and is applied only then", async () => {
  const plan = await upload();
  for (const text of [
    "Added",
    "fresh 1.0.0",
    "guide 1.0.0 → 2.0.0",
    signer.keyId.slice(0, 4),
    "Downloads at run time",
  ])
    expect(plan.html).toContain(text);
  expect(plan.html).not.toContain("Removed (");
  expect(versions()).toEqual(["guide 1.0.0", "used 1.0.0"]);
  const again = await browser.visit(plan.path);
  const done = await browser.submit(formTo(again, PLAN), { act: "import" });
  expect(done.path).toBe("/console/catalog");
  expect(done.html).toContain("1 added, 1 changed, 0 removed");
  expect(versions()).toEqual(["fresh 1.0.0", "guide 2.0.0", "used 1.0.0"]);
  expect(kept()).toEqual([]);
  const gone = await browser.visit(plan.path);
  expect([gone.status, gone.html.includes("no longer here")]).toEqual([404, true]);
});

test("CON-68 removals that the policy forbids are refused with their reason before anything is tried", async () => {
  const plan = await upload({ keep: "" });
  expect(plan.html).toContain("used 1.0.0 is used by r");
  expect(formTo(plan, PLAN).buttons.map(({ value }) => value)).toEqual(["drop"]);
  const forced = await browser.submit(formTo(plan, PLAN), { act: "import" });
  expect([forced.status, forced.html.includes("change the policy first")]).toEqual([409, true]);
  expect((await browser.submit(formTo(plan, PLAN), { act: "drop" })).html).toContain("Nothing was changed");
  expect([versions(), kept()]).toEqual([["guide 1.0.0", "used 1.0.0"], []]);
});

test("CON-68 a key that did not sign is corrected without sending the bundle again; a cut bundle is refused", async () => {
  const refused = await upload({ trust: stranger.publicKey });
  expect([refused.status, refused.html.includes("is not in the keys that you entered")]).toEqual([422, true]);
  const { bundle: digest = "" } = formTo(refused, PLAN).fields;
  const right = await browser.visit(
    `${PLAN}?${new URLSearchParams({ bundle: digest, name: "x", trust: signer.publicKey })}`,
  );
  expect(right.html).toContain("fresh 1.0.0");
  const cut = await upload({}, bundle.slice(0, bundle.byteLength / 2));
  expect([cut.status, cut.html.includes("not a complete bundle")]).toEqual([422, true]);
  const noKey = await upload({ trust: "none" });
  expect([noKey.status, noKey.html.includes("must hold Ed25519 public keys")]).toEqual([400, true]);
  expect(versions()).toEqual(["guide 1.0.0", "used 1.0.0"]);
});

test("CON-68 the API plans with dry_run and imports without it, and keeps no bundle", async () => {
  const send = (more: Record<string, string>) =>
    site.request(
      "POST",
      `/admin/catalog/import?${new URLSearchParams({ trust: signer.publicKey, keep: "true", ...more })}`,
      {
        token: admin.accessToken,
        body: Buffer.from(bundle),
      },
    );
  const plan = await (await send({ dry_run: "true" })).json();
  expect(plan).toMatchObject({ dry_run: true, signer: signer.keyId, added: [{ id: "fresh" }], blocked: [] });
  expect(versions()).toEqual(["guide 1.0.0", "used 1.0.0"]);
  expect((await send({ keep: "false" })).status).toBe(409);
  expect((await send({ trust: stranger.publicKey })).status).toBe(422);
  expect(await (await send({})).json()).toMatchObject({
    dry_run: false,
    changed: [{ to: { version: "2.0.0" } }],
  });
  expect(versions()).toEqual(["fresh 1.0.0", "guide 2.0.0", "used 1.0.0"]);
});

test("an uploaded bundle has a limit, and is kept for a day", async () => {
  const headers = {
    "content-type": "multipart/form-data; boundary=x",
    origin: "null",
    "sec-fetch-site": "same-origin",
    "content-length": String(BUNDLE_UPLOAD_BYTES_MAX + 70_000),
  };
  const answer = await browser.request(IMPORT, { method: "POST", body: "--x--", headers });
  expect([answer.status, (await answer.text()).includes("more than 1 GiB")]).toEqual([413, true]);
  expect(BUNDLE_KEPT_MS).toBe(24 * 60 * 60 * 1000);
});
