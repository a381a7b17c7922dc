// CON-66: a package from its archive to the draft, step by step and without a script, over the real domain.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { ARCHIVE_LIMITS } from "../../../../src/domain/catalog/archive/limits.ts";
import { ADDITION_DAYS_MAX } from "../../../../src/domain/governance/additions/addition-model.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { FORM_FIELD_BYTES_MAX, FORM_FIELDS_MAX } from "../../../../src/server/http/bodies/streamed-form.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo, type Page } from "../../../support/browser/form-browser.ts";
import { tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance, packageAdditions } = site.domain;
const { actor } = admin;
const NEW = "/console/packages/new";
const UPLOAD = `${NEW}/upload`;
const ARCHIVE = tarGzOf(
  tarFile("skills/guide/SKILL.md", "# Guide\n"),
  tarFile("bin/ticket", "#!/bin/sh\ncurl https://example.com/ticket\n"),
);
/** A file of the form has every harness checked. The form without a script sends only checked ones. */
const CODEX_ONLY = { "claude-use": "", "kimi-use": "", "opencode-use": "" };

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  const { id: baseRevision } = governance.revisions.inForce(site.world.organizationId);
  await governance.publishing.publishExtensions(actor, { baseRevision, packages: [packageOf("taken")] });
});
afterEach(async () => {
  if (packageAdditions.find(actor)) await packageAdditions.drop(actor);
  const draft = governance.drafts.own(actor);
  if (draft) await governance.drafts.discard(actor, draft.id);
});

const fileOf = (bytes: Uint8Array, name = "guide-1.2.0.tar.gz") => new File([new Uint8Array(bytes)], name);
const upload = async (file: File): Promise<Page> =>
  browser.upload(formTo(await browser.visit(NEW), UPLOAD), "file", file);
const send = async (step: string, fields: Record<string, string> = {}): Promise<Page> => {
  const path = `${NEW}/${step}`;
  return await browser.submit(formTo(await browser.visit(path), path), fields);
};
const stopped = () => packageAdditions.find(actor) === undefined;

test("CON-66 a package goes from its archive through all steps into the draft, and every step survives a reload", async () => {
  const inspected = await upload(fileOf(ARCHIVE));
  expect(inspected.path).toBe(`${NEW}/inspection`);
  for (const text of ["skills/guide/SKILL.md", "guide-1.2.0.tar.gz", "bin/ticket", "downloads"])
    expect(inspected.html).toContain(text);
  const named = formTo(await browser.visit(`${NEW}/identity`), `${NEW}/identity`);
  expect(named.fields).toMatchObject({ id: "guide", version: "1.2.0", name: "" });
  const layout = await browser.submit(named, { name: "Review guide" });
  expect(layout.path).toBe(`${NEW}/layout`);
  expect(formTo(layout, `${NEW}/layout`).fields).toMatchObject({ "codex-skills_dir": "skills" });
  expect(layout.html).toContain("ticket default bin/ticket");
  expect((await send("layout", { ...CODEX_ONLY, "codex-helpers": "ticket default bin/ticket" })).path).toBe(
    `${NEW}/audience`,
  );
  const audience = formTo(await browser.visit(`${NEW}/audience`), `${NEW}/audience`);
  const check = await browser.submit(audience, { scope: "users", addresses: "ana@example.com", act: "save" });
  expect(check.path).toBe(`${NEW}/check`);
  expect(check.html).toContain("1 person");
  expect((await browser.visit(NEW)).html).toContain("You are adding");
  const review = await send("check");
  expect(review.path).toBe("/console/policy/review");
  expect(review.html).toContain("The package is in your draft");
  const { document, audiences } = governance.drafts.existing(actor);
  expect(document.packages.map(({ id }) => id)).toEqual(["taken", "guide"]);
  expect(document.packages[1]).toMatchObject({
    name: "Review guide",
    version: "1.2.0",
    source_ref: "guide-1.2.0.tar.gz",
    adapters: { codex: { skills_dir: "skills", helpers: { ticket: { paths: { default: "bin/ticket" } } } } },
  });
  expect(Object.keys(document.packages[1]?.adapters ?? {})).toEqual(["codex"]);
  expect(audiences.guide?.user_ids).toEqual([actor.id ?? ""]);
  expect(stopped()).toBe(true);
});

