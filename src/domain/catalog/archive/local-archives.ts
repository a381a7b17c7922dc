// The archives that a catalog file names by a local path. Each is read once, checked against its digest and the archive rules,
// and later stored by digest. Clients fetch them from this service, so a broken archive must not be stored.
import type { Blobs, Digest } from "../../../platform/blobs/blobs.ts";
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import { DomainError, type Problem, pointerOf } from "../../../platform/errors.ts";
import type { OpenedFile } from "../../../platform/files/operator-files.ts";
import type { ManagedPackage, PackageSource } from "../model.ts";
import { type ArchiveOfPackage, requiredPathsOf } from "../packages/required-paths.ts";
import type { ArtifactRow } from "../store.ts";
import { ARCHIVE_LIMITS, inspectArchive } from "./archive.ts";

/** Reads the file of a local source; the implementation defines the folder from which a relative path starts. */
export interface LocalFiles {
  /** @returns an absolute path */
  resolve(sourceRef: string): string;
  /** @throws DomainError `file.*` */
  open(path: string): Promise<OpenedFile>;
}

/** Receives every piece that is read. An archive is read twice: for its digest and for unpacking. */
export type ReportProgress = (progress: { name: string; bytes: number }) => void;

/** A source that workstations fetch. */
export interface FetchedSource extends ArchiveOfPackage {
  source: PackageSource;
  /** pointer to the members of the source */
  at: readonly (string | number)[];
}

/** An archive that passed every check. */
export interface CheckedArchive {
  digest: Digest;
  sizeBytes: number;
  /** path of the file; undefined if the archive is already stored */
  path: string | undefined;
  entries: number;
  expandedBytes: number;
}

export interface CheckOptions {
  files: LocalFiles;
  blobs: Pick<Blobs, "has">;
  /** @returns the artifact with that digest, if the organization has it */
  findArtifact(digest: string): ArtifactRow | undefined;
  onProgress?: ReportProgress | undefined;
  signal?: AbortSignal | undefined;
}

const LOCAL_SUFFIX = ".tar.gz";
/** A scheme such as `gitlab://` shows the origin of a mirrored artifact. */
const REMOTE = /^(?!file:)[a-z]+:\/\//;
/** @returns whether the archive is a file that the catalog file names */
export const isLocal = ({ source_ref }: Pick<PackageSource, "source_ref">): boolean =>
  !REMOTE.test(source_ref);

/**
 * Checks every local archive of a list. Reads one archive at a time, so memory does not grow with their number.
 * @returns archives by digest, and all problems, with pointers into the list
 */
export async function checkLocalArchives(
  packages: readonly ManagedPackage[],
  options: CheckOptions,
): Promise<{ archives: Map<string, CheckedArchive>; problems: Problem[]; unverified: boolean }> {
  const archives = new Map<string, CheckedArchive>();
  const problems: Problem[] = [];
  let unverified = false;
  for (const local of packages.flatMap(fetchedSourcesOf)) {
    if (!isLocal(local.source)) continue;
    options.signal?.throwIfAborted();
    try {
      const checked = await checkArchive(local, options);
      archives.set(checked.digest, checked);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      unverified ||= error.kind === "unverified";
      problems.push(...problemsOf(error, local));
    }
  }
  return { archives, problems, unverified };
}

/** @returns the sources of the package's platforms, or else its own source */
export function fetchedSourcesOf(managed: ManagedPackage, index: number): FetchedSource[] {
  const platforms = Object.entries(managed.platform_sources ?? {});
  const own = { source: managed, managed, index, platform: undefined, at: [index] };
  const others = platforms.map(([platform, source]) => ({
    source,
    managed,
    index,
    platform,
    at: [index, "platform_sources", platform],
  }));
  return platforms.length === 0 ? [own] : others;
}

function problemsOf(error: DomainError, { at }: FetchedSource): Problem[] {
  if (error.problems.length > 0) return [...error.problems];
  const member = error.reason === "artifact.digest_mismatch" ? "sha256" : "source_ref";
  const detail = error.hint ? `${error.message}; ${error.hint}` : error.message;
  return [{ pointer: pointerOf([...at, member]), detail }];
}

async function checkArchive(local: FetchedSource, options: CheckOptions): Promise<CheckedArchive> {
  const digest = parseDigest(local.source.sha256);
  const known = (await options.blobs.has(digest)) ? options.findArtifact(digest) : undefined;
  const path = options.files.resolve(local.source.source_ref);
  if (!path.endsWith(LOCAL_SUFFIX)) {
    throw new DomainError(
      "invalid",
      "catalog.not_an_archive",
      `a local source must be a ${LOCAL_SUFFIX} archive`,
    );
  }
  const sizeBytes = await sizeIfMatching({ path, digest, isStored: known !== undefined }, options);
  if (known) return { digest, path: undefined, ...known };
  const { bytes } = await options.files.open(path);
  const contents = await inspectArchive(watched(bytes, path, options), {
    requiredPaths: requiredPathsOf(local),
  });
  return { digest, path, sizeBytes, ...contents };
}

interface Expected {
  path: string;
  digest: Digest;
  isStored: boolean;
}

/**
 * Compares the digest before unpacking the archive, because a wrong file explains every other problem. A stored archive needs
 * no file, so an exported catalog can be seeded again without the files.
 */
async function sizeIfMatching({ path, digest, isStored }: Expected, options: CheckOptions): Promise<number> {
  try {
    const { sizeBytes, bytes } = await options.files.open(path);
    if (sizeBytes > ARCHIVE_LIMITS.compressedBytesMax) throw tooLarge(path);
    const found = await digestOf(watched(bytes, path, options));
    if (found !== digest) throw mismatch(path, { found, digest });
    return sizeBytes;
  } catch (error) {
    if (isStored && error instanceof DomainError && error.reason === "file.missing") return 0;
    throw error;
  }
}

async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of bytes) hasher.update(chunk);
  return hasher.digest("hex");
}

/** Passes the bytes on and reports them as they are read. Throws the signal's reason when it aborts. */
async function* watched(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  { onProgress, signal }: Pick<CheckOptions, "onProgress" | "signal">,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    signal?.throwIfAborted();
    onProgress?.({ name, bytes: chunk.length });
    yield chunk;
  }
}

const tooLarge = (path: string) =>
  new DomainError(
    "unverified",
    "archive.too_large",
    `${path} has more than ${ARCHIVE_LIMITS.compressedBytesMax} bytes`,
  );

const mismatch = (path: string, { found, digest }: { found: string; digest: string }) =>
  new DomainError(
    "unverified",
    "artifact.digest_mismatch",
    `${path} has sha256 ${found}, but the catalog says ${digest}`,
  );
