// Bundles between two real installations with database and archives: what a bundle contains, what is refused before anything is
// written, and what is audited (AIR-4 and AIR-5).
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBundleFile, readCatalogFile } from "../../../../src/app/files/catalog-file.ts";
import { readBundle } from "../../../../src/domain/catalog/bundles/bundle-read.ts";
import {
  type Catalog,
  createCatalog,
  type ImportRequest,
  isUnchanged,
} from "../../../../src/domain/catalog/service.ts";
import {
  DOWNLOAD_SCAN_BYTES_MAX,
  DOWNLOADS_LISTED_MAX,
  findRuntimeDownloads,
} from "../../../../src/domain/catalog/sources/runtime-downloads.ts";
import { type Blobs, openBlobs, parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { fileSigner, readTrustedKeys } from "../../../../src/platform/crypto/file-signatures.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { replaceFile } from "../../../../src/platform/files/operator-files.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { leavePartialFile } from "../../../support/content/partial-files.ts";
import { tarEntry, tarFile, tarFolder, tarGzOf } from "../../../support/content/tar.ts";
import { createWorld, type World } from "../../../support/world.ts";

const pem = (): Secret =>
  new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString());
const signer = fileSigner(pem(), "test key");
const stranger = fileSigner(pem(), "other key");
const trusted = { name: "trusted.pub", keys: readTrustedKeys(signer.publicKey, "trusted.pub") };

interface Side {
  world: World;
  blobs: Blobs;
  catalog: Catalog;
}

let home: Side;
let away: Side;

async function openSide(): Promise<Side> {
  const world = await createWorld();
  const blobs = await openBlobs(join(world.directory, "artifacts"));
  return { world, blobs, catalog: createCatalog({ ...world, blobs }) };
}

beforeEach(async () => {
  [home, away] = [await openSide(), await openSide()];
});
afterEach(async () => {
  await home.world.dispose();
  await away.world.dispose();
});

const skills = { adapters: { kimi: { skills_dir: "skills" } } };
const SKILL = tarGzOf(tarFolder("skills"), tarFile("skills/a.md", "# A"));

interface Entry {
  id: string;
  version?: string;
  [member: string]: unknown;
}

/** Seeds packages on one side; bytes are written to an archive next to the file. */
async function seed(
  { world, catalog }: Side,
  entries: readonly (Entry & { bytes?: Uint8Array })[],
): Promise<void> {
  const list = entries.map(({ bytes, ...entry }) => {
    const source_ref = `${entry.id}.tar.gz`;
    if (bytes) writeFileSync(join(world.directory, source_ref), bytes);
    return { version: "1", source_ref, sha256: bytes ? sha256Hex(bytes) : "", ...entry };
  });
  const path = join(world.directory, "catalog.json");
  writeFileSync(path, JSON.stringify(list));
  await catalog.seed.apply(world.system, { ...(await readCatalogFile(path)), prune: true });
}

/** @returns the bundle of the home side's catalog */
async function exported(options: { leaveOutRemote?: boolean } = {}): Promise<Uint8Array> {
  const path = join(home.world.directory, "out.qmc");
  const { bytes } = home.catalog.bundles.export(home.world.organizationId, {
    signer,
    leaveOutRemote: options.leaveOutRemote === true,
  });
  await replaceFile(path, bytes);
  return readFileSync(path);
}

async function requestFor(bytes: Uint8Array, changes: Partial<ImportRequest> = {}): Promise<ImportRequest> {
  const path = join(away.world.directory, "in.qmc");
  writeFileSync(path, bytes);
  const file = await openBundleFile(path, "in.qmc");
  return { file, trusted, keep: false, inUse: () => new Map(), allowDangling: false, ...changes };
}

const importing = async (bytes: Uint8Array, changes?: Partial<ImportRequest>) =>
  away.catalog.bundles.import(away.world.system, await requestFor(bytes, changes));

async function refusal(work: Promise<unknown>): Promise<DomainError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

