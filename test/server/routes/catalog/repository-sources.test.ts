// Package sources of repository connections over HTTP: lists, responses, who may use them, and how an archive of a repository
// reaches a workstation.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { publishFirst, publishPackages } from "../../../support/content/policy.ts";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";
import { connectionTo, mirroringOf } from "../../../support/sources/mirror-site.ts";
import {
  createRepositoryHost,
  hostArchive,
  type RepositoryHost,
  TOKEN,
} from "../../../support/sources/repository-host.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const PATH = "/admin/package-source/inspect";

let host: RepositoryHost;
let commit: string;
let work: string;
let site: TestServer;
let admin: Caller;
beforeAll(() => {
  host = createRepositoryHost("gitlab", { fullName: "group/sub/tools" });
  commit = host.commit({ "skills/guide/SKILL.md": "# Guide\n" });
  host.branches.set("main", commit);
  work = temporaryDirectory();
});
afterAll(() => {
  host[Symbol.dispose]();
  rmSync(work, { recursive: true });
});
beforeEach(async () => {
  const connections = [
    connectionTo(host, { id: "lab", name: "Lab", namespaces: ["Group"] }),
    connectionTo(host, { id: "others", namespaces: [] }),
  ];
  site = await createTestServer({ hasConsole: false, ...mirroringOf(connections, work) });
  admin = await site.signedIn("admin");
});
afterEach(() => site[Symbol.asyncDispose]());

const REQUEST = { connection_id: "lab", repository: "group/sub/tools", ref: "main" };
const inspect = (body: object = {}) =>
  site.request("POST", PATH, { token: admin.accessToken, body: { ...REQUEST, ...body } });

describe("an administrator", () => {
  test("sees the connections of the organization, without addresses and credentials (SRC-1, SRC-35)", async () => {
    const response = await site.request("GET", "/admin/package-source/connections", { cookie: admin.cookie });
    const text = await response.text();
    expect(JSON.parse(text)).toEqual([
      { id: "lab", name: "Lab", provider: "gitlab", namespaces: ["Group"], status: "unverified" },
    ]);
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain("127.0.0.1");
  });

  test("returns the facts of a commit (SRC-5)", async () => {
    const response = await inspect({ source_ref: "https://ignored.example/a.tar.gz" });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      source_ref: "gitlab://lab/group/sub/tools@main",
      resolved_commit: commit,
      ref_kind: "branch",
      committed_at: "2025-11-12T08:09:10.000Z",
      skipped: [],
      host_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      artifact_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      size_bytes: expect.any(Number),
      entries: 1,
      expanded_bytes: expect.any(Number),
      paths: ["skills/guide/SKILL.md"],
      runtime_downloads: [],
      adapters: expect.objectContaining({ claude: expect.anything() }),
    });
  });

  test.each([
    [{ ref: "a..b", path: "../x" }, 400, "package_source.invalid", ["/ref", "/path"]],
    [{ connection_id: "others" }, 404, "package_source.unknown_connection", undefined],
    [{ repository: "other/tools" }, 403, "source.namespace_refused", undefined],
    [{ ref: "absent" }, 400, "source.ref_not_found", undefined],
    [{ path: "absent" }, 400, "source.path_not_found", undefined],
    [{ other: 1 }, 422, "request.invalid", ["/other"]],
  ])("is refused: %p (SRC-3)", async (body, status, reason, pointers) => {
    const problem = await (await inspect(body)).json();
    const named = problem.errors?.map(({ pointer }: { pointer: string }) => pointer);
    expect([problem.status, problem.reason, named]).toEqual([status, reason, pointers]);
  });

  test.each([
    [500, 503, "source.host_down"],
    [429, 429, "source.rate_limited"],
    [401, 502, "source.credential_refused"],
    [302, 502, "source.bad_answer"],
  ])("answers a host's %i with %i %s (SRC-7)", async (answered, status, reason) => {
    host.instead = () =>
      new Response("text of the host", { status: answered, headers: { location: "https://other.example/" } });
    const problem = await (await inspect()).json();
    host.instead = undefined;
    expect([problem.status, problem.reason]).toEqual([status, reason]);
    expect(JSON.stringify(problem)).not.toMatch(/text of the host|127\.0\.0\.1|other\.example/);
  });
});

describe("SRC-46 an archive for which the host sends", () => {
  const FILES = { "a.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n" };
  test.each<[string, () => Response, number, string]>([
    ["a sign-in page", () => new Response("<!doctype html>"), 502, "source.not_an_archive"],
    ["nothing", () => new Response(""), 502, "source.not_an_archive"],
    ["a part", () => new Response(hostArchive("a", FILES).slice(0, 60)), 400, "source.not_an_archive"],
    ["a pointer", () => new Response(hostArchive("a", FILES).slice()), 400, "archive.lfs_pointer"],
    ["a redirect", () => Response.redirect("https://other.example/", 302), 400, "source.redirect_refused"],
    ["an absence", () => new Response("", { status: 404 }), 400, "source.ref_not_found"],
  ])("%s gets its status", async (_, response, status, reason) => {
    host.instead = (request) => (request.url.includes("archive.tar.gz") ? response() : undefined);
    const problem = await (await inspect()).json();
    host.instead = undefined;
    expect([problem.status, problem.reason]).toEqual([status, reason]);
  });
});

test("a member may not mirror anything", async () => {
  const { accessToken: token } = await site.signedIn("member");
  host.seen.length = 0;
  const response = await site.request("POST", PATH, { token, body: REQUEST });
  expect([response.status, host.seen]).toEqual([403, []]);
});

test("SRC-9 the archive of a repository reaches workstations like any other, without the host", async () => {
  const { artifact_id, sha256, source_ref } = await (await inspect()).json();
  await publishFirst(site);
  await publishPackages(site, { packages: [packageOf("guide", { artifact_id, sha256, source_ref })] });
  const { accessToken: token } = await site.signedIn("member");
  host.seen.length = 0;
  const response = await site.request("POST", `/package-artifacts/${artifact_id}/download`, { token });
  expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ method: "GET" })]);
  expect(host.seen).toEqual([]);
});
