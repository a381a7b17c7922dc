// Mirroring a commit that is known, lost, requested twice, or too large; and what an administrator may not access.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempDisposableSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { INSPECTIONS_PER_USER } from "../../../../src/domain/access/budgets/inspection-budget.ts";
import { PROVIDERS } from "../../../../src/domain/catalog/connections/connection.ts";
import { diskFull } from "../../../../src/domain/catalog/connections/errors.ts";
import { REDIRECTS_MAX } from "../../../../src/domain/catalog/connections/hosts/requests.ts";
import { RESPONSE_BYTES_MAX } from "../../../../src/domain/catalog/connections/hosts/responses.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { TemporaryFolders } from "../../../../src/platform/files/temporary-folders.ts";
import { tarFile, tarGzOf, tarPax } from "../../../support/content/tar.ts";
import { connectionTo, createMirrorSite, type MirrorSite } from "../../../support/sources/mirror-site.ts";
import {
  createRepositoryHost,
  hostArchive,
  REPOSITORY,
  type RepositoryHost,
  TOKEN,
} from "../../../support/sources/repository-host.ts";

const FILES = { "skills/guide/SKILL.md": "# Guide\n" };

let host: RepositoryHost;
let site: MirrorSite;
let commit: string;
beforeEach(async () => {
  host = createRepositoryHost("gitea");
  commit = host.commit(FILES);
  host.branches.set("main", commit);
  site = await createMirrorSite([connectionTo(host)]);
});
afterEach(async () => {
  host[Symbol.dispose]();
  await site[Symbol.asyncDispose]();
});

async function refusalOf(attempt: Promise<unknown>): Promise<DomainError> {
  const error = await attempt.then(JSON.stringify, (thrown: unknown) => thrown);
  if (error instanceof DomainError) return error;
  throw new Error(`expected a DomainError, got ${error}`);
}
const archivesAsked = () => host.seen.filter(({ path }) => path.includes("/archive/")).length;
const audited = () =>
  site.world.db.read.all<{ action: string; after: string }>(
    "SELECT action, after FROM audit_entries ORDER BY id",
  );
const workLeft = () => (existsSync(site.work) ? readdirSync(site.work) : []);
const user: () => Actor = () => ({ ...site.world.system, kind: "user", id: "u-1", label: "a@example.com" });

