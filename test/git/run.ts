// `bun run test:git`: the providers `git` and `bitbucket_cloud` with `git http-backend` behind nginx and fcgiwrap, over
// TLS with a private CA, and with hosts that hang, redirect or lie. Needs git, nginx and fcgiwrap (`apt-get install git
// nginx fcgiwrap`), which is why `bun run test` leaves it out. A word selects the cases whose name contains it. With
// --memory it also builds the executable and measures its memory.
import {
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connection } from "../../src/domain/catalog/connections/connection.ts";
import type { Coordinates } from "../../src/domain/catalog/connections/coordinates.ts";
import { TemporaryFolders } from "../../src/platform/files/temporary-folders.ts";
import { processesIn } from "../../src/platform/process-liveness.ts";
import { Secret } from "../../src/platform/secret.ts";
import { createConnectProxy } from "../support/network/connect-proxy.ts";
import { certify } from "../support/network/private-ca.ts";
import { prove } from "../support/proof.ts";
import { createMirrorSite, type MirrorSite } from "../support/sources/mirror-site.ts";
import { type GitHost, programs, startGitHost, TOKEN, USERNAME } from "./git-host.ts";
import { git, Repository } from "./git-repositories.ts";
import { measureExecutable } from "./memory.ts";

const BASIC = Buffer.from(`${USERNAME}:${TOKEN}`).toString("base64");
const LARGE_BYTES = 310 * 1024 ** 2;
const SHORT_MS = 2_000;
/** For a program that starts on a busy machine. */
const START_MS_MAX = 20_000;
/** For a host that compresses a lot on a busy machine. */
const PATIENCE_MS = 240_000;
const FILES = { "skills/guide/SKILL.md": "# Guide\n", "run.sh": "#!/bin/sh\n", "docs/öl.md": "oil\n" };

let failures = 0;

interface Place {
  host: GitHost;
  folder: string;
}

type Case = (place: Place) => Promise<void>;

const connectionTo = (host: Pick<GitHost, "origin" | "ca">, more: Partial<Connection> = {}): Connection => ({
  id: "host",
  name: "Host",
  provider: "git",
  apiBase: host.origin,
  downloadOrigins: [],
  clone: { base: host.origin, path: "{namespace}/{name}" },
  namespaces: ["*"],
  ca: host.ca,
  skipLinks: false,
  watchEveryHours: undefined,
  webhookSecret: undefined,
  credential: () => ({ kind: "login", username: USERNAME, token: new Secret(TOKEN) }),
  ...more,
});

/** @returns the reason `source.x` with which a promise rejects; its result otherwise */
async function outcome(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(JSON.stringify, (error: unknown) => {
    const text = JSON.stringify([String(error), error]);
    if (text.includes(TOKEN) || text.includes(BASIC)) return "the error repeats the credential";
    return String(Object(error).reason ?? error);
  });
}

