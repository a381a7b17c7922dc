// Repository connections in the console: the page of the connections, the step that mirrors a commit, and the mark of a newer
// commit.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { type Form, formTo, type Page } from "../../../support/browser/form-browser.ts";
import { publishFirst, publishPackages } from "../../../support/content/policy.ts";
import { createTestServer, type TestServer } from "../../../support/server.ts";
import { connectionTo, mirroringOf } from "../../../support/sources/mirror-site.ts";
import {
  createRepositoryHost,
  type RepositoryHost,
  TOKEN,
} from "../../../support/sources/repository-host.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const NEW = "/console/packages/new";

let host: RepositoryHost;
let work: string;
let site: TestServer;
let browser: ReturnType<typeof consoleBrowser>;
beforeAll(async () => {
  host = createRepositoryHost("gitea");
  host.branches.set("main", host.commit({ "guide/skills/a/SKILL.md": "# Guide\n", "README.md": "text" }));
  work = temporaryDirectory();
  const connections = [
    connectionTo(host, { name: "Company forge", namespaces: ["acme"], watchEveryHours: 1 }),
  ];
  site = await createTestServer(mirroringOf(connections, work));
  browser = consoleBrowser(site, await site.signedIn("admin", { email: "ana@example.com" }));
  await publishFirst(site);
});
afterAll(async () => {
  host[Symbol.dispose]();
  await site[Symbol.asyncDispose]();
  rmSync(work, { recursive: true });
});

function formWith({ forms }: Page, field: string): Form {
  const found = forms.find(({ fields }) => field in fields);
  if (!found) throw new Error(`the page has no form with ${field}`);
  return found;
}

test("CON-66 names a disabled connection on the page, and refuses it without its problems", async () => {
  const options = mirroringOf([connectionTo(host, { namespaces: ["acme"] })], work);
  const broken = { id: "old", problems: ["token refers to /etc/secret, which cannot be read"] };
  const mirroring = { ...options.mirroring, connections: { list: () => [], broken: () => [broken] } };
  await using other = await createTestServer({ ...options, mirroring });
  const visitor = consoleBrowser(other, await other.signedIn("admin"));
  const { html } = await visitor.visit("/console/connections");
  expect(html).toContain("Disabled because of their configuration: ");
  expect(html).toContain(">old<");
  expect(html).not.toContain("This organization has no connection");
  expect(html).not.toContain("/etc/secret");
});

const REQUEST = { connection_id: "host", repository: "acme/tools", ref: "main", path: "guide" };

test("CON-66 a commit of a connection is mirrored as the archive of a new package", async () => {
  const form = formWith(await browser.visit(NEW), "repository");
  const inspected = await browser.submit(form, REQUEST);
  expect(inspected.path).toBe(`${NEW}/inspection`);
  for (const text of [
    "skills/a/SKILL.md",
    "gitea://host/acme/tools@main#guide",
    host.branches.get("main") ?? "",
  ])
    expect(inspected.html).toContain(text);
  expect(inspected.html).not.toContain("README.md");
  const named = formTo(await browser.visit(`${NEW}/identity`), `${NEW}/identity`);
  expect(named.fields.id).not.toBe("");
});

test("CON-66 problems with a repository are shown beside the input", async () => {
  const form = formWith(await browser.visit(NEW), "repository");
  const wrong = await browser.submit(form, { ...REQUEST, repository: "acme", ref: "a..b" });
  for (const text of ["Repository: must be", "Branch, tag or commit: must be", 'value="a..b"'])
    expect(wrong.html).toContain(text);
  host.branches.set("links", host.commit({ "a.bin": "version https://git-lfs.github.com/spec/v1\n" }));
  const pointers = await browser.submit(form, { ...REQUEST, ref: "links", path: "" });
  expect(pointers.html).toContain("Nothing is saved yet. Commit the files themselves, without Git LFS.");
  expect(pointers.html).not.toContain('href="#entries');
  const refused = await browser.submit(form, { ...REQUEST, repository: "other/tools" });
  expect(refused.html).toContain("This organization may not use the namespace");
});

test("the connections are listed with their state, without addresses and credentials (SRC-1)", async () => {
  const { html } = await browser.visit("/console/connections");
  for (const text of ["Company forge", "Gitea or Forgejo", "acme", "Answers"]) expect(html).toContain(text);
  for (const text of [TOKEN, host.origin]) expect(html).not.toContain(text);
});

test("CON-64 a newer commit is marked in the list and on the page of the package (SRC-26)", async () => {
  const { domain, world } = site;
  const request = { ...REQUEST, path: "" };
  const { sourceRef, artifactId, sha256 } = await domain.packageSources.inspect(world.system, request);
  const source = { source_ref: sourceRef, artifact_id: artifactId, sha256 };
  await publishPackages(site, { packages: [packageOf("guide", source)] });
  const newer = host.commit({ "guide/skills/a/SKILL.md": "# Newer\n" });
  host.branches.set("main", newer);
  expect((await browser.visit("/console/packages")).html).not.toContain("Newer commit available");
  await domain.sourceWatch.check(world.system, new AbortController().signal);
  expect((await browser.visit("/console/packages")).html).toContain("Newer commit available");
  for (const path of ["/console/packages/guide", "/console/connections"])
    expect((await browser.visit(path)).html).toContain(newer);
});

test("SRC-23 an export names where a package was mirrored from", async () => {
  const { accessToken: token } = await site.signedIn("admin", { email: "ben@example.com" });
  const { yaml } = await (await site.request("GET", "/admin/blue-config/export", { token })).json();
  expect(yaml).toContain("managed_source:");
  for (const text of ["connection_id: host", "repository: acme/tools", "requested_ref: main"])
    expect(yaml).toContain(text);
});
