// Repositories that are read with git: the requests to the host, the arguments of git, and how its exit is interpreted (SRC-11,
// SRC-12). Uses the git program and the host of test/support; `bun run test:git` has real ones.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitSettings } from "../../../../../src/domain/catalog/connections/git/git-settings.ts";
import {
  GIT_FOLDER_BYTES_MAX,
  GitTransport,
  gitFault,
} from "../../../../../src/domain/catalog/connections/git/git-transport.ts";
import {
  GIT_OUTPUT_BYTES_MAX,
  GIT_VERSION_MIN,
  supportedGitVersion,
} from "../../../../../src/domain/catalog/connections/git/installed-git.ts";
import { DomainError } from "../../../../../src/platform/errors.ts";
import { processesIn } from "../../../../../src/platform/process-liveness.ts";
import { Secret } from "../../../../../src/platform/secret.ts";
import {
  COMMIT,
  createFakeGit,
  createGitServer,
  type FakeGit,
  type GitServer,
  gitConnectionTo,
  type Lines,
  LOGIN,
} from "../../../../support/sources/fake-git.ts";
import { createMirrorSite, type MirrorSite } from "../../../../support/sources/mirror-site.ts";
import { temporaryDirectory } from "../../../../support/world.ts";

const FILES = { "skills/guide/SKILL.md": "# Guide\n", "run.sh": "#!/bin/sh\n" };
const BASIC = `Basic ${Buffer.from(`${LOGIN.username}:${LOGIN.token}`).toString("base64")}`;

let host: GitServer;
let folder: string;
const sites: MirrorSite[] = [];
beforeEach(() => {
  host = createGitServer();
  folder = temporaryDirectory();
});
afterEach(async () => {
  host[Symbol.dispose]();
  for (const site of sites.splice(0)) await site[Symbol.asyncDispose]();
});

interface Options {
  lines?: Lines;
  files?: Readonly<Record<string, string>>;
  inspectionMsMax?: number;
}

async function siteWith({ lines = {}, files = FILES, ...more }: Options = {}) {
  const git: FakeGit = createFakeGit(join(folder, "fake"), files, lines);
  const site = await createMirrorSite([gitConnectionTo(host)], { ...more, findGit: () => git.path });
  sites.push(site);
  return { git, site };
}

const reasonOf = async (attempt: Promise<unknown>) => {
  const error = await attempt.then(JSON.stringify, (thrown: unknown) => thrown);
  return error instanceof DomainError ? error.reason : String(error);
};

