// Seeding with a real database and real archives on disk: the plan, all or nothing, the artifacts, and what is kept.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCatalogFile } from "../../../../src/app/files/catalog-file.ts";
import { PACKAGES_MAX } from "../../../../src/domain/catalog/model.ts";
import {
  type Catalog,
  createCatalog,
  isUnchanged,
  type ReportProgress,
  type Seeded,
} from "../../../../src/domain/catalog/service.ts";
import { type Blobs, openBlobs, parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { tarFile, tarFolder, tarGzOf } from "../../../support/content/tar.ts";
import { createWorld, type World } from "../../../support/world.ts";

const UNUSED = { inUse: () => new Map<string, number>(), allowDangling: false };
const REMOTE = "https://example.com/tool.tar.gz";
const DIGEST = "a".repeat(64);

interface Entry {
  id: string;
  version?: string;
  source_ref?: string;
  sha256?: string;
  [member: string]: unknown;
}

let world: World;
let blobs: Blobs;
let catalog: Catalog;

beforeEach(async () => {
  world = await createWorld();
  blobs = await openBlobs(join(world.directory, "artifacts"));
  catalog = createCatalog({ ...world, blobs });
});
afterEach(() => world.dispose());

const entry = (given: Entry): Entry => ({ version: "1", source_ref: REMOTE, sha256: DIGEST, ...given });

async function requestFor(entries: readonly Entry[], prune = false) {
  const path = join(world.directory, "catalog.json");
  writeFileSync(path, JSON.stringify(entries.map(entry)));
  return { ...(await readCatalogFile(path)), prune };
}

const seed = async (entries: readonly Entry[], options: { prune?: boolean } = {}): Promise<Seeded> =>
  catalog.seed.apply(world.system, await requestFor(entries, options.prune));

async function refusal(entries: readonly Entry[]): Promise<DomainError> {
  try {
    await seed(entries);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("the file was accepted");
}

/** Writes an archive next to the catalog file. @returns its digest */
function archive(name: string, ...files: Uint8Array[]): string {
  const bytes = tarGzOf(...files);
  writeFileSync(join(world.directory, name), bytes);
  return sha256Hex(bytes);
}

const ids = () => catalog.list(world.organizationId).map(({ id }) => id);
const skills = { adapters: { kimi: { skills_dir: "skills" } } };
const storedFiles = () =>
  readdirSync(join(world.directory, "artifacts"), { recursive: true, withFileTypes: true }).filter((found) =>
    found.isFile(),
  );
const auditActions = () =>
  world.db.read.all<{ action: string }>("SELECT action FROM audit_entries ORDER BY id");

describe("a seeded catalog", () => {
  test("has the packages in the order of the file, followed by its other packages", async () => {
    await seed([{ id: "b" }, { id: "a" }]);
    expect(ids()).toEqual(["b", "a"]);
    const plan = await seed([{ id: "c" }, { id: "a" }]);
    expect(ids()).toEqual(["c", "a", "b"]);
    expect(plan).toMatchObject({ added: [{ id: "c" }], changed: [], removed: [], unchanged: 2 });
  });

  test("reports and records additions, changes and removals by digest", async () => {
    await seed([{ id: "kept" }, { id: "old" }, { id: "gone" }]);
    const other = "b".repeat(64);
    const plan = await seed([{ id: "kept" }, { id: "old", version: "2", sha256: other }, { id: "new" }], {
      prune: true,
    });
    expect(plan).toEqual({
      added: [{ id: "new", version: "1", sha256: DIGEST }],
      changed: [
        { from: { id: "old", version: "1", sha256: DIGEST }, to: { id: "old", version: "2", sha256: other } },
      ],
      removed: [{ id: "gone", version: "1", sha256: DIGEST }],
      unchanged: 1,
      moved: 0,
      warnings: [],
    });
    expect(ids()).toEqual(["kept", "old", "new"]);
    expect(auditActions()).toEqual([{ action: "catalog.seed" }, { action: "catalog.seed" }]);
  });

  test("does not change with the same file again: no audit entry, no new revision", async () => {
    await seed([{ id: "a" }, { id: "b" }]);
    const revision = catalog.revision();
    expect(isUnchanged(await seed([{ id: "a" }, { id: "b" }]))).toBe(true);
    expect(catalog.revision()).toBe(revision);
    expect(auditActions()).toHaveLength(1);
  });

  test("reports entries that only move", async () => {
    await seed([{ id: "a" }, { id: "b" }]);
    expect(await seed([{ id: "b" }, { id: "a" }])).toMatchObject({ moved: 2, unchanged: 2 });
    expect(ids()).toEqual(["b", "a"]);
  });

  test("is listed as the bytes of its entries in the shape of the response", async () => {
    expect(Buffer.from(runSynchronously(catalog.listing(world.organizationId))).toString()).toBe("[]");
    await seed([{ id: "a", sha256: "A".repeat(64) }]);
    expect(
      JSON.parse(Buffer.from(runSynchronously(catalog.listing(world.organizationId))).toString()),
    ).toEqual([{ id: "a", version: "1", source_ref: REMOTE, sha256: DIGEST, settings: {}, adapters: {} }]);
  });

  test("keeps a package that the current policy names, unless dangling is allowed", async () => {
    await seed([{ id: "a" }, { id: "b" }]);
    const check = { inUse: () => new Map([["a", 7]]), allowDangling: false };
    const refused = { reason: "catalog.dangling", message: expect.stringContaining("revision 7") };
    await expect(catalog.remove(world.system, "a", check)).rejects.toMatchObject(refused);
    const pruning = { ...(await requestFor([{ id: "b" }], true)), ...check };
    await expect(catalog.seed.apply(world.system, pruning)).rejects.toMatchObject(refused);
    await expect(catalog.seed.plan(world.system, pruning)).rejects.toMatchObject(refused);
    expect(ids()).toEqual(["a", "b"]);
    await catalog.remove(world.system, "a", { ...check, allowDangling: true });
    expect(ids()).toEqual(["b"]);
  });

  test.each(["file://packages/x.tar.gz", "file:///srv/%zz.tar.gz", "file:///srv/%2f.tar.gz"])(
    "names the entry whose file URL %p is invalid",
    async (source_ref) => {
      const { problems, reason } = await refusal([{ id: "a" }, { id: "b", source_ref }]);
      expect(reason).toBe("catalog.invalid");
      const [{ pointer = "", detail = "" } = {}, ...others] = problems;
      expect([pointer, others]).toEqual(["/1/source_ref", []]);
      expect(detail).toMatch(/^(?:is not a file:\/\/ URL of this machine|there is no file)/);
    },
  );

  test("a dry run plans the changes of a real run and changes nothing", async () => {
    await seed([{ id: "a" }]);
    const plan = await catalog.seed.plan(world.system, await requestFor([{ id: "b" }], true));
    expect(plan).toMatchObject({ added: [{ id: "b" }], removed: [{ id: "a" }] });
    expect(ids()).toEqual(["a"]);
  });

  test.each([
    [PACKAGES_MAX - 1, true],
    [PACKAGES_MAX, true],
    [PACKAGES_MAX + 1, false],
  ])("may have %p packages: %p", async (count, isAllowed) => {
    const half = Math.floor(count / 2);
    const named = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => ({ id: `p-${from + at}` }));
    await seed(named(0, half));
    if (isAllowed) expect((await seed(named(half, count))).added).toHaveLength(count - half);
    else
      expect(await refusal(named(half, count))).toMatchObject({
        kind: "invalid",
        reason: "catalog.too_many",
      });
  });

  test("loses one package by remove, only once", async () => {
    await seed([{ id: "a" }, { id: "b" }]);
    await catalog.remove(world.system, "a", UNUSED);
    expect(ids()).toEqual(["b"]);
    expect(catalog.remove(world.system, "a", UNUSED)).rejects.toMatchObject({ reason: "catalog.not_found" });
    expect(() => catalog.get(world.organizationId, "a")).toThrow("the catalog has no package a");
    expect(auditActions()).toEqual([{ action: "catalog.seed" }, { action: "catalog.remove" }]);
  });
});

describe("a local archive", () => {
  test("is stored by digest and named by the entry as an artifact", async () => {
    const sha256 = archive("tool.tar.gz", tarFolder("skills/"), tarFile("skills/SKILL.md", "# Skill"));
    await seed([{ id: "tool", source_ref: "tool.tar.gz", sha256, ...skills }]);
    const [listed] = catalog.list(world.organizationId);
    expect(listed).toMatchObject({
      source_ref: "tool.tar.gz",
      sha256,
      artifact_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(await blobs.verify(parseDigest(sha256))).toBe("intact");
    expect(await Array.fromAsync(catalog.verify(world.organizationId))).toMatchObject([
      { sha256, result: "intact" },
    ]);
  });

  test("may be named by a file: URL, and belong to one platform of a package", async () => {
    const helper = {
      helpers: { tool: { paths: { "linux-x86_64": "bin/tool", "macos-aarch64": "bin/tool-mac" } } },
    };
    const sha256 = archive("linux.tar.gz", tarFile("bin/tool", "x"));
    const source = { source_ref: `file://${join(world.directory, "linux.tar.gz")}`, sha256 };
    await seed([{ id: "tool", platform_sources: { "linux-x86_64": source }, adapters: { kimi: helper } }]);
    const [listed] = catalog.list(world.organizationId);
    expect(listed?.artifact_id).toBeUndefined();
    expect(listed?.platform_sources?.["linux-x86_64"]?.artifact_id).toBeString();
  });

  test("keeps its artifact when seeded again, even without the file", async () => {
    const sha256 = archive("tool.tar.gz", tarFile("skills/SKILL.md"));
    const wanted = { id: "tool", source_ref: "tool.tar.gz", sha256, ...skills };
    await seed([wanted]);
    expect(isUnchanged(await seed([wanted]))).toBe(true);
    rmSync(join(world.directory, "tool.tar.gz"));
    const [exported] = catalog.list(world.organizationId);
    expect(exported).toBeDefined();
    expect(isUnchanged(await seed([{ ...exported, id: "tool" }]))).toBe(true);
  });

  test("refuses an archive with another digest and reports both digests, and stores nothing", async () => {
    const sha256 = archive("tool.tar.gz", tarFile("a", "bytes"));
    const error = await refusal([{ id: "ok" }, { id: "tool", source_ref: "tool.tar.gz" }]);
    expect(error).toMatchObject({ kind: "unverified", reason: "catalog.unverified" });
    expect(error.problems).toMatchObject([{ pointer: "/1/sha256", line: 1 }]);
    expect(error.problems[0]?.detail).toContain(sha256);
    expect(error.problems[0]?.detail).toContain(DIGEST);
    expect(ids()).toEqual([]);
    expect(storedFiles()).toEqual([]);
  });

  test("refuses the whole file for a hostile archive and names every invalid archive", async () => {
    const bad = archive("bad.tar.gz", tarFile("../outside", "x"));
    const good = archive("good.tar.gz", tarFile("fine", "x"));
    const error = await refusal([
      { id: "good", source_ref: "good.tar.gz", sha256: good },
      { id: "bad", source_ref: "bad.tar.gz", sha256: bad },
      { id: "none", source_ref: "none.tar.gz" },
    ]);
    expect(error.problems.map(({ pointer }) => pointer)).toEqual(["/1/source_ref", "/2/source_ref"]);
    expect(error.problems[0]?.detail).toContain("../outside");
    expect(error.problems[1]?.detail).toContain("there is no file");
    expect(storedFiles()).toEqual([]);
  });

  test("must contain the paths of the adapters", async () => {
    const sha256 = archive("tool.tar.gz", tarFile("other/SKILL.md"));
    const error = await refusal([{ id: "tool", source_ref: "tool.tar.gz", sha256, ...skills }]);
    expect(error.problems).toMatchObject([{ pointer: "/0/adapters/kimi/skills_dir" }]);
  });

  test("must be a .tar.gz and a file", async () => {
    mkdirSync(join(world.directory, "folder.tar.gz"));
    const error = await refusal([
      { id: "zip", source_ref: "tool.zip" },
      { id: "folder", source_ref: "folder.tar.gz" },
    ]);
    expect(error.kind).toBe("invalid");
    expect(error.problems.map(({ detail }) => detail)).toEqual([
      "a local source must be a .tar.gz archive",
      expect.stringContaining("is not a regular file"),
    ]);
  });

  test("finds archives that were lost or damaged later", async () => {
    const one = archive("one.tar.gz", tarFile("one"));
    const two = archive("two.tar.gz", tarFile("two"));
    await seed([
      { id: "one", source_ref: "one.tar.gz", sha256: one },
      { id: "two", source_ref: "two.tar.gz", sha256: two },
    ]);
    rmSync(blobs.path(parseDigest(one)));
    writeFileSync(blobs.path(parseDigest(two)), "other bytes");
    const checks = await Array.fromAsync(catalog.verify(world.organizationId));
    expect(new Map(checks.map(({ sha256, result }) => [sha256, result]))).toEqual(
      new Map([
        [one, "missing"],
        [two, "damaged"],
      ]),
    );
  });
});

describe("long work", () => {
  test("is reported piece by piece: each new archive is read once for its digest and once to unpack it", async () => {
    const sha256 = archive("one.tar.gz", tarFile("a", "x".repeat(100_000)));
    const sizeBytes = statSync(join(world.directory, "one.tar.gz")).size;
    const request = await requestFor([{ id: "one", source_ref: "one.tar.gz", sha256 }]);
    let readBytes = 0;
    const onProgress: ReportProgress = ({ bytes }) => {
      readBytes += bytes;
    };
    await catalog.seed.apply(world.system, { ...request, onProgress });
    expect(readBytes).toBe(2 * sizeBytes);
    expect(catalog.artifactTotals(world.organizationId)).toEqual({ count: 1, sizeBytes });
  });

  test("has nothing to verify if nothing was stored", () => {
    expect(catalog.artifactTotals(world.organizationId)).toEqual({ count: 0, sizeBytes: 0 });
  });

  test("stops in the middle of an archive on request", async () => {
    const sha256 = archive("one.tar.gz", tarFile("a"));
    const request = await requestFor([{ id: "one", source_ref: "one.tar.gz", sha256 }]);
    const controller = new AbortController();
    const reason = new Error("stop");
    const onProgress: ReportProgress = () => controller.abort(reason);
    const seeding = catalog.seed.apply(world.system, { ...request, onProgress, signal: controller.signal });
    await expect(seeding).rejects.toBe(reason);
    expect(catalog.list(world.organizationId)).toEqual([]);
    expect(await blobs.has(parseDigest(sha256))).toBe(false);
  });
});

describe("an artifact_id", () => {
  const unknown = "0190a6a0-0000-7000-8000-000000000000";

  test("requires that the artifact_id of a remote source names stored bytes", async () => {
    const error = await refusal([{ id: "tool", artifact_id: unknown }]);
    expect(error.problems).toMatchObject([{ pointer: "/0/artifact_id" }]);
  });

  test("replaces the artifact_id of a local archive with the artifact that it becomes here", async () => {
    const sha256 = archive("tool.tar.gz", tarFile("a"));
    await seed([{ id: "tool", source_ref: "tool.tar.gz", sha256, artifact_id: unknown }]);
    expect(catalog.list(world.organizationId)[0]?.artifact_id).not.toBe(unknown);
  });
});
