// Uploaded bundles that an administrator is reviewing: files in a separate folder, until they are imported or discarded.
import { type Blobs, parseDigest } from "../../../platform/blobs/blobs.ts";
import { type Clock, DAY_MS } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import { readPieces } from "../../../platform/files/operator-files.ts";
import type { BundleFile } from "./bundle-model.ts";

/** Maximum bytes of an uploaded bundle. For larger ones use the command, which reads the file in place. */
export const BUNDLE_UPLOAD_BYTES_MAX = 1024 ** 3;
/** Milliseconds after which an upload that is not imported is removed. */
export const BUNDLE_KEPT_MS = DAY_MS;

export class PendingBundles {
  constructor(private readonly dependencies: { importBlobs: Blobs; clock: Clock }) {}

  /**
   * Stores the unchecked bytes of a bundle.
   * @returns their SHA-256
   * @throws DomainError `artifact.too_large`, `artifact.disk_full`; errors of the bytes
   */
  async keep(bytes: AsyncIterable<Uint8Array>): Promise<string> {
    const { importBlobs } = this.dependencies;
    await importBlobs.sweepTemporary();
    await this.#sweep();
    const { digest } = await importBlobs.put(bytes, { maxBytes: BUNDLE_UPLOAD_BYTES_MAX, replaces: true });
    return digest;
  }

  /** @param name of the file, for errors @throws DomainError `bundle.not_kept` */
  async file(sha256: string, name: string): Promise<BundleFile> {
    const { importBlobs } = this.dependencies;
    const digest = parseDigest(sha256);
    const sizeBytes = importBlobs.size(digest);
    if (sizeBytes === undefined) throw notKept();
    return { name, sizeBytes, read: (range) => readPieces(importBlobs.path(digest), range) };
  }

  async drop(sha256: string): Promise<void> {
    await this.dependencies.importBlobs.remove(parseDigest(sha256));
  }

  async #sweep(): Promise<void> {
    const { importBlobs, clock } = this.dependencies;
    for await (const digest of importBlobs.list()) {
      const kept = await importBlobs.stat(digest);
      if (kept && kept.modifiedAtMs < clock.nowMs() - BUNDLE_KEPT_MS) await importBlobs.remove(digest);
    }
  }
}

const notKept = (): DomainError =>
  new DomainError("not_found", "bundle.not_kept", "the uploaded bundle is no longer here", {
    hint: "it was imported or discarded, or a day has passed: see the catalog, or upload it again",
  });
