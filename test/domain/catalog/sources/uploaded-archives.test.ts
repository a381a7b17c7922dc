// Uploaded archives: what is stored, what is not, and what later steps know about them.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ARCHIVE_LIMITS } from "../../../../src/domain/catalog/archive/archive.ts";
import { NO_MIRRORING } from "../../../../src/domain/catalog/mirroring/mirroring.ts";
import {
  INSPECTIONS_AT_ONCE_MAX,
  PackageSources,
  UPLOAD_NAME_CHARACTERS_MAX,
} from "../../../../src/domain/catalog/sources/package-sources.ts";
import { DOWNLOADS_LISTED_MAX } from "../../../../src/domain/catalog/sources/runtime-downloads.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import { type Blobs, openBlobs, parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { tarFile, tarFolder, tarGzOf } from "../../../support/content/tar.ts";
import { createWorld, type World } from "../../../support/world.ts";

const ARCHIVE = tarGzOf(tarFolder("skills"), tarFile("skills/guide/SKILL.md", "# Guide\n"));
const PIECE = 64 * 1024;

let world: World;
let blobs: Blobs;
let sources: PackageSources;

const PARTS = { ...NO_MIRRORING, spendInspection: () => {}, harnesses: () => HARNESSES };

beforeEach(async () => {
  world = await createWorld();
  blobs = await openBlobs(join(world.directory, "artifacts"));
  const outbound = {
    list: () => [],
    download: fail,
    fetch: fail,
    connectionSettings: fail,
  };
  sources = new PackageSources({ ...world, ...PARTS, blobs, outbound });
});
afterEach(() => world.dispose());

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
const upload = (bytes: Uint8Array, name = "guide-1.0.0.tar.gz") =>
  sources.upload(world.system, { name, bytes: piecesOf(bytes) });