function same(actual: unknown, expected: unknown): void {
  if (!Bun.deepEquals(actual, expected))
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** @returns a site with the git program of this machine */
const siteOf = (connection: Connection, parts: Parameters<typeof createMirrorSite>[1] = {}) =>
  createMirrorSite([connection], { findGit: () => Bun.which("git") ?? undefined, ...parts });

/** @returns the names in a folder; none while it does not exist */
const leftIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Inspects with a separate site. */
async function refused(host: Pick<GitHost, "origin" | "ca">, ref: string, more: Partial<Connection> = {}) {
  await using site = await siteOf(connectionTo(host, more));
  const reason = await outcome(site.inspect({ ref }));
  same(leftIn(site.work), []);
  return reason;
}

const CASES: Readonly<Record<string, Case>> = {
  "branch, tag, annotated tag and commit give one archive": async ({ host }) => {
    const repository = new Repository(host.root, "acme/tools");
    const commit = repository.commit(FILES);
    repository.set("refs/heads/feature/x+1", commit);
    repository.set("refs/tags/light", commit);
    repository.annotate("v1.0.0", commit);
    await using site = await siteOf(connectionTo(host));
    const found = [];
    for (const ref of ["feature/x+1", "light", "v1.0.0", commit]) found.push(await site.inspect({ ref }));
    same(new Set(found.map(({ sha256 }) => sha256)).size, 1);
    same(
      found.map(({ repository: of }) => of?.refKind),
      ["branch", "tag", "tag", "commit"],
    );
    same(found[0]?.commit, commit);
    same(found[0]?.paths, ["docs/öl.md", "run.sh", "skills/guide/SKILL.md"]);
    same(found[0]?.repository?.committedAtMs, Date.parse("2025-11-12T08:09:10Z"));
    same(found[0]?.sourceRef, "git://host/acme/tools@feature/x+1");
    same(
      site.observed.map((one) => one.outcome),
      ["mirrored", "known", "known", "known"],
    );
    same(readdirSync(site.work), []);
    if (!/POST \/acme\/tools\/git-upload-pack 200 version=2/.test(host.log()))
      throw new Error("not protocol 2");
  },

  "a folder is mirrored alone, and a missing one is refused": async ({ host }) => {
    const repository = new Repository(host.root, "acme/folder");
    repository.set("refs/heads/main", repository.commit(FILES));
    await using site = await siteOf(connectionTo(host));
    const inspect = (path: string) => site.inspect({ repository: "acme/folder", path });
    same((await inspect("skills")).paths, ["guide/SKILL.md"]);
    for (const path of ["absent", "run.sh", "sk*", ":(top)skills"])
      same(
        [path, await outcome(inspect(path))],
        [path, path.includes(":") ? "package_source.invalid" : "source.path_not_found"],
      );
  },

  "a branch and a tag of one name, abbreviated commits and objects of other kinds are refused": async ({
    host,
  }) => {
    const repository = new Repository(host.root, "acme/names");
    const commit = repository.commit(FILES);
    repository.set("refs/heads/same", commit);
    repository.set("refs/tags/same", commit);
    const tag = repository.annotate("v1", commit);
    await using site = await siteOf(connectionTo(host));
    const inspect = (ref: string) => outcome(site.inspect({ repository: "acme/names", ref }));
    same(await inspect("same"), "source.ref_ambiguous");
    for (const ref of [commit.slice(0, 12), "absent", "0".repeat(40), tag])
      same([ref, await inspect(ref)], [ref, "source.ref_not_found"]);
  },

  "a force push between resolve and archive does not matter": async ({ host }) => {
    const repository = new Repository(host.root, "acme/moved");
    const first = repository.commit(FILES);
    repository.set("refs/heads/main", first);
    await using site = await siteOf(connectionTo(host));
    const { mirrors } = site.sources;
    const resolve = mirrors.resolve.bind(mirrors);
    mirrors.resolve = async (...args) => {
      const found = await resolve(...args);
      repository.set("refs/heads/main", repository.commit({ "other.md": "x" }));
      return found;
    };
    const found = await site.inspect({ repository: "acme/moved" });
    same([found.commit, found.paths.length], [first, 3]);
  },

  "a wrong credential, a missing repository and a missing credential": async ({ host }) => {
    const wrong = {
      credential: () => ({ kind: "login", username: USERNAME, token: new Secret("wrong") }) as const,
    };
    same(await refused(host, "main", wrong), "source.credential_refused");
    same(await refused(host, "main", { credential: () => ({ kind: "none" }) }), "source.credential_refused");
    await using site = await siteOf(connectionTo(host));
    same(await outcome(site.inspect({ repository: "acme/absent" })), "source.repository_not_found");
  },

  "another CA": async ({ host }) => {
    same(await refused(host, "main", { ca: (await certify()).ca }), "source.tls_untrusted");
    same(await refused(host, "main", { ca: undefined }), "source.tls_untrusted");
  },

  "redirects are not followed, and no other origin sees the credential": async ({ host }) => {
    const below = (path: string) => ({
      clone: { base: `${host.origin}${path}`, path: "{namespace}/{name}" },
    });
    same(await refused(host, "v1.0.0", below("/moved")), "source.bad_answer");
    same(await refused(host, "v1.0.0", below("/late")), "source.bad_answer");
    same(await refused(host, "v1.0.0", below("/page")), "source.bad_answer");
    same(await refused(host, "v1.0.0", below("/busy")), "source.rate_limited");
    same(host.elsewhere(), "");
  },

  "links, submodules, LFS pointers and colliding names": async ({ host }) => {
    const repository = new Repository(host.root, "acme/hostile");
    const inspectAs = async (commit: string, { skipLinks = false, path = "" } = {}) => {
      await using site = await siteOf(connectionTo(host, { skipLinks }));
      return await outcome(site.inspect({ repository: "acme/hostile", ref: commit, path }));
    };
    const linked = repository.commit({ ...FILES, link: "->/etc/passwd" });
    same(await inspectAs(linked), "archive.link");
    same((await inspectAs(linked, { skipLinks: true })).includes('"skipped":["link"]'), true);
    repository.commit(FILES);
    const submodule = repository.submodule("skills/vendor");
    same(await inspectAs(submodule), "archive.submodule");
    same(await inspectAs(submodule, { path: "skills" }), "archive.submodule");
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    same(await inspectAs(repository.commit({ ...FILES, "big.bin": pointer })), "archive.lfs_pointer");
    same(await inspectAs(repository.commit({ "a/B.md": "1", "a/b.md": "2" })), "archive.path_collision");
  },

  "objects that git refuses": async ({ host }) => {
    const repository = new Repository(host.root, "acme/malformed");
    const inner = git(repository.bare, ["rev-parse", `${repository.commit(FILES)}:skills`]);
    for (const name of [".git", "..", "a/b"]) {
      const tree = Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(inner, "hex")]);
      const ref = repository.raw(tree);
      await using site = await siteOf(connectionTo(host));
      same(
        [name, await outcome(site.inspect({ repository: "acme/malformed", ref }))],
        [name, "source.objects_refused"],
      );
    }
  },

  "no part of a repository or of the operator's git settings runs": async ({ host, folder }) => {
    const marks = join(folder, "marks");
    const hostile = join(folder, "hostile-home");
    mkdirSync(marks);
    mkdirSync(join(hostile, "hooks"), { recursive: true });
    const run = (name: string) => `sh -c 'touch ${marks}/${name}; cat'`;
    for (const hook of ["post-checkout", "post-index-change", "reference-transaction"])
      writeFileSync(join(hostile, "hooks", hook), `#!/bin/sh\ntouch ${marks}/${hook}\n`, { mode: 0o755 });
    const settings = [
      ...["[core]", `hooksPath = ${hostile}/hooks`, `fsmonitor = ${run("fsmonitor")}`],
      ...['[filter "evil"]', `smudge = ${run("smudge")}`, `clean = ${run("clean")}`],
      ...['[diff "evil"]', `textconv = ${run("textconv")}`, '[tar "tar"]', `command = ${run("tar")}`],
      ...["[credential]", `helper = "!${run("helper")}"`],
      ...['[url "https://localhost:1/"]', `insteadOf = ${host.origin}/`, ""],
    ].join("\n");
    writeFileSync(join(hostile, ".gitconfig"), settings);
    const repository = new Repository(host.root, "acme/evil");
    const attributes = "* filter=evil diff=evil\n*.txt export-subst\n*.ign export-ignore\n";
    const files = {
      ".gitattributes": attributes,
      "a.txt": "$Format:%H$",
      "b.ign": "x",
      ".lfsconfig": "[lfs]\n\turl = https://x.example\n",
    };
    const commit = repository.commit({ ...files, ".githooks/post-checkout": "#!/bin/sh\n" });
    repository.set("refs/heads/main", commit);
    const found = await inChild(
      host,
      { repository: "acme/evil", ref: "main" },
      { HOME: hostile, XDG_CONFIG_HOME: hostile, GIT_CONFIG_GLOBAL: join(hostile, ".gitconfig") },
    );
    same(
      [found.commit, found.paths],
      [commit, [".gitattributes", ".githooks/post-checkout", ".lfsconfig", "a.txt"]],
    );
    same(readdirSync(marks), []);
  },

  "a proxy with a user name and a password in between": async ({ host }) => {
    const authorization = `Basic ${Buffer.from("us@er:p:w").toString("base64")}`;
    await using proxy = await createConnectProxy(host.port, { authorization });
    const HTTPS_PROXY = proxy.origin.replace("//", "//us%40er:p%3Aw@");
    same((await inChild(host, { ref: "v1.0.0" }, { HTTPS_PROXY })).refKind, "tag");
    const input = proxy.requests.length;
    same(input >= 3 && new Set(proxy.requests).size === 1, true);
    same(proxy.sent().includes(BASIC) || proxy.sent().includes(TOKEN), false);
    same((await inChild(host, { ref: "v1.0.0" }, { HTTPS_PROXY, NO_PROXY: "localhost" })).refKind, "tag");
    same(proxy.requests.length, input);
    same(await inChild(host, { ref: "v1.0.0" }, { HTTPS_PROXY: proxy.origin }), {
      refused: "source.proxy_credential_refused",
    });
  },

  "a repository over 300 MiB": async ({ host }) => {
    const repository = new Repository(host.root, "acme/large");
    const noise = crypto.getRandomValues.bind(crypto);
    const block = noise(new Uint8Array(65_536));
    const bytes = Buffer.alloc(LARGE_BYTES);
    for (let at = 0; at < LARGE_BYTES; at += block.byteLength)
      noise(bytes.subarray(at, Math.min(at + 65_536, LARGE_BYTES)));
    const commit = repository.commit({ "large.bin": bytes });
    await using site = await siteOf(connectionTo(host), { inspectionMsMax: PATIENCE_MS });
    same(
      await outcome(site.inspect({ repository: "acme/large", ref: commit })),
      "source.repository_too_large",
    );
    same([readdirSync(site.work), processesIn(site.work)], [[], []]);
  },

  "a small repository that becomes large": async ({ host }) => {
    const repository = new Repository(host.root, "acme/zeros");
    const zeros = Buffer.alloc(120 * 1024 ** 2);
    const commit = repository.commit(
      Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`${at}.bin`, zeros])),
    );
    await using site = await siteOf(connectionTo(host));
    same(await outcome(site.inspect({ repository: "acme/zeros", ref: commit })), "archive.expands_too_large");
  },

  "a host that hangs once git asks; no other process can read the credential": async () => {
    await using hanging = await createHangingHost();
    await using site = await siteOf(connectionTo(hanging), { inspectionMsMax: SHORT_MS });
    const inspection = outcome(site.inspect());
    const seen = await seenProcesses(site);
    same(await inspection, "source.too_slow");
    await Bun.sleep(200); // killed processes need a moment to end
    same([readdirSync(site.work), processesIn(site.work)], [[], []]);
    if (!/ls-remote/.test(seen)) throw new Error(`git did not run as a process: ${seen}`);
    for (const secret of [TOKEN, BASIC])
      if (seen.includes(secret)) throw new Error("a process shows the credential");
  },

  "kill -9 in the middle leaves nothing after the next start": async ({ folder }) => {
    await using hanging = await createHangingHost();
    const work = join(folder, "killed");
    const child = startChild(hanging, { ref: "main" }, {}, work);
    await processesSoon(work, 1);
    child.kill("SIGKILL");
    await child.exited;
    const left = processesIn(work);
    await new TemporaryFolders(work).sweep();
    await Bun.sleep(100); // killed processes need a moment to end
    same([left.length > 0, readdirSync(work), processesIn(work)], [true, [], []]);
  },

  "bitbucket_cloud: the API resolves, and git brings the archive": async ({ host }) => {
    const repository = new Repository(host.root, "acme/cloud");
    const commit = repository.commit(FILES);
    using api = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: host.tls,
      fetch: (request) => cloudResponse(request, commit),
    });
    const connection = connectionTo(host, {
      provider: "bitbucket_cloud",
      apiBase: `https://localhost:${api.port}/2.0`,
      clone: { base: host.origin, path: "{namespace}/{name}.git" },
      credential: () => ({ kind: "token", token: new Secret(TOKEN) }),
    });
    await using site = await siteOf(connection);
    const found = await site.inspect({ repository: "acme/cloud" });
    same(
      [found.commit, found.sourceRef, found.paths.length],
      [commit, "bitbucket://host/acme/cloud@main", 3],
    );
    same(found.repository?.committedAtMs, Date.parse("2025-11-12T08:09:10Z"));
  },
};