describe("a commit", () => {
  test("is recorded with each inspection, without secrets, and leaves no temporary files (SRC-8, SRC-34)", async () => {
    const { sha256, sizeBytes } = await site.inspect();
    await site.inspect();
    const after = { connection: "host", repository: "acme/tools", ref: "main", commit, path: "" };
    const entries = audited().map((entry) => ({ ...entry, after: JSON.parse(entry.after) }));
    const entry = { action: "artifact.mirror", after: { ...after, sha256, size_bytes: sizeBytes } };
    expect(entries).toEqual([entry, entry]);
    expect(workLeft()).toEqual([]);
  });

  test("is requested without a content coding, which nothing would decode", async () => {
    await site.inspect();
    const codings = host.seen.map(({ headers }) => headers.get("accept-encoding"));
    expect(new Set(codings)).toEqual(new Set(["identity"]));
  });

  test("leaves no files of a process that was killed while mirroring", async () => {
    const pidNobodyHas = 2 ** 31 - 1;
    mkdirSync(join(site.work, `work-${pidNobodyHas}-00000000-${crypto.randomUUID()}`), { recursive: true });
    await site.inspect();
    expect(workLeft()).toEqual([]);
  });

  test("mirrors the new commit of a moved branch as another artifact and keeps the former one (SRC-6, SRC-25)", async () => {
    const former = await site.inspect();
    host.branches.set("main", host.commit({ "skills/guide/SKILL.md": "# Another\n" }));
    const moved = await site.inspect();
    expect(moved.artifactId).not.toBe(former.artifactId);
    expect(await site.blobs.has(parseDigest(former.sha256))).toBe(true);
  });

  test("mirrors a commit whose bytes were lost again as the same artifact (SRC-6)", async () => {
    const former = await site.inspect();
    await site.blobs.remove(parseDigest(former.sha256));
    expect((await site.inspect()).artifactId).toBe(former.artifactId);
    expect(await site.blobs.verify(parseDigest(former.sha256))).toBe("intact");
  });

  test("refuses a commit that the host sends with other content, with both digests (SRC-6)", async () => {
    const former = await site.inspect();
    await site.blobs.remove(parseDigest(former.sha256));
    const archive = hostArchive("tools", { other: "content" });
    host.commits.set(commit, { sha: commit, committedAt: "2025-11-12T08:09:10Z", archive });
    const refusal = await refusalOf(site.inspect());
    expect([refusal.kind, refusal.reason]).toEqual(["conflict", "source.not_reproduced"]);
    expect(refusal.message.match(/[0-9a-f]{64}/g)).toHaveLength(2);
    expect(refusal.message).toContain(former.sha256);
    expect(site.world.db.read.all("SELECT id FROM mirrors")).toHaveLength(1);
  });

  test("is stored on a file system other than the one where it is created", async () => {
    using elsewhere = mkdtempDisposableSync(join(tmpdir(), "quartermaster-work-"));
    const folders = new TemporaryFolders(elsewhere.path);
    await using apart = await createMirrorSite([connectionTo(host)], { folders });
    const { sha256 } = await apart.inspect();
    expect(await apart.blobs.verify(parseDigest(sha256))).toBe("intact");
    expect(readdirSync(elsewhere.path)).toEqual([]);
  });

  test("two simultaneous requests download it once (SRC-42)", async () => {
    const [one, other] = await Promise.all([site.inspect(), site.inspect()]);
    expect([archivesAsked(), one.artifactId]).toEqual([1, other.artifactId]);
  });

  test("downloads a commit once for two simultaneous refs, because one waits for the other (SRC-14)", async () => {
    host.tags.set("v1", commit);
    const [one, other] = await Promise.all([site.inspect(), site.inspect({ ref: "v1" })]);
    expect([archivesAsked(), one.artifactId]).toEqual([1, other.artifactId]);
  });

  test("shares the artifact of equal content in two repositories and keeps the origin of each", async () => {
    const copy = createRepositoryHost("gitlab");
    copy.branches.set("main", copy.commit(FILES));
    site.connections.push(connectionTo(copy, { id: "copy" }));
    const one = await site.inspect();
    const other = await site.inspect({ connection_id: "copy" });
    copy[Symbol.dispose]();
    expect(other.artifactId).toBe(one.artifactId);
    expect(other.sourceRef).toBe("gitlab://copy/acme/tools@main");
    expect(site.world.db.read.all("SELECT connection_id FROM mirrors ORDER BY connection_id")).toHaveLength(
      2,
    );
  });

  test("is served from the stored mirror after a force push removed it (SRC-41)", async () => {
    const former = await site.inspect();
    host.commits.delete(commit);
    expect((await refusalOf(site.inspect())).reason).toBe("source.ref_not_found");
    expect(await site.blobs.has(parseDigest(former.sha256))).toBe(true);
  });

  test("reports a commit that a force push removes between the lookup and the download as not found (SRC-41)", async () => {
    host.instead = (request) => {
      if (request.url.includes("/archive/")) host.commits.clear();
      return undefined;
    };
    expect((await refusalOf(site.inspect())).reason).toBe("source.ref_not_found");
    expect(workLeft()).toEqual([]);
  });
});