describe("a repository of a git server", () => {
  test("is mirrored by branch, annotated tag and commit, with the time of the commit (SRC-5, SRC-11)", async () => {
    const { git, site } = await siteWith();
    const mirrored = await site.inspect();
    expect(mirrored).toMatchObject({
      sourceRef: "git://host/acme/tools@main",
      commit: COMMIT,
      paths: ["run.sh", "skills/guide/SKILL.md"],
      repository: { refKind: "branch", committedAtMs: 1_762_934_950_000 },
    });
    const byTag = await site.inspect({ ref: "v1" });
    const byCommit = await site.inspect({ ref: COMMIT });
    expect([byTag, byCommit].map(({ commit, repository }) => [commit, repository?.refKind])).toEqual([
      [COMMIT, "tag"],
      [COMMIT, "commit"],
    ]);
    expect(git.runs().filter((run) => run.startsWith("fetch"))).toEqual([
      `fetch --quiet --depth=1 --no-tags --no-write-fetch-head --no-recurse-submodules --no-auto-maintenance ${host.origin}/acme/tools ${COMMIT}`,
    ]);
    expect(readdirSync(site.work)).toEqual([]);
  });

  test("gets the credential in a header, which git reads from an unlinked file (SRC-35)", async () => {
    const { git, site } = await siteWith();
    await site.inspect();
    expect(host.seen.map(({ path, headers }) => [path, headers.get("authorization")])).toEqual([
      ["/acme/tools/info/refs", BASIC],
    ]);
    expect(git.settings()).toContain(`[http "${host.origin}/"]\n\textraHeader = "Authorization: ${BASIC}"`);
    for (const shown of [git.environment(), git.runs().join("\n")])
      for (const secret of [LOGIN.token, BASIC.slice("Basic ".length)]) expect(shown).not.toContain(secret);
    expect(new Set(git.environment().match(/^\w+(?==)/gm))).toEqual(
      new Set([
        ...["HOME", "XDG_CONFIG_HOME", "GIT_DIR", "GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM", "LC_ALL", "TZ"],
        ...["GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH_COMMAND", "GIT_ALLOW_PROTOCOL"],
        ...["GIT_LITERAL_PATHSPECS", "GIT_NO_REPLACE_OBJECTS", "PWD"], // PWD is set by the shell
      ]),
    );
    expect(git.environment()).toContain("GIT_ALLOW_PROTOCOL=https\n");
  });

  test("is mirrored by folder, and refused for a folder that it lacks (SRC-19)", async () => {
    const { git, site } = await siteWith();
    expect((await site.inspect({ path: "skills" })).paths).toEqual(["guide/SKILL.md"]);
    expect(git.runs().at(-1)).toEndWith(`archive --format=tar --prefix=archive/ ${COMMIT} -- skills`);
    expect(await reasonOf(site.inspect({ path: "absent" }))).toBe("source.path_not_found");
  });

  test.each([
    ["ref_not_found", "absent", {}],
    ["ref_not_found", COMMIT.replace("1", "3"), {}],
    [
      "ref_ambiguous",
      "main",
      { "ls-remote": `printf '${COMMIT}\\trefs/heads/main\\n${COMMIT}\\trefs/tags/main\\n'` },
    ],
    ["host_down", "main", { fetch: "exit 1" }],
    [
      "credential_refused",
      "main",
      { fetch: "echo \"fatal: Authentication failed for 'https://x'\" >&2; exit 128" },
    ],
    ["git_missing", "main", { version: "echo git version 2.29.9" }],
    ["git_missing", "main", { version: "exit 1" }],
  ])("is refused with source.%s for %s after %o", async (reason, ref, lines) => {
    const { site } = await siteWith({ lines });
    expect(await reasonOf(site.inspect({ ref }))).toBe(`source.${reason}`);
    expect(readdirSync(site.work)).toEqual([]);
  });

  test.each([
    [404, {}, "source.repository_not_found"],
    [401, {}, "source.credential_refused"],
    [429, { "retry-after": "17" }, "source.rate_limited"],
    [302, { location: "https://elsewhere.example/" }, "source.bad_answer"],
    [302, { location: "/acme/renamed" }, "source.renamed"],
    [200, { "content-type": "text/html" }, "source.bad_answer"],
  ])("refuses a host that responds %i with %o before git runs", async (status, headers, reason) => {
    const { site } = await siteWith();
    host.answer = () => new Response("", { status, headers });
    expect(await reasonOf(site.inspect())).toBe(reason);
    expect(existsSync(join(folder, "fake", "runs"))).toBe(false);
  });

  test("sends no credential if the connection has no token", async () => {
    const { git, site } = await siteWith();
    site.connections[0] = gitConnectionTo(host, { credential: () => ({ kind: "none" }) });
    await site.inspect();
    expect(host.seen[0]?.headers.has("authorization")).toBe(false);
    expect(git.settings()).not.toContain("extraHeader");
  });

  test("is requested at clone_path below the URL of the repositories (SRC-4)", async () => {
    const { site } = await siteWith();
    const path = "{namespace}/_git/{name}";
    site.connections[0] = gitConnectionTo(host, { clone: { base: `${host.origin}/team`, path } });
    await site.inspect();
    expect(host.seen[0]?.path).toBe("/team/acme/_git/tools/info/refs");
  });
});

