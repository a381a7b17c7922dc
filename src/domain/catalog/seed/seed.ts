// Makes the catalog equal to a file: checks everything first, stores the archives, then changes all entries in one transaction.
import type { Blobs } from "../../../platform/blobs/blobs.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import { ARCHIVE_LIMITS } from "../archive/archive.ts";
import {
  type CheckedArchive,
  type CheckOptions,
  checkLocalArchives,
  isLocal,
  type LocalFiles,
  type ReportProgress,
} from "../archive/local-archives.ts";
import type { ManagedPackage, PackageSource } from "../model.ts";
import { findSourceWarnings } from "../sources/source-warnings.ts";
import * as store from "../store.ts";
import { type RunCatalogTask, runCatalogAtOnce } from "../tasks.ts";
import {
  type ArtifactIds,
  artifactIds,
  type CatalogChange,
  type ChangeDependencies,
  commit,
  entriesOf,
  planCatalog,
} from "./changes.ts";
import { isUnchanged, type SeedPlan } from "./plan.ts";
import { type RemovalCheck, refuseDangling } from "./removal-check.ts";

/** Removals are checked only for an operator, because the service never prunes. */
export interface SeedRequest extends Partial<RemovalCheck> {
  /** the bytes of the file, YAML or JSON */
  bytes: Uint8Array;
  /** the name of the file, for errors */
  fileName: string;
  files: LocalFiles;
  /** removes the entries that the file does not have */
  prune: boolean;
  onProgress?: ReportProgress | undefined;
  signal?: AbortSignal | undefined;
}

/** The changes that seeding made or would make. */
export interface Seeded extends SeedPlan {
  /** reasons why workstations may fail to get an archive, with lines of the file */
  warnings: Problem[];
}

/** @returns the two operations on a catalog file: preview and apply */
export function createSeed(dependencies: ChangeDependencies) {
  return {
    /**
     * Checks everything that `apply` checks and changes nothing.
     * @throws as `apply`
     */
    async plan(actor: Actor, request: SeedRequest): Promise<Seeded> {
      const { change, warnings } = await changeFor(dependencies, actor, request);
      const { plan } = await runInTurns(planCatalog(dependencies.db.read, actor.organizationId, change));
      change.refuse?.(plan, dependencies.db.read);
      return { ...plan, warnings };
    },

    /**
     * Stores the archives and the entries, all or nothing. Seeding the same file again changes nothing.
     * @throws DomainError `catalog.invalid` with every problem of the file, `catalog.unverified` if an archive has another
     *   digest or breaks the archive rules, `storage.*`
     * @source handbook: catalog-file, Seed a catalog
     */
    async apply(actor: Actor, request: SeedRequest): Promise<Seeded> {
      const { change, warnings } = await changeFor(dependencies, actor, request);
      await storeArchives(dependencies.blobs, change.archives, request.signal);
      const { plan } = await runInTurns(planCatalog(dependencies.db.read, actor.organizationId, change));
      if (isUnchanged(plan)) return { ...plan, warnings };
      const done = await dependencies.db.writeInSteps((tx) => commit(tx, dependencies, change), "catalog");
      return { ...done, warnings };
    },
  };
}

async function changeFor(
  dependencies: ChangeDependencies,
  actor: Actor,
  request: SeedRequest,
): Promise<{ change: CatalogChange; warnings: Problem[] }> {
  const { db, blobs, runCatalogTask: runTask } = dependencies;
  const findArtifact = (digest: string) => store.findArtifactByDigest(db.read, actor.organizationId, digest);
  const { packages, archives, warnings } = await readSeed({ blobs, findArtifact, runTask }, request);
  const ids = artifactIds(dependencies, actor.organizationId, archives.keys());
  const { prune, signal, fileName: target } = request;
  const change: CatalogChange = {
    actor,
    archives,
    ids,
    prune,
    signal,
    target,
    action: "catalog.seed",
    wanted: await runInTurns(entriesOf(packages, asFileProblem(ids))),
    refuse: ({ removed }, connection) => {
      const { inUse, allowDangling = false } = request;
      if (inUse) refuseDangling(removed, { inUse, allowDangling }, { connection, hint: DANGLING_HINT });
    },
  };
  return { change, warnings };
}

const DANGLING_HINT = "change the policy first, seed without --prune, or add --allow-dangling";

