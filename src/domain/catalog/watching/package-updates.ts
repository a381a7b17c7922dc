// Updates packages of the policy to the current commit of their branch or tag: mirrors the commit, and compares it with the
// archive that workstations have. The caller publishes the result through governance/.

import { type Blobs, parseDigest } from "../../../platform/blobs/blobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import { ByteSource } from "../../../platform/files/byte-source.ts";
import type { Actor } from "../../shared/actor.ts";
import { gunzip, truncated } from "../archive/bytes.ts";
import { ARCHIVE_LIMITS, quoted } from "../archive/limits.ts";
import { readTar } from "../archive/tar.ts";
import type { ManagedPackage } from "../model.ts";
import type { InspectedSource, PackageSources } from "../sources/package-sources.ts";
import type { PackageOrigin } from "./origins.ts";
import type { SourceWatch, TrackedPackage } from "./source-watch.ts";

/** Number of a commit's digits in a version. */
const COMMIT_DIGITS = 12;

interface ArchiveDifference {
  /** paths, sorted; safe to print on a terminal */
  added: string[];
  changed: string[];
  removed: string[];
}

type Bytes = AsyncIterable<Uint8Array>;

/** @returns the paths of files that were added, changed and removed @throws DomainError `archive.*` for damaged bytes */
async function archiveDifference(before: Bytes, after: Bytes): Promise<ArchiveDifference> {
  const former = await digestsIn(before);
  const current = await digestsIn(after);
  const paths = (digests: ReadonlyMap<string, string>, isListed: (path: string) => boolean) =>
    [...digests.keys()]
      .filter(isListed)
      .sort()
      .map((path) => quoted(path).slice(1, -1));
  return {
    added: paths(current, (path) => !former.has(path)),
    changed: paths(current, (path) => former.has(path) && former.get(path) !== current.get(path)),
    removed: paths(former, (path) => !current.has(path)),
  };
}

async function digestsIn(bytes: Bytes): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  const source = new ByteSource(gunzip(bytes), truncated);
  try {
    for await (const entry of readTar(source, ARCHIVE_LIMITS)) {
      if (entry.kind !== "file") continue;
      const hasher = new Bun.CryptoHasher("sha256");
      for await (const piece of entry.pieces()) hasher.update(piece);
      const isExecutable = ((entry.mode ?? 0) & 0o111) !== 0;
      digests.set(Buffer.from(entry.path).toString(), `${hasher.digest("hex")} ${isExecutable}`);
    }
  } finally {
    await source.close();
  }
  return digests;
}

export interface PackageUpdate {
  before: ManagedPackage;
  /** the package with its new archive and version, and perhaps a new ref */
  after: ManagedPackage;
  formerCommit: string;
  commit: string;
  difference: ArchiveDifference;
}

export interface UpdateRequest {
  connectionId: string;
  /** only these packages; empty: all packages of the connection */
  packageIds: readonly string[];
  /** a ref other than the one that the packages follow */
  ref: string | undefined;
}

export interface PackageUpdatesDependencies {
  blobs: Pick<Blobs, "read">;
  packageSources: Pick<PackageSources, "inspect" | "archives">;
  sourceWatch: Pick<SourceWatch, "origins">;
  packagesInForce(organizationId: string): readonly ManagedPackage[];
}

export class PackageUpdates {
  constructor(private readonly dependencies: PackageUpdatesDependencies) {}

  /**
   * Mirrors the current commits without publishing anything.
   * @returns an update for each package whose archive would change
   * @throws DomainError `package_update.nothing` if no package is from the connection, `package_update.missing_path`; those of
   * `inspect`
   */
  async prepare(actor: Actor, request: UpdateRequest): Promise<PackageUpdate[]> {
    const updates: PackageUpdate[] = [];
    for (const origin of this.#wanted(actor, request)) {
      const update = await this.#prepare(actor, origin, request.ref ?? origin.ref);
      if (update) updates.push(update);
    }
    return updates;
  }

  #wanted({ organizationId }: Actor, { connectionId, packageIds }: UpdateRequest): Named[] {
    const origins = this.dependencies.sourceWatch
      .origins(organizationId)
      .filter((origin) => origin.connectionId === connectionId)
      .filter(({ packageId }) => packageIds.length === 0 || packageIds.includes(packageId));
    const unknown = packageIds.filter((id) => !origins.some(({ packageId }) => packageId === id));
    if (origins.length > 0 && unknown.length === 0) return origins;
    const which = unknown.length === 0 ? "no package" : `no package ${unknown.join(", ")}`;
    throw new DomainError(
      "not_found",
      "package_update.nothing",
      `the policy has ${which} from the connection ${connectionId}`,
      { hint: "see `quartermaster policy show` and `quartermaster connections list`" },
    );
  }

  async #prepare(actor: Actor, origin: Named, ref: string): Promise<PackageUpdate | undefined> {
    const { blobs, packageSources, packagesInForce } = this.dependencies;
    const before = packagesInForce(actor.organizationId).find(({ id }) => id === origin.packageId);
    if (!before) return undefined;
    const { connectionId: connection_id, repository, path } = origin;
    const found = await packageSources.inspect(actor, { connection_id, repository, ref, path });
    if (found.sha256 === before.sha256.toLowerCase()) return undefined;
    const after = updated(before, found, ref === origin.ref ? undefined : ref);
    await this.#refuseMissing(actor, after);
    const bytesOf = ({ sha256 }: { sha256: string }) => blobs.read(parseDigest(sha256.toLowerCase()));
    const difference = await archiveDifference(bytesOf(before), bytesOf(found));
    return { before, after, formerCommit: origin.commit, commit: found.commit ?? "", difference };
  }

  async #refuseMissing({ organizationId }: Actor, managed: ManagedPackage): Promise<void> {
    const problems = await this.dependencies.packageSources.archives.missingPaths(organizationId, managed);
    if (problems.length === 0) return;
    throw new DomainError(
      "invalid",
      "package_update.missing_path",
      `the new commit of ${managed.id} lacks paths that the package uses`,
      { problems, hint: "change the layout of the package in the console, or mirror another commit" },
    );
  }
}

type Named = PackageOrigin & Pick<TrackedPackage, "packageId">;

/** @param ref a new ref */
function updated(before: ManagedPackage, found: InspectedSource, ref: string | undefined): ManagedPackage {
  const { sourceRef, artifactId, sha256, commit = "" } = found;
  const version = versionOf(before.version, { commit, ref });
  return { ...before, version, source_ref: sourceRef, artifact_id: artifactId, sha256 };
}

/** A tag such as `v1.2.0` gives the version; otherwise the commit becomes the build metadata (semver.org, item 10). */
function versionOf(former: string, { commit, ref }: { commit: string; ref: string | undefined }): string {
  const named = /^v?(\d+\.\d+.*)$/.exec(ref ?? "")?.[1];
  return named ?? `${former.replace(/\+[0-9a-f]{12}$/, "")}+${commit.slice(0, COMMIT_DIGITS)}`;
}
