// CON-17: the requests shown on the pages about drafts have the effects of their forms. Also tests forms that are sent
// again after a draft ended.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { managedText, packageOf } from "../../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../../support/browser/console-browser.ts";
import { formTo } from "../../../../support/browser/form-browser.ts";
import { tarFile, tarGzOf } from "../../../../support/content/tar.ts";
import { type Caller, createTestServer } from "../../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const [ana, cleo] = [
  await site.signedIn("admin", { email: "ana@example.com" }),
  await site.signedIn("admin", { email: "cleo@example.com" }),
];
const [mine, theirs] = [consoleBrowser(site, ana), consoleBrowser(site, cleo)];
const { governance, packageAdditions } = site.domain;
const { drafts } = governance;
const [DISCARD, EDIT, REVIEW, NEW] = [
  "/console/policy/discard",
  "/console/policy/edit",
  "/console/policy/review",
  "/console/packages/new",
];
const GUIDE = tarGzOf(tarFile("skills/guide/SKILL.md", "# Guide\n"));
const current = () => governance.revisions.inForce(site.world.organizationId);

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  const { id: baseRevision } = current();
  await governance.publishing.publishExtensions(ana.actor, { baseRevision, packages: [packageOf("own")] });
});
afterEach(async () => {
  for (const { actor } of [ana, cleo]) {
    const draft = drafts.own(actor);
    if (draft) await drafts.discard(actor, draft.id);
  }
});

const save = async (seconds: number, from = mine) =>
  await from.submit(formTo(await from.visit(EDIT), EDIT), { text: managedText({ ttl_seconds: seconds }) });

/** @returns the examples of a page: command lines and requests */
const examplesIn = (html: string): string[] =>
  [...html.matchAll(/<pre>([^<]*)<\/pre>/g)].map(([, text = ""]) =>
    text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&"),
  );

/** Sends the requests of a page to a path, in their order. @returns their statuses */
async function sendTo(path: string, html: string, { accessToken: token }: Caller): Promise<number[]> {
  const statuses: number[] = [];
  for (const example of examplesIn(html)) {
    const [line = "", body] = example.split("\n\n");
    const [method = "", to] = line.split(" ");
    if (to !== path || method === "GET") continue;
    const sent = body === undefined ? {} : { body: JSON.parse(body) };
    statuses.push((await site.request(method, path, { token, ...sent })).status);
  }
  return statuses;
}

test("CON-17 CON-52 the request of a shared draft publishes that draft, not the one of its reader", async () => {
  await save(71);
  const { id, version } = drafts.existing(ana.actor);
  await drafts.share(ana.actor, { version }, true);
  await save(72, theirs);
  await save(73, theirs);
  const { html } = await theirs.visit(`${REVIEW}?draft=${id}`);
  expect(examplesIn(html)).toContain("quartermaster policy draft publish ana@example.com");
  expect(await sendTo("/admin/policy-draft/publish", html, cleo)).toEqual([200]);
  expect(current().document.ttl_seconds).toBe(71);
  expect(drafts.existing(cleo.actor).document.ttl_seconds).toBe(73);
});

test("CON-17 a draft is shared and merged by the requests of its review", async () => {
  await save(74);
  expect(await sendTo("/admin/policy-draft", (await mine.visit(REVIEW)).html, ana)).toEqual([200]);
  expect(drafts.existing(ana.actor).isShared).toBe(true);
  const request = {
    baseRevision: current().id,
    managedYaml: managedText({ ttl_seconds: 71, required: true }),
  };
  await governance.publishing.publishPolicy(cleo.actor, request);
  const { html } = await mine.visit(REVIEW);
  expect(html).not.toContain("policy draft publish");
  expect(await sendTo("/admin/policy-draft/merge", html, ana)).toEqual([200]);
  expect(drafts.existing(ana.actor).document).toMatchObject({ ttl_seconds: 74, required: true });
});

test("CON-17 CON-62 a former revision is shown with the request that drafts it, not with the command that publishes it", async () => {
  const before = current();
  const former = `/console/policy/history/${before.sequence - 1}`;
  const { ttl_seconds: seconds } = governance.revisions.named(
    site.world.organizationId,
    String(before.sequence - 1),
  ).document;
  const page = await mine.visit(former);
  await save(75);
  const form = page.forms.find(({ action }) => action.endsWith("/draft"));
  if (!form) throw new Error("a former revision can be drafted");
  const question = await mine.submit(form, {});
  expect(question.heading).toBe("Replace your draft");
  for (const { html } of [page, question]) expect(html).not.toContain("policy rollback");
  expect(await sendTo("/admin/policy-draft", question.html, ana)).toEqual([200]);
  expect(drafts.existing(ana.actor).document.ttl_seconds).toBe(seconds);
  await drafts.discard(ana.actor, drafts.existing(ana.actor).id);
  expect(await sendTo("/admin/policy-draft", page.html, ana)).toEqual([200]);
  expect(drafts.existing(ana.actor).document.ttl_seconds).toBe(seconds);
  expect(current().id).toBe(before.id);
});

test("CON-17 CON-66 only the last step of a new package shows requests, which add it with its audience", async () => {
  const archive = new File([new Uint8Array(GUIDE)], "guide-1.0.0.tgz");
  await mine.upload(formTo(await mine.visit(NEW), `${NEW}/upload`), "file", archive);
  const step = async (name: string, fields: Record<string, string>) =>
    await mine.submit(formTo(await mine.visit(`${NEW}/${name}`), `${NEW}/${name}`), fields);
  await step("identity", {});
  const audience = await step("layout", { "claude-use": "", "kimi-use": "", "opencode-use": "" });
  expect(examplesIn(audience.html)).toEqual([]);
  const check = await step("audience", { scope: "users", addresses: "cleo@example.com", act: "save" });
  expect(await sendTo("/admin/policy-draft", check.html, ana)).toEqual([200, 200]);
  const { document, audiences } = drafts.existing(ana.actor);
  expect(document.packages.map(({ id }) => id)).toEqual(["own", "guide"]);
  expect(audiences.guide?.user_ids).toEqual([cleo.user.id]);
  await packageAdditions.drop(ana.actor);
});

test("CON-17 the page of an own package names the policy or the draft that has it", async () => {
  const published = await mine.visit("/console/packages/own");
  expect(examplesIn(published.html)).toContain("quartermaster policy show");
  const packages = [packageOf("own"), packageOf("fresh")];
  await drafts.saveExtensions(ana.actor, { version: 0 }, { packages });
  const added = await mine.visit("/console/packages/fresh");
  expect(examplesIn(added.html)).toContain("quartermaster policy draft export ana@example.com");
  for (const { html } of [published, added]) expect(html).not.toContain("catalog show");
});

test("CON-121 a draft that is published or discarded twice leads to the policy with one notice", async () => {
  for (const path of [REVIEW, DISCARD]) {
    await save(path === REVIEW ? 76 : 77);
    const form = formTo(await mine.visit(path), path);
    const press = () =>
      mine.request(path, {
        method: "POST",
        body: new URLSearchParams(form.fields),
        headers: { origin: "null", "sec-fetch-site": "same-origin" },
      });
    expect((await press()).status).toBe(303);
    expect((await press()).headers.get("location")).toBe("/console/policy");
    const { html, status } = await mine.visit("/console/policy");
    expect([status, html.includes("published or discarded in the meantime,")]).toEqual([200, true]);
    for (const other of ["is published.", "is discarded.", "no such draft"])
      expect(html).not.toContain(other);
  }
  expect(current().document.ttl_seconds).toBe(76);
});