test("CON-66 a step cannot be opened before the one in front of it", async () => {
  for (const step of ["inspection", "identity", "check"])
    expect((await browser.visit(`${NEW}/${step}`)).path).toBe(NEW);
  await upload(fileOf(ARCHIVE));
  for (const step of ["layout", "audience", "check"])
    expect((await browser.visit(`${NEW}/${step}`)).path).toBe(`${NEW}/identity`);
  expect((await browser.visit(UPLOAD)).path).toBe(`${NEW}/identity`);
});

test("CON-66 an id that the draft has replaces that package only when that is confirmed", async () => {
  await upload(fileOf(ARCHIVE, "taken-2.0.0.tgz"));
  const question = await send("identity", { replaces: "" });
  expect(question.status).toBe(400);
  expect(question.html).toContain("the draft already has a package taken 1.0.0");
  expect((await browser.submit(formTo(question, `${NEW}/identity`), { replaces: "taken 1.0.0" })).path).toBe(
    `${NEW}/layout`,
  );
  await send("layout", CODEX_ONLY);
  const audience = formTo(await browser.visit(`${NEW}/audience`), `${NEW}/audience`);
  await browser.submit(audience, { scope: "organization", act: "save" });
  await send("check");
  const { packages } = governance.drafts.existing(actor).document;
  expect(packages.map(({ id, version }) => [id, version])).toEqual([["taken", "2.0.0"]]);
});

test("CON-66 a package that came into the draft during the steps is replaced only when that is confirmed", async () => {
  const { drafts } = governance;
  await upload(fileOf(ARCHIVE));
  await send("identity", { id: "late" });
  await send("layout", CODEX_ONLY);
  await send("audience", { scope: "organization", act: "save" });
  const late = packageOf("late", { version: "5.0.0" });
  await drafts.takePackage(actor, { version: drafts.versionOf(actor) }, late);
  const refused = await send("check");
  expect(refused.status).toBe(400);
  expect(refused.html).toContain(`<a href="${NEW}/identity"><bdi>the draft already has a package late 5.0.0`);
  expect(formTo(await browser.visit(`${NEW}/identity`), `${NEW}/identity`).fields.replaces).toBeUndefined();
  await send("identity", { id: "late", replaces: "late 5.0.0" });
  expect((await send("check")).path).toBe("/console/policy/review");
});

test("CON-66 a package that is replaced keeps its audience, name and settings, also if another id was entered before", async () => {
  const { drafts } = governance;
  const entry = packageOf("taken", { name: "Taken", settings: { level: 3 } });
  const own = await drafts.takePackage(actor, { version: drafts.versionOf(actor) }, entry);
  const audience = { scope: "users" as const, user_ids: [actor.id ?? ""] };
  await drafts.audience(actor, own, "taken", audience);
  await upload(fileOf(ARCHIVE));
  await send("identity");
  await send("layout", CODEX_ONLY);
  expect((await send("audience", { scope: "organization", act: "save" })).path).toBe(`${NEW}/check`);
  await send("identity", { id: "taken", replaces: "taken 1.0.0" });
  await send("layout", CODEX_ONLY);
  expect((await browser.visit(`${NEW}/check`)).path).toBe(`${NEW}/audience`);
  expect((await send("audience", { act: "save" })).path).toBe(`${NEW}/check`);
  await send("check");
  const { document, audiences } = drafts.existing(actor);
  expect(audiences.taken?.user_ids).toEqual([actor.id ?? ""]);
  expect(document.packages).toMatchObject([
    { id: "taken", version: "1.2.0", name: "Taken", settings: { level: 3 } },
  ]);
});

