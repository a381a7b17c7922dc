// Makes the catalog what a file says: checks everything first, stores the archives, then changes all entries at once.
import type { Blobs } from "../../platform/blobs.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Connection, Db, Tx } from "../../platform/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Actor } from "../actor.ts";
import type { Audit } from "../audit/service.ts";
import { DomainError, type Problem } from "../errors.ts";
import { locate } from "../yaml-text.ts";
import { ARCHIVE_LIMITS } from "./archive.ts";
import { type CatalogText, parseCatalogText } from "./document.ts";
import {
  type CheckedArchive,
  checkLocalArchives,
  type LocalFiles,
  type ReportProgress,
} from "./local-archives.ts";
import { type ManagedPackage, PACKAGES_MAX, type PackageSource } from "./model.ts";
import { isUnchanged, type PlannedCatalog, planSeed, type SeedPlan } from "./plan.ts";
import * as store from "./store.ts";

export interface SeedDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  blobs: Blobs;
}

export interface SeedRequest {
  /** the file's bytes, YAML or JSON */
  bytes: Uint8Array;
  /** how the person who reads an error knows the file */
  fileName: string;
  files: LocalFiles;
  /** removes the entries that the file does not have */
  prune: boolean;
  onProgress?: ReportProgress | undefined;
  signal?: AbortSignal | undefined;
}

export type Seed = ReturnType<typeof createSeed>;

/** @returns the two operations on a catalog file: see what it would do, and do it */
export function createSeed(dependencies: SeedDependencies) {
  return {
    /**
     * Checks everything that `apply` checks and changes nothing.
     * @throws as `apply`
     */
    async plan(actor: Actor, request: SeedRequest): Promise<SeedPlan> {
      const { organizationId } = actor;
      const { packages, archives } = await readSeed(dependencies, organizationId, request);
      const ids = artifactIds(dependencies, { organizationId, archives });
      return planned(dependencies.db.read, organizationId, { wanted: named(packages, ids), request }).plan;
    },

    /**
     * Stores the archives and makes the entries, all or nothing; the same file again changes nothing.
     * @throws DomainError `catalog.invalid` with every problem of the file, `catalog.unverified` when an archive is not
     *   what the file says or breaks the archive rules, `storage.*`
     * @source control-api.md sections 8.1, 8.2 and 8.7
     */
    async apply(actor: Actor, request: SeedRequest): Promise<SeedPlan> {
      const { organizationId } = actor;
      const { packages, archives } = await readSeed(dependencies, organizationId, request);
      await storeArchives(dependencies.blobs, archives, request.signal);
      const ids = artifactIds(dependencies, { organizationId, archives });
      const wanted = named(packages, ids);
      const { plan } = planned(dependencies.db.read, organizationId, { wanted, request });
      if (isUnchanged(plan)) return plan;
      return await dependencies.db.write(
        (tx) => commit(tx, dependencies, { actor, archives, ids, wanted, request }),
        "catalog",
      );
    },
  };
}

interface ReadSeed {
  packages: ManagedPackage[];
  archives: ReadonlyMap<string, CheckedArchive>;
}

async function readSeed(
  { db, blobs }: SeedDependencies,
  organizationId: string,
  request: SeedRequest,
): Promise<ReadSeed> {
  const { packages, text } = parseCatalogText(request.bytes, request.fileName);
  const findArtifact = (digest: string) => store.findArtifactByDigest(db.read, organizationId, digest);
  const { files, onProgress, signal } = request;
  const checked = await checkLocalArchives(packages, { files, blobs, findArtifact, onProgress, signal });
  const problems = [...checked.problems, ...unknownArtifacts(packages, findArtifact)];
  if (problems.length > 0) throw refused(problems, { text, request, unverified: checked.unverified });
  return { packages, archives: checked.archives };
}

/** An artifact_id must name bytes that we hold under that digest (control-api.md section 8.5). */
function unknownArtifacts(
  packages: readonly ManagedPackage[],
  findArtifact: (digest: string) => store.ArtifactRow | undefined,
): Problem[] {
  return packages.flatMap((managed, index) => [
    ...unknownArtifact(managed, `/${index}`, findArtifact),
    ...Object.entries(managed.platform_sources ?? {}).flatMap(([platform, source]) =>
      unknownArtifact(source, `/${index}/platform_sources/${platform}`, findArtifact),
    ),
  ]);
}

function unknownArtifact(
  { artifact_id, sha256, source_ref }: PackageSource,
  pointer: string,
  findArtifact: (digest: string) => store.ArtifactRow | undefined,
): Problem[] {
  if (artifact_id === undefined || findArtifact(sha256)?.id === artifact_id) return [];
  if (!source_ref.startsWith("https://")) return []; // the archive is at hand: its artifact gets an id of its own
  return [
    { pointer: `${pointer}/artifact_id`, detail: "names no stored artifact with this sha256; leave it out" },
  ];
}

interface Refusal {
  text: CatalogText;
  request: SeedRequest;
  unverified: boolean;
}

