// Inspecting package sources with a real database, a real artifact store and real TLS: what is stored, and what is not.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { destinationsOf } from "../../../../src/app/installation/destinations.ts";
import { ARCHIVE_LIMITS } from "../../../../src/domain/catalog/archive/archive.ts";
import { PATHS_LISTED_MAX } from "../../../../src/domain/catalog/archive/archive-facts.ts";
import { NO_MIRRORING } from "../../../../src/domain/catalog/mirroring/mirroring.ts";
import {
  GITHUB,
  GITHUB_NAME_CHARACTERS_MAX,
  GITHUB_REF_CHARACTERS_MAX,
  readGithubSource,
} from "../../../../src/domain/catalog/sources/github-source.ts";
import {
  COMMIT_RESPONSE_BYTES_MAX,
  INSPECTIONS_AT_ONCE_MAX,
  PackageSources,
  type SourceRequest,
} from "../../../../src/domain/catalog/sources/package-sources.ts";
import { addArtifact } from "../../../../src/domain/catalog/store.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import { type Blobs, openBlobs, parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import type { PublicHosts } from "../../../../src/platform/outbound/public-https.ts";
import { leavePartialFile } from "../../../support/content/partial-files.ts";
import { tarFile, tarFolder, tarGzOf } from "../../../support/content/tar.ts";
import { createRawTlsServer, createTlsServer, type TlsServer } from "../../../support/network/tls-server.ts";
import { createWorld, type World } from "../../../support/world.ts";

const ARCHIVE = tarGzOf(tarFolder("tool"), tarFile("tool/run", "#!/bin/sh\n"));
const API = "api.example";
const ARCHIVES = "archives.example";
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

const archive = (bytes: Uint8Array) => new Response(new Uint8Array(bytes));

let server: TlsServer;
let answers: Record<string, () => Response | Promise<Response>>;
let world: World;
let blobs: Blobs;
let sources: PackageSources;

beforeAll(async () => {
  const names = ["packages.example", API, ARCHIVES];
  const answer = ({ url }: Request) => {
    const { pathname } = new URL(url);
    return answers[pathname]?.() ?? new Response("no", { status: 404 });
  };
  server = await createTlsServer(answer, { names });
});
afterAll(() => server[Symbol.dispose]());

beforeEach(async () => {
  answers = { "/tool.tar.gz": () => archive(ARCHIVE) };
  server.seen.length = 0;
  world = await createWorld();
  blobs = await openBlobs(join(world.directory, "artifacts"));
  sources = sourcesWith({ isOpen: true });
});
afterEach(() => world.dispose());

function sourcesWith({
  isOpen,
  hosts = server.hosts,
}: {
  isOpen: boolean;
  hosts?: PublicHosts;
}): PackageSources {
  const flags = { packageSourcesPublic: isOpen ? "yes" : "no" };
  const config = loadConfig({ flags, env: {}, cwd: world.directory });
  const outbound = createOutbound({ allowed: destinationsOf(config), publicHosts: hosts });
  const github = { api: server.origin(API), archives: server.origin(ARCHIVES) };
  const parts = { ...NO_MIRRORING, spendInspection: () => {}, harnesses: () => HARNESSES };
  return new PackageSources({ ...world, ...parts, blobs, outbound, github });
}

const toolUrl = () => `${server.origin()}/tool.tar.gz`;
const inspect = (source: string) => sources.inspect(world.system, { source_ref: source });

async function refusalOf(attempt: Promise<unknown>): Promise<DomainError> {
  const error = await attempt.then(JSON.stringify, (thrown: unknown) => thrown);
  if (error instanceof DomainError) return error;
  throw new Error(`expected a DomainError, got ${error}`);
}
const reasonOf = async (source: string) => (await refusalOf(inspect(source))).reason;

