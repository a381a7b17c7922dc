// Writes a catalog and every archive that it needs as a bundle, one archive at a time. Each archive is hashed again while it is
// written, so that a damaged one is not exported. The caller decides where the bytes go.
import { type Blobs, parseDigest } from "../../../platform/blobs/blobs.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { FileSigner } from "../../../platform/crypto/file-signatures.ts";
import { DomainError, type Problem, pointerOf } from "../../../platform/errors.ts";
import { tarEnd, tarHeader, tarPadding } from "../../../platform/files/tar.ts";
import { fetchedSourcesOf } from "../archive/local-archives.ts";
import type { ManagedPackage } from "../model.ts";
import {
  archiveName,
  BUNDLE_FORMAT,
  BUNDLE_LIMITS,
  BUNDLE_VERSION,
  type BundleManifest,
  bundleRefusal,
  MANIFEST_NAME,
  SIGNATURE_NAME,
} from "./bundle-model.ts";

/** An archive to include. */
export interface HeldArchive {
  sha256: string;
  sizeBytes: number;
}

/**
 * @param find the artifact with a digest
 * @returns the archives that workstations fetch for these packages, each once, sorted by digest
 * @throws DomainError `bundle.not_held` with every source whose bytes are not stored
 */
export function archivesFor(
  packages: readonly ManagedPackage[],
  find: (sha256: string) => HeldArchive | undefined,
): HeldArchive[] {
  const held = new Map<string, HeldArchive>();
  const problems: Problem[] = [];
  for (const { source, at, managed } of packages.flatMap(fetchedSourcesOf)) {
    const archive = find(source.sha256);
    if (archive) held.set(archive.sha256, archive);
    else
      problems.push({
        pointer: pointerOf(at),
        detail: `${managed.id}: sha256:${source.sha256} is not stored here`,
      });
  }
  if (problems.length > 0) throw notHeld(problems);
  return [...held.values()].sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1));
}

const notHeld = (problems: readonly Problem[]): DomainError =>
  new DomainError("conflict", "bundle.not_held", "some archives of the catalog are not stored here", {
    hint: "seed them from local files, or add --leave-out-remote to leave those packages out",
    problems,
  });

export interface Bundle {
  packages: readonly ManagedPackage[];
  archives: readonly HeldArchive[];
  signer: FileSigner;
  exportedAtMs: number;
}

/** @throws DomainError `bundle.too_large` for a bundle that could not be imported */
export function manifestOf({ packages, archives, signer, exportedAtMs }: Bundle): Uint8Array {
  const manifest: BundleManifest = {
    format: BUNDLE_FORMAT,
    format_version: BUNDLE_VERSION,
    exported_at: toRfc3339(exportedAtMs),
    signer: signer.keyId,
    archives: archives.map(({ sha256, sizeBytes }) => ({ sha256, size_bytes: sizeBytes })),
    package_catalog: { packages },
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const { manifestBytesMax, archivesMax } = BUNDLE_LIMITS;
  if (bytes.byteLength <= manifestBytesMax && archives.length <= archivesMax) return bytes;
  throw bundleRefusal(
    "too_large",
    `the catalog does not fit into one bundle: its list has ${bytes.byteLength} bytes`,
  );
}

export interface WriteOptions {
  blobs: Pick<Blobs, "read">;
  signer: FileSigner;
  signal?: AbortSignal | undefined;
}

/**
 * @returns the bytes of the file
 * @throws DomainError `bundle.archive_damaged`; the signal's reason
 */
export async function* bundleBytes(
  manifest: Uint8Array,
  archives: readonly HeldArchive[],
  options: WriteOptions,
): AsyncGenerator<Uint8Array> {
  yield* member(MANIFEST_NAME, manifest);
  yield* member(SIGNATURE_NAME, options.signer.sign(manifest));
  for (const archive of archives) {
    yield tarHeader({ name: archiveName(archive.sha256), sizeBytes: archive.sizeBytes });
    yield* intact(archive, options);
    yield tarPadding(archive.sizeBytes);
  }
  yield tarEnd();
}

function* member(name: string, bytes: Uint8Array): Generator<Uint8Array> {
  yield tarHeader({ name, sizeBytes: bytes.byteLength });
  yield bytes;
  yield tarPadding(bytes.byteLength);
}

async function* intact({ sha256 }: HeldArchive, options: WriteOptions): AsyncGenerator<Uint8Array> {
  const { blobs, signal } = options;
  const hasher = new Bun.CryptoHasher("sha256");
  try {
    for await (const piece of blobs.read(parseDigest(sha256))) {
      signal?.throwIfAborted();
      hasher.update(piece);
      yield piece;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw damaged(sha256, error);
  }
  if (hasher.digest("hex") !== sha256) throw damaged(sha256);
}

const damaged = (sha256: string, cause?: unknown): DomainError =>
  new DomainError(
    "unverified",
    "bundle.archive_damaged",
    `the stored archive sha256:${sha256} is damaged or missing`,
    {
      hint: "see `quartermaster catalog verify`, and seed its packages again",
      cause,
    },
  );
