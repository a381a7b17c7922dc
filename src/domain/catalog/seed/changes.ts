// Applies a change of the catalog: assigns ids to stored archives, plans against the current entries, and changes all entries
// in one transaction. seed.ts and bundles.ts supply the packages.
import type { Blobs } from "../../../platform/blobs/blobs.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Connection, Db, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { Audit, AuditSummary } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { CheckedArchive } from "../archive/local-archives.ts";
import { type ManagedPackage, PACKAGES_MAX, type PackageSource } from "../model.ts";
import * as store from "../store.ts";
import type { RunCatalogTask } from "../tasks.ts";
import {
  type PackageVersion,
  type PlannedCatalog,
  planSeed,
  type SeedPlan,
  versionOf,
  type WantedEntry,
} from "./plan.ts";

export interface ChangeDependencies {
  /** runs long work on catalog files; default: in this thread */
  runCatalogTask?: RunCatalogTask | undefined;
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  blobs: Blobs;
}

export type ArtifactIds = ReadonlyMap<string, string>;

/** @returns artifact ids by digest, with new ids for new archives */
export function artifactIds(
  { db, ids }: Pick<ChangeDependencies, "db" | "ids">,
  organizationId: string,
  digests: Iterable<string>,
): Map<string, string> {
  const idOf = (digest: string) =>
    store.findArtifactByDigest(db.read, organizationId, digest)?.id ?? ids.uuid();
  return new Map([...digests].map((digest) => [digest, idOf(digest)]));
}

/**
 * @param idOf finds the artifact of a source's archive
 * @returns the entries of the packages with those ids; artifact_id is the last member, because entries are compared as text
 */
export function* entriesOf(
  packages: readonly ManagedPackage[],
  idOf: (source: PackageSource) => string | undefined,
): Steps<WantedEntry[]> {
  const entries: WantedEntry[] = [];
  for (const managed of packages) {
    entries.push({ ...versionOf(managed), entry: JSON.stringify(named(managed, idOf)) });
    yield;
  }
  return entries;
}

function named(managed: ManagedPackage, idOf: (source: PackageSource) => string | undefined): ManagedPackage {
  const { platform_sources: platforms, ...own } = withArtifact(managed, idOf(managed));
  return platforms ? { ...own, platform_sources: namedPlatforms(platforms, idOf) } : own;
}

const namedPlatforms = (
  platforms: Readonly<Record<string, PackageSource>>,
  idOf: (source: PackageSource) => string | undefined,
) =>
  Object.fromEntries(
    Object.entries(platforms).map(([platform, source]) => [platform, withArtifact(source, idOf(source))]),
  );

function withArtifact<Source extends PackageSource>(source: Source, id: string | undefined) {
  const { artifact_id: _, ...rest } = source;
  return id === undefined ? rest : { ...rest, artifact_id: id };
}

export interface WantedCatalog {
  wanted: readonly WantedEntry[];
  /** removes all entries except the wanted ones */
  prune: boolean;
}

/** @throws DomainError `catalog.too_many` */
export function* planCatalog(
  connection: Connection,
  organizationId: string,
  { wanted, prune }: WantedCatalog,
): Steps<PlannedCatalog> {
  const result = planSeed(yield* packagesOf(connection, organizationId), wanted, { prune });
  if (result.entries.length <= PACKAGES_MAX) return result;
  const message = `the catalog would have ${result.entries.length} packages; at most ${PACKAGES_MAX} are kept`;
  throw new DomainError("invalid", "catalog.too_many", message, {
    hint: "remove some, or seed with --prune",
  });
}

/** @returns every entry in the order of the catalog; consistent only inside a transaction, or if the revision has not changed */
export function* packagesOf(connection: Connection, organizationId: string): Steps<store.PackageRow[]> {
  const rows: store.PackageRow[] = [];
  for (let after = ""; ; yield) {
    const slice = store.listPackagesAfter(connection, organizationId, { id: after, limit: ENTRIES_PER_STEP });
    rows.push(...slice);
    after = slice.at(-1)?.id ?? "";
    if (slice.length < ENTRIES_PER_STEP) return rows.sort((one, other) => one.position - other.position);
  }
}

export interface CatalogChange extends WantedCatalog {
  actor: Actor;
  /** by digest */
  archives: ReadonlyMap<string, CheckedArchive>;
  ids: ArtifactIds;
  /** for the audit log: the action, the file, and further details */
  action: "catalog.seed" | "catalog.import";
  target: string;
  remarks?: AuditSummary;
  /** throws if the plan must not be applied; called again inside the transaction */
  refuse?: (plan: SeedPlan, connection: Connection) => void;
  signal?: AbortSignal | undefined;
}

/** Number of entries read or written before other work gets a turn. */
const ENTRIES_PER_STEP = 100;

/** Plans again inside the transaction, because another process may have changed the catalog while the archives were read. */
export function* commit(
  tx: Tx,
  dependencies: Pick<ChangeDependencies, "audit" | "clock">,
  change: CatalogChange,
): Steps<SeedPlan> {
  const { audit, clock } = dependencies;
  const { actor, remarks, action, target } = change;
  change.signal?.throwIfAborted(); // the last check before anything changes
  const { organizationId } = actor;
  const nowMs = clock.nowMs();
  addArtifacts(tx, change, nowMs);
  const { plan, entries } = yield* planCatalog(tx, organizationId, change);
  change.refuse?.(plan, tx);
  const removed = plan.removed.map(({ id }) => id);
  store.removePackages(tx, organizationId, removed);
  for (const [at, entry] of entries.entries()) {
    store.putPackage(tx, { ...entry, organizationId, updatedAtMs: nowMs });
    if (at % ENTRIES_PER_STEP === ENTRIES_PER_STEP - 1) yield;
  }
  const before = {
    changed: plan.changed.map(({ from }) => labelOf(from)),
    removed: plan.removed.map(labelOf),
  };
  const after = { added: plan.added.map(labelOf), changed: plan.changed.map(({ to }) => labelOf(to)) };
  audit.record(tx, { actor, action, target, before, after: { ...after, ...remarks } });
  return plan;
}

function addArtifacts(tx: Tx, { actor, archives, ids }: CatalogChange, createdAtMs: number): void {
  const { organizationId } = actor;
  for (const { digest: sha256, sizeBytes, entries, expandedBytes } of archives.values()) {
    const id = ids.get(sha256);
    if (id === undefined) continue;
    store.addArtifact(tx, { id, organizationId, sha256, sizeBytes, entries, expandedBytes, createdAtMs });
  }
}

const labelOf = ({ id, version, sha256 }: PackageVersion): string => `${id} ${version} sha256:${sha256}`;