describe("an administrator", () => {
  test.each([
    [{ repository: "a" }, ["/repository"]],
    [{ repository: "../b", ref: "a..b", path: "../x" }, ["/repository", "/ref", "/path"]],
    [{ repository: "a/b%2e", ref: "%2e%2e" }, ["/repository", "/ref"]],
    [{ ref: "main@{1}" }, ["/ref"]],
    [{ ref: "-x" }, ["/ref"]],
    [{ ref: "a.lock" }, ["/ref"]],
    [{ ref: "a//b" }, ["/ref"]],
    [{ path: "/etc" }, ["/path"]],
    [{ path: "a/./b" }, ["/path"]],
  ])(
    "gets every problem of the request before any request to the host: %p (SRC-3, SRC-4)",
    async (request, pointers) => {
      const refusal = await refusalOf(site.inspect(request));
      expect([refusal.reason, refusal.problems.map(({ pointer }) => pointer)]).toEqual([
        "package_source.invalid",
        pointers,
      ]);
      expect(host.seen).toEqual([]);
    },
  );

  test("reaches only the namespaces of the connection, before the network, and the attempt is recorded (SRC-36)", async () => {
    site.connections[0] = connectionTo(host, { namespaces: ["Other", "acm"] });
    const refusal = await refusalOf(site.inspect());
    expect([refusal.kind, refusal.reason, host.seen]).toEqual(["forbidden", "source.namespace_refused", []]);
    expect(audited().map(({ action }) => action)).toEqual(["source.refuse_namespace"]);
    site.connections[0] = connectionTo(host, { namespaces: ["ACME"] });
    expect((await site.inspect()).commit).toBe(commit);
  });

  test("does not see connections that give the organization nothing (SRC-1)", async () => {
    site.connections[0] = connectionTo(host, { namespaces: [] });
    expect((await refusalOf(site.inspect())).reason).toBe("package_source.unknown_connection");
    expect(site.sources.connections(site.world.organizationId)).toEqual([]);
  });

  test("sees each kind of host under its name (SRC-2)", () => {
    const all = PROVIDERS.map((provider) => connectionTo(host, { id: provider, provider }));
    site.connections.splice(0, 1, ...all);
    const seen = site.sources.connections(site.world.organizationId);
    expect(seen.map(({ provider }) => provider)).toEqual([
      ...(["github", "gitlab", "gitea"] as const),
      ...(["bitbucket_data_center", "bitbucket_cloud", "git"] as const),
    ]);
  });

  test("may start a limited number of inspections in a while; the operator is not counted (SRC-40)", async () => {
    for (let count = 0; count < INSPECTIONS_PER_USER; count += 1) await site.inspect({}, user());
    const refusal = await refusalOf(site.inspect({}, user()));
    expect(refusal.kind).toBe("too_many");
    await site.inspect();
    site.world.clock.advance(15 * 60_000);
    await site.inspect({}, user());
  });

  test("cannot name a repository with more parts where groups are not nested (SRC-4)", async () => {
    expect((await refusalOf(site.inspect({ repository: "a/b/c" }))).reason).toBe("package_source.invalid");
  });

  test("does not see the host's text (SRC-40)", async () => {
    host.instead = () => new Response(`secret of ${host.origin}`, { status: 500 });
    const refusal = await refusalOf(site.inspect());
    expect([refusal.kind, refusal.reason]).toEqual(["unavailable", "source.host_down"]);
    for (const text of [refusal.message, refusal.hint, String(refusal.cause)])
      expect(text).not.toMatch(/secret|127\.0\.0\.1/);
  });
});