test("CON-66 a confirmation counts only for the package that it names", async () => {
  const { drafts } = governance;
  await drafts.takePackage(actor, { version: drafts.versionOf(actor) }, packageOf("other"));
  await upload(fileOf(ARCHIVE, "taken-2.0.0.tgz"));
  const question = await send("identity", { id: "other", replaces: "taken 1.0.0" });
  expect(question.html).toContain("the draft already has a package other 1.0.0");
  expect(formTo(question, `${NEW}/identity`).fields.replaces).toBeUndefined();
});

test("CON-66 an audience that became narrower during the steps is not widened again", async () => {
  const { drafts } = governance;
  await upload(fileOf(ARCHIVE, "taken-2.0.0.tgz"));
  await send("identity", { replaces: "taken 1.0.0" });
  await send("layout", CODEX_ONLY);
  await send("audience", { scope: "organization", act: "save" });
  const narrower = { scope: "users" as const, user_ids: [actor.id ?? ""] };
  await drafts.audience(actor, { version: drafts.versionOf(actor) }, "taken", narrower);
  const refused = await send("check");
  expect(refused.html).toContain(
    `<a href="${NEW}/audience"><bdi>the audience of taken in the draft has changed`,
  );
  const form = formTo(await browser.visit(`${NEW}/audience`), `${NEW}/audience`);
  expect(form.fields.scope).toBe("users");
  await browser.submit(form, { act: "save" });
  expect((await send("check")).path).toBe("/console/policy/review");
  expect(drafts.existing(actor).audiences.taken?.user_ids).toEqual(narrower.user_ids);
});

test("CON-66 an audience that became narrower while its form was open is shown before it is chosen", async () => {
  const { drafts } = governance;
  await upload(fileOf(ARCHIVE, "taken-2.0.0.tgz"));
  await send("identity", { replaces: "taken 1.0.0" });
  await send("layout", CODEX_ONLY);
  const open = formTo(await browser.visit(`${NEW}/audience`), `${NEW}/audience`);
  const narrower = { scope: "users" as const, user_ids: [actor.id ?? ""] };
  await drafts.takePackage(actor, { version: drafts.versionOf(actor) }, packageOf("taken"));
  await drafts.audience(actor, { version: drafts.versionOf(actor) }, "taken", narrower);
  const question = await browser.submit(open, { act: "save" });
  expect(question.status).toBe(409);
  expect(question.html).toContain("The audience of the package in the draft has changed");
  expect(packageAdditions.get(actor).audience).toBeUndefined();
  expect((await browser.submit(formTo(question, `${NEW}/audience`), { act: "save" })).path).toBe(
    `${NEW}/check`,
  );
});

test("CON-118 a search and a wrong value do not renew the version that a form has read", async () => {
  const { drafts } = governance;
  await upload(fileOf(ARCHIVE, "taken-2.0.0.tgz"));
  const named = formTo(await browser.visit(`${NEW}/identity`), `${NEW}/identity`);
  await browser.submit(named, { id: "first" });
  const wrong = await browser.submit(named, { id: "BAD ID" });
  expect([wrong.status, wrong.html.includes("changed in another tab")]).toEqual([409, true]);
  await send("identity", { id: "taken", replaces: "taken 1.0.0" });
  await send("layout", CODEX_ONLY);
  const open = formTo(await browser.visit(`${NEW}/audience`), `${NEW}/audience`);
  await drafts.takePackage(actor, { version: drafts.versionOf(actor) }, packageOf("taken"));
  const narrower = { scope: "users" as const, user_ids: [actor.id ?? ""] };
  await drafts.audience(actor, { version: drafts.versionOf(actor) }, "taken", narrower);
  const found = await browser.submit(open, { act: "find", person: "zzz" });
  expect((await browser.submit(formTo(found, `${NEW}/audience`), { act: "save" })).status).toBe(409);
  const PAGE = "/console/packages/taken/audience";
  const ordinary = formTo(await browser.visit(PAGE), PAGE);
  await drafts.audience(actor, { version: drafts.versionOf(actor) }, "taken", {
    scope: "organization",
    user_ids: [],
  });
  const unknown = await browser.submit(ordinary, {
    scope: "users",
    addresses: "nobody@example.com",
    act: "save",
  });
  expect((await browser.submit(formTo(unknown, PAGE), { act: "find", person: "zzz" })).status).toBe(200);
  const again = formTo(await browser.submit(ordinary, { act: "find", person: "zzz" }), PAGE);
  const late = { act: "save", person: "", scope: "organization" };
  expect((await browser.submit(again, late)).status).toBe(409);
});