interface ReadSeed {
  packages: ManagedPackage[];
  archives: ReadonlyMap<string, CheckedArchive>;
  warnings: Problem[];
}

export interface SeedChecking extends Pick<CheckOptions, "blobs" | "findArtifact"> {
  runTask?: RunCatalogTask | undefined;
}

/** @throws DomainError `catalog.invalid`, `catalog.unverified` */
export async function readSeed(
  { blobs, findArtifact, runTask = runCatalogAtOnce }: SeedChecking,
  request: Omit<SeedRequest, "prune">,
): Promise<ReadSeed> {
  const { bytes, fileName } = request;
  const { parts, root } = await runTask("readCatalog", { bytes, fileName });
  const packages = await runInTurns(packagesIn(parts));
  const located = async (problems: readonly Problem[]) => {
    if (problems.length === 0) return [];
    const lines = await runTask("catalogLines", { bytes, pointers: problems.map(({ pointer }) => pointer) });
    return problems.map((problem, at) => placed(problem, { root, line: lines[at] }));
  };
  const { files, onProgress, signal } = request;
  const checked = await checkLocalArchives(packages, { files, blobs, findArtifact, onProgress, signal });
  const problems = [...checked.problems, ...(await runInTurns(unknownArtifacts(packages, findArtifact)))];
  if (problems.length > 0)
    throw refused(await located(problems), { request, unverified: checked.unverified });
  const warnings = await located(await runInTurns(findSourceWarnings(packages)));
  return { packages, archives: checked.archives, warnings };
}

function* packagesIn(parts: readonly string[]): Steps<ManagedPackage[]> {
  const packages: ManagedPackage[] = [];
  for (const part of parts) {
    const some: ManagedPackage[] = JSON.parse(part);
    packages.push(...some);
    yield;
  }
  return packages;
}

const placed = (
  { pointer, detail }: Problem,
  { root, line }: { root: string; line: number | undefined },
): Problem => ({ pointer: root + pointer, detail, ...(line !== undefined && { line }) });

/** An artifact_id must name stored bytes with that digest. */
function* unknownArtifacts(
  packages: readonly ManagedPackage[],
  findArtifact: (digest: string) => store.ArtifactRow | undefined,
): Steps<Problem[]> {
  const problems: Problem[] = [];
  for (const [index, managed] of packages.entries()) {
    problems.push(...unknownArtifact(managed, `/${index}`, findArtifact));
    for (const [platform, source] of Object.entries(managed.platform_sources ?? {}))
      problems.push(...unknownArtifact(source, `/${index}/platform_sources/${platform}`, findArtifact));
    yield;
  }
  return problems;
}

function unknownArtifact(
  { artifact_id, sha256, source_ref }: PackageSource,
  pointer: string,
  findArtifact: (digest: string) => store.ArtifactRow | undefined,
): Problem[] {
  if (artifact_id === undefined || findArtifact(sha256)?.id === artifact_id) return [];
  if (isLocal({ source_ref })) return []; // the archive is available, so its artifact gets its own id
  return [
    { pointer: `${pointer}/artifact_id`, detail: "names no stored artifact with this sha256; leave it out" },
  ];
}

interface Refusal {
  request: Pick<SeedRequest, "fileName">;
  unverified: boolean;
}

function refused(problems: readonly Problem[], { request, unverified }: Refusal): DomainError {
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  return new DomainError(
    unverified ? "unverified" : "invalid",
    unverified ? "catalog.unverified" : "catalog.invalid",
    `${request.fileName} has ${count}; nothing was changed`,
    { problems },
  );
}

async function storeArchives(
  blobs: Blobs,
  archives: ReadonlyMap<string, CheckedArchive>,
  signal: AbortSignal | undefined,
): Promise<void> {
  await blobs.sweepTemporary(); // partial files of a killed seed
  for (const { digest, path } of archives.values()) {
    if (path === undefined) continue;
    await blobs.put(path, {
      expectedDigest: digest,
      maxBytes: ARCHIVE_LIMITS.compressedBytesMax,
      ...(signal && { signal }),
    });
  }
}

/** A remote source keeps the given id; a stored archive has our id. */
const asFileProblem =
  (ids: ArtifactIds) =>
  ({ source_ref, artifact_id: authored, sha256 }: PackageSource): string | undefined =>
    isLocal({ source_ref }) ? (ids.get(sha256) ?? authored) : authored;