async function reasonOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(JSON.stringify, (thrown: unknown) => thrown);
  return error instanceof DomainError ? error.reason : String(error);
}
const keptFiles = () =>
  readdirSync(join(world.directory, "artifacts"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
const artifactRows = () => world.db.read.all("SELECT id, sha256 FROM artifacts");
const audited = () => world.db.read.all("SELECT action, target, after FROM audit_entries ORDER BY id");
const NOTHING = [[], [], []];
const left = () => [keptFiles(), artifactRows(), audited()];

describe("an uploaded archive", () => {
  test("is checked, stored and described, and recorded with its name", async () => {
    const found = await upload(ARCHIVE, "C:\\work\\guide-1.0.0.tar.gz");
    const sha256 = sha256Hex(ARCHIVE);
    expect(found).toMatchObject({
      sourceRef: "guide-1.0.0.tar.gz",
      sha256,
      sizeBytes: ARCHIVE.byteLength,
      entries: 2,
      paths: ["skills", "skills/guide/SKILL.md"],
      adapters: { codex: { skills_dir: "skills" } },
    });
    expect(await blobs.verify(parseDigest(sha256))).toBe("intact");
    expect(artifactRows()).toEqual([{ id: found.artifactId, sha256 }]);
    const after = { source: "guide-1.0.0.tar.gz", sha256, size_bytes: ARCHIVE.byteLength };
    expect(audited()).toEqual([
      { action: "artifact.upload", target: found.artifactId, after: JSON.stringify(after) },
    ]);
  });

  test("is the same artifact when it is uploaded again under another name", async () => {
    const first = await upload(ARCHIVE);
    expect((await upload(ARCHIVE, "copy.tgz")).artifactId).toBe(first.artifactId);
    expect([artifactRows().length, audited().length]).toEqual([1, 1]);
  });

  test("leaves nothing behind after an upload that is cut off, whether or not the sender notices it", async () => {
    expect(await reasonOf(upload(ARCHIVE.subarray(0, ARCHIVE.byteLength / 2)))).toBe("archive.truncated");
    expect(left()).toEqual(NOTHING);
    const broken = async function* () {
      yield ARCHIVE.subarray(0, ARCHIVE.byteLength / 2);
      throw new DomainError("invalid", "test.gone", "the sender is gone");
    };
    expect(await reasonOf(sources.upload(world.system, { name: "a.tar.gz", bytes: broken() }))).toBe(
      "test.gone",
    );
    expect(left()).toEqual(NOTHING);
  });

  test("leaves nothing behind after an archive of another kind or with a path that leads out of it", async () => {
    expect(await reasonOf(upload(Buffer.from("PK\u0003\u0004 a zip")))).toBe("archive.not_gzip");
    expect(await reasonOf(upload(tarGzOf(tarFile("../escape"))))).toBe("archive.path_component");
    expect(left()).toEqual(NOTHING);
  });

  test.each([
    ["below", -1, "archive.not_gzip"],
    ["at", 0, "archive.not_gzip"],
    ["above", 1, "artifact.too_large"],
  ])(
    "refuses an upload whose size is %s the limit as too large only above it",
    async (_name, more, reason) => {
      const piece = new Uint8Array(1024 * 1024);
      const bytes = async function* () {
        for (
          let sent = 0;
          sent < ARCHIVE_LIMITS.compressedBytesMax - piece.byteLength;
          sent += piece.byteLength
        )
          yield piece;
        yield new Uint8Array(piece.byteLength + more);
      };
      expect(await reasonOf(sources.upload(world.system, { name: "a.tar.gz", bytes: bytes() }))).toBe(reason);
      expect(left()).toEqual(NOTHING);
    },
  );

  test.each([
    ["below", UPLOAD_NAME_CHARACTERS_MAX - 1, true],
    ["at", UPLOAD_NAME_CHARACTERS_MAX, true],
    ["above", UPLOAD_NAME_CHARACTERS_MAX + 1, false],
  ])("may have a name %s the limit", async (_name, length, isTaken) => {
    const name = "a".repeat(length);
    expect(await reasonOf(upload(ARCHIVE, name)).then((text) => text.includes(name))).toBe(isTaken);
    if (!isTaken) expect(left()).toEqual(NOTHING);
  });

  test.each(["", "  ", "folder/", "two\nlines", "C:"])("needs a name, and not %p", async (name) => {
    expect(await reasonOf(upload(ARCHIVE, name))).toBe("package_source.bad_name");
  });

  test("refuses more simultaneous uploads than the limit without waiting", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = async function* () {
      await gate.promise;
      yield ARCHIVE;
    };
    const running = Array.from({ length: INSPECTIONS_AT_ONCE_MAX }, () =>
      sources.upload(world.system, { name: "slow.tar.gz", bytes: slow() }),
    );
    expect(await reasonOf(upload(ARCHIVE))).toBe("package_source.busy");
    gate.resolve();
    expect(await Promise.all(running)).toHaveLength(INSPECTIONS_AT_ONCE_MAX);
    expect((await upload(ARCHIVE)).entries).toBe(2);
  });

  test.each([
    ["below", DOWNLOADS_LISTED_MAX - 1, DOWNLOADS_LISTED_MAX - 1],
    ["at", DOWNLOADS_LISTED_MAX, DOWNLOADS_LISTED_MAX],
    ["above", DOWNLOADS_LISTED_MAX + 1, DOWNLOADS_LISTED_MAX],
  ])("lists what it seems to download: with findings %s the limit", async (_name, count, listed) => {
    const files = Array.from({ length: count }, (_, at) => tarFile(`run-${at}.sh`, "npx tool\n"));
    const { runtimeDownloads } = await upload(tarGzOf(...files));
    expect(runtimeDownloads).toHaveLength(listed);
    expect(runtimeDownloads[0]).toEqual({ path: "run-0.sh", what: "runs a package from a registry" });
  });
});

describe("later steps", () => {
  const managed = (adapters: object) => ({
    id: "guide",
    version: "1",
    source_ref: "a",
    sha256: sha256Hex(ARCHIVE),
    settings: {},
    adapters: JSON.parse(JSON.stringify(adapters)),
  });

  test("see the same facts, also after a restart", async () => {
    const { sourceRef: _, ...kept } = await upload(ARCHIVE);
    const { archives } = new PackageSources({
      ...world,
      ...PARTS,
      blobs,
      outbound: { list: () => [], download: fail, fetch: fail, connectionSettings: fail },
    });
    for (const place of [sources.archives, archives])
      expect(await place.show(world.organizationId, kept.sha256)).toEqual(kept);
    expect(await reasonOf(archives.show(world.organizationId, "00".repeat(32)))).toBe("artifact.not_found");
    expect(await reasonOf(archives.show(world.ids.uuid(), kept.sha256))).toBe("artifact.not_found");
  });

  test("reports which paths of a layout the archive lacks", async () => {
    await upload(ARCHIVE);
    const missing = (adapters: object) =>
      sources.archives.missingPaths(world.organizationId, managed(adapters));
    const layout = { plugins: [], helpers: {} };
    expect(await missing({ codex: { ...layout, skills_dir: "skills" } })).toEqual([]);
    expect(await missing({ kimi: { ...layout, agents_dir: "agents", plugins: ["a.ts"] } })).toMatchObject([
      { pointer: "/adapters/kimi/agents_dir" },
      { pointer: "/adapters/kimi/plugins/0" },
    ]);
  });

  test("report that the bytes are missing", async () => {
    const { sha256 } = await upload(ARCHIVE);
    await rm(blobs.path(parseDigest(sha256)));
    const attempt = sources.archives.missingPaths(world.organizationId, managed({}));
    expect(await reasonOf(attempt)).toBe("artifact.bytes_missing");
  });
});

const fail = () => {
  throw new Error("nothing is fetched");
};
