// The organization's catalog of packages pinned by digest: its entries, their seeding, and whether the stored bytes still match
// their digests. The governance area publishes packages to workstations.
import { parseDigest } from "../../platform/blobs/blobs.ts";
import type { Actor } from "../shared/actor.ts";
import { type ArchiveListing, listingOf, outdatedRulesOf } from "./archive/stored-archives.ts";
import { createBundles } from "./bundles/bundles.ts";
import type { ManagedPackage } from "./model.ts";
import { createReading, notFound } from "./reading.ts";
import type { ChangeDependencies } from "./seed/changes.ts";
import { type RemovalCheck, refuseDangling } from "./seed/removal-check.ts";
import { createSeed } from "./seed/seed.ts";
import * as store from "./store.ts";

export type { ReportProgress } from "./archive/local-archives.ts";
export type { ArchiveListing } from "./archive/stored-archives.ts";
export type { BundleFile } from "./bundles/bundle-model.ts";
export type { ImportPlan, ImportRequest } from "./bundles/bundles.ts";
export { PendingBundles } from "./bundles/pending-bundles.ts";
export { unknownConnection } from "./mirroring/mirror-request.ts";
export { type Mirroring, NO_MIRRORING } from "./mirroring/mirroring.ts";
export { ID_CHARACTERS_MAX, ManagedPackage, PACKAGES_MAX } from "./model.ts";
export { componentsOf } from "./packages/layouts.ts";
export {
  contentOf,
  PACKAGE_KINDS,
  type PackageContent,
  type PackageKind,
} from "./packages/package-content.ts";
export { checkPackages, readPackages } from "./packages/package-rules.ts";
export { type CatalogSummary, updateOf } from "./reading.ts";
export type { PackageVersion, SeedPlan } from "./seed/plan.ts";
export { isUnchanged } from "./seed/plan.ts";
export type { RemovalCheck } from "./seed/removal-check.ts";
export { readSeed, type Seeded, type SeedRequest } from "./seed/seed.ts";
export { Artifacts, type StoredArtifact } from "./sources/artifacts.ts";
export type { KeptArchives } from "./sources/kept-archives.ts";
export { type PackageSourceConnection, PackageSources } from "./sources/package-sources.ts";
export { sourceWarnings } from "./sources/source-warnings.ts";
export type { RunCatalogTask } from "./tasks.ts";
export { type PackageUpdate, PackageUpdates } from "./watching/package-updates.ts";
export { type OutdatedPackage, SourceWatch } from "./watching/source-watch.ts";
export { SOURCE_WATCH_JOB, SourceWebhooks, WEBHOOK_PATH } from "./watching/source-webhooks.ts";

export type Catalog = ReturnType<typeof createCatalog>;

/** The result of a check of stored bytes. */
export interface ArtifactCheck {
  artifactId: string;
  sha256: string;
  sizeBytes: number;
  result: "intact" | "damaged" | "missing";
}

/** @returns the operations of the area; created once, in domain.ts */
export function createCatalog(dependencies: ChangeDependencies) {
  const { db, audit } = dependencies;
  const reading = createReading(dependencies);
  return {
    seed: createSeed(dependencies),
    bundles: createBundles(dependencies),

    ...reading,

    /** @returns a package that `remove` would remove @throws as `remove` */
    removable(organizationId: string, id: string, check: RemovalCheck): ManagedPackage {
      const managed = reading.get(organizationId, id);
      refuseDangling([managed], check, { connection: db.read, hint: DANGLING_HINT });
      return managed;
    },

    /**
     * Removes one package from the list; its artifact stays for policies that name it.
     * @throws DomainError `catalog.not_found`, `catalog.dangling`
     */
    remove: (actor: Actor, id: string, check: RemovalCheck): Promise<void> =>
      db.write((tx) => {
        const removed = store.takePackage(tx, actor.organizationId, id);
        if (!removed) throw notFound(id);
        refuseDangling([removed], check, { connection: tx, hint: DANGLING_HINT });
        const { version, sha256 } = removed;
        audit.record(tx, { actor, action: "catalog.remove", target: id, before: { version, sha256 } });
      }, "catalog"),

    ...createArtifactChecks(dependencies),
  };
}

const createArtifactChecks = ({ db, blobs }: Pick<ChangeDependencies, "db" | "blobs">) => ({
  /** @returns the stored artifact with that digest (lower case) */
  findArtifact: (organizationId: string, sha256: string): store.ArtifactRow | undefined =>
    store.findArtifactByDigest(db.read, organizationId, sha256),

  /** @returns the amount that `verify` will read */
  artifactTotals: (organizationId: string): { count: number; sizeBytes: number } =>
    store.sumArtifacts(db.read, organizationId),

  /** Reads every stored artifact again; yields the results one by one, so that a caller can show progress. */
  async *verify(
    organizationId: string,
    options: { signal?: AbortSignal } = {},
  ): AsyncGenerator<ArtifactCheck> {
    for (let page = store.listArtifacts(db.read, organizationId, ""); page.length > 0; ) {
      for (const { id, sha256, sizeBytes } of page) {
        const result = await blobs.verify(parseDigest(sha256), options);
        yield { artifactId: id, sha256, sizeBytes, result };
      }
      page = store.listArtifacts(db.read, organizationId, page.at(-1)?.id ?? "");
    }
  },

  /**
   * @param sha256 of a stored archive, in lower case
   * @returns its content; undefined if its bytes are missing
   * @throws DomainError `archive.*` for damaged bytes
   */
  async contents(
    sha256: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<ArchiveListing | undefined> {
    const digest = parseDigest(sha256);
    return (await blobs.has(digest)) ? await listingOf(blobs, digest, options.signal) : undefined;
  },

  /** Reads the bytes of one stored archive again. @param sha256 in lower case */
  check: (sha256: string): Promise<ArtifactCheck["result"]> => blobs.verify(parseDigest(sha256)),

  sweepTemporary: () => blobs.sweepTemporary(), // partial files of killed processes

  /** @returns some rules for new archives that an intact stored artifact breaks; it stays usable */
  outdatedRules: (sha256: string, options: { signal?: AbortSignal } = {}): Promise<string[]> =>
    outdatedRulesOf(blobs, parseDigest(sha256), options.signal),
});

const DANGLING_HINT = "change the policy first, or add --allow-dangling";