function cloudResponse({ url, headers }: Request, commit: string): Response {
  if (headers.get("authorization") !== `Bearer ${TOKEN}`) return new Response("", { status: 401 });
  const responses: Readonly<Record<string, unknown>> = {
    "/2.0/repositories/acme/cloud": { full_name: "acme/cloud" },
    "/2.0/repositories/acme/cloud/refs/branches/main": { target: { hash: commit } },
    [`/2.0/repositories/acme/cloud/commit/${commit}`]: { hash: commit, date: "2025-11-12T08:09:10+00:00" },
  };
  const found = responses[new URL(url).pathname];
  return found ? Response.json(found) : new Response("", { status: 404 });
}

/** Answers the service's own request for the refs, but no request of git. */
async function createHangingHost() {
  const { cert, key, ca } = await certify();
  const type = { "content-type": "application/x-git-upload-pack-advertisement" };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    idleTimeout: 0,
    fetch: ({ headers }) =>
      headers.get("user-agent") === "quartermaster"
        ? new Response("", { headers: type })
        : new Promise<Response>(() => {}),
  });
  return {
    origin: `https://localhost:${server.port}`,
    ca,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** @returns arguments and environments of the programs that run for a site */
async function seenProcesses({ work }: MirrorSite): Promise<string> {
  const ids = await processesSoon(work, 2);
  const files = ids.flatMap((id) => [`/proc/${id}/cmdline`, `/proc/${id}/environ`]);
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}

/** Waits until a folder has this many processes, or the time is over. @returns the processes */
async function processesSoon(folder: string, count: number): Promise<number[]> {
  const deadline = performance.now() + START_MS_MAX;
  for (;;) {
    const ids = processesIn(folder);
    if (ids.length >= count || performance.now() > deadline) return ids;
    await Bun.sleep(20);
  }
}

type Wanted = Pick<Coordinates, "ref"> & Partial<Pick<Coordinates, "repository">>;

/** Starts this program again for one inspection, with other variables. */
const startChild = (
  host: Pick<GitHost, "origin" | "ca">,
  request: Wanted,
  env: Record<string, string>,
  work?: string,
) =>
  Bun.spawn(
    [
      process.execPath,
      import.meta.path,
      "inspect",
      JSON.stringify({ origin: host.origin, ca: host.ca, request, work }),
    ],
    {
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );

async function inChild(host: Pick<GitHost, "origin" | "ca">, request: Wanted, env: Record<string, string>) {
  const child = startChild(host, request, env);
  return JSON.parse(await new Response(child.stdout).text());
}

async function beChild(text: string): Promise<void> {
  const { origin, ca, request, work } = JSON.parse(text);
  const folders = work && { folders: new TemporaryFolders(work) };
  await using site = await siteOf(connectionTo({ origin, ca }), folders);
  const shown = await site.inspect(request).then(
    ({ commit, paths, repository }) => ({ commit, paths, refKind: repository?.refKind }),
    (error: unknown) => ({ refused: Object(error).reason ?? String(error) }),
  );
  process.stdout.write(JSON.stringify(shown));
}

async function main(): Promise<void> {
  const found = programs();
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-git-"));
  await using host = await startGitHost(folder.path, found);
  const [only = ""] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const cases = Object.entries(CASES).filter(([name]) => name.includes(only));
  if (cases.length === 0)
    throw new Error(`no case has "${only}" in its name; the cases are:\n${Object.keys(CASES).join("\n")}`);
  for (const [name, run] of cases) {
    const failure = await run({ host, folder: folder.path }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    process.stdout.write(
      failure === undefined ? `ok      ${name}\n` : `FAILED  ${name}\n        ${failure}\n`,
    );
    failures += failure === undefined ? 0 : 1;
  }
  if (process.argv.includes("--memory")) await measureExecutable(host, folder.path);
  if (failures > 0) throw new Error(`${failures} cases failed`);
}

const [mode, text] = process.argv.slice(2);
await prove(mode === "inspect" && text !== undefined ? () => beChild(text) : main);