describe("a host", () => {
  const archiveIs = (answer: () => Response | Promise<Response>) => {
    host.instead = (request) => (request.url.includes("/archive/") ? answer() : undefined);
  };

  test.each([
    ["a sign-in page", () => new Response("<!doctype html><title>Sign in</title>"), "source.not_an_archive"],
    ["nothing", () => new Response(""), "source.not_an_archive"],
    [
      "the archive of another repository",
      () =>
        new Response(new Uint8Array(tarGzOf(tarPax({ comment: "9".repeat(40) }, "g"), tarFile("b/secret")))),
      "source.other_commit",
    ],
    ["half an archive", () => new Response(hostArchive("a", FILES).slice(0, 60)), "source.not_an_archive"],
    [
      "too many requests",
      () => new Response("", { status: 429, headers: { "retry-after": "7" } }),
      "source.rate_limited",
    ],
    ["an error", () => new Response("", { status: 502 }), "source.host_down"],
    ["a refusal", () => new Response("", { status: 403 }), "source.credential_refused"],
  ])(
    "refuses %s instead of an archive with that reason and stores nothing (SRC-7, SRC-41)",
    async (_, answer, reason) => {
      archiveIs(answer);
      expect((await refusalOf(site.inspect())).reason).toBe(reason);
      expect([workLeft(), site.world.db.read.all("SELECT id FROM artifacts")]).toEqual([[], []]);
    },
  );

  const DATE = { date: "Thu, 01 Jan 2026 00:00:00 GMT" };
  test.each<[number, Record<string, string>, number]>([
    [429, { "retry-after": "7" }, 7],
    [429, { ...DATE, "retry-after": "Thu, 01 Jan 2026 00:00:08 GMT" }, 8],
    [403, { ...DATE, "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767225609" }, 9],
    [429, { ...DATE, "ratelimit-reset": "1767225610" }, 10],
    [429, {}, 60],
  ])(
    "reports how long to wait if the host limits requests: %d with %p (SRC-7)",
    async (status, headers, seconds) => {
      archiveIs(() => new Response("", { status, headers }));
      expect((await refusalOf(site.inspect())).retryAfterSeconds).toBe(seconds);
    },
  );

  test("stops an endless download at the limit (SRC-22)", async () => {
    let sentBytes = 0;
    const zeros = new Uint8Array(1024 ** 2);
    archiveIs(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              const piece = sentBytes === 0 ? Uint8Array.of(0x1f, 0x8b, ...zeros.subarray(2, 1_000)) : zeros;
              sentBytes += piece.byteLength;
              controller.enqueue(piece);
            },
          }),
        ),
    );
    expect((await refusalOf(site.inspect())).reason).toBe("source.too_large");
    expect(sentBytes).toBeLessThan(140 * 1024 ** 2);
    expect(workLeft()).toEqual([]);
  });

  test("has responses of limited length", async () => {
    const answered = async (length: number) => {
      host.instead = (request) =>
        request.url.endsWith("/acme/tools")
          ? new Response(`{"full_name":"acme/tools"}`.padEnd(length))
          : undefined;
      return await site.inspect().then(
        () => "answered",
        (error: unknown) => (error instanceof DomainError ? error.reason : error),
      );
    };
    expect(await answered(RESPONSE_BYTES_MAX - 1)).toBe("answered");
    expect(await answered(RESPONSE_BYTES_MAX)).toBe("answered");
    expect(await answered(RESPONSE_BYTES_MAX + 1)).toBe("source.bad_answer");
  });

  test("aborts if a host never responds (SRC-14)", async () => {
    await using slow = await createMirrorSite([connectionTo(host)], { inspectionMsMax: 50 });
    const never = Promise.withResolvers<Response>();
    archiveIs(() => never.promise);
    const refusal = await refusalOf(slow.inspect());
    never.resolve(new Response(""));
    expect([refusal.kind, refusal.reason]).toEqual(["unavailable", "source.too_slow"]);
  });

  test("has the state that its verification found", async () => {
    const stateAfter = async (wanted?: { repository: string; ref: string }) => {
      await site.sources.mirrors.verify(site.world.system, "host", wanted);
      const { status, reason } = site.sources.mirrors.states.of(site.world.system.organizationId, "host");
      return reason ?? status;
    };
    const wanted = { repository: REPOSITORY, ref: "main" };
    expect(await stateAfter()).toBe("unverified");
    expect(await stateAfter(wanted)).toBe("ok");
    host.instead = ({ url }) => (url.endsWith("/acme/tools") ? new Response("", { status: 401 }) : undefined);
    expect(await stateAfter(wanted)).toBe("source.credential_refused");
  });

  test("reports an unreachable host as down", async () => {
    host[Symbol.dispose]();
    const refusal = await refusalOf(site.inspect());
    expect([refusal.kind, refusal.reason]).toEqual(["unavailable", "source.host_down"]);
  });

  test("cannot choose names, times, types or lengths here (SRC-38)", async () => {
    const { sha256, sizeBytes } = await site.inspect();
    const former = await site.inspect();
    await site.blobs.remove(parseDigest(sha256));
    const headers = {
      "content-disposition": 'attachment; filename="../../escaped.tar.gz"',
      "content-type": "text/html; charset=utf-16",
      "content-encoding": "br",
      "content-language": "../..",
      "last-modified": "Thu, 01 Jan 1970 00:00:00 GMT",
      etag: '"../../../etc/passwd"',
      "set-cookie": "session=of-the-host",
    };
    archiveIs(() => new Response(new Uint8Array(host.commits.get(commit)?.archive ?? []), { headers }));
    expect(await site.inspect()).toEqual(former);
    expect(await site.blobs.size(parseDigest(sha256))).toBe(sizeBytes);
    const files = readdirSync(site.world.directory, { recursive: true }).map(String);
    expect(files.filter((name) => /escaped|passwd|host-archive/.test(name))).toEqual([]);
    for (const { headers: sent } of host.seen) expect(sent.has("cookie")).toBe(false);
  });

  test.each([0, 2 ** 40])(
    "refuses an archive whose size differs from the announced %d bytes (SRC-38)",
    async (length) => {
      const { archive = new Uint8Array() } = host.commits.get(commit) ?? {};
      const head = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`;
      using raw = Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: { data: (socket) => void socket.end(Buffer.concat([Buffer.from(head), archive])) },
      });
      host.instead = (request) =>
        request.url.includes("/archive/")
          ? new Response(null, { status: 302, headers: { location: `http://127.0.0.1:${raw.port}/` } })
          : undefined;
      site.connections[0] = connectionTo(host, { downloadOrigins: [`http://127.0.0.1:${raw.port}`] });
      const { reason } = await refusalOf(site.inspect());
      expect(reason).toBe(length === 0 ? "source.not_an_archive" : "source.too_large");
      expect(workLeft()).toEqual([]);
    },
  );

  test("cannot supply a URL that is contacted, except a redirect of an archive (SRC-39)", async () => {
    using other = createRepositoryHost("gitea");
    const links = ["url", "html_url", "clone_url", "git_url", "archive_url", "tarball_url", "next"].map(
      (name) => [name, `${other.origin}/${name}`],
    );
    host.instead = async (request) => {
      if (request.url.includes("/archive/")) return undefined;
      host.instead = undefined;
      const answer = await fetch(request.url, request);
      host.instead = adding;
      const headers = { link: `<${other.origin}/next>; rel="next"`, "content-location": `${other.origin}/` };
      return Response.json(
        { ...(await answer.json()), ...Object.fromEntries(links) },
        { status: answer.status, headers },
      );
    };
    const adding = host.instead;
    expect((await site.inspect()).commit).toBe(commit);
    expect(other.seen).toEqual([]);
  });

  test("refuses a link-local address, even of a connection (SRC-17)", async () => {
    site.connections[0] = connectionTo(host, { apiBase: "http://169.254.169.254/api/v1" });
    expect((await refusalOf(site.inspect())).reason).toBe("outbound.link_local");
  });
});