test("CON-66 the command beside the last step says the same as its button", async () => {
  const { drafts } = governance;
  const entry = packageOf("taken", { name: "Taken", settings: { level: 3 } });
  await drafts.takePackage(actor, { version: drafts.versionOf(actor) }, entry);
  await upload(fileOf(ARCHIVE, "taken-2.0.0.tgz"));
  await send("identity", { replaces: "taken 1.0.0" });
  await send("layout", CODEX_ONLY);
  const { html } = await send("audience", { scope: "organization", act: "save" });
  const [, body = ""] = /<pre>PUT \/admin\/policy-draft\n\n(.*?)<\/pre>/s.exec(html) ?? [];
  const sent = JSON.parse(body.replaceAll("&quot;", '"'));
  await send("check");
  const [managed] = drafts.existing(actor).document.packages;
  expect(managed).toMatchObject({ version: "2.0.0", name: "Taken", settings: { level: 3 } });
  expect({ ...managed, ...sent.package.entry }).toEqual({ ...managed, platform_sources: undefined });
});

test("CON-66 people and groups that are chosen during the steps are not called a part of the draft", async () => {
  await upload(fileOf(ARCHIVE));
  await send("identity");
  await send("layout", CODEX_ONLY);
  const addresses = "ana@example.com\nnobody@example.com";
  const { html } = await send("audience", { scope: "users", addresses, act: "save" });
  expect(html).toContain("1 person was added</h2>");
});

test("CON-66 a package may have the name of a member that every object inherits", async () => {
  await upload(fileOf(ARCHIVE, "constructor-1.0.0.tar.gz"));
  await send("identity");
  await send("layout", CODEX_ONLY);
  expect((await browser.visit(`${NEW}/audience`)).status).toBe(200);
  await send("audience", { scope: "organization", act: "save" });
  expect((await send("check")).path).toBe("/console/policy/review");
  const draft = governance.drafts.existing(actor);
  expect(draft.audiences).toEqual({});
  await governance.draftPublishing.publish(actor, { draft: draft.id, version: draft.version });
  for (const path of ["/console/system/export", "/console/packages/constructor/audience"])
    expect((await browser.visit(path)).status).toBe(200);
  const token = admin.accessToken;
  const exported = await site.request("GET", "/admin/blue-config/export", { token });
  expect([exported.status, (await exported.text()).includes("managed_source")]).toEqual([200, false]);
});

test("CON-66 all problems of a layout are named together beside the entries, and nothing is saved", async () => {
  await upload(fileOf(ARCHIVE));
  await send("identity");
  const refused = await send("layout", {
    ...CODEX_ONLY,
    "codex-skills_dir": "../out",
    "codex-helpers": "ticket",
    "codex-more": "variants: [",
  });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain("#codex-helpers");
  expect(refused.html).toContain("#codex-more");
  expect(formTo(refused, `${NEW}/layout`).fields["codex-skills_dir"]).toBe("../out");
  const outside = await send("layout", {
    ...CODEX_ONLY,
    "codex-skills_dir": "../out",
    "codex-hooks_file": "hooks.json",
  });
  for (const text of ["#codex-skills_dir", "must not lead out", "hooks_file also needs plugin_dir"])
    expect(outside.html).toContain(text);
  const missing = await send("layout", { ...CODEX_ONLY, "codex-skills_dir": "skill" });
  expect(missing.html).toContain("#codex-skills_dir");
  expect(packageAdditions.get(actor).adapters).toBeUndefined();
});