describe("SRC-12 git and its children are killed", () => {
  test("kills git when the inspection takes too long", async () => {
    const { site } = await siteWith({ lines: { fetch: "sleep 600 & wait" }, inspectionMsMax: 400 });
    expect(await reasonOf(site.inspect())).toBe("source.too_slow");
    expect([readdirSync(site.work), processesIn(site.work)]).toEqual([[], []]);
  });

  test.each([
    [-1, "undefined"],
    [0, "undefined"],
    [1, "source.repository_too_large"],
  ])("kills git when the folder has the limit and %i bytes more: %s", async (more, outcome) => {
    const bytes = `$((${GIT_FOLDER_BYTES_MAX} + ${more} - $(wc -c < authorities.pem)))`;
    const { path } = createFakeGit(join(folder, "fake"), FILES, { fetch: `truncate -s ${bytes} noise` });
    expect(await reasonOf(archive(path))).toBe(outcome);
  });

  test("kills git while it fills the folder", async () => {
    const { path } = createFakeGit(join(folder, "fake"), FILES, { fetch: `truncate -s 1G noise; sleep 600` });
    expect(await reasonOf(archive(path))).toBe("source.repository_too_large");
  });

  test.each([
    [-1, "source.ref_not_found"],
    [0, "source.ref_not_found"],
    [1, "source.bad_answer"],
  ])("kills git when it prints the limit and %i bytes more: %s", async (more, reason) => {
    const lines = { "ls-remote": `head -c ${GIT_OUTPUT_BYTES_MAX + more} /dev/zero` };
    const { site } = await siteWith({ lines });
    expect(await reasonOf(site.inspect())).toBe(reason);
  });
});

/** A folder that the commit does not have, so that only the fetch matters. */
function archive(path: string) {
  const work = join(folder, "work");
  mkdirSync(work);
  const refuse = () => new DomainError("invalid", "target", "");
  const target = { file: 1, path: join(work, "absent"), bytesMax: 1, refuse };
  const remote = { url: `${host.origin}/acme/tools`, authorization: undefined, proxy: undefined };
  const bounds = { authorities: "a", folder: work, signal: new AbortController().signal };
  return new GitTransport(path).archive({ remote, ...bounds }, { commit: COMMIT, path: "absent" }, target);
}

test("SRC-37 git gets the settings that keep it to this host and run nothing", () => {
  const remote = {
    url: "https://forge.example/acme/tools",
    authorization: undefined,
    proxy: "http://u:p@proxy:3128",
  };
  const places = { home: "/data/h", authorities: '/da"ta/a.pem', repository: "/data/r" };
  const settings = gitSettings(remote, places);
  for (const line of [
    ...['hooksPath = "/dev/null"', 'followRedirects = "false"', 'fsckObjects = "true"', 'version = "2"'],
    ...['sslCAInfo = "/da\\"ta/a.pem"', 'sslCAPath = "/data/h"', 'sslVerify = "true"', 'helper = ""'],
    'proxy = "http://u:p@proxy:3128"',
  ])
    expect(settings).toContain(line);
});

test.each([
  [
    "fatal: unable to access 'https://x/': The requested URL returned error: 403",
    "source.credential_refused",
  ],
  ["error: RPC failed; HTTP 503 curl 22 The requested URL returned error: 503", "source.host_down"],
  ["fatal: unable to access 'https://x/': The requested URL returned error: 429", "source.rate_limited"],
  ["fatal: unable to access 'https://x/': The requested URL returned error: 302", "source.bad_answer"],
  ["fatal: repository 'https://x/' not found", "source.repository_not_found"],
  ["fatal: could not read Username for 'https://x': terminal prompts disabled", "source.credential_refused"],
  ["fatal: remote error: upload-pack: not our ref 000", "source.ref_not_found"],
  [
    "fatal: unable to access 'https://x/': server certificate verification failed. CAfile: a",
    "source.tls_untrusted",
  ],
  [
    "fatal: unable to access 'https://x/': SSL certificate problem: self signed certificate",
    "source.tls_untrusted",
  ],
  ["git: 'remote-https' is not a git command. See 'git --help'.", "source.git_missing"],
  [
    "error: object 11: hasDotgit: contains '.git'\nfatal: fsck error in packed object",
    "source.objects_refused",
  ],
  ["fatal: unable to access 'https://x/': Could not resolve host: x", "source.host_down"],
  [
    "fatal: unable to access 'https://x/': Received HTTP code 407 from proxy after CONNECT",
    "source.proxy_credential_refused",
  ],
  ["fatal: unable to access 'https://x/': CONNECT tunnel failed, response 403", "source.proxy_refused"],
  ["fatal: unable to access 'https://x/': CONNECT tunnel failed, response 502", "source.host_down"],
  ["remote: fatal: Authentication failed\nfatal: early EOF", "source.host_down"],
  ["fatal: write error: No space left on device", "artifact.disk_full"],
  ["remote: fatal: write error: No space left on device\nfatal: early EOF", "source.host_down"],
])("git's message %p means %s", (message, reason) => {
  expect(gitFault(message).reason).toBe(reason);
});

