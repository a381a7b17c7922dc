// A catalog with its archives in one signed file: the export writes it; the import checks everything, stores the archives and
// makes the catalog equal to the bundle (AIR-4). bundle-read.ts reads the file.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import type { FileSigner } from "../../../platform/crypto/file-signatures.ts";
import { runSynchronously } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import { fetchedSourcesOf, type ReportProgress } from "../archive/local-archives.ts";
import type { ManagedPackage } from "../model.ts";
import {
  artifactIds,
  type CatalogChange,
  type ChangeDependencies,
  commit,
  entriesOf,
  planCatalog,
} from "../seed/changes.ts";
import { isUnchanged, type SeedPlan } from "../seed/plan.ts";
import {
  type BlockedRemoval,
  findBlockedRemovals,
  type RemovalCheck,
  refuseDangling,
} from "../seed/removal-check.ts";
import type { RuntimeDownload } from "../sources/runtime-downloads.ts";
import { sourceWarnings } from "../sources/source-warnings.ts";
import * as store from "../store.ts";
import { type CheckedBundle, checkBundle } from "./bundle-check.ts";
import type { BundleFile, TrustedSigners } from "./bundle-model.ts";
import { archivesFor, bundleBytes, type HeldArchive, manifestOf } from "./bundle-write.ts";

export interface ExportRequest {
  signer: FileSigner;
  /** leaves out packages with archives that are not stored here, instead of refusing */
  leaveOutRemote: boolean;
  signal?: AbortSignal | undefined;
}

export interface ExportedBundle {
  packages: number;
  archives: readonly HeldArchive[];
  /** ids of packages whose archives are not stored here */
  leftOut: string[];
  /** the file, to be written by the caller */
  bytes: AsyncIterable<Uint8Array>;
}

export interface ImportRequest extends RemovalCheck {
  file: BundleFile;
  trusted: TrustedSigners;
  /** keeps the other packages of the catalog */
  keep: boolean;
  onProgress?: ReportProgress | undefined;
  signal?: AbortSignal | undefined;
}

export interface ImportPlan extends SeedPlan {
  /** those of `removed` that prevent the import of the whole bundle */
  blocked: BlockedRemoval[];
  /** apparent downloads at run time of added and changed packages (AIR-5) */
  fetches: ({ id: string } & RuntimeDownload)[];
  /** rules for new archives that stored archives break */
  warnings: string[];
  /** id of the key that signed the bundle */
  signer: string;
  /** RFC 3339 */
  exportedAt: string;
  archives: { count: number; new: number; sizeBytes: number };
}

export function createBundles(dependencies: ChangeDependencies) {
  const { db, clock, blobs, audit } = dependencies;
  return {
    /**
     * Exports the catalog as a bundle.
     * @throws DomainError `bundle.not_held`, `bundle.too_large`; while the bytes are read `bundle.archive_damaged`
     */
    export(organizationId: string, { signer, leaveOutRemote, signal }: ExportRequest): ExportedBundle {
      const find = (sha256: string) => store.findArtifactByDigest(db.read, organizationId, sha256);
      const all = store
        .listPackages(db.read, organizationId)
        .map(({ entry }): ManagedPackage => JSON.parse(entry));
      const [packages = [], others = []] = leaveOutRemote
        ? partition(all, (managed) => isHeld(managed, find))
        : [all];
      const archives = archivesFor(packages, find);
      const manifest = manifestOf({ packages, archives, signer, exportedAtMs: clock.nowMs() });
      const bytes = bundleBytes(manifest, archives, { blobs, signer, signal });
      return { packages: packages.length, archives, leftOut: others.map(({ id }) => id), bytes };
    },

    /** Records that this installation now has a signing key. */
    keyMade: (actor: Actor, keyId: string): Promise<void> =>
      db.write((tx) => audit.record(tx, { actor, action: "bundle_key.create", target: keyId }), "catalog"),

    /**
     * Checks everything that `import` checks and changes nothing; reports obstacles instead of throwing.
     * @throws as `import`
     */
    async plan(actor: Actor, request: ImportRequest): Promise<ImportPlan> {
      const { bundle, change } = await changeFor(dependencies, actor, request);
      const { plan } = runSynchronously(planCatalog(db.read, actor.organizationId, change));
      return importPlanOf(plan, bundle, findBlockedRemovals(plan.removed, request, db.read));
    },

    /**
     * Stores the archives and the entries, all or nothing. Importing the same bundle again changes nothing.
     * @throws DomainError `bundle.*` and `catalog.unverified` for a bundle that is untrusted, incomplete or breaks a rule,
     *   `catalog.dangling` for removals that the current policy forbids, `storage.*`
     */
    async import(actor: Actor, request: ImportRequest): Promise<ImportPlan> {
      const { bundle, change } = await changeFor(dependencies, actor, request);
      const { plan } = runSynchronously(planCatalog(db.read, actor.organizationId, change));
      refuseDangling(plan.removed, request, { connection: db.read, hint: DANGLING_HINT });
      await storeArchives(dependencies, bundle, request);
      const done = isUnchanged(plan)
        ? plan
        : await db.writeInSteps((tx) => commit(tx, dependencies, change), "catalog");
      return importPlanOf(done, bundle, []);
    },
  };
}