test("CON-66 each problem of a layout names the harness and the field, also beside a line that cannot be read", async () => {
  await upload(fileOf(ARCHIVE));
  await send("identity");
  const { html } = await send("layout", {
    ...CODEX_ONLY,
    "codex-skills_dir": "../out",
    "codex-helpers": "ticket",
  });
  const summary = /error-summary.*?<\/ul>/s.exec(html)?.[0] ?? "";
  expect(summary).toContain('<a href="#codex-skills_dir"><bdi>Codex, Folder of skills: ');
  expect(summary).toContain('<a href="#codex-helpers"><bdi>Codex, Commands: ');
});

test("CON-66 versions that a package cannot serve are refused with its layouts, which links to the form of their range", async () => {
  await upload(fileOf(ARCHIVE));
  await send("identity");
  const refused = await send("layout");
  expect([refused.status, refused.path]).toEqual([400, `${NEW}/layout`]);
  expect(refused.html).toContain('<a href="#claude-use"><bdi>Claude ');
  expect(refused.html).toContain("or do not let Claude use the package");
  expect(refused.html).toContain('href="/console/harnesses/claude" target="_blank"');
  expect(packageAdditions.get(actor).adapters).toBeUndefined();
  const [, least = ""] = /such as (?:&gt;|>)=([\d.]+)/.exec(refused.html) ?? [];
  const CLAUDE = "/console/harnesses/claude";
  const range = { requirement: `>=${least}`, allowed: "yes", settings: "" };
  await browser.submit(formTo(await browser.visit(CLAUDE), CLAUDE), range);
  expect((await browser.submit(formTo(refused, `${NEW}/layout`), {})).path).toBe(`${NEW}/audience`);
});

test("CON-66 another archive keeps the name, and proposes new layouts", async () => {
  await upload(fileOf(ARCHIVE));
  await send("identity", { id: "other" });
  await send("layout", CODEX_ONLY);
  await upload(fileOf(tarGzOf(tarFile("guides/a/SKILL.md", "a"), tarFile("guides/b/SKILL.md", "b"))));
  expect(packageAdditions.get(actor)).toMatchObject({ identity: { id: "other" } });
  const layout = formTo(await browser.visit(`${NEW}/layout`), `${NEW}/layout`);
  expect(layout.fields["codex-skills_dir"]).toBe("guides");
});

test("CON-66 a form of another tab saves nothing and reports that", async () => {
  await upload(fileOf(ARCHIVE));
  const first = formTo(await browser.visit(`${NEW}/identity`), `${NEW}/identity`);
  await browser.submit(first, { name: "First" });
  const stale = await browser.submit(first, { name: "Second" });
  expect(stale.status).toBe(409);
  expect(stale.html).toContain("changed in another tab");
  expect(stale.html).toContain("Second");
  expect(packageAdditions.get(actor).identity?.name).toBe("First");
});

test("CON-66 adding a package can be stopped", async () => {
  await upload(fileOf(ARCHIVE));
  expect((await browser.submit(formTo(await browser.visit(NEW), NEW), {})).path).toBe("/console/packages");
  expect(stopped()).toBe(true);
});