test("a git older than the oldest supported version is refused", () => {
  const [major, minor] = GIT_VERSION_MIN;
  const texts = [`${major}.${minor - 1}.9`, `${major}.${minor}`, `${major}.${minor}.1`, `${major + 1}.0.0`];
  expect(texts.map((version) => supportedGitVersion(`git version ${version}\n`))).toEqual([
    undefined,
    ...texts.slice(1),
  ]);
  expect(supportedGitVersion("git version 2.39.5 (Apple Git-154)")).toBe("2.39.5");
  expect(supportedGitVersion("not git")).toBeUndefined();
});

test("a missing git is reported for the connections that need it, and for no others (SRC-11, SRC-32)", async () => {
  const site = await createMirrorSite([gitConnectionTo(host)], { findGit: () => join(folder, "absent") });
  sites.push(site);
  expect(await reasonOf(site.inspect())).toBe("source.git_missing");
  expect(await site.sources.mirrors.withoutGit()).toEqual(["host"]);
  const { system } = site.world;
  const findings = await site.sources.mirrors.verify(system, "host", undefined);
  expect(findings.find(({ check }) => check === "git")).toMatchObject({
    result: "failed",
    remedy: expect.stringContaining("git 2.30"),
  });
  site.connections[0] = gitConnectionTo(host, { apiBase: "https://127.0.0.1:1" });
  const unreached = await site.sources.mirrors.verify(system, "host", undefined);
  expect(unreached.map(({ check, result }) => `${check} ${result}`)).toEqual([
    "git failed",
    "host failed",
    "clock skipped",
    "repository skipped",
  ]);
  writeFileSync(join(folder, "absent"), "#!/bin/sh\necho git version 2.30.0\n", { mode: 0o700 });
  expect(await site.sources.mirrors.withoutGit()).toEqual([]);
  site.connections[0] = gitConnectionTo(host, { provider: "gitea", clone: undefined });
  expect(await site.sources.mirrors.withoutGit()).toEqual([]);
});

test("a repository of Bitbucket Cloud is resolved by its API and fetched by git", async () => {
  const { git, site } = await siteWith();
  const answers: Readonly<Record<string, unknown>> = {
    "/2.0/repositories/acme/tools": { full_name: "Acme/tools" },
    "/2.0/repositories/acme/tools/refs/tags/v1": { target: { hash: COMMIT } },
    [`/2.0/repositories/acme/tools/commit/${COMMIT}`]: { hash: COMMIT, date: "2025-11-12T08:09:10+00:00" },
  };
  host.answer = ({ url }) => {
    const found = answers[new URL(url).pathname];
    return found ? Response.json(found) : new Response("", { status: 404 });
  };
  site.connections[0] = gitConnectionTo(host, {
    provider: "bitbucket_cloud",
    apiBase: `${host.origin}/2.0`,
    credential: () => ({ kind: "token", token: new Secret(LOGIN.token) }),
  });
  const mirrored = await site.inspect({ ref: "v1" });
  expect(mirrored).toMatchObject({
    sourceRef: "bitbucket://host/acme/tools@v1",
    commit: COMMIT,
    repository: { refKind: "tag", committedAtMs: Date.parse("2025-11-12T08:09:10Z") },
  });
  expect(host.seen.map(({ headers }) => headers.get("authorization"))).toEqual(
    Array(4).fill(`Bearer ${LOGIN.token}`),
  );
  const basic = Buffer.from(`x-token-auth:${LOGIN.token}`).toString("base64");
  expect(git.settings()).toContain(`Authorization: Basic ${basic}`);
  expect(git.runs().some((run) => run.startsWith("ls-remote"))).toBe(false);
});