function refused(problems: readonly Problem[], { text, request, unverified }: Refusal): DomainError {
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  return new DomainError(
    unverified ? "unverified" : "invalid",
    unverified ? "catalog.unverified" : "catalog.invalid",
    `${request.fileName} has ${count}; nothing was changed`,
    { problems: locate(text, problems) },
  );
}

async function storeArchives(
  blobs: Blobs,
  archives: ReadonlyMap<string, CheckedArchive>,
  signal: AbortSignal | undefined,
): Promise<void> {
  await blobs.sweepTemporary(); // what a seed that was killed has left half written
  for (const { digest, path } of archives.values()) {
    if (path === undefined) continue;
    await blobs.put(path, {
      expectedDigest: digest,
      maxBytes: ARCHIVE_LIMITS.compressedBytesMax,
      ...(signal && { signal }),
    });
  }
}

/** @returns artifact ids by digest: the known ones, and fresh ones for what is new */
function artifactIds(
  { db, ids }: SeedDependencies,
  { organizationId, archives }: { organizationId: string; archives: ReadonlyMap<string, CheckedArchive> },
): Map<string, string> {
  const idOf = (digest: string) =>
    store.findArtifactByDigest(db.read, organizationId, digest)?.id ?? ids.uuid();
  return new Map([...archives.keys()].map((digest) => [digest, idOf(digest)]));
}

type ArtifactIds = ReadonlyMap<string, string>;

/** @returns the packages with the ids of the archives we hold; the id comes last, for entries are compared as text */
const named = (packages: readonly ManagedPackage[], ids: ArtifactIds): ManagedPackage[] =>
  packages.map((managed) => {
    const { platform_sources: platforms, artifact_id: _, ...rest } = managed;
    const own = { ...rest, ...artifactOf(managed, ids) };
    return platforms ? { ...own, platform_sources: namedPlatforms(platforms, ids) } : own;
  });

const namedPlatforms = (platforms: Readonly<Record<string, PackageSource>>, ids: ArtifactIds) =>
  Object.fromEntries(
    Object.entries(platforms).map(([platform, source]) => {
      const { artifact_id: _, ...rest } = source;
      return [platform, { ...rest, ...artifactOf(source, ids) }];
    }),
  );

/** What is fetched from elsewhere keeps the id it was given; what we hold has ours. */
function artifactOf(source: PackageSource, ids: ArtifactIds): { artifact_id?: string } {
  const { source_ref, artifact_id: authored, sha256 } = source;
  const id = source_ref.startsWith("https://") ? authored : (ids.get(sha256) ?? authored);
  return id === undefined ? {} : { artifact_id: id };
}

interface Wanted {
  wanted: readonly ManagedPackage[];
  request: SeedRequest;
}

function planned(
  connection: Connection,
  organizationId: string,
  { wanted, request }: Wanted,
): PlannedCatalog {
  const result = planSeed(store.listPackages(connection, organizationId), wanted, { prune: request.prune });
  if (result.entries.length <= PACKAGES_MAX) return result;
  const message = `the catalog would have ${result.entries.length} packages; at most ${PACKAGES_MAX} are kept`;
  throw new DomainError("invalid", "catalog.too_many", message, {
    hint: "remove some, or seed with --prune",
  });
}

interface Committed extends Wanted {
  actor: Actor;
  archives: ReadonlyMap<string, CheckedArchive>;
  ids: ReadonlyMap<string, string>;
}

/** Plans again inside the transaction: another process may have seeded while the archives were read. */
function commit(tx: Tx, { audit, clock }: SeedDependencies, committed: Committed): SeedPlan {
  const { actor, archives, ids, wanted, request } = committed;
  request.signal?.throwIfAborted(); // the last moment at which nothing has changed
  const { organizationId } = actor;
  const nowMs = clock.nowMs();
  for (const { digest, sizeBytes, entries, expandedBytes } of archives.values()) {
    const id = ids.get(digest);
    if (id === undefined) continue;
    store.addArtifact(tx, {
      id,
      organizationId,
      sha256: digest,
      sizeBytes,
      entries,
      expandedBytes,
      createdAtMs: nowMs,
    });
  }
  const { plan, entries } = planned(tx, organizationId, { wanted, request });
  const removed = plan.removed.map(({ id }) => id);
  store.removePackages(tx, organizationId, removed);
  for (const entry of entries) store.putPackage(tx, { ...entry, organizationId, updatedAtMs: nowMs });
  audit.record(tx, {
    actor,
    action: "catalog.seed",
    target: request.fileName,
    before: { changed: plan.changed.map(({ from }) => labelOf(from)), removed: plan.removed.map(labelOf) },
    after: { added: plan.added.map(labelOf), changed: plan.changed.map(({ to }) => labelOf(to)) },
  });
  return plan;
}

const labelOf = ({ id, version, sha256 }: { id: string; version: string; sha256: string }): string =>
  `${id} ${version} sha256:${sha256}`;
