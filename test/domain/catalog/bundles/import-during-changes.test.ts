// Changes of the catalog and of the policy that happen while an import stores its archives are considered when the import commits.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBundleFile, readCatalogFile } from "../../../../src/app/files/catalog-file.ts";
import type { BundleFile } from "../../../../src/domain/catalog/bundles/bundle-model.ts";
import { bundleBytes, manifestOf } from "../../../../src/domain/catalog/bundles/bundle-write.ts";
import { type CatalogChange, commit } from "../../../../src/domain/catalog/seed/changes.ts";
import { listPackages, putPackage } from "../../../../src/domain/catalog/store.ts";
import { openBlobs, parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { fileSigner, readTrustedKeys } from "../../../../src/platform/crypto/file-signatures.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { replaceFile } from "../../../../src/platform/files/operator-files.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { publishPackages } from "../../../support/content/policy.ts";
import { chunksOf, tarFile, tarGzOf } from "../../../support/content/tar.ts";
import {
  createGovernanceWorld,
  type GovernanceWorld,
  packageOf,
  sectionOf,
} from "../../governance/governance-world.ts";

const ARCHIVE = tarGzOf(tarFile("a"));
const SHA256 = sha256Hex(ARCHIVE);
const signer = fileSigner(
  new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
  "test key",
);

let site: GovernanceWorld;
beforeEach(async () => {
  site = await createGovernanceWorld();
  await site.start(sectionOf({}));
});
afterEach(() => site[Symbol.asyncDispose]());

const ids = () => site.domain.catalog.list(site.world.organizationId).map(({ id }) => id);

async function seed(...names: string[]): Promise<void> {
  const path = join(site.world.directory, "catalog.json");
  writeFileSync(path, JSON.stringify(names.map((id) => packageOf(id))));
  await site.domain.catalog.seed.apply(site.world.system, { ...(await readCatalogFile(path)), prune: false });
}

const publish = (id: string) => publishPackages(site, { packages: [packageOf(id)] });

/** @returns a bundle of one package; `duringStoring` runs when its archive is read to be stored, after every check */
async function bundleFile(duringStoring: () => Promise<unknown>): Promise<BundleFile> {
  const managed = {
    id: "new",
    version: "1",
    source_ref: "new.tar.gz",
    sha256: SHA256,
    settings: {},
    adapters: {},
  };
  const archives = [{ sha256: SHA256, sizeBytes: ARCHIVE.length }];
  const manifest = manifestOf({ packages: [managed], archives, signer, exportedAtMs: 0 });
  const path = join(site.world.directory, "in.qmc");
  await replaceFile(
    path,
    bundleBytes(manifest, archives, { blobs: { read: () => chunksOf(ARCHIVE) }, signer }),
  );
  const file = await openBundleFile(path, "in.qmc");
  let reads = 0;
  return {
    name: file.name,
    sizeBytes: file.sizeBytes,
    async *read(range) {
      if (range) reads += 1;
      if (reads === 2) await duringStoring();
      yield* file.read(range);
    },
  };
}

async function importWhile(
  duringStoring: () => Promise<unknown>,
  { allowDangling = false, signal }: { allowDangling?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  const { world, domain } = site;
  const work = domain.catalog.bundles.import(world.system, {
    file: await bundleFile(duringStoring),
    trusted: { name: "key", keys: readTrustedKeys(signer.publicKey, "key") },
    inUse: (connection) => domain.governance.revisions.packagesInUse(connection, world.organizationId),
    keep: false,
    allowDangling,
    signal,
  });
  return work.then(
    ({ removed }) => `removed ${removed.map(({ id }) => id).join()}`,
    (error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      return `${error.reason}: ${error.message}`;
    },
  );
}

describe("while an import stores archives", () => {
  test("a policy that is published during the import keeps its packages in the catalog", async () => {
    await seed("used");
    const outcome = await importWhile(() => publish("used"));
    expect(outcome).toBe("catalog.dangling: revision 2 of the policy names used; nothing was changed");
    expect(ids()).toEqual(["used"]);
  });

  test("a package that is added during the import is not removed if the policy names it", async () => {
    await publish("used");
    expect(await importWhile(() => seed("used"))).toStartWith(
      "catalog.dangling: revision 2 of the policy names used",
    );
    expect(ids()).toEqual(["used"]);
  });

  test("a package that is added during the import is removed if no policy names it", async () => {
    expect(await importWhile(() => seed("unused"))).toBe("removed unused");
    expect(ids()).toEqual(["new"]);
  });

  test("a package that is added during the import is removed if removals are allowed", async () => {
    await publish("used");
    expect(await importWhile(() => seed("used"), { allowDangling: true })).toBe("removed used");
    expect(ids()).toEqual(["new"]);
  });

  test("stopping it keeps the catalog and stores no part of the archive", async () => {
    await seed("unused");
    const controller = new AbortController();
    const stop = async () => controller.abort(new Error("stopped"));
    await expect(importWhile(stop, { signal: controller.signal })).rejects.toThrow("stopped");
    expect(ids()).toEqual(["unused"]);
    const stored = await openBlobs(join(site.world.directory, "artifacts"));
    expect(await stored.has(parseDigest(SHA256))).toBe(false);
  });
});

test("reads packages in use through the connection, so that a transaction sees its own publication", async () => {
  const { world, domain } = site;
  const inUse = () => domain.governance.revisions.packagesInUse(world.db.read, world.organizationId);
  expect(inUse()).toEqual(new Map());
  const { sequence } = await publish("used");
  expect(inUse()).toEqual(new Map([["used", sequence]]));
  const deleted = await world.db.write((tx) => {
    tx.run("DELETE FROM governance_revisions WHERE sequence = 2");
    return domain.governance.revisions.packagesInUse(tx, world.organizationId);
  });
  expect(deleted).toEqual(new Map());
});

test("a change of many packages lets other work run after every hundred of them", async () => {
  const { world } = site;
  const dependencies = { ...world, blobs: await openBlobs(join(world.directory, "artifacts")) };
  const wanted = Array.from({ length: 250 }, (_, at) => {
    const managed = packageOf(`many-${at}`);
    return { ...managed, entry: JSON.stringify(managed) };
  });
  const change: CatalogChange = {
    actor: world.system,
    archives: new Map(),
    ids: new Map(),
    wanted,
    prune: true,
    action: "catalog.import",
    target: "in.qmc",
  };
  const written = await world.db.write((tx) => {
    const work = commit(tx, dependencies, change);
    const counts: number[] = [];
    while (!work.next().done) counts.push(listPackages(tx, world.organizationId).length);
    return counts;
  });
  expect(written).toEqual([100, 200]);
  expect(ids()).toHaveLength(250);
});

test("a change sees earlier writes of the same transaction", async () => {
  const { world } = site;
  const dependencies = { ...world, blobs: await openBlobs(join(world.directory, "artifacts")) };
  const row = {
    id: "early",
    organizationId: world.organizationId,
    position: 0,
    version: "1",
    sha256: SHA256,
  };
  const change: CatalogChange = {
    actor: world.system,
    archives: new Map(),
    ids: new Map(),
    wanted: [],
    prune: true,
    action: "catalog.import",
    target: "in.qmc",
  };
  const { removed } = await world.db.write((tx) => {
    putPackage(tx, { ...row, entry: "{}", updatedAtMs: 0 });
    return runSynchronously(commit(tx, dependencies, change));
  });
  expect(removed.map(({ id }) => id)).toEqual(["early"]);
});