const partition = <Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
];

const isHeld = (managed: ManagedPackage, find: (sha256: string) => HeldArchive | undefined): boolean =>
  fetchedSourcesOf(managed, 0).every(({ source }) => find(source.sha256) !== undefined);

async function changeFor(
  dependencies: ChangeDependencies,
  actor: Actor,
  request: ImportRequest,
): Promise<{ bundle: CheckedBundle; change: CatalogChange }> {
  const { db, blobs } = dependencies;
  const { organizationId } = actor;
  const find = (digest: string) => store.findArtifactByDigest(db.read, organizationId, digest);
  const bundle = await checkBundle(request.file, { ...request, blobs, findArtifact: find });
  const ids = artifactIds(dependencies, organizationId, bundle.archives.keys());
  const { file, keep, signal } = request;
  const change: CatalogChange = {
    actor,
    archives: bundle.archives,
    ids,
    prune: !keep,
    signal,
    action: "catalog.import",
    target: file.name,
    wanted: runSynchronously(entriesOf(bundle.packages, ({ sha256 }) => ids.get(sha256) ?? find(sha256)?.id)),
    remarks: { signer: bundle.signer },
    refuse: ({ removed }, connection) =>
      refuseDangling(removed, request, { connection, hint: DANGLING_HINT }),
  };
  return { bundle, change };
}

const DANGLING_HINT =
  "change the policy first, keep what the bundle lacks with --keep, or add --allow-dangling";

async function storeArchives(
  { blobs }: ChangeDependencies,
  { archives, places }: CheckedBundle,
  { file, signal }: ImportRequest,
): Promise<void> {
  await blobs.sweepTemporary(); // partial files of a killed import
  for (const { digest, sizeBytes } of archives.values()) {
    const place = places.get(digest);
    if (!place || (await blobs.has(digest))) continue;
    await blobs.put(file.read(place), {
      expectedDigest: parseDigest(digest),
      maxBytes: sizeBytes,
      ...(signal && { signal }),
    });
  }
}

const warningTexts = ({ packages }: CheckedBundle): string[] =>
  sourceWarnings(packages).map(({ pointer, detail }) => `${pointer} ${detail}`);

function importPlanOf(plan: SeedPlan, bundle: CheckedBundle, blocked: BlockedRemoval[]): ImportPlan {
  const { signer, manifest } = bundle;
  const newIds = new Set([...plan.added, ...plan.changed.map(({ to }) => to)].map(({ id }) => id));
  return {
    ...plan,
    blocked,
    fetches: bundle.fetches.filter(({ id }) => newIds.has(id)),
    warnings: [...bundle.warnings, ...warningTexts(bundle)],
    signer,
    exportedAt: manifest.exported_at,
    archives: bundle.totals,
  };
}