describe("a redirect of an archive (SRC-15, SRC-35)", () => {
  let store: RepositoryHost;
  beforeEach(() => {
    store = createRepositoryHost("gitea");
    store.instead = (request) =>
      new URL(request.url).pathname === "/stored"
        ? new Response(new Uint8Array(host.commits.get(commit)?.archive ?? []))
        : Response.redirect(`${store.origin}/stored`, 302);
  });
  afterEach(() => store[Symbol.dispose]());
  const redirectTo = (location: string) => {
    host.instead = (request) =>
      request.url.includes("/archive/") && !request.url.includes("again")
        ? new Response(null, { status: 302, headers: { location } })
        : undefined;
  };

  test("follows a redirect to an origin of the connection without the credential", async () => {
    site.connections[0] = connectionTo(host, { downloadOrigins: [store.origin] });
    redirectTo(`${store.origin}/moved?signature=1`);
    expect((await site.inspect()).commit).toBe(commit);
    expect(store.seen.map(({ path }) => path)).toEqual(["/moved?signature=1", "/stored"]);
    for (const { headers } of store.seen) expect(JSON.stringify([...headers])).not.toContain(TOKEN);
  });

  test("refuses a redirect to any other origin, and nothing arrives there", async () => {
    redirectTo(`${store.origin}/moved`);
    const refusal = await refusalOf(site.inspect());
    expect([refusal.kind, refusal.reason, store.seen]).toEqual(["invalid", "source.redirect_refused", []]);
  });

  test.each(["http://user:secret@127.0.0.1/", "file:///etc/passwd", "//", ""])(
    "refuses a redirect to %p",
    async (location) => {
      redirectTo(location);
      expect((await refusalOf(site.inspect())).reason).toBe("source.redirect_refused");
    },
  );

  test("is followed a limited number of times", async () => {
    const turns = (count: number) => {
      let left = count;
      host.instead = (request) => {
        if (!request.url.includes("/archive/") || left === 0) return undefined;
        left -= 1;
        return new Response(null, { status: 302, headers: { location: request.url } });
      };
    };
    turns(REDIRECTS_MAX + 1);
    expect((await refusalOf(site.inspect())).reason).toBe("source.redirect_refused");
    turns(REDIRECTS_MAX);
    expect((await site.inspect()).commit).toBe(commit);
    await site.blobs.remove(parseDigest((await site.inspect()).sha256));
    turns(REDIRECTS_MAX - 1);
    expect((await site.inspect()).commit).toBe(commit);
  });
});

describe("reports a full disk and leaves nothing behind (SRC-41)", () => {
  const diskFullAt = async (parts: Parameters<typeof createMirrorSite>[1]) => {
    await using full = await createMirrorSite([connectionTo(host)], parts);
    const refusal = await refusalOf(full.inspect());
    expect([refusal.kind, refusal.reason]).toEqual(["unavailable", "artifact.disk_full"]);
    const left = existsSync(full.work) ? readdirSync(full.work) : [];
    expect([left, full.world.db.read.all("SELECT id FROM artifacts")]).toEqual([[], []]);
  };

  test("reports a full disk while the archive is made", () =>
    diskFullAt({
      repack: async (task) => {
        writeFileSync(join(task.folder, "spool"), "half");
        throw diskFull(undefined);
      },
    }));

  test("reports a full disk while the archive is stored", () =>
    diskFullAt({ blobs: { ...site.blobs, adopt: () => Promise.reject(diskFull(undefined)) } }));
});
