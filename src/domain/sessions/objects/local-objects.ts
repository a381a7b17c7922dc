// The local store of captured sessions: files in the data directory, named by their digests, and URLs of this service that receive
// and send them. Owners of equal bytes share a file.
import { type Blobs, parseDigest } from "../../../platform/blobs/blobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { DiskSpace } from "../../../platform/files/disk.ts";
import type { ObjectLinks } from "./object-links.ts";
import type { ObjectStore } from "./object-store.ts";

export interface LocalObjectsDependencies {
  /** objects of captured sessions only */
  blobs: Blobs;
  links: ObjectLinks;
}

/** @returns the store; places are digests */
export const createLocalObjects = ({ blobs, links }: LocalObjectsDependencies): ObjectStore => ({
  kind: "local",
  placeOf: ({ sha256 }) => sha256,
  uploadRequest: (object, expires) => ({
    url: links.urlOf({ method: "PUT", object, expires }),
    method: "PUT",
    headers: { "content-type": object.contentType },
  }),
  downloadUrl: (object, { expiresAtSeconds: expires }) => links.urlOf({ method: "GET", object, expires }),
  async inspect(place) {
    const sizeBytes = blobs.size(parseDigest(place));
    return sizeBytes === undefined ? undefined : { sizeBytes, sha256: place };
  },
  async hash(place, { signal } = {}) {
    const digest = parseDigest(place);
    if (!(await blobs.has(digest))) return undefined;
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const piece of blobs.read(digest)) {
      signal?.throwIfAborted();
      hasher.update(piece);
    }
    return hasher.digest("hex");
  },
  read: (place) => blobs.read(parseDigest(place)),
  async put(place, bytes, { sizeBytes, signal }) {
    const expectedDigest = parseDigest(place);
    await blobs.put(bytes, {
      expectedDigest,
      maxBytes: sizeBytes,
      replaces: true,
      ...(signal && { signal }),
    });
  },
  remove: (place) => blobs.remove(parseDigest(place)),
  async *list() {
    for await (const digest of blobs.list()) {
      const found = await blobs.stat(digest);
      if (found) yield { place: digest, ...found };
    }
  },
  async check() {
    if ((await blobs.state()) === "unusable") throw folderUnusable();
  },
  isOurs: async () => true,
  claim: async () => {},
  space: cachedSpace(() => blobs.space()),
});

/**
 * How long the free space is cached, because a file system call takes as long as an announcement. Within this time, uploads use far
 * less than the space that they must leave.
 */
const SPACE_KNOWN_MS = 100;

function cachedSpace(ask: () => DiskSpace): () => DiskSpace {
  let known: { space: DiskSpace; untilMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!known || nowMs >= known.untilMs) known = { space: ask(), untilMs: nowMs + SPACE_KNOWN_MS };
    return known.space;
  };
}

const folderUnusable = () =>
  new DomainError(
    "unavailable",
    "sessions.store_unavailable",
    "the store of captured sessions cannot be used",
  );