const keptFiles = () =>
  readdirSync(join(world.directory, "artifacts"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
const artifactRows = () => world.db.read.all("SELECT id, sha256 FROM artifacts");
const audited = () => world.db.read.all("SELECT action, target, after FROM audit_entries ORDER BY id");

describe("a public archive", () => {
  test("is fetched, checked and stored as an artifact", async () => {
    const found = await inspect(`  ${toolUrl()}?v=1  `);
    expect(found).toEqual({
      sourceRef: `${toolUrl()}?v=1`,
      artifactId: expect.any(String),
      sha256: sha256Hex(ARCHIVE),
      sizeBytes: ARCHIVE.byteLength,
      entries: 2,
      expandedBytes: expect.any(Number),
      paths: ["tool", "tool/run"],
      runtimeDownloads: [],
      adapters: {},
    });
    expect(await blobs.verify(parseDigest(found.sha256))).toBe("intact");
    expect(artifactRows()).toEqual([{ id: found.artifactId, sha256: found.sha256 }]);
  });

  test("is audited without its query, which may contain a secret", async () => {
    const { artifactId, sha256, sizeBytes } = await inspect(`${toolUrl()}?signature=secret`);
    const after = JSON.stringify({ source: toolUrl(), sha256, size_bytes: sizeBytes });
    expect(audited()).toEqual([{ action: "artifact.mirror", target: artifactId, after }]);
  });

  test("refuses a public archive that breaks a rule for new archives, unless it is already stored", async () => {
    const bytes = tarGzOf(tarFile("a"), tarFile("A"));
    answers["/tool.tar.gz"] = () => archive(bytes);
    expect(await reasonOf(toolUrl())).toBe("archive.path_collision");
    expect(keptFiles()).toEqual([]);
    const sizes = { sizeBytes: bytes.byteLength, entries: 2, expandedBytes: 2_048, createdAtMs: 0 };
    const row = {
      id: world.ids.uuid(),
      organizationId: world.organizationId,
      sha256: sha256Hex(bytes),
      ...sizes,
    };
    await world.db.write((tx) => addArtifact(tx, row));
    expect((await inspect(toolUrl())).artifactId).toBe(row.id);
  });

  test("is the same artifact when fetched again, and nothing more is audited", async () => {
    answers["/copy.tar.gz"] = () => archive(ARCHIVE);
    const first = await inspect(toolUrl());
    const second = await inspect(`${server.origin()}/copy.tar.gz`);
    expect(second.artifactId).toBe(first.artifactId);
    expect(artifactRows()).toHaveLength(1);
    expect(audited()).toHaveLength(1);
  });

  test("removes the partial file of an inspection that was killed", async () => {
    leavePartialFile(join(world.directory, "artifacts"));
    const { sha256 } = await inspect(toolUrl());
    expect(keptFiles()).toEqual([sha256]);
  });

  test("leaves nothing behind after an archive that clients would refuse", async () => {
    answers["/tool.tar.gz"] = () => archive(tarGzOf(tarFile("../escape")));
    expect(await reasonOf(toolUrl())).toBe("archive.path_component");
    answers["/tool.tar.gz"] = () => new Response("<html>");
    expect(await reasonOf(toolUrl())).toBe("archive.not_gzip");
    expect([keptFiles(), artifactRows(), audited()]).toEqual([[], [], []]);
  });

  test.each([
    ["below", -1, "outbound.failed"], // it is truncated
    ["at", 0, "outbound.failed"],
    ["above", 1, "outbound.too_large"],
  ])(
    "refuses an archive whose announced length is %s the limit as %p only above it",
    async (_name, more, reason) => {
      const length = ARCHIVE_LIMITS.compressedBytesMax + more;
      using raw = await createRawTlsServer(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n0123`);
      sources = sourcesWith({ isOpen: true, hosts: raw.hosts });
      expect(await reasonOf(raw.origin())).toBe(reason);
      expect([keptFiles(), artifactRows()]).toEqual([[], []]);
    },
  );

  test("ends with its caller and leaves nothing behind", async () => {
    const pending = Promise.withResolvers<void>();
    answers["/tool.tar.gz"] = () => {
      pending.resolve();
      return new Promise<Response>(() => {});
    };
    const caller = new AbortController();
    const attempt = sources.inspect(world.system, { source_ref: toolUrl() }, { signal: caller.signal });
    await pending.promise;
    caller.abort();
    expect((await refusalOf(attempt)).reason).toBe("outbound.too_slow");
    expect(keptFiles()).toEqual([]);
  });

  test.each([
    ["below", PATHS_LISTED_MAX - 1, PATHS_LISTED_MAX - 1],
    ["at", PATHS_LISTED_MAX, PATHS_LISTED_MAX],
    ["above", PATHS_LISTED_MAX + 1, PATHS_LISTED_MAX],
  ])(
    "lists the maximum number of paths for an archive with paths %s the limit",
    async (_name, count, listed) => {
      const files = Array.from({ length: count }, (_, index) => tarFile(`file-${index}`));
      answers["/tool.tar.gz"] = () => archive(tarGzOf(...files));
      const { entries, paths } = await inspect(toolUrl());
      expect([entries, paths.length]).toEqual([count, listed]);
    },
  );

  test.each([
    "http://packages.example/tool.tar.gz",
    "file:///etc/passwd",
    "./tool.tar.gz",
    "https://localhost/a",
  ])("is not %s", async (source) => {
    expect(await reasonOf(source)).toBe("outbound.bad_url");
  });
});

test("nothing is fetched while the setting is off, and the error names the setting", async () => {
  sources = sourcesWith({ isOpen: false });
  for (const source of [toolUrl(), "github:owner/repository@main"]) {
    const refusal = await refusalOf(inspect(source));
    expect([refusal.kind, refusal.reason]).toEqual(["forbidden", "package_source.closed"]);
    expect(refusal.hint).toContain("package_sources.public");
  }
  expect(server.seen).toEqual([]);
});

test("limits concurrent inspections, and a refused one does not count", async () => {
  const pending = Array.from({ length: INSPECTIONS_AT_ONCE_MAX }, () => Promise.withResolvers<void>());
  const gate = Promise.withResolvers<void>();
  let arrived = 0;
  answers["/slow.tar.gz"] = async () => {
    pending[arrived++]?.resolve();
    await gate.promise;
    return archive(ARCHIVE);
  };
  const slow = () => inspect(`${server.origin()}/slow.tar.gz`);
  const running = [slow()];
  for (const _ of pending.slice(1)) {
    expect((await refusalOf(inspect("http://plain.example/"))).reason).toBe("outbound.bad_url");
    running.push(slow());
  }
  await Promise.all(pending.map(({ promise }) => promise));
  const refusal = await refusalOf(slow());
  expect([refusal.kind, refusal.reason]).toEqual(["too_many", "package_source.busy"]);
  expect(refusal.retryAfterSeconds).toBeGreaterThan(0);
  gate.resolve();
  expect(await Promise.all(running)).toHaveLength(INSPECTIONS_AT_ONCE_MAX);
  expect((await inspect(toolUrl())).sha256).toBe(sha256Hex(ARCHIVE));
});

describe("a public repository", () => {
  const archivePath = `/owner/tool.js/tar.gz/${COMMIT}`;
  beforeEach(() => {
    answers[archivePath] = () => archive(ARCHIVE);
  });

  test("is resolved to a commit, whose archive is stored", async () => {
    answers["/repos/owner/tool.js/commits/v1.2"] = () => new Response(COMMIT);
    const { sourceRef, sha256 } = await inspect("github:owner/tool.js@v1.2");
    expect(sourceRef).toBe(`${server.origin(ARCHIVES)}${archivePath}`);
    expect(sha256).toBe(sha256Hex(ARCHIVE));
    const { port } = server;
    expect(server.seen).toEqual([
      `GET ${API}:${port} /repos/owner/tool.js/commits/v1.2`,
      `GET ${ARCHIVES}:${port} ${archivePath}`,
    ]);
  });

  test("keeps a ref with slashes as one segment of the path", async () => {
    answers["/repos/owner/tool.js/commits/release%2F1.x"] = () => new Response(COMMIT);
    expect((await inspect("github:owner/tool.js@release/1.x")).sourceRef).toEndWith(archivePath);
  });

  test.each([
    ["nothing", ""],
    ["a short commit", COMMIT.slice(1)],
    ["another path", `../${COMMIT}`],
    ["a document", JSON.stringify({ sha: COMMIT })],
  ])("is refused if the provider responds %s for its commit", async (_name, answer) => {
    answers["/repos/owner/tool.js/commits/main"] = () => new Response(answer);
    expect(await reasonOf("github:owner/tool.js@main")).toBe("package_source.no_commit");
    expect(server.seen).toHaveLength(1);
  });

  test("is refused if the provider does not know it", async () => {
    expect(await reasonOf("github:owner/unknown@main")).toBe("outbound.refused");
  });

  test("is refused if the response for its commit is larger than the limit", async () => {
    const outcomes = [-1, 0, 1].map(async (step) => {
      const path = `/repos/owner/tool.js/commits/main${step}`;
      answers[path] = () => new Response(COMMIT.padEnd(COMMIT_RESPONSE_BYTES_MAX + step));
      return await inspect(`github:owner/tool.js@main${step}`).then(
        () => "stored",
        (error) => error.reason,
      );
    });
    expect(await Promise.all(outcomes)).toEqual(["stored", "stored", "outbound.too_large"]);
  });

  test.each([
    "github:",
    "github:owner",
    "github:owner/tool",
    "github:owner/tool@",
    "github:owner@main",
    "github:/tool@main",
    "github:owner/@main",
    "github:owner/tool/more@main",
    "github:../tool@main",
    "github:owner/..@main",
    "github:./tool@main",
    "github:owner/tool@..",
    "github:owner/tool@.",
    "github:owner/tool@a/../b",
    "github:owner/tool@a//b",
    "github:owner/tool@/a",
    "github:owner/tool@a/",
    "github:owner/tool@a@b",
    "github:owner/tool@a b",
    "github:owner/tool@a?b=c",
    "github:owner/tool@a#b",
    "github:owner/tool@a%2e",
    "github:owner/tool@ä",
    "github:owner/tool@a\nb",
    "github:owner\\tool@a",
  ])("is not %p", async (source) => {
    expect(await reasonOf(source)).toBe("package_source.bad_repository");
    expect(server.seen).toEqual([]);
  });

  test("has names and a ref of limited length", () => {
    const isRead = (text: string) => {
      try {
        return readGithubSource(text) !== undefined;
      } catch {
        return false;
      }
    };
    for (const [length, isAllowed] of [
      [-1, true],
      [0, true],
      [1, false],
    ] as const) {
      const name = "n".repeat(GITHUB_NAME_CHARACTERS_MAX + length);
      const ref = "r".repeat(GITHUB_REF_CHARACTERS_MAX + length);
      const texts = [`github:${name}/tool@main`, `github:owner/${name}@main`, `github:owner/tool@${ref}`];
      expect(texts.map(isRead)).toEqual([isAllowed, isAllowed, isAllowed]);
    }
  });

  test("names that resemble a parent folder are ordinary names", () => {
    expect(readGithubSource("github:o/..a@...")).toEqual({ owner: "o", repository: "..a", ref: "..." });
  });

  test("is requested from the real provider outside of tests", () => {
    expect(GITHUB).toEqual({ api: "https://api.github.com", archives: "https://codeload.github.com" });
  });
});

describe("a repository of a connection", () => {
  const refusedAs = async (request: SourceRequest) => {
    const { kind, reason, problems } = await refusalOf(sources.inspect(world.system, request));
    return [kind, reason, ...problems.map(({ pointer }) => pointer)];
  };

  test("is refused with all problems of the request before the connection is looked up", async () => {
    const invalid = ["invalid", "package_source.invalid"];
    expect(await refusedAs({ connection_id: "x" })).toEqual([...invalid, "/repository", "/ref"]);
    expect(await refusedAs({ connection_id: "x", repository: "a/b", ref: " " })).toEqual([
      ...invalid,
      "/ref",
    ]);
    for (const repository of ["", "a", "../b", "a/..", "a b/c"]) {
      expect(await refusedAs({ connection_id: "x", repository, ref: "main" })).toEqual([
        ...invalid,
        "/repository",
      ]);
    }
  });

  test("has an unknown connection, for any setting and with a public source", async () => {
    const request = { connection_id: "x", repository: "a/b", ref: "main", source_ref: toolUrl() };
    const unknown = ["not_found", "package_source.unknown_connection"];
    expect(await refusedAs(request)).toEqual(unknown);
    sources = sourcesWith({ isOpen: false });
    expect(await refusedAs(request)).toEqual(unknown);
    expect([server.seen, sources.connections(world.organizationId)]).toEqual([[], []]);
  });

  test("requires a repository of a connection or a public source", async () => {
    for (const request of [{}, { source_ref: "  " }, { repository: "a/b", ref: "main" }]) {
      expect(await refusedAs(request)).toEqual(["invalid", "package_source.invalid", "/source_ref"]);
    }
  });
});
