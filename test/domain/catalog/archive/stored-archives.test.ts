// Archives stored before a rule for new archives existed: they stay usable wherever they are read again, with a warning.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBundleFile, readCatalogFile } from "../../../../src/app/files/catalog-file.ts";
import {
  ENTRIES_LISTED_MAX,
  OUTDATED_LISTED_MAX,
} from "../../../../src/domain/catalog/archive/stored-archives.ts";
import { type Catalog, createCatalog } from "../../../../src/domain/catalog/service.ts";
import { addArtifact } from "../../../../src/domain/catalog/store.ts";
import { type Blobs, openBlobs } from "../../../../src/platform/blobs/blobs.ts";
import { fileSigner, readTrustedKeys } from "../../../../src/platform/crypto/file-signatures.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { replaceFile } from "../../../../src/platform/files/operator-files.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { chunksOf, tarEntry, tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { createWorld, type World } from "../../../support/world.ts";

const OUTDATED = tarGzOf(tarFile("Readme"), tarEntry({ name: "README", mode: "04755" }));
const SHA256 = sha256Hex(OUTDATED);
const signer = fileSigner(
  new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
  "test key",
);

let world: World;
let blobs: Blobs;
let catalog: Catalog;

beforeEach(async () => {
  world = await createWorld();
  blobs = await openBlobs(join(world.directory, "artifacts"));
  catalog = createCatalog({ ...world, blobs });
});
afterEach(() => world.dispose());

/** Stores an archive as an earlier version did. */
async function store(bytes: Uint8Array): Promise<void> {
  await blobs.put(chunksOf(bytes), { maxBytes: bytes.length });
  const { organizationId, ids, clock } = world;
  const sizes = { sizeBytes: bytes.length, entries: 2, expandedBytes: 2_048 };
  const row = {
    id: ids.uuid(),
    organizationId,
    sha256: sha256Hex(bytes),
    createdAtMs: clock.nowMs(),
    ...sizes,
  };
  await world.db.write((tx) => addArtifact(tx, row));
}

async function seed() {
  const entry = { id: "old", version: "1", source_ref: "old.tar.gz", sha256: SHA256 };
  writeFileSync(join(world.directory, "old.tar.gz"), OUTDATED);
  const path = join(world.directory, "catalog.json");
  writeFileSync(path, JSON.stringify([entry]));
  return catalog.seed.apply(world.system, { ...(await readCatalogFile(path)), prune: true });
}

/** @returns the result of importing an export of this catalog into another installation */
async function importInto(target: Catalog, actor: World["system"]) {
  const path = join(world.directory, "out.qmc");
  const { bytes } = catalog.bundles.export(world.organizationId, { signer, leaveOutRemote: false });
  await replaceFile(path, bytes);
  return target.bundles.import(actor, {
    file: await openBundleFile(path, "out.qmc"),
    trusted: { name: "key", keys: readTrustedKeys(signer.publicKey, "key") },
    keep: false,
    inUse: () => new Map(),
    allowDangling: false,
  });
}

const problemsOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(JSON.stringify, (thrown: unknown) => thrown);
  if (!(error instanceof DomainError)) throw new Error(`expected a refusal, got ${error}`);
  return JSON.stringify([error.message, error.problems]);
};

describe("an archive that breaks a rule for new archives", () => {
  test("is refused by a seed", async () => {
    expect(await problemsOf(seed())).toContain("has the mode bit setuid");
    expect(catalog.list(world.organizationId)).toEqual([]);
  });

  test("may be seeded again if it is stored", async () => {
    await store(OUTDATED);
    expect((await seed()).added).toMatchObject([{ id: "old", sha256: SHA256 }]);
  });

  test("is refused by the import of a bundle", async () => {
    await store(OUTDATED);
    await seed();
    await using other = await createWorld();
    const target = createCatalog({ ...other, blobs: await openBlobs(join(other.directory, "artifacts")) });
    expect(await problemsOf(importInto(target, other.system))).toContain("has the mode bit setuid");
    expect(target.list(other.organizationId)).toEqual([]);
  });

  test("may be imported again if it is stored, with a warning for each rule", async () => {
    await store(OUTDATED);
    await seed();
    const { warnings } = await importInto(catalog, world.system);
    expect(warnings).toEqual([
      `archives/${SHA256}.tar.gz: "README" has the mode bit setuid`,
      `archives/${SHA256}.tar.gz: "Readme" and "README" are the same file on some file systems`,
    ]);
  });

  test("is reported by a check of the stored bytes", async () => {
    await store(OUTDATED);
    expect(await catalog.outdatedRules(SHA256)).toEqual([
      '"README" has the mode bit setuid',
      '"Readme" and "README" are the same file on some file systems',
    ]);
  });

  test.each([
    [-1, OUTDATED_LISTED_MAX - 1],
    [0, OUTDATED_LISTED_MAX],
    [1, OUTDATED_LISTED_MAX],
  ])("is reported with some of its broken rules if there are many (%d)", async (step, listed) => {
    const count = OUTDATED_LISTED_MAX + step;
    const bytes = tarGzOf(
      ...Array.from({ length: count }, (_, at) => tarEntry({ name: `${at}`, mode: "04755" })),
    );
    await store(bytes);
    expect(await catalog.outdatedRules(sha256Hex(bytes))).toHaveLength(listed);
  });

  test("reports a broken rule of the clients, too", async () => {
    const link = tarGzOf(tarEntry({ name: "a", type: "2", linkName: "/etc/passwd" }));
    await store(link);
    expect(await catalog.outdatedRules(sha256Hex(link))).toEqual([expect.stringContaining("symbolic link")]);
  });

  test("is listed nevertheless", async () => {
    await store(OUTDATED);
    const contents = await catalog.contents(SHA256);
    expect(contents?.listed.map(({ path }) => path)).toEqual(["Readme", "README"]);
  });

  test("is no longer read after the user has stopped the check", async () => {
    await store(OUTDATED);
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(catalog.outdatedRules(SHA256, { signal })).rejects.toThrow("stopped");
  });
});

test.each([-1, 0, 1])("lists the first entries of an archive with the limit and %d more", async (step) => {
  const entries = ENTRIES_LISTED_MAX + step;
  const bytes = tarGzOf(...Array.from({ length: entries }, (_, at) => tarFile(`${at}`, "text")));
  await store(bytes);
  const contents = await catalog.contents(sha256Hex(bytes));
  expect(contents).toMatchObject({ entries });
  expect(contents?.listed).toHaveLength(Math.min(entries, ENTRIES_LISTED_MAX));
  expect(contents?.listed[0]).toEqual({ path: "0", kind: "file", sizeBytes: 4 });
});

test("a missing archive has no contents; a damaged one is refused", async () => {
  expect(await catalog.contents("ef".repeat(32))).toBeUndefined();
  const bytes = Buffer.from("no archive");
  await store(bytes);
  expect(catalog.contents(sha256Hex(bytes))).rejects.toMatchObject({ kind: "unverified" });
});