describe("CON-66 archives that nobody can use", () => {
  const hostile = (...names: string[]) => tarGzOf(...names.map((name) => tarFile(name, "x")));
  test.each([
    ["no archive", Buffer.from("no archive"), "gzip"],
    ["one that is cut half-way", ARCHIVE.subarray(0, ARCHIVE.byteLength / 2), "ends"],
    ["a path that leads out", hostile("../../etc/passwd"), ".."],
    ["an absolute path", hostile("/etc/passwd"), "/etc/passwd"],
    ["a name with a control character", hostile("skills/\u001b[31m/SKILL.md"), "control"],
    ["two names that are one on some disks", hostile("Skills/a", "skills/A"), "skills"],
  ])("%s is refused with its reason, and the steps so far stay", async (_, bytes, reason) => {
    await upload(fileOf(ARCHIVE));
    const before = packageAdditions.get(actor);
    const { status, html, path } = await upload(fileOf(bytes, "bad.tar.gz"));
    expect([status, path]).toEqual([422, UPLOAD]);
    expect(html.slice(html.indexOf("error-summary"))).toContain(reason);
    expect(html).not.toContain("\u001b");
    expect(packageAdditions.get(actor)).toEqual(before);
  });

  test("a form without a file, and one without an end, say what to do", async () => {
    expect((await upload(new File([], ""))).html).toContain("Choose an archive first");
    const { fields } = formTo(await browser.visit(NEW), UPLOAD);
    const part = (name: string, value: string) =>
      `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.tgz"\r\n\r\n';
    const body = `${part("csrf", fields.csrf ?? "")}${file}half`;
    const headers = {
      "content-type": "multipart/form-data; boundary=x",
      origin: "null",
      "sec-fetch-site": "same-origin",
    };
    const answer = await browser.request(UPLOAD, { method: "POST", body, headers });
    expect([answer.status, (await answer.text()).includes("not a multipart form")]).toEqual([400, true]);
  });

  test("a form that declares more bytes than an archive may have is not read", async () => {
    const headers = {
      "content-type": "multipart/form-data; boundary=x",
      origin: "null",
      "sec-fetch-site": "same-origin",
      "content-length": String(ARCHIVE_LIMITS.compressedBytesMax + 70_000),
    };
    const answer = await browser.request(UPLOAD, { method: "POST", body: "--x--", headers });
    expect(answer.status).toBe(413);
    expect(await answer.text()).toContain("more than 100 MiB");
  });
});

test("CON-143 an upload with a wrong token stores nothing; the token is looked at before the file", async () => {
  const form = formTo(await browser.visit(NEW), UPLOAD);
  const { status } = await browser.upload(
    { ...form, fields: { ...form.fields, csrf: "wrong" } },
    "file",
    fileOf(ARCHIVE),
  );
  expect([status, stopped()]).toEqual([403, true]);
});

test.each([
  ["below", FORM_FIELDS_MAX - 3, FORM_FIELD_BYTES_MAX - 1, 200],
  ["at", FORM_FIELDS_MAX - 2, FORM_FIELD_BYTES_MAX, 200],
  ["above", FORM_FIELDS_MAX - 1, FORM_FIELD_BYTES_MAX + 1, 400],
])("a form with fields %s their limits", async (_, count, bytes, wanted) => {
  const form = formTo(await browser.visit(NEW), UPLOAD);
  const more = Object.fromEntries(
    Array.from({ length: count }, (__, at) => [`more${at}`, "x".repeat(bytes)]),
  );
  const { status } = await browser.upload(
    { ...form, fields: { ...form.fields, ...more } },
    "file",
    fileOf(ARCHIVE),
  );
  expect(status).toBe(wanted);
});

test("CON-66 a member and an unauthenticated caller cannot store a package", async () => {
  const form = formTo(await browser.visit(NEW), UPLOAD);
  const member = consoleBrowser(site, await site.signedIn("member", { email: "bo@example.com" }));
  expect((await member.upload(form, "file", fileOf(ARCHIVE))).status).toBe(403);
  const stranger = consoleBrowser(site, { cookie: "none=none" });
  expect((await stranger.upload(form, "file", fileOf(ARCHIVE))).status).toBe(401);
});

test("CON-66 an addition ends by itself after thirty days without a step", async () => {
  await upload(fileOf(ARCHIVE));
  const { savedAtMs } = packageAdditions.get(actor);
  expect(savedAtMs).toBe(site.world.clock.nowMs());
  site.world.clock.advance(ADDITION_DAYS_MAX * DAY_MS);
  expect(await packageAdditions.expire(site.world.system)).toBe(0);
  site.world.clock.advance(1);
  expect(await packageAdditions.expire(site.world.system)).toBe(1);
});