/** @returns the reason, after checking that nothing was written */
async function refused(bytes: Uint8Array, changes?: Partial<ImportRequest>): Promise<string> {
  const before = [storedFiles(away), ids(away), actions(away)];
  const { reason, kind } = await refusal(importing(bytes, changes));
  expect([storedFiles(away), ids(away), actions(away)]).toEqual(before);
  return `${reason} ${kind}`;
}

const ids = ({ catalog, world }: Side) => catalog.list(world.organizationId).map(({ id }) => id);
const storedFiles = ({ world }: Side) =>
  readdirSync(join(world.directory, "artifacts"), { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map(({ name }) => name);
const actions = ({ world }: Side) =>
  world.db.read
    .all<{ action: string }>("SELECT action FROM audit_entries ORDER BY id")
    .map(({ action }) => action);

const entryFor = (id: string, bytes: Uint8Array, more: object = {}) => ({
  id,
  version: "1",
  source_ref: `${id}.tar.gz`,
  sha256: sha256Hex(bytes),
  ...more,
});

interface Forgery {
  packages?: readonly unknown[];
  /** the bytes of the archives, with the right names and digests unless `members` overrides them */
  archives?: readonly Uint8Array[];
  manifest?: object;
  signer?: typeof signer;
  /** replaces the archives' members */
  members?: readonly Uint8Array[];
  end?: Uint8Array;
}

const END = new Uint8Array(1_024);
const memberOf = (bytes: Uint8Array) => tarEntry({ name: `archives/${sha256Hex(bytes)}.tar.gz` }, bytes);

/** @returns a bundle with any content, signed by a trusted key */
function forged({ packages = [], archives = [], manifest = {}, ...rest }: Forgery): Uint8Array {
  const { members = archives.map(memberOf), end = END, signer: by = signer } = rest;
  const text = Buffer.from(
    JSON.stringify({
      format: "quartermaster-catalog-bundle",
      format_version: 1,
      exported_at: "2026-01-01T00:00:00Z",
      signer: signer.keyId,
      archives: archives.map((bytes) => ({ sha256: sha256Hex(bytes), size_bytes: bytes.length })),
      package_catalog: { packages },
      ...manifest,
    }),
  );
  const front = [
    tarEntry({ name: "manifest.json" }, text),
    tarEntry({ name: "manifest.json.sig" }, by.sign(text)),
  ];
  return Buffer.concat([...front, ...members, end]);
}

describe("AIR-4: a catalog in a bundle", () => {
  test("arrives completely: the same packages, their archives stored under ids of this side", async () => {
    const other = tarGzOf(tarFolder("bin"), tarFile("bin/tool", "x"));
    await seed(home, [
      { id: "skill", bytes: SKILL, ...skills },
      {
        id: "tool",
        bytes: other,
        platform_sources: {
          "linux-x86_64": { source_ref: "tool.tar.gz", sha256: sha256Hex(other) },
          "linux-aarch64": { source_ref: "skill.tar.gz", sha256: sha256Hex(SKILL) },
        },
      },
    ]);
    const plan = await importing(await exported());
    expect(plan).toMatchObject({ added: [{ id: "skill" }, { id: "tool" }], signer: signer.keyId });
    expect(plan.archives).toEqual({ count: 2, new: 2, sizeBytes: SKILL.length + other.length });
    const listed = away.catalog.list(away.world.organizationId);
    const ownId = away.catalog.findArtifact(away.world.organizationId, sha256Hex(SKILL))?.id;
    expect(listed[0]?.artifact_id).toBe(ownId ?? "");
    expect(listed[1]?.platform_sources?.["linux-aarch64"]?.artifact_id).toBe(ownId ?? "");
    expect(ownId).not.toBe(home.catalog.findArtifact(home.world.organizationId, sha256Hex(SKILL))?.id ?? "");
    expect(await away.blobs.verify(parseDigest(sha256Hex(SKILL)))).toBe("intact");
    expect(actions(away)).toEqual(["catalog.import"]);
  });

  test("changes nothing the second time: no audit entry, no new revision", async () => {
    await seed(home, [{ id: "skill", bytes: SKILL, ...skills }]);
    const bundle = await exported();
    await importing(bundle);
    const revision = away.catalog.revision();
    expect(isUnchanged(await importing(bundle))).toBe(true);
    expect(away.catalog.revision()).toBe(revision);
    expect(actions(away)).toEqual(["catalog.import"]);
  });

  test("removes the partial file of an import that was killed", async () => {
    await seed(home, [{ id: "skill", bytes: SKILL, ...skills }]);
    leavePartialFile(join(away.world.directory, "artifacts"));
    await importing(await exported());
    expect(storedFiles(away)).toEqual([sha256Hex(SKILL)]);
  });

  test("restores a lost archive even if nothing else changes", async () => {
    await seed(home, [{ id: "skill", bytes: SKILL, ...skills }]);
    const bundle = await exported();
    await importing(bundle);
    rmSync(away.blobs.path(parseDigest(sha256Hex(SKILL))));
    expect(isUnchanged(await importing(bundle))).toBe(true);
    expect(await away.blobs.verify(parseDigest(sha256Hex(SKILL)))).toBe("intact");
  });

  test("shows additions, changes and removals by digest first, and the plan changes nothing", async () => {
    const newer = tarGzOf(tarFolder("skills"), tarFile("skills/b.md", "# B"));
    await seed(away, [
      { id: "old", bytes: SKILL },
      { id: "skill", bytes: SKILL },
    ]);
    await seed(home, [
      { id: "new", bytes: SKILL },
      { id: "skill", version: "2", bytes: newer },
    ]);
    const before = [storedFiles(away), ids(away), actions(away)];
    const plan = await away.catalog.bundles.plan(away.world.system, await requestFor(await exported()));
    expect(plan).toMatchObject({
      added: [{ id: "new", sha256: sha256Hex(SKILL) }],
      changed: [{ from: { sha256: sha256Hex(SKILL) }, to: { id: "skill", sha256: sha256Hex(newer) } }],
      removed: [{ id: "old", sha256: sha256Hex(SKILL) }],
      archives: { count: 2, new: 1 },
    });
    expect([storedFiles(away), ids(away), actions(away)]).toEqual(before);
  });

  test("is reported with the key that signed it, not with the key that it names", async () => {
    const plan = await importing(forged({ manifest: { signer: stranger.keyId } }));
    expect(plan.signer).toBe(signer.keyId);
  });

  test("keeps the other packages of the catalog on request", async () => {
    await seed(away, [{ id: "local", bytes: SKILL }]);
    await seed(home, [{ id: "skill", bytes: SKILL }]);
    await importing(await exported(), { keep: true });
    expect(ids(away)).toEqual(["skill", "local"]);
  });

  test("removes no package that the current policy names, unless that is allowed", async () => {
    await seed(away, [{ id: "used", bytes: SKILL }]);
    const inUse = () => new Map([["used", 43]]);
    const bundle = forged({});
    const plan = await away.catalog.bundles.plan(away.world.system, await requestFor(bundle, { inUse }));
    expect(plan.blocked).toEqual([{ id: "used", version: "1", sha256: sha256Hex(SKILL), revision: 43 }]);
    expect(await refused(bundle, { inUse })).toBe("catalog.dangling conflict");
    await importing(bundle, { inUse, allowDangling: true });
    expect(ids(away)).toEqual([]);
  });
});

describe("an export", () => {
  const remote = { id: "far", source_ref: "https://example.com/far.tar.gz", sha256: "a".repeat(64) };

  test("refuses packages whose archives are not stored here, and names every source", async () => {
    await seed(home, [remote, { id: "skill", bytes: SKILL }]);
    const { reason, problems } = await refusal(exported());
    expect(reason).toBe("bundle.not_held");
    expect(problems).toEqual([{ pointer: "/0", detail: `far: sha256:${"a".repeat(64)} is not stored here` }]);
  });

  test("leaves them out on request", async () => {
    await seed(home, [remote, { id: "skill", bytes: SKILL }]);
    await importing(await exported({ leaveOutRemote: true }));
    expect(ids(away)).toEqual(["skill"]);
  });

  test("does not contain an archive that was damaged here", async () => {
    await seed(home, [{ id: "skill", bytes: SKILL }]);
    const path = home.blobs.path(parseDigest(sha256Hex(SKILL)));
    writeFileSync(path, Buffer.alloc(SKILL.length));
    expect((await refusal(exported())).reason).toBe("bundle.archive_damaged");
    rmSync(path);
    expect((await refusal(exported())).reason).toBe("bundle.archive_damaged");
  });

  test("gives the same bytes for the same catalog at the same time", async () => {
    await seed(home, [{ id: "skill", bytes: SKILL }]);
    expect(sha256Hex(await exported())).toBe(sha256Hex(await exported()));
  });
});

describe("before anything is written, an import refuses", () => {
  const one = () => ({ packages: [entryFor("skill", SKILL)], archives: [SKILL] });

  test("a bundle of an untrusted signer", async () => {
    const bundle = forged({ ...one(), signer: stranger, manifest: { signer: stranger.keyId } });
    expect(await refused(bundle)).toBe("bundle.untrusted unverified");
  });

  test("a bundle of an untrusted signer without reading a costly manifest, which could name the signer", async () => {
    for (const objects of [1, 40_000]) {
      const manifest = { signer: stranger.keyId, x: Array(objects).fill({ 999: 1 }) };
      const { message } = await refusal(importing(forged({ signer: stranger, manifest })));
      expect(message.includes(stranger.keyId)).toBe(objects === 1);
    }
  });

  test("one that only claims to be from a trusted signer", async () => {
    expect(await refused(forged({ ...one(), signer: stranger }))).toBe("bundle.tampered unverified");
  });

  test("the same with several trusted keys", async () => {
    const keys = [
      readTrustedKeys(fileSigner(pem(), "third key").publicKey, "third.pub"),
      trusted.keys,
    ].flat();
    const changes = { trusted: { name: "several.pub", keys } };
    expect(await refused(forged({ ...one(), signer: stranger }), changes)).toBe("bundle.tampered unverified");
    const bundle = forged({ ...one(), signer: stranger, manifest: { signer: stranger.keyId } });
    expect(await refused(bundle, changes)).toBe("bundle.untrusted unverified");
    expect((await importing(forged(one()), changes)).signer).toBe(signer.keyId);
  });

  test("one with a change in a byte that no signature covers", async () => {
    const bundle = Buffer.from(forged(one()));
    bundle[bundle.length - END.length - 1] = 1; // in the padding of the last archive
    expect(await refused(bundle)).toBe("bundle.tampered unverified");
  });

  test("one that ends anywhere before its end", async () => {
    const bundle = forged(one());
    for (let length = 0; length < bundle.length; length += 511)
      expect(await refused(bundle.subarray(0, length))).toMatch(/^bundle\.(truncated|not_tar) unverified$/);
    expect(await refused(bundle.subarray(0, -1))).toBe("bundle.truncated unverified");
  });

  test("members that lead elsewhere, are not listed, or come after the end", async () => {
    const outside = tarEntry({ name: "../../etc/cron.d/job" }, SKILL);
    const link = tarEntry({
      name: `archives/${sha256Hex(SKILL)}.tar.gz`,
      type: "2",
      linkName: "/etc/passwd",
    });
    const bundles = [
      forged({ ...one(), members: [outside] }),
      forged({ ...one(), members: [link] }),
      forged({ ...one(), members: [memberOf(SKILL), outside] }),
      forged({ ...one(), end: Buffer.concat([END, Buffer.from("x")]) }),
    ];
    for (const bundle of bundles) expect(await refused(bundle)).toBe("bundle.unexpected unverified");
  });

  test("archives whose bytes or length differ from the signed ones", async () => {
    const name = `archives/${sha256Hex(SKILL)}.tar.gz`;
    const same = tarEntry({ name }, Buffer.alloc(SKILL.length));
    expect(await refused(forged({ ...one(), members: [same] }))).toBe("bundle.tampered unverified");
    const longer = tarEntry({ name }, Buffer.concat([SKILL, Buffer.from("x")]));
    expect(await refused(forged({ ...one(), members: [longer] }))).toBe("bundle.wrong_size unverified");
  });

  test("missing digests and archives without a package, all together", async () => {
    const bundle = forged({ packages: [entryFor("lost", Buffer.from("nowhere"))], archives: [SKILL] });
    const { reason, message, problems } = await refusal(importing(bundle));
    expect(reason).toBe("catalog.unverified");
    expect(message).toBe("in.qmc has 2 problems; nothing was changed");
    const { message: ofOne } = await refusal(importing(forged({ archives: [SKILL] })));
    expect(ofOne).toBe("in.qmc has one problem; nothing was changed");
    expect(problems.map(({ pointer }) => pointer)).toEqual([
      "/package_catalog/packages/0/sha256",
      "/archives/0",
    ]);
  });

  test("an archive that the bundle omits and whose stored file was lost", async () => {
    await seed(home, [{ id: "skill", bytes: SKILL, ...skills }]);
    await importing(await exported());
    rmSync(away.blobs.path(parseDigest(sha256Hex(SKILL))));
    const { problems } = await refusal(importing(forged({ packages: [entryFor("skill", SKILL)] })));
    expect(problems.map(({ pointer }) => pointer)).toEqual(["/package_catalog/packages/0/sha256"]);
  });

  test("archives that clients would refuse, or that lack paths of an adapter", async () => {
    const link = tarGzOf(tarEntry({ name: "a", type: "2", linkName: "/etc/passwd" }));
    const outside = tarGzOf(tarFile("../a", "x"));
    const bundle = forged({
      packages: [
        entryFor("link", link),
        entryFor("escape", outside),
        entryFor("bare", SKILL, { adapters: { kimi: { skills_dir: "s" } } }),
      ],
      archives: [link, outside, SKILL],
    });
    const { problems } = await refusal(importing(bundle));
    expect(problems.map(({ pointer }) => pointer)).toEqual([
      "",
      "",
      "/package_catalog/packages/2/adapters/kimi/skills_dir",
    ]);
    expect(problems[0]?.detail).toContain(`archives/${sha256Hex(link)}.tar.gz: "a" is a symbolic link`);
    expect(await refused(bundle)).toBe("catalog.unverified unverified");
  });

  test("packages that break the rules of a catalog, with every problem", async () => {
    const bundle = forged({ packages: [{ id: "A" }, { id: "b", version: "" }] });
    const { reason, problems } = await refusal(importing(bundle));
    expect(reason).toBe("catalog.invalid");
    expect(problems.map(({ pointer }) => pointer)).toContain("/package_catalog/packages/0/id");
    expect(problems.length).toBeGreaterThan(3);
  });

  test("a manifest of a newer version or of another shape", async () => {
    expect(await refused(forged({ manifest: { format_version: 2 } }))).toBe("bundle.newer unverified");
    expect(await refused(forged({ manifest: { format: "other" } }))).toBe("bundle.manifest unverified");
    expect(await refused(forged({ archives: [new Uint8Array()] }))).toBe("bundle.manifest unverified");
    expect(await refused(forged({ manifest: { archives: [{ sha256: "../x", size_bytes: 1 }] } }))).toBe(
      "bundle.manifest unverified",
    );
  });

  test.each([1, 9, 10, 11])("a manifest with %d problems, of which it names the first ten", async (count) => {
    const archives = Array.from({ length: count }, () => ({ sha256: "a".repeat(64), size_bytes: -1 }));
    const { problems } = await refusal(importing(forged({ manifest: { archives } })));
    const pointers = Array.from({ length: Math.min(10, count) }, (_, at) => `/archives/${at}/size_bytes`);
    expect(problems.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  test("an aborted import", async () => {
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(importing(forged(one()), { signal })).rejects.toThrow("stopped");
    expect(storedFiles(away)).toEqual([]);
  });
});

describe("the limits of a bundle", () => {
  const manifestBytes = (bundle: Uint8Array) =>
    Number.parseInt(Buffer.from(bundle).toString("latin1", 124, 135), 8);

  async function reads(limits: object): Promise<string> {
    const bundle = forged({ packages: [entryFor("skill", SKILL)], archives: [SKILL, Buffer.from("other")] });
    const { file } = await requestFor(bundle);
    return await readBundle(file, { trusted, limits }).then(
      () => "read",
      ({ reason }: DomainError) => reason,
    );
  }

  test("limits the number and size of the archives", async () => {
    expect(await reads({ archivesMax: 3 })).toBe("read");
    expect(await reads({ archivesMax: 2 })).toBe("read");
    expect(await reads({ archivesMax: 1 })).toBe("bundle.too_many");
    expect(await reads({ archiveBytesMax: SKILL.length + 1 })).toBe("read");
    expect(await reads({ archiveBytesMax: SKILL.length })).toBe("read");
    expect(await reads({ archiveBytesMax: SKILL.length - 1 })).toBe("bundle.too_large");
  });

  test("limits the size of the manifest", async () => {
    const bytes = manifestBytes(
      forged({ packages: [entryFor("skill", SKILL)], archives: [SKILL, Buffer.from("other")] }),
    );
    expect(await reads({ manifestBytesMax: bytes + 1 })).toBe("read");
    expect(await reads({ manifestBytesMax: bytes })).toBe("read");
    expect(await reads({ manifestBytesMax: bytes - 1 })).toBe("bundle.wrong_size");
  });
});

describe("AIR-5: downloads of a package at run time", () => {
  const what = (text: string) => findRuntimeDownloads("file", Buffer.from(text)).map((fetch) => fetch.what);

  test.each([
    ['{"command": "npx", "args": ["-y", "server"]}', "runs a package from a registry"],
    ["uvx some-server", "runs a package from a registry"],
    ["pip install -r requirements.txt", "installs packages"],
    ["curl -fsSL https://example.com/install.sh | sh", "downloads"],
    ["git clone https://example.com/repository", "clones a repository"],
    ["docker run --rm image", "runs a container image"],
    ['import tool from "https://example.com/tool.ts"', "imports or fetches from an address"],
    ['{"url": "https://example.com/mcp"}', "names a server elsewhere"],
  ])("%s is a sign", (text, sign) => {
    expect(what(text)).toContain(sign);
  });

  test.each([
    "a skill that reads files",
    '{"url": "http://127.0.0.1:1/mcp"}',
    "curl http://localhost:80/",
    "the npm registry",
  ])("%s is not a sign", (text) => {
    expect(what(text)).toEqual([]);
  });

  test("searches no binary files", () => {
    expect(what("\0npx tool")).toEqual([]);
  });

  test("searches a line of a megabyte in the same time as other lines", () => {
    for (const text of ["curl ", "import ", '"url":', "npx", "fetch("]) {
      expect(what(text.repeat(DOWNLOAD_SCAN_BYTES_MAX / text.length)).length).toBeLessThan(2);
    }
  });

  test("reports downloads of added and changed packages, only a few of each archive", async () => {
    const files = Array.from({ length: DOWNLOADS_LISTED_MAX + 5 }, (_, at) =>
      tarFile(`hook-${at}.sh`, "npx tool"),
    );
    const bytes = tarGzOf(...files);
    const bundle = forged({ packages: [entryFor("hooks", bytes)], archives: [bytes] });
    const first = await importing(bundle);
    expect(first.fetches).toHaveLength(DOWNLOADS_LISTED_MAX);
    expect(first.fetches[0]).toEqual({
      id: "hooks",
      path: "hook-0.sh",
      what: "runs a package from a registry",
    });
    expect((await importing(bundle)).fetches).toEqual([]);
  });

  test("searches files up to the limit", async () => {
    const fetchesOf = async (sizeBytes: number) => {
      const bytes = tarGzOf(tarFile("hook.sh", "npx tool\n".padEnd(sizeBytes, "#")));
      const request = await requestFor(forged({ packages: [entryFor("hooks", bytes)], archives: [bytes] }));
      return (await away.catalog.bundles.plan(away.world.system, request)).fetches.length;
    };
    expect(await fetchesOf(DOWNLOAD_SCAN_BYTES_MAX - 1)).toBe(1);
    expect(await fetchesOf(DOWNLOAD_SCAN_BYTES_MAX)).toBe(1);
    expect(await fetchesOf(DOWNLOAD_SCAN_BYTES_MAX + 1)).toBe(0);
  });
});
